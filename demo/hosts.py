"""The lines that a user pastes into an MCP host."""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

RELEASED = ("uvx", "outrider", "mcp")


def checkout() -> tuple[str, ...]:
    """The command of this very environment."""
    return (str(Path(sys.executable).with_name("outrider")), "mcp")


def lines(command: Sequence[str]) -> list[tuple[str, str]]:
    """(host, line) for each host that this machine's user may have."""
    server = {"command": command[0], "args": list(command[1:])}
    typed = shlex.join(command)
    named = {"name": "outrider"} | server
    return [
        ("Claude Code", f"claude mcp add outrider -- {typed}"),
        ("Codex", f"codex mcp add outrider -- {typed}"),
        ("VS Code", f"code --add-mcp {shlex.quote(json.dumps(named))}"),
        ("Cursor", f"~/.cursor/mcp.json: {json.dumps({'mcpServers': {'outrider': server}})}"),
    ]
