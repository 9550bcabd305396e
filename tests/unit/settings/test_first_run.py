import json
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from outrider.search.settings import is_placeholder
from outrider.settings import load
from outrider.settings.load import create_profile_template
from support.timeouts import PROCESS_TIMEOUT_S

FULL = """
import resource, sys
from pathlib import Path
from outrider.settings.load import create_profile_template
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
create_profile_template(Path(sys.argv[1]))
"""


@pytest.fixture
def web(home: Path) -> Path:
    return home / ".outrider" / "web.json"


def test_profiles_to_fill_in_are_created_for_the_owner_alone(home: Path, web: Path):
    create_profile_template(home)
    profiles = json.loads(web.read_text())["profiles"]
    assert set(profiles) == {"google", "brave", "searxng"}
    assert all(profile["provider"] and profile["timeout_s"] == 20 for profile in profiles.values())
    assert is_placeholder(profiles["brave"]["api_key"])
    assert web.stat().st_mode & 0o777 == 0o600
    assert web.parent.stat().st_mode & 0o777 == 0o700


def test_the_profile_template_is_valid_and_changes_no_choice(home: Path, tmp_path: Path):
    create_profile_template(home)
    loaded = load(environ={}, home=home, workspace=tmp_path)
    assert loaded.warnings == ()
    assert loaded.settings.search.profile == ""


def test_other_processes_never_see_an_incomplete_template(tmp_path: Path):
    homes = [tmp_path / str(number) for number in range(200)]

    def read_when_it_appears() -> None:
        for home in homes:
            while not (home / ".outrider" / "web.json").exists():
                pass
            json.loads((home / ".outrider" / "web.json").read_text())

    with ThreadPoolExecutor(1) as other_process:
        reading = other_process.submit(read_when_it_appears)
        for home in homes:
            create_profile_template(home)
        reading.result(PROCESS_TIMEOUT_S)
    assert {each.name for each in (homes[0] / ".outrider").iterdir()} == {"web.json"}


@pytest.mark.parametrize("content", ["", "{", '{"profiles": {}}'])
def test_an_existing_file_is_never_overwritten(home: Path, web: Path, content: str):
    web.parent.mkdir()
    web.write_text(content)
    web.chmod(0o644)
    create_profile_template(home)
    assert web.read_text() == content
    assert web.stat().st_mode & 0o777 == 0o644


def test_even_a_dangling_link_is_not_followed(home: Path, web: Path, tmp_path: Path):
    web.parent.mkdir()
    web.symlink_to(tmp_path / "elsewhere")
    create_profile_template(home)
    assert not (tmp_path / "elsewhere").exists()


def test_a_home_that_cannot_be_written_is_fine(tmp_path: Path):
    (tmp_path / "file").touch()
    create_profile_template(tmp_path / "file")
    create_profile_template(Path("/proc/nowhere"))
    assert load(environ={}, home=Path("/proc/nowhere"), workspace=tmp_path).warnings == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user other than root, who may write everywhere")
def test_a_read_only_home_is_fine(home: Path, web: Path):
    home.chmod(0o500)
    create_profile_template(home)
    assert not web.exists()


def test_a_full_disk_leaves_no_half_file_behind(home: Path, web: Path):
    assert resource.RLIMIT_FSIZE
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL, str(home)],
        capture_output=True,
        timeout=PROCESS_TIMEOUT_S,
        env=dict(os.environ),
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert not web.exists()
