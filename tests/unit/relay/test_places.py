"""Where the shared process is: what the relay reads of the settings by itself is what the settings say."""

import json
import os
from pathlib import Path

import click
import pytest

from outrider.cli import outrider
from outrider.cli.commands.mcp import chosen
from outrider.relay.places import Place, Untrusted, wanted
from outrider.settings.load import load


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
    settings = chosen(arguments, environ, home, click.Context(outrider))[0].settings
    place = wanted(arguments, environ, str(home))
    shares = settings.daemon and "--no-daemon" not in arguments
    assert (place is not None) == shares
    assert place is None or place.folder == str(settings.data_dir.absolute())


@pytest.mark.parametrize("text", ["", "[]", "{", '{"daemon": 1', '\ufeff{"data_dir": "/x"}', '["daemon"]'])
def test_a_broken_file_chooses_nothing(home: Path, text: str):
    (home / ".outrider").mkdir()
    (home / ".outrider" / "settings.json").write_text(text, encoding="utf-8")
    place = wanted([], {}, str(home))
    assert place is not None
    assert place.folder == str(load(environ={}, home=home, workspace=home).settings.data_dir)


def test_a_folder_that_others_could_enter_is_closed_to_them(tmp_path: Path):
    place = Place(str(tmp_path / "data"))
    place.prepare()
    Path(place.run).chmod(0o755)
    place.prepare()
    assert Path(place.run).stat().st_mode & 0o777 == 0o700


def test_a_folder_of_somebody_else_is_not_trusted(tmp_path: Path):
    place = Place(str(tmp_path))
    if os.geteuid() == 0:
        place.prepare()
        os.chown(place.run, 12_345, 12_345)
    else:
        place.run = "/"
    with pytest.raises(Untrusted, match="somebody else"):
        place.check()


def test_a_link_in_place_of_the_folder_or_the_socket_is_not_followed(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place = Place(str(tmp_path))
    Path(place.run).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Untrusted, match="no folder"):
        place.prepare()
    Path(place.run).unlink()
    place.prepare()
    Path(place.socket).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Untrusted, match="somebody else"):
        place.check_own(place.socket)
