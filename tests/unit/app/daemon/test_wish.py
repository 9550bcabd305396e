"""Settings as the shared process takes them: nothing in them depends on where or in whose environment it stands."""

from pathlib import Path
from typing import Any

import pytest

from outrider.app.daemon.wish import anchored, standing_in, used
from outrider.settings import Loaded, load


def read(home: Path, environ: dict[str, str] | None = None, **flags: Any) -> Loaded:
    return load(flags, environ=environ or {}, home=home, workspace=home / "project")


@pytest.mark.parametrize("address", ["", "sqlite+aiosqlite:////abs/x.db", "postgresql://u@h/d", "sqlite+aiosqlite://"])
def test_addresses_that_are_not_relative_stay(home: Path, address: str):
    assert anchored(read(home, database=address)).settings.database == address


def test_what_is_relative_starts_at_the_host_s_directory(home: Path):
    loaded = anchored(
        read(
            home,
            {"PATH": "/host/bin"},
            data_dir="data",
            database="sqlite+aiosqlite:///here.db",
            browser={"executable": "./chrome"},
            content={"roots": ["texts", "/abs"]},
            mcpServers={"one": {"command": "x"}, "two": {"command": "y", "cwd": "sub", "env": {"PATH": "/own"}}},
        )
    )
    settings, project = loaded.settings, home / "project"
    assert settings.data_dir == project / "data"
    assert settings.database == f"sqlite+aiosqlite:///{project}/here.db"
    assert settings.browser.executable == str(project / "chrome")
    assert settings.content.roots == [str(project / "texts"), "/abs"]
    one, two = settings.mcpServers["one"], settings.mcpServers["two"]
    assert (one.cwd, one.env) == (str(project), {"PATH": "/host/bin"})
    assert (two.cwd, two.env) == (str(project / "sub"), {"PATH": "/own"})


def test_a_program_that_is_found_by_name_stays_a_name(home: Path):
    assert anchored(read(home, browser={"executable": "chromium"})).settings.browser.executable == "chromium"


def test_of_the_environment_only_what_is_read_makes_a_difference(home: Path):
    environ = {"BRAVE_API_KEY": "a", "ANTHROPIC_API_KEY": "b", "MY_KEY": "c", "TERM": "d", "SHLVL": "e", "PATH": "f"}
    plain = read(home, environ)
    assert set(used(environ, plain.settings)) == {"BRAVE_API_KEY", "ANTHROPIC_API_KEY"}
    servers = {"one": {"url": "https://x.example/${MY_KEY}"}}
    assert "MY_KEY" in used(environ, read(home, environ, mcpServers=servers).settings)
    program = read(home, environ, search={"agent_browser": {"command": "agent-browser"}})
    assert "PATH" in used(environ, program.settings)


def test_reading_happens_where_the_host_is_and_leaves_the_process_where_it_was(tmp_path: Path):
    before = Path.cwd()
    with standing_in(str(tmp_path)):
        assert Path.cwd() == tmp_path
    with standing_in(str(tmp_path / "gone")):
        assert Path.cwd() == before
    assert Path.cwd() == before
