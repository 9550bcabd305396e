"""Make settings independent of the daemon's directory and environment."""

from pathlib import Path
from typing import Any

import pytest

from outrider.app.daemon.host_config import change_directory, resolve_paths, select_environment
from outrider.settings import LoadedSettings, load


def read(home: Path, environ: dict[str, str] | None = None, **flags: Any) -> LoadedSettings:
    return load(flags, environ=environ or {}, home=home, workspace=home / "project")


@pytest.mark.parametrize("address", ["", "sqlite+aiosqlite:////abs/x.db", "postgresql://u@h/d", "sqlite+aiosqlite://"])
def test_addresses_that_are_not_relative_stay(home: Path, address: str):
    assert resolve_paths(read(home, database=address)).settings.database == address


def test_relative_paths_are_resolved_against_the_host_s_directory(home: Path):
    loaded = resolve_paths(
        read(
            home,
            {"PATH": "/host/bin"},
            data_dir="data",
            database="sqlite+aiosqlite:///here.db",
            browser={"executable": "./chrome"},
            mcpServers={"one": {"command": "x"}, "two": {"command": "y", "cwd": "sub", "env": {"PATH": "/own"}}},
        )
    )
    settings, project = loaded.settings, home / "project"
    assert settings.data_dir == project / "data"
    assert settings.database == f"sqlite+aiosqlite:///{project}/here.db"
    assert settings.browser.executable == str(project / "chrome")
    one, two = settings.mcpServers["one"], settings.mcpServers["two"]
    assert (one.cwd, one.env) == (str(project), {"PATH": "/host/bin"})
    assert (two.cwd, two.env) == (str(project / "sub"), {"PATH": "/own"})


def test_a_program_found_by_name_stays_a_name(home: Path):
    assert resolve_paths(read(home, browser={"executable": "chromium"})).settings.browser.executable == "chromium"


def test_only_environment_variables_that_are_read_distinguish_hosts(home: Path):
    environ = {"BRAVE_API_KEY": "a", "ANTHROPIC_API_KEY": "b", "MY_KEY": "c", "TERM": "d", "SHLVL": "e", "PATH": "f"}
    environ["OUTRIDER_FLOW_PASSWORD"] = "g"
    plain = read(home, environ)
    assert set(select_environment(environ, plain.settings)) == {
        "BRAVE_API_KEY",
        "ANTHROPIC_API_KEY",
        "OUTRIDER_FLOW_PASSWORD",
    }
    servers = {"one": {"url": "https://x.example/${MY_KEY}"}}
    assert "MY_KEY" in select_environment(environ, read(home, environ, mcpServers=servers).settings)
    program = read(home, environ, search={"agent_browser": {"command": "agent-browser"}})
    assert "PATH" in select_environment(environ, program.settings)


def test_the_working_directory_is_restored_after_reading(tmp_path: Path):
    before = Path.cwd()
    with change_directory(str(tmp_path)):
        assert Path.cwd() == tmp_path
    with change_directory(str(tmp_path / "gone")):
        assert Path.cwd() == before
    assert Path.cwd() == before
