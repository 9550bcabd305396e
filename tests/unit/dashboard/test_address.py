"""Only their owner can find dashboards, and a dashboard without its process is recognized."""

import json
import stat
import subprocess
import sys
from pathlib import Path

from outrider.dashboard.address import RUN_FOLDER, AddressFile, list_running, publish_address
from outrider.dashboard.sign_in_tokens import SignInTokens

PLACE = "http://127.0.0.1:4321/"
ABANDON = """
import os, sys
from pathlib import Path
from outrider.dashboard.address import AddressFile
AddressFile(Path(sys.argv[1]), "http://127.0.0.1:4322/", "token", kind="mcp")
os._exit(0)
"""


def test_a_running_dashboard_is_found_with_the_token_that_is_good_now(tmp_path: Path):
    launch = SignInTokens()
    with publish_address(tmp_path, PLACE, launch, kind="mcp"):
        assert [each.url for each in list_running(tmp_path)] == [f"{PLACE}?token={launch.token}"]
        launch.redeem(launch.token)
        assert [each.url for each in list_running(tmp_path)] == [f"{PLACE}?token={launch.token}"]
    assert list_running(tmp_path) == []


def test_only_the_owner_may_read_it(tmp_path: Path):
    file = AddressFile(tmp_path, PLACE, "token", kind="serve")
    (kept,) = (tmp_path / RUN_FOLDER).iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    file.remove()


def test_the_file_of_a_killed_process_is_not_listed_and_is_removed(tmp_path: Path):
    subprocess.run([sys.executable, "-c", ABANDON, str(tmp_path)], check=True)
    assert [json.loads(each.read_text())["token"] for each in (tmp_path / RUN_FOLDER).iterdir()] == ["token"]
    assert list_running(tmp_path) == []
    assert list((tmp_path / RUN_FOLDER).iterdir()) == []


def test_the_newest_comes_first_and_invalid_files_are_skipped(tmp_path: Path):
    older = AddressFile(tmp_path, PLACE, "a", kind="mcp")
    newer = AddressFile(tmp_path, "http://127.0.0.1:4323/", "b", kind="serve")
    (tmp_path / RUN_FOLDER / "dashboard-1-2.json").write_text("{")
    assert [each.token for each in list_running(tmp_path)] == ["b", "a"]
    older.remove()
    newer.remove()


def test_the_dashboard_runs_even_if_its_address_cannot_be_published(tmp_path: Path, caplog):
    (tmp_path / RUN_FOLDER).write_text("in the way")
    with publish_address(tmp_path, PLACE, SignInTokens(), kind="mcp"):
        assert "will not find" in caplog.text
        assert "token" not in caplog.text
