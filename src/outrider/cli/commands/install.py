"""`outrider install`: put Outrider into the settings of the programs that use it."""

import os
import shlex
from pathlib import Path
from typing import Any

import click

from outrider.cli.hosts.catalogue import HOSTS, Host, build_entry, find_command, find_folders, find_used_hosts
from outrider.cli.hosts.editors import EDITORS
from outrider.cli.hosts.settings_file import SERVER_NAME, plan_change
from outrider.cli.output import print_json
from outrider.core.installation import get_installation


@click.command()
@click.argument("hosts", nargs=-1, type=click.Choice([*HOSTS]), metavar="[HOST]…")
@click.option("--project", is_flag=True, help="Add it to the settings of this directory's project.")
@click.option("--toolsets", metavar="A,B|all", help="Toolsets to serve [default: the default ones].")
@click.option("--lean", is_flag=True, help="List two tools, which find and call all others.")
@click.option("--print", "only_print", is_flag=True, help="Print what would be added, and change nothing.")
@click.option("--remove", is_flag=True, help="Remove Outrider.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: hosts, files and changes.")
def command(
    hosts: tuple[str, ...],
    toolsets: str | None,
    *,
    lean: bool,
    project: bool,
    only_print: bool,
    remove: bool,
    as_json: bool,
) -> None:
    """Add Outrider's MCP server to the settings of HOSTs.

    Hosts: claude, codex, cursor, vscode, zed, windsurf, goose, gemini, opencode, kiro, lmstudio, claude-desktop;
    without one, show which were found here. Other settings and comments stay; a file that changes is backed up.
    """
    folders = find_folders(os.environ, Path.home())
    if not hosts:
        _print_hosts(folders, as_json=as_json)
        return
    arguments = [*(["--lean"] if lean else []), *(["--toolsets", toolsets] if toolsets else [])]
    done: list[dict[str, Any]] = []
    for host in (HOSTS[name] for name in dict.fromkeys(hosts)):
        path = host.choose_file(folders, project=project)
        command = find_command(get_installation(), arguments, project=project)
        if not only_print:
            done.append(_change_settings(host, path, None if remove else command, quiet=as_json))
            continue
        entry_text = EDITORS[host.file_format].show(host.servers_key, SERVER_NAME, build_entry(host, command))
        done.append({"host": host.name, "file": str(path), "entry": entry_text})
        if not as_json:
            click.echo(f"{path}:", err=True)
            click.echo(entry_text, nl=False)
    if as_json:
        print_json(done)


def _change_settings(host: Host, path: Path, starts: list[str] | None, *, quiet: bool) -> dict[str, Any]:
    """Write a command's entry, or remove it for None; return the change."""
    remove = starts is None
    change = plan_change(host, path, None if starts is None else build_entry(host, starts))
    backup = change.write() if change.is_needed else None
    if not quiet and not change.is_needed:
        click.echo(f"{host.title}: {path} {'has no outrider' if remove else 'already has outrider'}")
    elif not quiet:
        backup_note = f" (backup: {backup})" if backup else ""
        click.echo(f"{host.title}: outrider {'removed from' if remove else 'added to'} {path}{backup_note}")
        if starts:
            click.echo(f"  it runs {shlex.join(starts)}; restart {host.title} to see its tools")
    done = {"changed": change.is_needed, "backup": str(backup) if backup else None, "starts": starts}
    return {"host": host.name, "file": str(path), **done}


def _print_hosts(folders: dict[str, str], *, as_json: bool) -> None:
    used = find_used_hosts(folders)
    hosts = [
        {"host": host.name, "title": host.title, "found": host in used, "file": str(host.get_user_file(folders))}
        for host in HOSTS.values()
    ]
    if as_json:
        print_json(hosts)
        return
    for each in hosts:
        found = "found" if each["found"] else "not found"
        click.echo(f"{each['host']:<15} {each['title']:<15} {found:<10} {each['file']}")
    names = " ".join(host.name for host in used) or "claude"
    click.echo(f"try: outrider install {names}", err=True)
