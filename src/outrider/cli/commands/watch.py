"""`outrider watch`: look again at pages, searches and values, and show what has changed."""

import sys
from collections.abc import Mapping
from dataclasses import replace

import click

from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json, print_line, print_notes
from outrider.cli.shared_process import EXIT_WRONG_USE, add_call_options, call_tool, open_client
from outrider.cli.tool_results import CallOptions
from outrider.core.text import format_count

WATCH_ARGUMENT = click.argument("watch")


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Check pages, searches and values on a schedule, and show what has changed.

    `outrider serve` checks them while it runs, the shared process while a host is open or a watch is active. `outrider
    watch run` checks them once, for instance from cron.
    """


@command.command("add")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--search", metavar="WORDS", help="Watch a search for new results instead of a page.")
@click.option(
    "--field", "fields", multiple=True, metavar="NAME[:TYPE]", help="Only this value of the page (repeatable)."
)
@click.option("--every", default="1d", show_default=True, help='"30m", "6h", "1d", or a cron line in quotes.')
@click.option("--name", help="Name of the watch [default: its address].")
@click.option("--notify", multiple=True, metavar="NAME", help="Send changes by this configured notice (repeatable).")
@click.option("--strict", is_flag=True, help="Dates, times, counters and order count as changes.")
@add_call_options
def add_watch(
    urls: tuple[str, ...],
    search: str | None,
    fields: tuple[str, ...],
    every: str,
    *,
    name: str | None,
    notify: tuple[str, ...],
    strict: bool,
    options: CallOptions,
) -> None:
    """Watch pages, or a search with --search."""
    pairs = (word.partition(":") for word in fields)
    arguments = {
        "every": every,
        "name": name,
        "notify": list(notify) or None,
        "strict": strict or None,
        "fields": {each.strip(): kind.strip() or "string" for each, _, kind in pairs} or None,
    }
    targets = [{"url": url} for url in urls] + ([{"query": search}] if search else [])
    if not targets:
        click.echo("error: give the address of a page, or --search WORDS", err=True)
        sys.exit(EXIT_WRONG_USE)
    for target in targets[:-1]:
        if code := _call_tool({"action": "add"} | arguments | target, options):
            sys.exit(code)
    sys.exit(_call_tool({"action": "add"} | arguments | targets[-1], options))


@command.command("list")
@click.option("--offset", type=click.IntRange(min=0), default=0)
@add_call_options
def list_watches(offset: int, options: CallOptions) -> None:
    """List the watches, the last changed first."""
    sys.exit(_call_tool({"action": "list", "limit": 100, "offset": offset}, options))


@command.command("changes")
@click.argument("watch", required=False)
@click.option("--since", metavar="TIME", help="After this ISO time.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True)
@click.option("--wait", type=click.IntRange(0, 600), metavar="SECONDS", help="Wait for the next change.")
@add_call_options
def list_changes(watch: str | None, since: str | None, limit: int, wait: int | None, options: CallOptions) -> None:
    """Show what has changed, newest first: of WATCH, or of all."""
    arguments = {"action": "changes", "id": watch, "since": since, "limit": limit, "wait_seconds": wait}
    sys.exit(_call_tool(arguments, options))


@command.command("look")
@WATCH_ARGUMENT
@add_call_options
def look_at_watch(watch: str, options: CallOptions) -> None:
    """Check WATCH now and show what has changed."""
    sys.exit(_call_tool({"action": "look", "id": watch}, options))


@command.command("pause")
@WATCH_ARGUMENT
@add_call_options
def pause_watch(watch: str, options: CallOptions) -> None:
    """Pause WATCH."""
    sys.exit(_call_tool({"action": "pause", "id": watch}, options))


@command.command("resume")
@WATCH_ARGUMENT
@add_call_options
def resume_watch(watch: str, options: CallOptions) -> None:
    """Resume WATCH, and check it now."""
    sys.exit(_call_tool({"action": "resume", "id": watch}, options))


@command.command("remove")
@WATCH_ARGUMENT
@add_call_options
def remove_watch(watch: str, options: CallOptions) -> None:
    """Remove WATCH with its history."""
    sys.exit(_call_tool({"action": "remove", "id": watch}, options))


@command.command("run")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def run_watches(sets: tuple[str, ...], *, as_json: bool) -> None:
    """Check all watches that are due, send the notices, and show what has changed.

    Exit code 1: some could not be read.
    """
    from outrider.app import open_app
    from outrider.toolsets.watches import describe_change

    async with open_app(load_settings(sets)) as app:
        looked_at = await app.watcher.engine.look_at_due()
    changes = [change for _, change, _ in looked_at if change is not None]
    problems = [f"{watch.id} {watch.name}: {problem}" for watch, _, problem in looked_at if problem]
    if as_json:
        print_json({"looks": len(looked_at), "changes": [describe_change(change) for change in changes]})
    for change in () if as_json else changes:
        print_line(f"{click.style(change.watch, bold=True)}  {change.url}  {change.summary}")
        print_line(change.difference)
    print_notes([*problems, f"{format_count(len(looked_at), 'watch was', 'watches were')} due, {len(changes)} changed"])
    if problems:
        sys.exit(EXIT_PARTIAL)


def _call_tool(arguments: Mapping[str, object], options: CallOptions) -> int:
    set_arguments = {name: value for name, value in arguments.items() if value is not None}
    with open_client(options) as client:
        return call_tool(client, "web_watch", set_arguments, replace(options, names_commands=True))
