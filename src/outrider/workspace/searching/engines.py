"""The two programs that look for lines: ripgrep, and Python's `re` in a process of its own."""

import asyncio
import base64
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, Protocol

import anyio
from anyio.abc import Process

from outrider.core.errors import InvalidInput
from outrider.workspace.searching.pattern import Pattern

MOST_BYTES = 100_000_000  # of what a program may say
WORKER = Path(__file__).with_name("grep_worker.py")


@dataclass(frozen=True)
class Order:
    """What is told to an engine.

    Attributes:
        pattern: What to look for.
        most: How many lines of one file at most.
        names: Only in files with such names (`*.py`); none means all.
        hidden: Also in what begins with a dot.
        file: Only in this one of the folder.
    """

    pattern: Pattern
    most: int
    names: tuple[str, ...] = ()
    hidden: bool = False
    file: str | None = None


@dataclass(frozen=True)
class Found:
    """A line as a program told it, without its end. `column` is where the match begins, in characters."""

    path: str
    number: int
    text: str
    column: int


class Engine(Protocol):
    """A program that looks for lines."""

    def command(self, order: Order, *, text: bool, in_order: bool) -> list[str]:
        """How it is started."""
        ...

    def order(self, order: Order, *, text: bool) -> bytes:
        """What it is told before the text."""
        ...

    def reader(self) -> Callable[[bytes], list[Found]]:
        """Understands its output line by line; gives the lines of a file when it has told them all."""
        ...


@dataclass(frozen=True)
class Ripgrep:
    """ripgrep, wherever it is."""

    program: str

    def command(self, order: Order, *, text: bool, in_order: bool) -> list[str]:
        options = ["--json", "--no-config", "--no-ignore", "--no-messages", "--max-count", str(order.most)]
        options += ["--ignore-case"] if order.pattern.ignore_case else ["--case-sensitive"]
        options += ["--hidden"] if order.hidden else []
        options += ["--sort", "path"] if in_order else []
        options += ["--text", "--encoding", "none"] if text else []
        options += [part for name in order.names for part in ("--glob", name)]
        return [self.program, *options, "-e", order.pattern.rust or "", "-" if text else f"./{order.file or ''}"]

    def order(self, order: Order, *, text: bool) -> bytes:  # noqa: ARG002 - it is all in its command line
        return b""

    def reader(self) -> Callable[[bytes], list[Found]]:
        lines: dict[str, list[Found]] = {}

        def read(message: bytes) -> list[Found]:
            said = json.loads(message)
            data = said["data"]
            path = data.get("path", {}).get("text")
            if path is None:  # a name that is no Unicode: no path of ours
                return []
            path = path.removeprefix("./")
            if said["type"] == "match":
                lines.setdefault(path, []).append(_matched(path, data))
            if said["type"] != "end":
                return []
            told = lines.pop(path, [])
            return told if data["binary_offset"] is None else []

        return read


class Worker:
    """Python's own engine."""

    def command(self, order: Order, *, text: bool, in_order: bool) -> list[str]:  # noqa: ARG002 - they stand in the order
        return [sys.executable, "-I", "-S", str(WORKER)]

    def order(self, order: Order, *, text: bool) -> bytes:
        pattern = order.pattern
        facts: dict[str, Any] = {"pattern": pattern.python, "ignore_case": pattern.ignore_case, "text": text}
        facts |= {"most": order.most, "hidden": order.hidden, "names": order.names, "file": order.file}
        return json.dumps(facts).encode() + b"\n"

    def reader(self) -> Callable[[bytes], list[Found]]:
        return lambda line: [Found(*each) for each in json.loads(line)]


def engines(pattern: Pattern, rg: str | None) -> list[Engine]:
    """What can look for the pattern, best first."""
    return [*([Ripgrep(rg)] if rg and pattern.rust is not None else []), Worker()]


async def told(
    engine: Engine,
    order: Order,
    take: Callable[[list[Found]], bool | None],
    *,
    text: bytes | None = None,
    at: str | None = None,
    in_order: bool = False,
) -> None:
    """Gives `take` the matching lines of one file after another, of the text or below the folder `at`.

    Ends when `take` returns true. Raises LookupError where the engine gave up before it had told anything.
    """
    command = engine.command(order, text=text is not None, in_order=in_order)
    given = engine.order(order, text=text is not None) + (text or b"")
    read, any_said = engine.reader(), False
    async with _started(command, given, at) as process:
        async for line in _lines(process):
            any_said = True
            found = read(line)
            if found and take(found):
                return
        if not any_said and await process.wait() > 1:
            raise LookupError(command[0])


def _matched(path: str, data: dict[str, Any]) -> Found:
    line = data["lines"]
    raw = line["text"].encode() if "text" in line else base64.b64decode(line["bytes"])
    text = raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    if not data["submatches"]:  # an empty match behind the last letter of all is not told
        return Found(path, data["line_number"], text, len(text))
    before = raw[: data["submatches"][0]["start"]]
    return Found(path, data["line_number"], text, len(before.decode("utf-8", "replace")))


@asynccontextmanager
async def _started(command: list[str], given: bytes, at: str | None) -> AsyncGenerator[Process]:
    """A process that is being fed; it is killed at the end, however that comes."""
    environ = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    process = await anyio.open_process(command, cwd=at, env=environ, stderr=DEVNULL, start_new_session=True)
    feeding = asyncio.create_task(_feed(process, given))  # no task group: that would wrap the errors of its body
    try:
        yield process
    finally:
        feeding.cancel()
        _kill(process)
        with anyio.CancelScope(shield=True):
            await asyncio.wait([feeding])
            await process.aclose()


def _kill(process: Process) -> None:
    """Not by `process.kill()`: that looks whether it has ended, and those who wait for it would not learn how."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def _feed(process: Process, data: bytes) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        if process.stdin:
            await process.stdin.send(data)
            await process.stdin.aclose()


async def _lines(process: Process) -> AsyncGenerator[bytes]:
    """Whole lines of what the process says, up to a limit of bytes. Raises InvalidInput for one that is longer."""
    begun, total = list[bytes](), 0  # pieces: a line of a hundred megabytes comes in thousands
    while process.stdout and total < MOST_BYTES:
        try:
            block = await process.stdout.receive()
        except anyio.EndOfStream:
            return
        total += len(block)
        first, *further = block.split(b"\n")
        begun.append(first)
        if further:
            yield b"".join(begun)
            for line in further[:-1]:
                yield line
            begun = [further[-1]]
    if sum(map(len, begun)) > MOST_BYTES // 2:
        raise InvalidInput(
            f"a line that matches is longer than {MOST_BYTES // 2:,} bytes",
            hint="leave its file out by path or glob, or search it with a code tool",
            code="too_large",
        )
