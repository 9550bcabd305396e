"""Engines that find matching lines: ripgrep, and Python's `re` in a separate process."""

import asyncio
import base64
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, Protocol

import anyio
from anyio.abc import Process

from outrider.core.errors import InvalidInput
from outrider.workspace.broken_pipes import CLOSED_PIPE_ERRORS, silence_broken_stdin
from outrider.workspace.search.pattern import GrepPattern


@dataclass(frozen=True)
class GrepRequest:
    """The search as an engine performs it.

    Attributes:
        pattern: The pattern.
        max_lines: Maximum number of lines per file.
        names: Only files with such names (`*.py`); empty for all.
        hidden: Include files and folders that begin with a dot.
        file: Only this file of the folder.
    """

    pattern: GrepPattern
    max_lines: int
    names: tuple[str, ...] = ()
    hidden: bool = False
    file: str | None = None


@dataclass(frozen=True)
class LineMatch:
    """A matching line as the engine reported it, without its line end. `column` counts characters from 0."""

    path: str
    number: int
    text: str
    column: int

    @classmethod
    def from_report(cls, path: str, data: Mapping[str, Any]) -> "LineMatch":
        """Build it from ripgrep's report of a match."""
        line = data["lines"]
        raw = line["text"].encode() if "text" in line else base64.b64decode(line["bytes"])
        text = raw.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
        if not data["submatches"]:  # it reports no position for an empty match at the very end
            return cls(path, data["line_number"], text, len(text))
        before = raw[: data["submatches"][0]["start"]]
        return cls(path, data["line_number"], text, len(before.decode("utf-8", "replace")))


class GrepEngine(Protocol):
    """A program that finds matching lines."""

    def build_command(self, request: GrepRequest, *, text: bool, in_order: bool) -> list[str]:
        """Return the command that starts the engine."""
        ...

    def build_input(self, request: GrepRequest, *, text: bool) -> bytes:
        """Return what the engine reads from standard input before the text."""
        ...

    def build_parser(self) -> Callable[[bytes], list[LineMatch]]:
        """Return a parser that yields a file's matches once complete."""
        ...


@dataclass(frozen=True)
class RipgrepEngine:
    """ripgrep, at the path `program`."""

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
            event = json.loads(message)
            data = event["data"]
            path = data.get("path", {}).get("text")
            if path is None:  # the name is not Unicode, so the jail would refuse it
                return []
            path = path.removeprefix("./")
            if event["type"] == "match":
                lines.setdefault(path, []).append(LineMatch.from_report(path, data))
            if event["type"] != "end":
                return []
            matches = lines.pop(path, [])
            return matches if data["binary_offset"] is None else []

        return parse_message


class PythonEngine:
    """Python's `re`, run by `grep_worker.py`."""

    def build_command(self, request: GrepRequest, *, text: bool, in_order: bool) -> list[str]:  # noqa: ARG002
        worker_script = Path(__file__).with_name("grep_worker.py")
        return [sys.executable, "-I", "-S", str(worker_script)]

    def build_input(self, request: GrepRequest, *, text: bool) -> bytes:
        pattern = request.pattern
        fields: dict[str, Any] = {"pattern": pattern.python, "ignore_case": pattern.ignore_case, "text": text}
        fields |= {"most": request.max_lines, "hidden": request.hidden, "names": request.names, "file": request.file}
        return json.dumps(fields).encode() + b"\n"

    def build_parser(self) -> Callable[[bytes], list[LineMatch]]:
        return lambda line: [LineMatch(*fields) for fields in json.loads(line)]


def select_engines(pattern: GrepPattern, ripgrep_path: str | None) -> list[GrepEngine]:
    """Return the engines that support the pattern, best first."""
    engines: list[GrepEngine] = [PythonEngine()]
    if ripgrep_path and pattern.rust is not None:
        engines.insert(0, RipgrepEngine(ripgrep_path))
    return engines


async def stream_matches(
    engine: GrepEngine,
    request: GrepRequest,
    take: Callable[[list[LineMatch]], bool | None],
    *,
    text: bytes | None = None,
    folder: str | None = None,
    in_order: bool = False,
) -> None:
    """Pass the matching lines of `text`, or of each file below `folder`, to `take`.

    Ends when `take` returns true. Raises LookupError if the engine failed before it reported anything.
    """
    command = engine.build_command(request, text=text is not None, in_order=in_order)
    data = engine.build_input(request, text=text is not None) + (text or b"")
    parse_line, has_output = engine.build_parser(), False
    async with _run_process(command, data, folder) as process:
        async for line in _iter_output_lines(process):
            has_output = True
            matches = parse_line(line)
            if matches and take(matches):
                return
        if not has_output and await process.wait() > 1:  # 1 means that nothing matched
            raise LookupError(command[0])


@asynccontextmanager
async def _run_process(command: list[str], data: bytes, folder: str | None) -> AsyncGenerator[Process]:
    """Start a process that is fed with data; it is always killed at the end."""
    environ = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    process = await anyio.open_process(command, cwd=folder, env=environ, stderr=DEVNULL, start_new_session=True)
    silence_broken_stdin(process)

    async def send_data() -> None:
        with suppress(*CLOSED_PIPE_ERRORS):
            if process.stdin:
                await process.stdin.send(data)
                await process.stdin.aclose()

    feeder = asyncio.create_task(send_data())  # a task group would wrap errors of the body
    try:
        yield process
    finally:
        feeder.cancel()
        # Not `process.kill()`: it reaps the process first, and the waiter would not get its exit code.
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        with anyio.CancelScope(shield=True):
            await asyncio.wait([feeder])
            await process.aclose()


async def _iter_output_lines(process: Process) -> AsyncGenerator[bytes]:
    """Yield complete lines of output, up to a limit of bytes. Raises InvalidInput for a line that is longer."""
    max_output_bytes = 100_000_000
    partial: list[bytes] = []  # blocks of a line; joining them one by one would take quadratic time
    total = 0
    while process.stdout and total < max_output_bytes:
        try:
            block = await process.stdout.receive()
        except anyio.EndOfStream:
            return
        total += len(block)
        first, *others = block.split(b"\n")
        partial.append(first)
        if others:
            yield b"".join(partial)
            for line in others[:-1]:
                yield line
            partial = [others[-1]]
    if sum(map(len, partial)) > max_output_bytes // 2:
        raise InvalidInput(
            f"a matching line is longer than {max_output_bytes // 2:,} bytes",
            hint="exclude its file with path or glob, or search it with a code tool",
            code="too_large",
        )
