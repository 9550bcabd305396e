"""The relay finds the shared process at the place given by the settings."""

import json
import os
from pathlib import Path

import click
import pytest

from outrider.cli import outrider
from outrider.cli.commands.mcp import parse_host_options
from outrider.relay.daemon_paths import DaemonPaths, UntrustedDaemon, find_daemon_paths


@pytest.mark.parametrize(
    ("arguments", "environ", "file"),
    [
        ([], {}, {}),
        (["--set", "data_dir=there"], {}, {}),
        (["--set=data_dir=~/there"], {"OUTRIDER_DATA_DIR": "/elsewhere"}, {}),
        ([], {"OUTRIDER_DATA_DIR": "~/env"}, {"data_dir": "/file"}),
        ([], {"OUTRIDER_DATA_DIR": ""}, {"data_dir": "/file"}),
        ([], {}, {"data_dir": "~/file", "daemon": True}),
        (["--set", "data_dir=one", "--set", "data_dir=two"], {}, {}),
        (["--no-daemon"], {}, {}),
        (["--no-daemon", "--set", "daemon=true"], {}, {}),
        (["--set", "daemon=off"], {}, {}),
        ([], {"OUTRIDER_DAEMON": "False"}, {}),
        ([], {"OUTRIDER_DAEMON": "0"}, {"daemon": True}),
        (["--set", "daemon=yes"], {"OUTRIDER_DAEMON": "no"}, {"daemon": False}),
        ([], {}, {"daemon": False}),
        (["--name", "x", "--toolsets", "web"], {"OUTRIDER_LOG_LEVEL": "debug"}, {"log_level": "info"}),
    ],
)
def test_the_relay_looks_where_the_settings_say(home: Path, arguments: list[str], environ: dict, file: dict):
    (home / ".outrider").mkdir()
    (home / ".outrider" / "settings.json").write_text(json.dumps(file))
    settings = parse_host_options(arguments, environ, home, click.Context(outrider))[0].settings
    place = find_daemon_paths(arguments, environ, str(home))
    shares = settings.daemon and "--no-daemon" not in arguments
    assert (place is not None) == shares
    assert place is None or place.data_dir == str(settings.data_dir.absolute())


def test_a_broken_file_is_ignored_and_a_byte_order_mark_is_accepted(home: Path):
    (home / ".outrider").mkdir()
    default = str(home / ".outrider")
    chosen = dict.fromkeys(("", "[]", "{", '{"daemon": 1', '["daemon"]'), default)
    for text, data_dir in (chosen | {'\ufeff{"data_dir": "/x"}': "/x"}).items():
        (home / ".outrider" / "settings.json").write_text(text, encoding="utf-8")
        place = find_daemon_paths([], {}, str(home))
        assert (text, place and place.data_dir) == (text, data_dir)


def test_a_folder_that_others_could_enter_is_made_private(tmp_path: Path):
    place = DaemonPaths(str(tmp_path / "data"))
    place.create_run_dir()
    Path(place.run_dir).chmod(0o755)
    place.create_run_dir()
    assert Path(place.run_dir).stat().st_mode & 0o777 == 0o700


def test_a_folder_of_another_person_is_not_trusted(tmp_path: Path):
    place = DaemonPaths(str(tmp_path))
    if os.geteuid() == 0:
        place.create_run_dir()
        os.chown(place.run_dir, 12_345, 12_345)
    else:
        place.run_dir = "/"
    with pytest.raises(UntrustedDaemon, match="another user"):
        place.check_run_dir()


def test_a_link_in_place_of_the_folder_or_the_socket_is_not_followed(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place = DaemonPaths(str(tmp_path))
    Path(place.run_dir).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UntrustedDaemon, match="not a folder"):
        place.create_run_dir()
    Path(place.run_dir).unlink()
    place.create_run_dir()
    Path(place.socket_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UntrustedDaemon, match="another user"):
        place.check_file_owner(place.socket_path)
