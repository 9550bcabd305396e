"""`outrider workspace`: manage a team's workspaces and members."""

from typing import Any

import click

from outrider.app import open_app
from outrider.cli.command_group import HelpfulGroup
from outrider.cli.commands.token import ROLE_CHOICE, format_time
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_json

NAME_ARGUMENT = click.argument("name", metavar="WORKSPACE")
PERSON_ARGUMENT = click.argument("person")
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Create and list workspaces and their members."""


@command.command()
@NAME_ARGUMENT
@click.option("--owner", default="", help="Person to add as its owner.")
@add_settings_option
@async_command
async def create(name: str, sets: tuple[str, ...], owner: str) -> None:
    """Create a workspace."""
    await _apply_change(sets, "workspace.create", name, owner, lambda workspaces: workspaces.create(name, owner))
    click.echo(f"workspace {name} created{f', owner: {owner}' if owner else ''}")


@command.command("list")
@JSON_OPTION
@add_settings_option
@async_command
async def list_workspaces(sets: tuple[str, ...], *, as_json: bool) -> None:
    """List workspaces."""
    async with open_app(load_settings(sets)) as app:
        found = await app.identity().workspaces.list_workspaces()
    rows = [vars(each) | {"created_at": format_time(each.created_at)} for each in found]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(f"{row['name']}  {row['members']} member{'s' * (row['members'] != 1)}  since {row['created_at']}")
    if not rows:
        click.echo("there are no workspaces yet: outrider workspace create <name> --owner <person>")


@command.command()
@NAME_ARGUMENT
@JSON_OPTION
@add_settings_option
@async_command
async def members(name: str, sets: tuple[str, ...], *, as_json: bool) -> None:
    """List the members of a workspace."""
    async with open_app(load_settings(sets)) as app:
        found = await app.identity().workspaces.list_members(name)
    rows = [vars(each) | {"added_at": format_time(each.added_at)} for each in found]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(f"{row['person']}  {row['role']}  since {row['added_at']}")


@command.command()
@NAME_ARGUMENT
@PERSON_ARGUMENT
@click.option(
    "--role", type=ROLE_CHOICE, default="member", show_default=True, help="Viewers may use only tools that read."
)
@add_settings_option
@async_command
async def add(name: str, person: str, sets: tuple[str, ...], role: Any) -> None:
    """Add a person to a workspace, or change their role."""
    detail = f"{person} as {role}"
    await _apply_change(sets, "member.add", name, detail, lambda workspaces: workspaces.add_member(name, person, role))
    click.echo(f"{person} is now {role} of {name}")


@command.command()
@NAME_ARGUMENT
@PERSON_ARGUMENT
@add_settings_option
@async_command
async def remove(name: str, person: str, sets: tuple[str, ...]) -> None:
    """Remove a person from a workspace; their tokens lose access within two seconds."""
    await _apply_change(sets, "member.remove", name, person, lambda workspaces: workspaces.remove_member(name, person))
    click.echo(f"{person} was removed from {name}")


async def _apply_change(sets: tuple[str, ...], action: str, name: str, detail: str, change: Any) -> None:
    """Apply the change and record it in the audit."""
    async with open_app(load_settings(sets)) as app:
        identity = app.identity()
        await change(identity.workspaces)
        await identity.audit.record(action, detail or name, workspace=name, credential="command line")
