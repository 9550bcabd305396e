"""A process that is killed during a write, an edit or an export leaves only whole files.

`make test-kills` kills two hundred.
"""

import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from outrider.core.context import Call
from outrider.workspace import SessionWorkspaces, WorkspaceSettings
from outrider.workspace.files import WorkspaceFiles

KILLS = int(os.environ.get("OUTRIDER_KILLS", "12"))
LINE_COUNT = 20_000
# Writes one of three texts repeatedly, edits it, and packs it; reports when it has started.
WRITER = f"""
import sys
from pathlib import Path
from outrider.core.context import Call
from outrider.workspace import SessionWorkspaces, WorkspaceSettings
from outrider.workspace.edit import Replacement
from outrider.workspace.export import build_zip_export
place = SessionWorkspaces(Path(sys.argv[1]), WorkspaceSettings()).ensure_workspace(Call())
print("begun", flush=True)
while True:
    for letter in "abc":
        place.files.write("text", f"{{letter}}\\n" * {LINE_COUNT})
        place.files.replace_lines("text", [Replacement(n, n, f"{{letter}}") for n in range(1, 200)])
        build_zip_export(place, ["text"], "package", lambda *_: None)
"""


@pytest.mark.nightly
def test_files_are_whole_after_every_kill(tmp_path: Path):
    chance = random.Random(7)
    place = SessionWorkspaces(tmp_path / "spaces", WorkspaceSettings()).ensure_workspace(Call())
    for _ in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "spaces")], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            assert process.stdout.readline() == b"begun\n"
            try:
                process.wait(chance.uniform(0.001, 0.2))
            except subprocess.TimeoutExpired:
                process.kill()
        check_files(place.files)


def check_files(files: WorkspaceFiles) -> None:
    """Check that every file equals one of the written ones, from its first to its last line."""
    names = {entry.path for entry in files.list(".", depth=5)}
    if "text" in names:
        lines = files.read("text").text.splitlines()
        assert len(lines) == LINE_COUNT
        assert len(set(lines)) == 1
    for name in names:
        if name.endswith(".zip"):
            with files.jail.open_file(name) as file, zipfile.ZipFile(file) as archive:
                assert archive.testzip() is None
                assert archive.namelist() == ["text"]


def test_partially_written_files_are_deleted_after_an_hour(tmp_path: Path):
    places = SessionWorkspaces(tmp_path / "spaces", WorkspaceSettings())
    place = places.ensure_workspace(Call())
    old, new, kept = (place.directory / name for name in (".outrider-old", ".outrider-new", "kept"))
    for path in (old, new, kept):
        path.touch()
    for path in (old, kept):
        os.utime(path, (0, 0))
    places.purge_unused()
    assert sorted(path.name for path in place.directory.iterdir()) == [".outrider-new", "kept"]
