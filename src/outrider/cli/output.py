"""What the terminal shows: readable for people, JSON for programs, exit codes that mean something."""

import gc
import json
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import anyio
import click

from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused, Unavailable

T = TypeVar("T")
EXIT_PARTIAL = 1
EXIT_CODES: dict[type[OutriderError], int] = {
    InvalidInput: 2,
    NotFound: 2,
    NotConfigured: 3,
    Unavailable: 4,
    Refused: 5,
}
EXIT_BUG = 70  # EX_SOFTWARE of sysexits.h


def report_error(error: OutriderError, *, as_json: bool = False) -> int:
    """Says what is wrong and what to do, on stderr or as JSON on stdout; returns the exit code."""
    if as_json:
        print_json({"error": error.to_dict()})
    else:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {error.message}", err=True)
        if error.hint:
            click.echo(f"{click.style('try:', fg='cyan')} {error.hint}", err=True)
    return get_exit_code(error)


def get_exit_code(error: OutriderError) -> int:
    """The exit code of an error's kind."""
    return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), EXIT_BUG)


def print_notes(messages: tuple[str, ...] | list[str]) -> None:
    """Notices on stderr, one a line."""
    for message in messages:
        click.echo(f"{click.style('note:', fg='yellow')} {message}", err=True)


def print_json(value: Any) -> None:
    """JSON on stdout, in whatever encoding the terminal has."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()


def enable_gc() -> None:
    """Collects garbage from now on; what the start has imported stays and is not looked at again."""
    gc.freeze()
    gc.enable()


def run_async(main: Callable[[], Coroutine[Any, Any, T]], *, as_json: bool = False) -> T:
    """Runs an asynchronous command; errors of the house end the process with their code."""
    enable_gc()
    try:
        return anyio.run(main)
    except OutriderError as error:
        sys.exit(report_error(error, as_json=as_json))
