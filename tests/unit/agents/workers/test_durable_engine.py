"""The durable engine leaves little behind on SQLite."""

from pathlib import Path

import pytest

from support.apps.agent_runs import open_scripted_app
from support.fakes.model_apis import ModelTurn, play_turns

OPEN_FILES = Path("/proc/self/fd")


def list_open_files(folder: Path) -> list[str]:
    """Return the names of the files in a folder that this process has open."""
    targets = [each.readlink() for each in OPEN_FILES.iterdir() if each.is_symlink()]
    return [target.name for target in targets if target.is_relative_to(folder)]


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="needs /proc, which only Linux has")
async def test_a_closed_app_keeps_no_database_file_open(home: Path):
    async with open_scripted_app(play_turns(ModelTurn(text="It is done."))) as scripted:
        assert (await scripted.run_to_end()).status == "completed"
        assert any(name.endswith(".work.db") for name in list_open_files(home))
    assert [name for name in list_open_files(home) if ".db" in name] == []
