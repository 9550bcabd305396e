"""The entry that starts Outrider in a host."""

import shutil
import sys
from pathlib import Path
from typing import Any

from outrider.cli.hosts.catalogue import Host
from outrider.core.installation import Installation


def build_entry(host: Host, command: list[str]) -> dict[str, Any]:
    """Return the fields with which a host starts a command."""
    goose_timeout_s = 300
    program, *arguments = command
    if host.entry == "goose":
        return {
            "name": "outrider",
            "type": "stdio",
            "description": "Search, read and browse the web",
            "enabled": True,
            "cmd": program,
            "args": arguments,
            "envs": {},
            "timeout": goose_timeout_s,
        }
    kind = {"type": "stdio"} if host.entry == "typed" else {}
    return {**kind, "command": program, "args": arguments}


def find_command(installation: Installation, arguments: list[str], *, project: bool) -> list[str]:
    """Return the command that starts `outrider mcp` as it is installed here.

    Programs are absolute paths, because hosts with a window often lack the shell's PATH. In a project, which others
    share, they are names where the installer puts them on the PATH.
    """
    if installation.method == "uvx":
        program = "uvx" if project else shutil.which("uvx") or "uvx"
        return [program, "outrider", "mcp", *arguments]
    if project and installation.method in {"uv tool", "pipx"}:
        return ["outrider", "mcp", *arguments]
    script = Path(sys.prefix, *(("Scripts", "outrider.exe") if sys.platform == "win32" else ("bin", "outrider")))
    linked = shutil.which("outrider")
    if linked and Path(linked).resolve() == script.resolve():
        script = Path(linked)
    return [*([str(script.absolute())] if script.exists() else [sys.executable, "-m", "outrider"]), "mcp", *arguments]
