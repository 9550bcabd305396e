"""`outrider audit`: who did what, when and from where."""

import time
from typing import Any

import click

from outrider.app import open_app
from outrider.cli.commands.token import moment
from outrider.cli.options import loaded, setting
from outrider.cli.output import print_json, run

DAY = 86_400
COLUMNS = ("at", "person", "workspace", "action", "detail", "outcome", "credential", "address")


@click.command()
@click.option("--person", default="", help="Only what they did.")
@click.option("--workspace", default="", help="Only what was done there.")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), help="Only of the last days.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@setting
def command(sets: tuple[str, ...], *, days: float | None, as_json: bool, **wanted: Any) -> None:
    """List what was done, newest first: tool calls, tokens made and revoked, members, and who was not let in."""
    wanted["since"] = time.time() - days * DAY if days else 0.0
    rows = [vars(each) | {"at": moment(each.at)} for each in run(lambda: _acts(sets, wanted), as_json=as_json)]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo("  ".join(str(row[name] or "-") for name in COLUMNS))
    if not rows:
        click.echo("nothing was done yet")


async def _acts(sets: tuple[str, ...], wanted: dict[str, Any]) -> Any:
    async with open_app(loaded(sets)) as app:
        await app.events.flush()
        return await app.identity().audit.recent(**wanted)
