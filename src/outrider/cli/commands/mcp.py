"""`outrider mcp`: one client over standard input and output."""

import logging
from typing import Any

import anyio
import click

from outrider.cli.options import loaded, serving
from outrider.cli.output import settle


@click.command()
@serving
@click.option("--name", default="outrider", show_default=True, help="The server's name in the client.")
@click.option("--session", default="default", show_default=True, help="Session of calls that name none.")
@click.pass_obj
def command(wire: Any, sets: tuple[str, ...], name: str, session: str, **flags: str | None) -> None:
    """Serve MCP over stdio. This is the line for Claude Code, Codex, Cursor and VS Code."""
    settings = loaded(sets, **flags)
    logging.getLogger().setLevel(settings.settings.log_level.upper())
    for warning in settings.warnings:
        logging.getLogger("outrider").warning(warning)
    anyio.run(_serve, settings, wire, name, session)


async def _serve(settings: Any, wire: Any, name: str, session: str) -> None:
    from outrider.app import open_app
    from outrider.app.dashboard import dashboard
    from outrider.serve.stdio import serve_stdio
    from outrider.serve.wire import Wire, claim

    async with open_app(settings) as app, dashboard(app):
        server = app.server(name=name, session=session)
        settle()
        await serve_stdio(server, Wire(*wire) if wire else claim())
