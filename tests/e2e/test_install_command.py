"""`outrider install` writes its entry into the settings of hosts, and leaves the rest alone."""

import json
import os
import re
import sys
import tomllib
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import anyio
import pytest
import yaml
from mcp import Client, StdioServerParameters

from outrider.cli.hosts.catalogue import HOSTS, find_folders
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
# The places where each host reads its servers on Linux, by its documentation: file, key, and a project's file.
CONFIG_FILES = {
    "claude": (".claude.json", "mcpServers", ".mcp.json"),
    "codex": (".codex/config.toml", "mcp_servers", ".codex/config.toml"),
    "cursor": (".cursor/mcp.json", "mcpServers", ".cursor/mcp.json"),
    "vscode": (".config/Code/User/mcp.json", "servers", ".vscode/mcp.json"),
    "zed": (".config/zed/settings.json", "context_servers", ".zed/settings.json"),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers", ""),
    "goose": (".config/goose/config.yaml", "extensions", ""),
    "gemini": (".gemini/settings.json", "mcpServers", ".gemini/settings.json"),
    "opencode": (".config/opencode/opencode.json", "mcp", "opencode.json"),
    "kiro": (".kiro/settings/mcp.json", "mcpServers", ".kiro/settings/mcp.json"),
    "lmstudio": (".lmstudio/mcp.json", "mcpServers", ""),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers", ""),
}
WORD_PATTERN = re.compile(r"[^\s,{}\[\]]+")
PARSERS = {".json": json.loads, ".toml": tomllib.loads, ".yaml": yaml.safe_load}
ZED = """// Zed's settings
{
    "theme": "One Dark", // at night
    "context_servers": {
        // mine
        "notes": {"command": "notes", "args": [],}, /* the last */
    },
}
"""
CODEX = """# my settings
model = "gpt" # the good one
[mcp_servers.notes]
command = "notes"
args = [
  "a", # first
]
# of tools
[tools]
web = true
"""
GOOSE = """# my settings
GOOSE_MODEL: big
extensions:
  # always on
  developer:
    enabled: true   # please
    type: builtin
GOOSE_MODE: auto
"""


async def run_install(home: Path, *arguments: str, cwd: Path | None = None) -> CompletedProcess[bytes]:
    """Run the command in that home, without the outer environment."""
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "outrider", "install", *arguments]
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        return await anyio.run_process(command, env=environ, cwd=cwd or home, check=False)


def write_text(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def read_command(entry: dict[str, Any]) -> list[str]:
    """Return the program and arguments of an entry, in any host's format."""
    command = entry.get("command") or entry["cmd"]
    return command if isinstance(command, list) else [command, *entry["args"]]


def read_entry(path: Path, key: str) -> dict[str, Any]:
    return PARSERS[path.suffix](path.read_text())[key]["outrider"]


async def test_every_host_gets_a_working_entry_that_can_be_removed_again(home: Path):
    added = await run_install(home, *CONFIG_FILES)
    again = await run_install(home, *CONFIG_FILES)
    entries = {name: read_entry(home / file, key) for name, (file, key, _) in CONFIG_FILES.items()}
    removed = await run_install(home, "--remove", *CONFIG_FILES)
    commands = {name: read_command(entry) for name, entry in entries.items()}
    program, *arguments = commands["goose"]
    host = StdioServerParameters(command=program, args=[*arguments, "--no-daemon"], env={"HOME": str(home)})
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with Client(host) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}

    assert (added.returncode, again.returncode, removed.returncode) == (0, 0, 0), added.stderr
    assert again.stdout.count(b"already has outrider") == len(CONFIG_FILES)
    assert removed.stdout.count(b"removed from") == len(CONFIG_FILES)
    assert len({tuple(command) for command in commands.values()}) == 1
    assert {name for name, entry in entries.items() if entry.get("type") == "stdio"} == {"claude", "vscode", "goose"}
    assert {"web_search", "web_fetch"} <= names
    for file, key, _ in CONFIG_FILES.values():
        left = PARSERS[Path(file).suffix]((home / file).read_text()) or {}
        assert not left.get(key), file


@pytest.mark.nightly
async def test_other_settings_comments_and_line_ends_are_kept(home: Path):
    cases = [
        ("zed", ZED),
        ("zed", ZED.replace("\n", "\r\n")),
        ("codex", CODEX),
        ("goose", GOOSE),
        ("cursor", '{"mcpServers": {"a": {"command": "b"}}, "x": [1, 2]}'),
        ("claude", '\ufeff{\n\t"numStartups": 3,\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}'),
        (
            "gemini",
            '{\n  "ui": {}, // "mcpServers": {"outrider": {}}\n  "mcpServers": {\n    "a": {} // last\n  }\n}\n',
        ),
    ]
    for name, text in cases:
        file, key, _ = CONFIG_FILES[name]
        path = write_text(home / file, text)
        added = await run_install(home, name)
        assert added.returncode == 0, (name, added.stderr)
        changed = path.read_bytes().decode()
        # Only lines were added, so all earlier lines are still there in the same order.
        left = iter(WORD_PATTERN.findall(changed))
        assert all(word in left for word in WORD_PATTERN.findall(text)), changed
        assert (home / f"{file}.outrider-backup").read_bytes().decode() == text
        assert (await run_install(home, name, "--remove")).returncode == 0
        assert path.read_bytes().decode() == text
        assert key in text


async def test_an_existing_entry_keeps_what_its_user_added(home: Path):
    old = '{\n  "mcpServers": {\n    "outrider": {\n      "command": "old",\n      "env": {"A": "b"} // mine\n    }}}'
    cursor = write_text(home / ".cursor/mcp.json", old)
    codex = write_text(
        home / ".codex/config.toml", '[mcp_servers.outrider]\ncommand = "old"\ntool_timeout_sec = 9 # mine\n'
    )
    done = await run_install(home, "cursor", "codex", "--lean", "--toolsets", "web,browser")
    entries = [json.loads(cursor.read_text().replace("// mine", "")), tomllib.loads(codex.read_text())]
    assert done.returncode == 0, done.stderr
    assert entries[0]["mcpServers"]["outrider"]["env"] == {"A": "b"}
    assert entries[1]["mcp_servers"]["outrider"]["tool_timeout_sec"] == 9
    assert "# mine" in codex.read_text()
    for entry in (entries[0]["mcpServers"]["outrider"], entries[1]["mcp_servers"]["outrider"]):
        assert entry["command"] != "old"
        assert read_command(entry)[1:] == ["mcp", "--lean", "--toolsets", "web,browser"]


async def test_broken_or_unsupported_settings_are_left_alone(home: Path):
    cases = [
        ("cursor", '{\n  "mcpServers": {,}\n}', "line 2, column 18"),
        ("claude", "{\n  // a comment\n}", "line 2, column 3"),
        ("codex", "model = \n", "line 1, column 9"),
        ("goose", "extensions:\n\ta: 1\n", "line 2, column 1"),
        ("goose", "extensions:\n  a: [1\nb: 2\n", "line 3, column 2"),
        ("kiro", "[]", "not an object"),
        ("kiro", '{"mcpServers": []}', "put this into"),
        ("codex", 'mcp_servers = { a = { command = "b" } }\n', "put this into"),
        ("goose", "extensions: {a: {enabled: true}}\n", "put this into"),
        ("goose", "extensions:\n  outrider:\n    cmd: old\n", "put this into"),
    ]  # fmt: skip
    for name, text, reason in cases:
        path = write_text(home / CONFIG_FILES[name][0], text)
        done = await run_install(home, name)
        said = done.stderr.decode()
        assert (done.returncode, path.read_text()) == (2, text), said
        assert str(path) in said
        assert reason in said
        assert "Traceback" not in said
        assert [each.name for each in path.parent.iterdir() if "outrider" in each.name] == []


async def test_a_project_gets_its_own_settings_if_its_host_supports_them(home: Path):
    project = home / "project"
    project.mkdir()
    with_project = [name for name, (_, _, file) in CONFIG_FILES.items() if file]
    done = await run_install(home, "--project", *with_project, cwd=project)
    refused = await run_install(home, "--project", "lmstudio", cwd=project)
    assert done.returncode == 0, done.stderr
    for name in with_project:
        _, key, file = CONFIG_FILES[name]
        assert read_command(read_entry(project / file, key))[1:] == ["mcp"]
    assert refused.returncode == 2
    assert b"without --project" in refused.stderr


async def test_entries_can_be_printed_instead_of_written_and_hosts_listed(home: Path):
    (home / ".cursor").mkdir()
    printed = {name: await run_install(home, name, "--print") for name in CONFIG_FILES}
    listed = await run_install(home)
    for name, (file, key, _) in CONFIG_FILES.items():
        values = PARSERS[Path(file).suffix](printed[name].stdout.decode())
        assert [*values] == [key]
        assert file in printed[name].stderr.decode()
        assert not (home / file).exists()
    assert [line.split()[0] for line in listed.stdout.decode().splitlines()] == [*CONFIG_FILES]
    assert b"try: outrider install cursor\n" in listed.stderr
    as_json = {
        words: json.loads((await run_install(home, *words, "--json")).stdout)
        for words in ((), ("zed",), ("zed", "--remove"))
    }
    assert [each["host"] for each in as_json[()] if each["found"]] == ["cursor"]
    [added], [removed] = as_json[("zed",)], as_json[("zed", "--remove")]
    assert (added["changed"], added["backup"], added["starts"][-1]) == (True, None, "mcp")
    assert (removed["changed"], Path(removed["backup"]).parent) == (True, Path(added["file"]).parent)


async def test_a_link_to_settings_stays_a_link_and_permissions_stay(home: Path):
    target = write_text(home / "dotfiles" / "mcp.json", "{}")
    target.chmod(0o600)
    link = home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(target)
    done = await run_install(home, "cursor")
    assert done.returncode == 0, done.stderr
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert "outrider" in json.loads(target.read_text())["mcpServers"]


def test_each_system_has_its_own_settings_locations():
    home, roaming = Path("/h"), "/h/AppData/Roaming"
    support = "/h/Library/Application Support"
    places = {
        ("vscode", "darwin"): f"{support}/Code/User/mcp.json",
        ("vscode", "win32"): f"{roaming}/Code/User/mcp.json",
        ("zed", "darwin"): "/h/.config/zed/settings.json",
        ("zed", "win32"): f"{roaming}/Zed/settings.json",
        ("goose", "darwin"): "/h/.config/goose/config.yaml",
        ("goose", "win32"): f"{roaming}/Block/goose/config/config.yaml",
        ("claude-desktop", "darwin"): f"{support}/Claude/claude_desktop_config.json",
        ("claude-desktop", "win32"): f"{roaming}/Claude/claude_desktop_config.json",
    }
    for (name, system), place in places.items():
        assert HOSTS[name].get_user_file(find_folders({}, home, system), system) == Path(place)
    moved = find_folders({"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d"}, home, "linux")
    assert HOSTS["zed"].get_user_file(moved, "linux") == Path("/x/zed/settings.json")
    assert HOSTS["codex"].get_user_file(moved, "linux") == Path("/c/config.toml")
    assert HOSTS["claude"].get_user_file(moved, "linux") == Path("/d/.claude.json")
