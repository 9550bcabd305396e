"""What the core's tests share: a database in a file."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

import postgres
from outrider.core.db import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """A real SQLite file of this test's own."""
    opened = Database.file(tmp_path / "data" / "outrider.db")
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def server() -> Generator[postgres.Server]:
    """One Postgres for all tests of the core; who stops it starts it again."""
    programs = postgres.found()
    if programs is None:
        pytest.skip("Postgres is not installed here")
    with postgres.serving(programs) as made:
        made.migrated()
        yield made
