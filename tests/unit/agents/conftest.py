"""What the tests of agents share: a database in a file."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.core.db import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """A real SQLite file of this test's own."""
    opened = Database.file(tmp_path / "data" / "outrider.db")
    yield opened
    await opened.close()
