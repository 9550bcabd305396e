"""Fixtures for the tests of agents."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.core.database.database import Database
from support.apps import agent_tools
from support.databases import sqlite


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """A real SQLite file of this test's own, with all tables."""
    opened = Database.from_file(sqlite.create_migrated_file(tmp_path / "data" / "outrider.db"))
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the toolset of `agent_tools` is installed as a plugin."""
    folder = agent_tools.install_plugin(tmp_path / "plugins")
    monkeypatch.syspath_prepend(folder)
    return folder
