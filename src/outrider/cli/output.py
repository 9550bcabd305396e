"""Terminal output: text for people, JSON for programs, exit codes."""

import functools
import gc
import json
import os
import re
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import click

from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused, Unavailable

EXIT_PARTIAL = 1
EXIT_CODES: dict[type[OutriderError], int] = {
    InvalidInput: 2,
    NotFound: 2,
    NotConfigured: 3,
    Unavailable: 4,
    Refused: 5,
}
EXIT_BUG = 70  # EX_SOFTWARE of sysexits.h
EXIT_INTERRUPTED = 130  # as shells report a program that SIGINT ended


def print_line(text: str, *, err: bool = False) -> None:
    """Print a partly untrusted text; a terminal only interprets its colors."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    visible = re.sub(r"\x1b(?!\[[\d;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]", "", text)
    click.echo(visible, err=err, color=False if is_plain else None)


def print_text(text: str) -> None:
    """Write an untrusted text unchanged; a terminal gets no control characters."""
    if sys.stdout.isatty():
        text = remove_control_characters(text)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def remove_control_characters(text: str) -> str:
    """Return the text without characters that a terminal would interpret, except line feeds and tabs."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", text)


def report_error(error: OutriderError, *, as_json: bool = False) -> int:
    """Print the error and its hint on stderr, or as JSON on stdout; return the exit code."""
    if as_json:
        print_json({"error": error.to_dict()})
    else:
        print_error(error.to_dict())
    return get_exit_code(error)


def print_error(error: Mapping[str, Any]) -> None:
    """Print an error's fields (`OutriderError.to_dict`) on stderr."""
    print_line(f"{click.style('error:', fg='red', bold=True)} {error['message']}", err=True)
    hint = error.get("hint", "")
    if entry := error.get("details", {}).get("allow") if error.get("code") == "egress" else None:
        # The reader here is the operator, whom hints for models refer to.
        hint = f"outrider config add egress.allow {entry}, or for once repeat with --set 'egress.allow={entry}'"
    if hint:
        print_line(f"{click.style('try:', fg='cyan')} {hint}", err=True)


def get_exit_code(error: OutriderError) -> int:
    """Return the exit code of an error's kind."""
    return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), EXIT_BUG)


def report_full_disk(error: OSError) -> int:
    """Print that nothing more can be written, and return the exit code."""
    print_error({"message": f"the output cannot be written: {error.strerror}", "hint": "free space, then repeat"})
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would fail again when it flushes stdout
    return EXIT_CODES[Unavailable]


def print_notes(messages: tuple[str, ...] | list[str]) -> None:
    """Print notes on stderr, one per line."""
    for message in messages:
        print_line(f"{click.style('note:', fg='yellow')} {message}", err=True)


def print_json(value: Any) -> None:
    """Print JSON on stdout.

    Characters that a terminal interprets or UTF-8 cannot encode are escaped.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    print_text(re.sub(r"[\x7f-\x9f\ud800-\udfff]", lambda char: f"\\u{ord(char[0]):04x}", text) + "\n")


def enable_gc() -> None:
    """Enable garbage collection, except for objects that the imports created."""
    gc.freeze()
    gc.enable()


def async_command(function: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a command's coroutine function in an event loop when click calls it.

    An OutriderError ends the process with its exit code.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        import anyio  # not at the top, because commands that only call the shared process need no event loop

        enable_gc()
        try:
            anyio.run(functools.partial(function, *args, **kwargs))
        except OutriderError as error:
            sys.exit(report_error(error, as_json=kwargs.get("as_json", False)))

    return run
