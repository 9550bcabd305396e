"""`outrider daemon`: the process that serves all hosts of a user."""

import json
import os
import sys
from contextlib import closing
from typing import Any

import click

from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_BUG, enable_gc, print_json
from outrider.core.errors import Unavailable
from outrider.relay import daemon_socket, frames
from outrider.relay.daemon_paths import DaemonPaths, UntrustedDaemon

STATUS_JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Show or stop the process that all hosts of `outrider mcp` share."""


@command.command()
@add_settings_option
@STATUS_JSON_OPTION
def status(sets: tuple[str, ...], as_json: bool) -> None:
    """Show the process and its hosts."""
    answer = _ask_daemon(_resolve_place(sets), b"status")
    facts = json.loads(answer) if answer else {}
    if as_json:
        print_json({"running": bool(facts)} | facts)
    elif facts:
        click.echo(_describe_status(facts))
    else:
        click.echo("not running; the next `outrider mcp` starts it")
    sys.exit(0 if facts else 1)


@command.command()
@add_settings_option
def stop(sets: tuple[str, ...]) -> None:
    """Stop the process after its running calls. The next call of a host starts it again."""
    there = _ask_daemon(_resolve_place(sets), b"stop") is not None
    click.echo("stopped" if there else "not running", err=True)


@command.command(hidden=True)
@click.argument("folder")
@click.argument("ready", type=int)
def run(folder: str, ready: int) -> None:
    """Run the process; `outrider mcp` starts it."""
    # Only this command needs the MCP SDK: importing it takes four times as long as showing the status.
    from outrider.app.daemon.process import detach_process
    from outrider.cli.commands.mcp import HostCommandParser

    try:
        process = detach_process(DaemonPaths(folder), ready)
    except Exception as error:  # noqa: BLE001 - the process that started it reports it
        text = str(error) or type(error).__name__
        os.write(ready, f"{text}\n".encode("utf-8", "replace"))
        sys.exit(EXIT_BUG)
    process.serve(HostCommandParser(), enable_gc)


def _describe_status(facts: dict[str, Any]) -> str:
    use = "calls or agents are running" if facts["at_work"] else "nothing is running"
    lines = (
        f"Running as process {facts['process']} (Outrider {facts['version']}), for {facts['seconds']:,.0f} seconds",
        f"Hosts connected: {facts['hosts']}; {use}",
        f"Ends after {facts['idle_s']:,.0f} seconds without use; `outrider daemon stop` ends it now",
        f"Dashboard: {facts['dashboard'] or 'not open; `outrider dashboard` opens it'}",
        f"Data: {facts['data_dir']}",
        f"Log: {facts['log']}",
        f"Token of the REST interface: in {facts['rest_token']}",
    )
    return "\n".join(lines)


def _resolve_place(sets: tuple[str, ...]) -> DaemonPaths:
    return DaemonPaths(str(load_settings(sets).settings.data_dir.absolute()))


def _ask_daemon(place: DaemonPaths, word: bytes) -> bytes | None:
    """Return the daemon's answer, or None if none runs. Raises Unavailable if it cannot be trusted."""
    try:
        connection = daemon_socket.connect_daemon(place)
    except daemon_socket.DaemonUnreachable:
        return None
    except (UntrustedDaemon, OSError) as error:
        raise Unavailable(str(error), code="daemon", hint=f"look at {place.run_dir}") from None
    reader, answer = frames.FrameReader(), b""
    with closing(connection):
        connection.settimeout(None)
        connection.sendall(frames.build_frame(frames.CONTROL_FRAME, word))
        while piece := connection.recv(daemon_socket.RECEIVE_BYTES):
            for kind, _, payload in reader.feed(piece):
                if kind == frames.OUTPUT_FRAME:
                    answer = payload
    return answer
