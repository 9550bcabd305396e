"""The manifests with which hosts install the repository as a plugin follow their formats and name one version."""

import base64
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest

from outrider import __version__
from outrider.skills import SKILL_FOLDER
from support.checkout import CHECKOUT

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
NAME = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
TEXT_SCHEMA = {"type": "string", "minLength": 1}
SERVERS: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "type": "object",
        "properties": {"command": TEXT_SCHEMA, "args": {"type": "array", "items": TEXT_SCHEMA}},
        "required": ["command"],
        "additionalProperties": False,
    },
}
# Requirements of the formats' documentation: code.claude.com/docs/en/plugins-reference and plugin-marketplaces,
# geminicli.com/docs/extensions/reference.
AUTHOR = {"type": "object", "properties": {"name": TEXT_SCHEMA}, "required": ["name"]}
PLUGIN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": NAME,
        "version": TEXT_SCHEMA,
        "description": TEXT_SCHEMA,
        "author": AUTHOR,
        "license": TEXT_SCHEMA,
        "keywords": {"type": "array", "items": TEXT_SCHEMA},
        "mcpServers": SERVERS,
    },
    "required": ["name", "version"],
    "additionalProperties": False,
}
MARKETPLACE = {
    "type": "object",
    "properties": {
        "name": NAME,
        "description": TEXT_SCHEMA,
        "owner": AUTHOR,
        "plugins": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": NAME,
                    "source": {"type": "string", "pattern": r"^\./"},
                    "description": TEXT_SCHEMA,
                },
                "required": ["name", "source"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["name", "owner", "plugins"],
    "additionalProperties": False,
}
# cursor.com/schemas/cursor-plugin/plugin.json
CURSOR = PLUGIN | {
    "properties": PLUGIN["properties"]
    | {
        "displayName": TEXT_SCHEMA,
        "skills": {"type": "string", "pattern": r"^\./"},
    }
}
# agent-plugins.org/schemas/1.0.0, two closed schemas: a manifest at the root, servers next to it, skills in skills/.
OPEN_PLUGIN = PLUGIN | {
    "properties": {name: rule for name, rule in PLUGIN["properties"].items() if name != "mcpServers"}
    | {"$schema": {"const": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"}},
    "required": ["$schema", "name", "version"],
}
STDIO_SERVER: dict[str, Any] = SERVERS["additionalProperties"]
OPEN_SERVERS = {
    "type": "object",
    "properties": {
        "$schema": {"const": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"},
        "mcpServers": SERVERS
        | {
            "additionalProperties": STDIO_SERVER
            | {"properties": STDIO_SERVER["properties"] | {"type": {"const": "stdio"}}, "required": ["type", "command"]}
        },
    },
    "required": ["$schema", "mcpServers"],
    "additionalProperties": False,
}
MANIFESTS = {
    "plugin.json": (OPEN_PLUGIN, []),
    "mcp.json": (OPEN_SERVERS, ["--from", "${PLUGIN_ROOT}", "outrider"]),
    ".claude-plugin/plugin.json": (PLUGIN, ["--from", "${CLAUDE_PLUGIN_ROOT}", "outrider"]),
    ".claude-plugin/marketplace.json": (MARKETPLACE, []),
    # Cursor names no variable for the plugin's folder in the settings of servers.
    ".cursor-plugin/plugin.json": (CURSOR, [f"outrider@{__version__}"]),
    "gemini-extension.json": (PLUGIN, ["--from", "${extensionPath}", "outrider"]),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_follows_its_format_and_starts_this_version(name: str):
    schema, package = MANIFESTS[name]
    manifest: dict[str, Any] = json.loads((CHECKOUT / name).read_text())
    jsonschema.validate(manifest, schema)
    assert manifest.get("version", __version__) == __version__
    for server in manifest.get("mcpServers", {}).values():
        # The package is that of the folder that the host has copied, so that skill and server have the same version.
        assert [server["command"], *server["args"]] == ["uvx", *package, "mcp"]
    for plugin in manifest.get("plugins", []):
        assert (CHECKOUT / plugin["source"] / ".claude-plugin" / "plugin.json").is_file()


def test_the_plugins_skill_folder_is_the_packages():
    assert (CHECKOUT / "skills").resolve() == SKILL_FOLDER.parent


def test_the_version_of_the_package_is_that_of_its_metadata():
    found = re.search(r'^version = "(.+)"$', (CHECKOUT / "pyproject.toml").read_text(), re.MULTILINE)
    assert found
    assert found[1] == __version__


def test_each_install_button_of_the_readme_starts_the_released_server():
    links = re.findall(r"\]\((https://[^)\s]+(?:install-mcp|mcp/install|mcp/add|goose/extension)\?[^)\s]+)\)", README)
    started = {urlsplit(link).hostname: read_started_command(link) for link in links}
    assert len(started) == len(links) == 5
    assert set(started.values()) == {("uvx", "outrider", "mcp")}


def read_started_command(link: str) -> tuple[str, ...]:
    """Return the command in a link that installs a server: plain JSON, Base64 or single fields."""
    fields = parse_qs(urlsplit(link).query)
    if "cmd" in fields:
        return (*fields["cmd"], *fields["arg"])
    [config] = fields["config"]
    entry = json.loads(config if config.startswith("{") else base64.b64decode(config, validate=True))
    assert fields["name"] == ["outrider"]
    return (entry["command"], *entry["args"])
