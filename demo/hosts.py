"""Commands and settings that add Outrider to MCP hosts."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

RELEASE_COMMAND = ("uvx", "outrider", "mcp")


def get_checkout_command() -> tuple[str, ...]:
    """Return the command of this environment."""
    return (str(Path(sys.executable).with_name("outrider")), "mcp")


def list_host_lines(command: Sequence[str]) -> list[tuple[str, str]]:
    """Return the name and the line to paste for each host."""
    server = {"command": command[0], "args": list(command[1:])}
    typed = shlex.join(command)
    named = {"name": "outrider"} | server
    return [
        ("Claude Code", f"claude mcp add outrider -- {typed}"),
        ("Codex", f"codex mcp add outrider -- {typed}"),
        ("VS Code", f"code --add-mcp {shlex.quote(json.dumps(named))}"),
        ("Cursor", f"~/.cursor/mcp.json: {json.dumps({'mcpServers': {'outrider': server}})}"),
    ]
