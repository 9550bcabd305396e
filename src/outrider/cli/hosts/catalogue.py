"""The hosts that `outrider install` knows, as their documentation describes them.

`outrider skill install` uses them, too.
"""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from outrider.core.errors import InvalidInput
from outrider.core.installation import Installation

FileFormat = Literal["json", "jsonc", "toml", "yaml"]
EntryStyle = Literal["plain", "typed", "goose", "opencode"]


@dataclass(frozen=True)
class Host:
    """A program that starts MCP servers.

    Attributes:
        name: Its name on the command line.
        title: Its name for people.
        user_file: Its settings for all projects: one path, or one for each of Linux, macOS and Windows. `{home}`,
            `{config}` (the system's folder for settings), `{claude}` and `{codex}` are filled in.
        project_file: Its settings for one project; empty if it has none.
        servers_key: Key of the object that holds the servers.
        entry: Fields of a server: command and args, with `type: stdio`, or those of Goose or opencode.
        user_skills: Its folder of skills for all projects; empty if it reads none.
        project_skills: Its folder of skills in a project.
        folder: Folder that exists if the host was ever used; empty if it is that of `user_file`.
    """

    name: str
    title: str
    documentation: str
    user_file: str | tuple[str, str, str]
    project_file: str
    folder: str = ""
    file_format: FileFormat = "json"
    servers_key: str = "mcpServers"
    entry: EntryStyle = "plain"
    user_skills: str = ""
    project_skills: str = ""

    def get_user_file(self, folders: Mapping[str, str], system: str = sys.platform) -> Path:
        """Return the path of the settings for all projects.

        `system` is a value of `sys.platform`.
        """
        if isinstance(self.user_file, str):
            return Path(self.user_file.format_map(folders))
        number = {"darwin": 1, "win32": 2}.get(system, 0)
        return Path(self.user_file[number].format_map(folders))

    def choose_file(self, folders: Mapping[str, str], *, project: bool) -> Path:
        """Return the path of the settings for this directory's project, or for all projects. Raises InvalidInput."""
        if not project:
            return self.get_user_file(folders)
        if not self.project_file:
            raise InvalidInput(
                f"--project: {self.title} has no settings for a project", hint="repeat without --project"
            )
        return Path.cwd() / self.project_file


SHARED_SKILLS = ".agents/skills"  # read by most hosts in a project
HOSTS = {
    host.name: host
    for host in (
        Host(
            name="claude",
            title="Claude Code",
            documentation="https://code.claude.com/docs/en/mcp",
            user_file="{claude_settings}/.claude.json",
            project_file=".mcp.json",
            folder="{claude}",
            entry="typed",
            user_skills="{claude}/skills",
            project_skills=".claude/skills",
        ),
        Host(
            name="codex",
            title="Codex",
            documentation="https://developers.openai.com/codex/mcp",
            user_file="{codex}/config.toml",
            project_file=".codex/config.toml",
            file_format="toml",
            servers_key="mcp_servers",
            user_skills="{codex}/skills",
            project_skills=SHARED_SKILLS,
        ),
        Host(
            name="cursor",
            title="Cursor",
            documentation="https://cursor.com/docs/context/mcp",
            user_file="{home}/.cursor/mcp.json",
            project_file=".cursor/mcp.json",
            file_format="jsonc",
            user_skills="{home}/.cursor/skills",
            project_skills=SHARED_SKILLS,
        ),
        Host(
            name="vscode",
            title="VS Code",
            documentation="https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
            user_file="{config}/Code/User/mcp.json",
            project_file=".vscode/mcp.json",
            file_format="jsonc",
            servers_key="servers",
            entry="typed",
            user_skills="{home}/.copilot/skills",
            project_skills=SHARED_SKILLS,
        ),
        Host(
            name="zed",
            title="Zed",
            documentation="https://zed.dev/docs/ai/mcp",
            user_file=("{xdg}/zed/settings.json", "{home}/.config/zed/settings.json", "{config}/Zed/settings.json"),
            project_file=".zed/settings.json",
            file_format="jsonc",
            servers_key="context_servers",
            user_skills="{home}/.agents/skills",
            project_skills=SHARED_SKILLS,
        ),
        Host(
            name="windsurf",
            title="Windsurf",
            documentation="https://docs.windsurf.com/windsurf/cascade/mcp",
            user_file="{home}/.codeium/windsurf/mcp_config.json",
            project_file="",
            user_skills="{home}/.codeium/windsurf/skills",
            project_skills=".windsurf/skills",
        ),
        Host(
            name="goose",
            title="Goose",
            documentation="https://block.github.io/goose/docs/guides/config-files",
            user_file=(
                "{xdg}/goose/config.yaml",
                "{home}/.config/goose/config.yaml",
                "{config}/Block/goose/config/config.yaml",
            ),
            project_file="",
            file_format="yaml",
            servers_key="extensions",
            entry="goose",
            user_skills="{xdg}/goose/skills",
            project_skills=".goose/skills",
        ),
        Host(
            name="gemini",
            title="Gemini CLI",
            documentation="https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
            user_file="{home}/.gemini/settings.json",
            project_file=".gemini/settings.json",
            file_format="jsonc",
            user_skills="{home}/.gemini/skills",
            project_skills=SHARED_SKILLS,
        ),
        Host(
            name="opencode",
            title="opencode",
            # Version 2 reads the entries of version 1, so this one works for both.
            documentation="https://opencode.ai/docs/mcp-servers",
            user_file="{xdg}/opencode/opencode.json",
            project_file="opencode.json",
            file_format="jsonc",
            servers_key="mcp",
            entry="opencode",
            user_skills="{xdg}/opencode/skills",
            project_skills=SHARED_SKILLS,
        ),
        Host(
            name="kiro",
            title="Kiro",
            documentation="https://kiro.dev/docs/mcp/configuration",
            user_file="{home}/.kiro/settings/mcp.json",
            project_file=".kiro/settings/mcp.json",
            folder="{home}/.kiro",
            user_skills="{home}/.kiro/skills",
            project_skills=".kiro/skills",
        ),
        Host(
            name="lmstudio",
            title="LM Studio",
            documentation="https://lmstudio.ai/docs/app/mcp",
            user_file="{home}/.lmstudio/mcp.json",
            project_file="",
        ),
        Host(
            name="claude-desktop",
            title="Claude Desktop",
            documentation="https://modelcontextprotocol.io/docs/develop/connect-local-servers",
            user_file="{config}/Claude/claude_desktop_config.json",
            project_file="",
        ),
    )
}


def find_folders(environ: Mapping[str, str], home: Path, system: str = sys.platform) -> dict[str, str]:
    """Return the folders for the placeholders in hosts' paths."""
    xdg = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    config = {
        "darwin": f"{home}/Library/Application Support",
        "win32": environ.get("APPDATA") or f"{home}/AppData/Roaming",
    }.get(system, xdg)
    claude = environ.get("CLAUDE_CONFIG_DIR")
    return {
        "home": str(home),
        "config": config,
        "xdg": xdg,
        "claude": claude or f"{home}/.claude",
        "claude_settings": claude or str(home),
        "codex": environ.get("CODEX_HOME") or f"{home}/.codex",
    }


def find_used_hosts(folders: Mapping[str, str]) -> list[Host]:
    """Return the hosts that have been used on this machine."""

    def is_used(host: Host) -> bool:
        folder = Path(host.folder.format_map(folders)) if host.folder else host.get_user_file(folders).parent
        return folder.is_dir()

    return [host for host in HOSTS.values() if is_used(host)]


def build_entry(host: Host, command: list[str]) -> dict[str, Any]:
    """Return the fields by which a host starts a command."""
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
    if host.entry == "opencode":
        return {"type": "local", "command": command, "enabled": True}
    kind = {"type": "stdio"} if host.entry == "typed" else {}
    return {**kind, "command": program, "args": arguments}


def find_command(installation: Installation, arguments: list[str], *, project: bool) -> list[str]:
    """Return the command that starts `outrider mcp` as it is installed here.

    Programs are absolute paths, because hosts with a window often lack the shell's PATH. In a project, which others
    share, they are names if the installer puts them on the PATH.
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
