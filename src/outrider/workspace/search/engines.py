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
from outrider.workspace.search.pattern import GrepPattern

WORKER_SCRIPT = Path(__file__).with_name("grep_worker.py")


@dataclass(frozen=True)
class GrepRequest:
    """What is told to an engine.

    Attributes:
        pattern: What to look for.
        max_lines: How many lines of one file at most.
        names: Only in files with such names (`*.py`); none means all.
        hidden: Also in what begins with a dot.
        file: Only in this one of the folder.
    """

    pattern: GrepPattern
    max_lines: int
    names: tuple[str, ...] = ()
    hidden: bool = False
    file: str | None = None


@dataclass(frozen=True)
class LineMatch:
    """A line as a program told it, without its end. `column` is where the match begins, in characters."""

    path: str
    number: int
    text: str
    column: int


class GrepEngine(Protocol):
    """A program that looks for lines."""

    def build_command(self, request: GrepRequest, *, text: bool, in_order: bool) -> list[str]:
        """How it is started."""
        ...

    def build_input(self, request: GrepRequest, *, text: bool) -> bytes:
        """What it is told before the text."""
        ...

    def build_parser(self) -> Callable[[bytes], list[LineMatch]]:
        """Understands its output line by line; gives the lines of a file when it has told them all."""
        ...


@dataclass(frozen=True)
class RipgrepEngine:
    """ripgrep, wherever it is."""

    program: str

    def build_command(self, request: GrepRequest, *, text: bool, in_order: bool) -> list[str]:
        options = ["--json", "--no-config", "--no-ignore", "--no-messages", "--max-count", str(request.max_lines)]
        options += ["--ignore-case"] if request.pattern.ignore_case else ["--case-sensitive"]
        options += ["--hidden"] if request.hidden else []
        options += ["--sort", "path"] if in_order else []
        options += ["--text", "--encoding", "none"] if text else []
        options += [part for name in request.names for part in ("--glob", name)]
        return [self.program, *options, "-e", request.pattern.rust or "", "-" if text else f"./{request.file or ''}"]

    def build_input(self, request: GrepRequest, *, text: bool) -> bytes:  # noqa: ARG002
        return b""

    def build_parser(self) -> Callable[[bytes], list[LineMatch]]:
        lines: dict[str, list[LineMatch]] = {}

        def parse_message(message: bytes) -> list[LineMatch]:
            said = json.loads(message)
            data = said["data"]
            path = data.get("path", {}).get("text")
            if path is None:  # a name that is no Unicode: no path of ours
                return []
            path = path.removeprefix("./")
            if said["type"] == "match":
                lines.setdefault(path, []).append(_parse_match(path, data))
            if said["type"] != "end":
                return []
            told = lines.pop(path, [])
            return told if data["binary_offset"] is None else []

        return parse_message


class PythonEngine:
    """Python's own engine."""

    def build_command(self, request: GrepRequest, *, text: bool, in_order: bool) -> list[str]:  # noqa: ARG002
        return [sys.executable, "-I", "-S", str(WORKER_SCRIPT)]

    def build_input(self, request: GrepRequest, *, text: bool) -> bytes:
        pattern = request.pattern
        facts: dict[str, Any] = {"pattern": pattern.python, "ignore_case": pattern.ignore_case, "text": text}
        facts |= {"most": request.max_lines, "hidden": request.hidden, "names": request.names, "file": request.file}
        return json.dumps(facts).encode() + b"\n"

    def build_parser(self) -> Callable[[bytes], list[LineMatch]]:
        return lambda line: [LineMatch(*each) for each in json.loads(line)]


def select_engines(pattern: GrepPattern, rg: str | None) -> list[GrepEngine]:
    """What can look for the pattern, best first."""
    return [*([RipgrepEngine(rg)] if rg and pattern.rust is not None else []), PythonEngine()]


async def stream_matches(
    engine: GrepEngine,
    request: GrepRequest,
    take: Callable[[list[LineMatch]], bool | None],
    *,
    text: bytes | None = None,
    folder: str | None = None,
    in_order: bool = False,
) -> None:
    """Gives `take` the matching lines of one file after another, of the text or below the folder `folder`.

    Ends when `take` returns true. Raises LookupError where the engine gave up before it had told anything.
    """
    command = engine.build_command(request, text=text is not None, in_order=in_order)
    given = engine.build_input(request, text=text is not None) + (text or b"")
    read, any_said = engine.build_parser(), False
    async with _run_process(command, given, folder) as process:
        async for line in _iter_output_lines(process):
            any_said = True
            found = read(line)
            if found and take(found):
                return
        if not any_said and await process.wait() > 1:
            raise LookupError(command[0])


def _parse_match(path: str, data: dict[str, Any]) -> LineMatch:
    line = data["lines"]
    raw = line["text"].encode() if "text" in line else base64.b64decode(line["bytes"])
    text = raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    if not data["submatches"]:  # an empty match behind the last letter of all is not told
        return LineMatch(path, data["line_number"], text, len(text))
    before = raw[: data["submatches"][0]["start"]]
    return LineMatch(path, data["line_number"], text, len(before.decode("utf-8", "replace")))


@asynccontextmanager
async def _run_process(command: list[str], given: bytes, folder: str | None) -> AsyncGenerator[Process]:
    """A process that is being fed; it is killed at the end, however that comes."""
    environ = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    process = await anyio.open_process(command, cwd=folder, env=environ, stderr=DEVNULL, start_new_session=True)
    feeding = asyncio.create_task(
        _feed_process(process, given)
    )  # no task group: that would wrap the errors of its body
    try:
        yield process
    finally:
        feeding.cancel()
        _kill_process(process)
        with anyio.CancelScope(shield=True):
            await asyncio.wait([feeding])
            await process.aclose()


def _kill_process(process: Process) -> None:
    """Not by `process.kill()`: that looks whether it has ended, and those who wait for it would not learn how."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def _feed_process(process: Process, data: bytes) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        if process.stdin:
            await process.stdin.send(data)
            await process.stdin.aclose()


async def _iter_output_lines(process: Process) -> AsyncGenerator[bytes]:
    """Whole lines of what the process says, up to a limit of bytes. Raises InvalidInput for one that is longer."""
    max_output_bytes = 100_000_000  # of what a program may say
    begun, total = list[bytes](), 0  # pieces: a line of a hundred megabytes comes in thousands
    while process.stdout and total < max_output_bytes:
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
    if sum(map(len, begun)) > max_output_bytes // 2:
        raise InvalidInput(
            f"a line that matches is longer than {max_output_bytes // 2:,} bytes",
            hint="leave its file out by path or glob, or search it with a code tool",
            code="too_large",
        )
