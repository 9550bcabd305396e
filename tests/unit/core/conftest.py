"""Share a database in a file between the core's tests."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.core.database.database import Database
from support.databases import sqlite


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """A real SQLite file of this test's own, with all tables."""
    opened = Database.from_file(sqlite.create_migrated_file(tmp_path / "data" / "outrider.db"))
    yield opened
    await opened.close()
