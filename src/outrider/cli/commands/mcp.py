"""`outrider mcp`: serve one client over standard input and output.

`__main__` comes before: it relays to the one process of this user (`outrider.relay`), which reads these options with
`HostCommandParser`. The command itself runs if no daemon does.
"""

import io
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import click

from outrider.app import open_app
from outrider.app.dashboard import run_dashboard
from outrider.cli import outrider
from outrider.cli.options import add_serving_options, load_settings
from outrider.cli.output import enable_gc, get_exit_code
from outrider.core.background import run_background
from outrider.core.errors import OutriderError
from outrider.serve.stdio import StdioDescriptors, claim_stdio, serve_stdio
from outrider.settings import LoadedSettings


@click.command()
@add_serving_options
@click.option("--name", default="outrider", show_default=True, help="The server's name in the client.")
@click.option("--session", help="Session for calls that name none [default: one per host].")
@click.option("--lean", is_flag=True, help="List two tools, which find and call all others: under 700 tokens.")
@click.option("--join", is_flag=True, hidden=True, help="Share and keep this directory's session.")
@click.option("--no-daemon", is_flag=True, help="Serve from this process instead of the one that all hosts share.")
@click.pass_obj
def command(
    wire: Any,
    sets: tuple[str, ...],
    name: str,
    session: str | None,
    **flags: Any,
) -> None:
    """Serve MCP over stdio. This is the command for Claude Code, Codex, Cursor and VS Code."""
    del flags["join"], flags["no_daemon"]  # read by the shared process, and before anything is imported
    settings = load_settings(_apply_lean(sets, flags), **flags)
    logging.getLogger().setLevel(settings.settings.log_level.upper())
    for warning in settings.warnings:
        logging.getLogger("outrider").warning(warning)

    async def serve() -> None:
        async with open_app(settings) as app, run_dashboard(app), run_background(app.run_schedules):
            server = app.build_server(name=name, session=session or "default")
            enable_gc()
            await serve_stdio(server, StdioDescriptors(*wire) if wire else claim_stdio())

    anyio.run(serve)


def parse_host_options(
    arguments: list[str], environ: Mapping[str, str], workspace: Path, parent: click.Context
) -> tuple[LoadedSettings, str, str, bool]:
    """Return settings, name and session of a host, and whether it joins another's.

    The session is empty if it chose none.

    Raises InvalidInput, and click's own exceptions as the command would.
    """
    parameters = command.make_context("mcp", [*arguments], parent=parent).params
    name, session, joins, _ = (parameters.pop(option) for option in ("name", "session", "join", "no_daemon"))
    sets = _apply_lean(parameters.pop("sets"), parameters)
    return load_settings(sets, (environ, workspace), **parameters), name, session or "", joins


class HostCommandParser:
    """Parse the command lines of hosts."""

    def read_config(self, handshake: Any) -> Any:
        """Return the configuration of a host. Raises HostRefusal."""
        from outrider.app.daemon import HostConfig, HostRefusal

        parent = click.Context(outrider, info_name="outrider")
        try:
            cwd = Path(handshake.cwd)
            return HostConfig(*parse_host_options(handshake.arguments, handshake.environ, cwd, parent))
        except click.ClickException as error:
            text = io.StringIO()
            error.show(file=text)
            raise HostRefusal(text.getvalue(), error.exit_code) from None
        except OutriderError as error:
            raise self.build_refusal(error) from None

    def build_refusal(self, error: OutriderError) -> Any:
        """Return the message and exit code of a failed command line."""
        from outrider.app.daemon import HostRefusal

        lines = [f"error: {error.message}", *([f"try: {error.hint}"] if error.hint else [])]
        return HostRefusal("".join(f"{line}\n" for line in lines), get_exit_code(error))


def _apply_lean(sets: tuple[str, ...], flags: dict[str, Any]) -> tuple[str, ...]:
    """Return the settings of `--lean`, which serves all toolsets unless others are chosen: none costs more."""
    if not flags.pop("lean"):
        return sets
    flags["toolsets"] = flags["toolsets"] or "all"
    return (*sets, "lean=true")
