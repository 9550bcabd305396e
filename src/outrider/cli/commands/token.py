"""`outrider token`: create, list and revoke bearer tokens of a team."""

import time
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from outrider.app import open_app
from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_json, print_notes
from outrider.core.errors import InvalidInput

if TYPE_CHECKING:
    from outrider.identity.tokens import TokenRecord

ROLE_CHOICE = click.Choice(["viewer", "member", "owner"])


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Create, list and revoke tokens for callers of `outrider serve` (setting identity.tokens)."""


@command.command()
@click.argument("person")
@click.option("--label", default="", help="What it is for.")
@click.option(
    "--workspace",
    "workspaces",
    multiple=True,
    help="Where it is valid (repeatable) [default: all the person's].",
)
@click.option("--toolsets", metavar="A,B", help="Toolsets it grants, and dashboard [default: all toolsets].")
@click.option("--role", type=ROLE_CHOICE, default="owner", show_default=True, help="Highest role it grants.")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), default=90, show_default=True)
@click.option("--forever", is_flag=True, help="Valid until revoked.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def create(person: str, sets: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Create a token for PERSON, who must be in a workspace. It is shown only once."""
    settings = load_settings(sets)
    token, secret = await _create_token(settings, person, options)
    if as_json:
        print_json(_serialize_token(token) | {"token": secret})
    else:
        click.echo(secret)
        workspace_names = ", ".join(token.workspaces) or "all their workspaces"
        toolset_names = "all toolsets" if token.toolsets is None else ", ".join(token.toolsets)
        end = token.expires_at
        until = "it is revoked" if end is None else datetime.fromtimestamp(end).astimezone().date().isoformat()
        click.echo(f"{token.id} for {person}: {workspace_names}; {toolset_names}; until {until}", err=True)
        click.echo("It is not shown again: store it where you keep secrets.", err=True)
    if not settings.settings.identity.tokens:
        print_notes(
            ["`outrider serve` asks for tokens only with identity.tokens=true (OUTRIDER_IDENTITY__TOKENS=true)"]
        )


@command.command("list")
@click.option("--person", default="", help="Only tokens of this person.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def list_tokens(sets: tuple[str, ...], person: str, *, as_json: bool) -> None:
    """List tokens, newest first, never their values."""
    async with open_app(load_settings(sets)) as app:
        rows = [_serialize_token(each) for each in await app.identity().tokens.list_tokens(person)]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        places = ",".join(row["workspaces"]) or "*"
        tools = "*" if row["toolsets"] is None else ",".join(row["toolsets"])
        used = row["used_at"] or "never"
        click.echo(
            f"{row['id']}  {row['state']:<7}  {row['person']}  {row['role']}  in {places}  for {tools}  "
            f"until {row['expires_at'] or 'revoked'}  used {used}  {row['label']}".rstrip()
        )
    if not rows:
        click.echo("there are no tokens yet: outrider token create <person>")


@command.command()
@click.argument("token_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def revoke(token_id: str, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Revoke the token ID permanently. Every replica rejects it within two seconds."""
    async with open_app(load_settings(sets)) as app:
        token = await app.identity().tokens.revoke(token_id)
        await app.identity().audit.record("token.revoke", f"{token.id} of {token.person}", credential="command line")
    if as_json:
        print_json(_serialize_token(token))
    else:
        click.echo(f"{token.id} of {token.person} is revoked")


async def _create_token(settings: Any, person: str, options: dict[str, Any]) -> "tuple[TokenRecord, str]":
    async with open_app(settings) as app:
        identity = app.identity()
        token, secret = await identity.tokens.create(
            person,
            label=options["label"],
            role=options["role"],
            workspaces=options["workspaces"],
            toolsets=_parse_toolsets(app.all_toolsets, settings.settings.mcpServers, options["toolsets"]),
            days=None if options["forever"] else options["days"],
        )
        await identity.audit.record("token.create", f"{token.id} for {token.person}", credential="command line")
        return token, secret


def _parse_toolsets(every: dict[str, Any], servers: Iterable[str], text: str | None) -> tuple[str, ...] | None:
    """Return the names of toolsets and MCP servers. Raises InvalidInput for an unknown one."""
    if text is None or text.strip() == "all":
        return None
    from outrider.agents.remote_tools import build_toolset_name

    known = {name: build_toolset_name(name) for name in servers} | {"dashboard": "dashboard"}
    known |= {name: each.name for each in every.values() for name in (each.name, each.display_name, *each.aliases)}
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in known:
            raise InvalidInput(f"--toolsets: no toolset {name!r}", hint=f"there are {', '.join(dict.fromkeys(known))}")
    return tuple(dict.fromkeys(known[name] for name in names))


def _serialize_token(token: "TokenRecord") -> dict[str, Any]:
    times = {name: format_time(getattr(token, name)) for name in ("created_at", "expires_at", "used_at", "revoked_at")}
    return vars(token) | times | {"state": token.compute_state(time.time())}


def format_time(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at).astimezone().isoformat(timespec="seconds")
