"""`outrider skill`: the skill that teaches coding agents to use this command."""

import os
from pathlib import Path

import click

from outrider.cli.command_group import HelpfulGroup
from outrider.cli.hosts.catalogue import HOSTS, SHARED_SKILLS, find_folders, find_used_hosts
from outrider.cli.output import print_json
from outrider.core.errors import InvalidInput
from outrider.skills import REFERENCES, SKILL_FOLDER

SKILL_HOSTS = [host.name for host in HOSTS.values() if host.user_skills]


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Show or install the skill that teaches coding agents this command."""


@command.command("show")
@click.argument("name", required=False)
def show_skill(name: str | None) -> None:
    """Print the skill, or its reference NAME."""
    path = REFERENCES.get(name.removesuffix(".md")) if name else SKILL_FOLDER / "SKILL.md"
    if path is None:
        raise InvalidInput(f"the skill has no reference {name!r}", hint=f"there are {', '.join(REFERENCES)}")
    click.echo(path.read_text("utf-8"), nl=False)


@command.command("install")
@click.option(
    "--host",
    "hosts",
    type=click.Choice(SKILL_HOSTS),
    multiple=True,
    help="For this host (repeatable) [default: those that are found here].",
)
@click.option("--project", is_flag=True, help="Install into this directory's project, for all who work on it.")
@click.option("--remove", is_flag=True, help="Delete the skill's files.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: folders, and whether they changed.")
def install_skill(hosts: tuple[str, ...], *, project: bool, remove: bool, as_json: bool) -> None:
    """Copy the skill to where hosts look for skills. Repeat it after an upgrade."""
    done = []
    folders = find_folders(os.environ, Path.home())
    chosen = [HOSTS[name] for name in hosts] or [host for host in find_used_hosts(folders) if host.user_skills]
    if project:
        parents = [Path.cwd() / host.project_skills for host in chosen] or [Path.cwd() / SHARED_SKILLS]
    else:
        parents = [Path(host.user_skills.format_map(folders)) for host in chosen] or [Path.home() / SHARED_SKILLS]
    for folder in (parent / SKILL_FOLDER.name for parent in dict.fromkeys(parents)):
        try:
            changed = _remove_files(folder) if remove else _copy_files(folder)
        except OSError as error:
            raise InvalidInput(f"{error.filename or folder} cannot be written: {error.strerror}") from error
        done.append({"folder": str(folder), "changed": changed})
        if not as_json:
            place = f"{'removed from' if remove else 'installed in'} {folder}"
            click.echo(f"skill {place}" if changed else f"skill: no change in {folder}")
    if as_json:
        print_json(done)


def _list_files() -> list[Path]:
    return [path.relative_to(SKILL_FOLDER) for path in sorted(SKILL_FOLDER.rglob("*.md"))]


def _copy_files(folder: Path) -> bool:
    """Copy the skill's files that are missing or differ; return whether there were any."""
    changed = False
    for name in _list_files():
        data, target = (SKILL_FOLDER / name).read_bytes(), folder / name
        if not target.is_file() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            changed = True
    return changed


def _remove_files(folder: Path) -> bool:
    """Delete the skill's files and the folders that are empty then; return whether there were any."""
    found = [folder / name for name in _list_files() if (folder / name).is_file()]
    for path in found:
        path.unlink()
    for each in (folder / "references", folder):
        if each.is_dir() and not any(each.iterdir()):
            each.rmdir()
    return bool(found)
