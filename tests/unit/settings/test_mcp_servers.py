"""Other MCP servers are read in the hosts' common format, from the user's own files only."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outrider.core.errors import InvalidInput
from outrider.settings import LoadedSettings

Read = Callable[..., LoadedSettings]
Write = Callable[[str, Any], Path]
GITHUB_TOKEN = "ghp_4f9a77c1"
GITHUB = {"command": "github-mcp", "args": ["stdio", f"--token={GITHUB_TOKEN}"], "env": {"GITHUB_TOKEN": GITHUB_TOKEN}}
LINEAR = {
    "type": "http",
    "url": "https://mcp.linear.example/mcp",
    "headers": {"Authorization": f"Bearer {GITHUB_TOKEN}"},
}


def test_a_file_of_another_host_is_read_as_it_is(read: Read, write_in_home: Write):
    theirs = {"mcpServers": {"github": GITHUB | {"autoApprove": ["x"]}, "linear": LINEAR}, "theme": "dark"}
    write_in_home(".outrider/mcp.json", theirs)
    loaded = read()
    servers = loaded.settings.mcpServers
    assert (servers["github"].command, servers["linear"].url) == ("github-mcp", "https://mcp.linear.example/mcp")
    assert [each for each in loaded.warnings if "mcp.json" in each and "github.autoApprove is ignored" in each]


def test_settings_take_precedence_over_that_file(read: Read, write_in_home: Write):
    write_in_home(".outrider/mcp.json", {"mcpServers": {"github": GITHUB}})
    write_in_home(".outrider/settings.json", {"mcpServers": {"github": {"disabled": True}, "linear": LINEAR}})
    servers = read().settings.mcpServers
    assert servers["github"].disabled
    assert (servers["github"].command, set(servers)) == ("github-mcp", {"github", "linear"})


def test_a_workspace_names_no_servers(read: Read, write_in_workspace: Write):
    write_in_workspace(".outrider/settings.json", {"mcpServers": {"evil": {"command": "sh"}}})
    write_in_workspace(".outrider/mcp.json", {"mcpServers": {"evil": {"command": "sh"}}})
    loaded = read()
    assert loaded.settings.mcpServers == {}
    assert any("mcpServers.evil.command" in each for each in loaded.warnings)


def test_credentials_of_a_server_are_masked(read: Read, write_in_home: Write):
    write_in_home(".outrider/mcp.json", {"mcpServers": {"github": GITHUB, "linear": LINEAR}})
    rows = {name: value for name, value, _ in read().list_rows()}
    assert GITHUB_TOKEN not in json.dumps(rows)
    assert rows["mcpServers.github.command"] == '"github-mcp"'


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({}, "mcpServers.x: give either `command` or `url`"),
        ({"command": "a", "url": "http://b"}, "mcpServers.x: give either `command` or `url`"),
        ({"url": "ftp://b"}, "mcpServers.x: `url` must begin with http:// or https://"),
        ({"url": "http://b", "type": "sse"}, "mcpServers.x.type"),
        ({"comand": "a"}, "no setting 'mcpServers.x.comand' (from command line), did you mean 'command'?"),
    ],
)
def test_mistakes_are_named_with_their_location(read: Read, server: dict[str, Any], said: str):
    with pytest.raises(InvalidInput) as caught:
        read(mcpServers={"x": server})
    assert said in caught.value.message


def test_a_profile_of_a_model_with_a_wrong_field_is_named(read: Read):
    with pytest.raises(InvalidInput) as caught:
        read(models={"profiles": {"mine": {"base_uri": "http://x"}}})
    assert "no setting 'models.profiles.mine.base_uri'" in caught.value.message
    assert "did you mean 'base_url'?" in caught.value.message
