"""`outrider install`: put Outrider into the settings of the programs that use it."""

import os
import shlex
from pathlib import Path

import click

from outrider.cli.hosts.catalogue import HOSTS, find_folders, find_used_hosts
from outrider.cli.hosts.editors import EDITORS
from outrider.cli.hosts.server_entry import build_entry, find_command
from outrider.cli.hosts.settings_file import SERVER_NAME, plan_change
from outrider.core.installation import get_installation


@click.command()
@click.argument("hosts", nargs=-1, type=click.Choice([*HOSTS]), metavar="[HOST]…")
@click.option("--project", is_flag=True, help="Into the settings of this directory's project.")
@click.option("--toolsets", metavar="A,B|all", help="Toolsets to serve; the default ones if not given.")
@click.option("--lean", is_flag=True, help="List two tools, which find and call all others.")
@click.option("--print", "only_print", is_flag=True, help="Print what would be added, and change nothing.")
@click.option("--remove", is_flag=True, help="Take Outrider out again.")
def command(
    hosts: tuple[str, ...], toolsets: str | None, *, lean: bool, project: bool, only_print: bool, remove: bool
) -> None:
    """Add Outrider's MCP server to the settings of HOSTs.

    Hosts: claude, codex, cursor, vscode, zed, windsurf, goose, gemini, kiro, lmstudio, claude-desktop; without one,
    show which were found here. Other settings and comments stay, and a backup is made of a file that changes.
    """
    folders = find_folders(os.environ, Path.home())
    if not hosts:
        _print_hosts(folders)
    arguments = [*(["--lean"] if lean else []), *(["--toolsets", toolsets] if toolsets else [])]
    for host in (HOSTS[name] for name in dict.fromkeys(hosts)):
        path = host.choose_file(folders, project=project)
        entry = build_entry(host, find_command(get_installation(), arguments, project=project))
        if only_print:
            click.echo(f"{path}:", err=True)
            click.echo(EDITORS[host.file_format].show(host.servers_key, SERVER_NAME, entry), nl=False)
            continue
        change = plan_change(host, path, None if remove else entry)
        if not change.is_needed:
            click.echo(f"{host.title}: {path} {'has no outrider' if remove else 'has outrider already'}")
            continue
        backup = change.write()
        kept = f" (backup: {backup})" if backup else ""
        click.echo(f"{host.title}: outrider {'removed from' if remove else 'added to'} {path}{kept}")
        if not remove:
            started = shlex.join([entry.get("command") or entry["cmd"], *entry["args"]])
            click.echo(f"  it starts {started}; restart {host.title} to see its tools")


def _print_hosts(folders: dict[str, str]) -> None:
    used = find_used_hosts(folders)
    for host in HOSTS.values():
        found = "found" if host in used else "not found"
        click.echo(f"{host.name:<15} {host.title:<15} {found:<10} {host.get_user_file(folders)}")
    names = " ".join(host.name for host in used) or "claude"
    click.echo(f"try: outrider install {names}", err=True)
