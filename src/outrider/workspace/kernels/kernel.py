"""A long-lived interpreter in a sandbox that runs one cell after another."""

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from outrider.workspace.sandbox.output import OutputBuffer
from outrider.workspace.sandbox.process import EndReason, SandboxProcess

KernelLanguage = Literal["python", "typescript", "shell"]
MAX_NAMES = 500


class Kernel:
    """A running interpreter, which starts as `SandboxProcess` and gets requests on its standard input.

    Attributes:
        process: The process of the interpreter, with limits that hold for all of its cells together, except for time.
        names: The variables that its last cell has left.
        used_at: When its last cell ended, by the monotonic clock.
    """

    def __init__(self, process: SandboxProcess, language: KernelLanguage) -> None:
        max_age_s = 86_400.0
        idle_interval_s = 5.0
        limit = process.job.limits.output_bytes
        self.process = process
        self._language: KernelLanguage = language
        self.names: list[str] = []
        self.used_at = time.monotonic()
        self._progress = asyncio.Event()
        self._stdout = process.stdout = CellStream(limit, True, self._progress.set)
        self._stderr = process.stderr = CellStream(limit, False, self._progress.set)
        self._life = asyncio.get_running_loop().create_task(process.communicate(max_age_s, idle_interval_s))
        self._life.add_done_callback(lambda _: self._progress.set())

    @property
    def is_alive(self) -> bool:
        return not self._life.done()

    async def run_cell(self, cell: "Cell", seconds: float) -> None:
        """Run a cell and record its end. A cell that breaks a limit or is cancelled ends the interpreter."""
        mark = f"\x1e{secrets.token_hex(16)}"
        cell.stdout, cell.stderr = self._stdout.begin_cell(mark.encode()), self._stderr.begin_cell(mark.encode())
        request = encode_request(self._language, mark, cell.code)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self.process.watch_limits, seconds)
                group.start_soon(self.process.write_stdin, request)
                while self.is_alive and (self._stdout.reply is None or self._stderr.reply is None):
                    await self._progress.wait()
                    self._progress.clear()
                group.cancel_scope.cancel()
        except BaseException:
            await self.kill("stopped")
            raise
        self.used_at = time.monotonic()
        if self._stdout.reply is not None and self._stderr.reply is not None:
            # The code shares a process with the writer of the reply, so the reply may be forged.
            try:
                facts: dict[str, Any] = json.loads(self._stdout.reply)
                exit_code, value, names = int(facts["exit_code"]) & 0xFF, facts["value"], facts["names"]
                self.names = [str(name)[:100] for name in list(names)[:MAX_NAMES]]
            except (ValueError, TypeError, KeyError, RecursionError):
                exit_code, value = 1, None
            cell.exit_code, cell.ended_at = exit_code, time.monotonic()
            cell.value = value if isinstance(value, str) else None
        else:
            await self.kill("stopped")
            for stream in (self._stdout, self._stderr):
                stream.release_pending()
            cell.exit_code, cell.end_reason = self.process.exit_code or 0, self.process.end_reason
            cell.ended_at, cell.lost_names = time.monotonic(), list(self.names)

    async def close(self) -> None:
        """Ask the interpreter to end, and kill it after a moment."""
        grace_s = 1.0
        with anyio.CancelScope(shield=True):
            await self.process.close_stdin()
            with anyio.move_on_after(grace_s):
                await self.process.finished.wait()
            await self.kill("stopped")

    async def kill(self, reason: EndReason) -> None:
        """Kill the interpreter and everything that it has started."""
        self.process.kill(reason)
        with anyio.CancelScope(shield=True), suppress(Exception, asyncio.CancelledError):
            await self._life


def encode_request(language: KernelLanguage, mark: str, code: str) -> bytes:
    """Return the line that asks a kernel to run code: JSON, or for the shell the format of `printf %b`."""
    if language == "shell":
        escaped = code.replace("\\", "\\\\").replace("\n", "\\n")
        return f"{mark}\t{escaped}\n".encode("utf-8", "surrogatepass")
    return json.dumps({"mark": mark, "code": code}).encode() + b"\n"


@dataclass
class Cell:
    """One call's code in a kernel; it runs like a `SandboxProcess`.

    Attributes:
        value: The text of its last expression's value.
        lost_names: The variables that were lost because the interpreter ended with this cell; None while it lives.
        notes: Remarks about the interpreter for the caller, such as why it is a new one.
    """

    kernel: Kernel
    code: str
    stdout: OutputBuffer = field(default_factory=lambda: OutputBuffer(0))
    stderr: OutputBuffer = field(default_factory=lambda: OutputBuffer(0))
    exit_code: int | None = None
    end_reason: EndReason = ""
    value: str | None = None
    lost_names: list[str] | None = None
    notes: list[str] = field(default_factory=list)
    started_at: float = field(default_factory=time.monotonic)
    ended_at: float = 0.0

    @property
    def seconds(self) -> float:
        return (self.ended_at or time.monotonic()) - self.started_at

    async def communicate(self, seconds: float) -> None:
        """Run to the end, for `seconds` at most."""
        await self.kernel.run_cell(self, seconds)


class CellStream(OutputBuffer):
    """One stream of a kernel, with a buffer for each cell.

    Args:
        limit: Bytes to keep of each cell.
        has_reply: Whether a reply follows the mark: its length in hexadecimal digits, and its bytes.
        notify: Called when a cell's part has ended.
    """

    def __init__(self, limit: int, has_reply: bool, notify: Callable[[], None]) -> None:
        super().__init__(limit)
        self._limit = limit
        self._has_reply = has_reply
        self._notify = notify
        self._mark = b""
        self._pending = b""  # a possible beginning of the mark
        self._after_mark: bytearray | None = None  # bytes after the mark
        self.cell = OutputBuffer(limit)
        self.reply: bytes | None = None

    def begin_cell(self, mark: bytes) -> OutputBuffer:
        """Begin a cell; return its buffer, which also gets output written since the last one."""
        self._mark, self.reply, self._after_mark = mark, None, None
        return self.cell

    def add(self, data: bytes) -> None:
        """Add a block of output."""
        if self._after_mark is not None:
            self._after_mark += data
            self._read_reply()
            return
        if not self._mark:
            self.cell.add(data)
            return
        data = self._pending + data
        position = data.find(self._mark)
        if position < 0:
            kept = len(self._mark) - 1
            self._pending = data[-kept:]
            self.cell.add(data[:-kept])
            return
        self.cell.add(data[:position])
        self._after_mark, self._pending = bytearray(data[position + len(self._mark) :]), b""
        self._read_reply()

    def release_pending(self) -> None:
        """Treat pending bytes as output, because no further mark can come."""
        self.cell.add(self._pending)
        self._pending, self._mark = b"", b""

    def _read_reply(self) -> None:
        """End the cell once its reply has arrived; later output belongs to the next cell."""
        max_reply_bytes = 4_000_000
        length_digits = 8
        assert self._after_mark is not None
        end = 0
        if self._has_reply:
            if len(self._after_mark) < length_digits:
                return
            end = length_digits
            with suppress(ValueError):  # the code can write anything instead of a length
                end += min(int(bytes(self._after_mark[:length_digits]), 16), max_reply_bytes)
        if len(self._after_mark) < end:
            return
        self.reply, rest = bytes(self._after_mark[length_digits:end]), bytes(self._after_mark[end:])
        self._mark, self._after_mark, self.cell = b"", None, OutputBuffer(self._limit)
        self.cell.add(rest)
        self._notify()
