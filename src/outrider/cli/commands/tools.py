"""`outrider tools`: show the tools as models see them, with their cost."""

from typing import Any

import click

from outrider.app import open_app
from outrider.cli.options import add_serving_options, load_settings
from outrider.cli.output import async_command, print_json, print_line
from outrider.cli.terminal_text import format_rows, get_line_width, style_line
from outrider.serve.protocol_results import build_tool_entry, count_entry_tokens
from outrider.serve.server_registry import build_registry_entry
from outrider.serve.tool_names import format_tool_name


@click.command()
@add_serving_options
@click.option("--json", "as_json", is_flag=True, help="Print the catalogue as JSON.")
@click.option("--servers", is_flag=True, help="Print the toolsets as JSON, for a host's server registry.")
@async_command
async def command(sets: tuple[str, ...], *, as_json: bool, servers: bool, **flags: str | None) -> None:
    """List the tools with the tokens that each costs in every conversation."""
    settings = load_settings(sets, **flags)
    rows: list[dict[str, Any]] = []
    async with open_app(settings) as app:
        await app.toolbox.refresh_tools()
        if servers:
            stakes = settings.settings.tools.stakes
            print_json([build_registry_entry(toolset, stakes) for toolset in app.toolbox.list_toolsets()])
            return
        for tool in app.toolbox.list_tools():
            entry = build_tool_entry(tool, format_tool_name(tool, settings.settings.names))
            row = {
                "name": entry.name,
                "toolset": tool.toolset,
                "effect": tool.effect,
                "stake": settings.settings.tools.stakes.get(tool.name, tool.stake),
                "tokens": count_entry_tokens(entry),
                "description": tool.description.splitlines()[0],
            }
            rows.append(row)
    if as_json:
        print_json(rows)
    else:
        _print_table(rows)


def _print_table(rows: list[dict[str, Any]]) -> None:
    keys = ("name", "toolset", "effect", "stake", "tokens", "description")
    head = [[(name, "1")] for name in ("tool", *keys[1:-1], "what it does")]
    cells = [[[(str(row[key]), "")] for key in keys] for row in rows]
    for lines in format_rows([head, *cells], get_line_width(), [key == "tokens" for key in keys]):
        for line in lines:
            print_line(style_line(line))
    print_line(f"{len(rows)} tools, {sum(row['tokens'] for row in rows)} tokens (o200k)")
