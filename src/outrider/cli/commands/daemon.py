"""`outrider daemon`: the one process that serves all hosts of a person."""

import io
import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from outrider.cli import outrider
from outrider.cli.commands import mcp
from outrider.cli.options import loaded, setting
from outrider.cli.output import BUG, exit_code, print_json, settle
from outrider.core.errors import OutriderError, Unavailable
from outrider.relay import door, frames
from outrider.relay.places import Place, Untrusted

JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")


@click.group()
def command() -> None:
    """The process that all hosts of `outrider mcp` share: see it, end it."""


@command.command()
@setting
@JSON
def status(sets: tuple[str, ...], as_json: bool) -> None:
    """Show the process, and how many hosts it serves."""
    answer = _asked(_place(sets), b"status")
    facts = json.loads(answer) if answer else {}
    if as_json:
        print_json({"running": bool(facts)} | facts)
    elif facts:
        for name, value in facts.items():
            click.echo(f"{name.replace('_', ' ')}: {value}")
    else:
        click.echo("not running; the next `outrider mcp` starts it")
    sys.exit(0 if facts else 1)


@command.command()
@setting
def stop(sets: tuple[str, ...]) -> None:
    """End the process. Calls under way may finish; a host that asks for more starts it again."""
    there = _asked(_place(sets), b"stop") is not None
    click.echo("stopped" if there else "not running", err=True)


@command.command(hidden=True)
@click.argument("folder")
@click.argument("ready", type=int)
def run(folder: str, ready: int) -> None:
    """Be the process: `outrider mcp` starts it."""
    from outrider.app.daemon.process import Begun, begin

    try:
        begun = begin(Place(folder), ready)
    except Exception as error:  # noqa: BLE001 - whoever started it says it to a person
        _say(ready, str(error) or type(error).__name__)
        sys.exit(BUG)
    if isinstance(begun, Begun):
        begun.run(Commands(), settle)


class Commands:
    """How hosts' command lines are read."""

    def wish(self, hello: Any) -> Any:
        """What a host wants. Raises Refusal."""
        from outrider.app.daemon import Refusal, Wish

        parent = click.Context(outrider, info_name="outrider")
        try:
            return Wish(*mcp.chosen(hello.arguments, hello.environ, Path(hello.cwd), parent))
        except click.ClickException as error:
            text = io.StringIO()
            error.show(file=text)
            raise Refusal(text.getvalue(), error.exit_code) from None
        except OutriderError as error:
            raise self.refusal(error) from None

    def refusal(self, error: OutriderError) -> Any:
        """What the command would say and end with."""
        from outrider.app.daemon import Refusal

        lines = [f"error: {error.message}", *([f"try: {error.hint}"] if error.hint else [])]
        return Refusal("".join(f"{line}\n" for line in lines), exit_code(error))


def _place(sets: tuple[str, ...]) -> Place:
    return Place(str(loaded(sets).settings.data_dir.absolute()))


def _asked(place: Place, word: bytes) -> bytes | None:
    """What the process answers; None where there is none. Raises Unavailable for one that cannot be trusted."""
    try:
        connection = door.knock(place)
    except door.Gone:
        return None
    except (Untrusted, OSError) as error:
        raise Unavailable(str(error), code="daemon", hint=f"look at {place.run}") from None
    reader, answer = frames.Reader(), b""
    with closing(connection):
        connection.settimeout(None)
        connection.sendall(frames.frame(frames.CONTROL, word))
        while piece := connection.recv(door.SIZE):
            for kind, _, payload in reader.feed(piece):
                if kind == frames.OUTPUT:
                    answer = payload
    return answer


def _say(ready: int, text: str) -> None:
    os.write(ready, f"{text}\n".encode("utf-8", "replace"))
