"""`outrider audit`: list who did what, when and from where."""

import time
from typing import Any

import click

from outrider.app import open_app
from outrider.cli.commands.token import format_time
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_json, print_line


@click.command()
@click.option("--person", default="", help="Only actions of this person.")
@click.option("--workspace", default="", help="Only actions in this workspace.")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), help="Only the last DAYS days.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def command(sets: tuple[str, ...], *, days: float | None, as_json: bool, **wanted: Any) -> None:
    """List actions, newest first: tool calls, created and revoked tokens, members, and rejected callers."""
    columns = ("at", "person", "workspace", "action", "detail", "outcome", "credential", "address")
    day_s = 86_400
    wanted["since"] = time.time() - days * day_s if days else 0.0
    async with open_app(load_settings(sets)) as app:
        await app.events.flush()
        entries = await app.identity().audit.list_recent(**wanted)
    rows = [vars(each) | {"at": format_time(each.at)} for each in entries]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print_line("  ".join(str(row[name] or "-") for name in columns))
    if not rows:
        click.echo("no actions yet")
