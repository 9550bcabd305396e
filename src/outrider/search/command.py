"""Run another program within limits, and kill it with its children.

Time and output are limited.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

from outrider.search.failures import build_failure


@dataclass(frozen=True)
class CommandResult:
    """A program's exit code and output."""

    code: int
    out: str
    err: str


@dataclass
class _OutputCounter:
    """Bytes read so far, of both streams together."""

    limit: int
    size: int = 0
    is_over_limit: bool = False


async def run_command(
    program: Sequence[str],
    *,
    seconds: float,
    environ: Mapping[str, str],
    folder: Path,
    max_output_bytes: int = 10_000_000,
) -> CommandResult:
    """Run a program to its end, without a shell.

    Args:
        program: The program and its arguments.
        seconds: Time limit.
        environ: Its whole environment.
        folder: Its working directory.
        max_output_bytes: Output limit, of stdout and stderr together; the default is the tool contract's 10 MB.

    Raises:
        not_configured: The program does not exist or may not be run.
        timeout, bad_reply: It took too long, or wrote too much; all of its processes have been killed.
    """
    name = Path(program[0]).name
    try:
        with anyio.CancelScope(shield=True):  # a call that is cancelled meanwhile would leave the program's children
            process = await anyio.open_process(
                list(program), stdin=subprocess.DEVNULL, env=dict(environ), cwd=folder, start_new_session=True
            )
    except OSError as error:
        message = f"{name} cannot be run: {error.strerror or error}"
        raise build_failure("not_configured", message, hint=f"install {name}, or correct its path") from None
    output, stdout, err = _OutputCounter(max_output_bytes), b"", b""
    try:
        with anyio.move_on_after(seconds) as scope:
            stdout, err = await _read_output(process, output)
    finally:
        with anyio.CancelScope(shield=True):
            await _kill_process_group(process)
    if output.is_over_limit:
        raise build_failure("bad_reply", f"{name} wrote more than {max_output_bytes // 1_000_000} MB and was killed")
    if scope.cancelled_caught:
        raise build_failure("timeout", f"{name} {program[1]} did not end within {seconds:g} seconds")
    return CommandResult(process.returncode or 0, stdout.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


async def _read_output(process: Process, output: _OutputCounter) -> tuple[bytes, bytes]:
    drain_timeout_s = 0.5  # output may still arrive once the program has ended
    assert process.stdout
    assert process.stderr
    stdout, err = bytearray(), bytearray()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read_stream, process.stdout, stdout, output, tasks.cancel_scope)
        tasks.start_soon(_read_stream, process.stderr, err, output, tasks.cancel_scope)
        await process.wait()
        # A remaining child may hold the streams open forever.
        tasks.cancel_scope.deadline = anyio.current_time() + drain_timeout_s
    return bytes(stdout), bytes(err)


async def _read_stream(
    stream: ByteReceiveStream, into: bytearray, output: _OutputCounter, scope: anyio.CancelScope
) -> None:
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while True:
            chunk = await stream.receive()
            output.size += len(chunk)
            if output.size > output.limit:
                output.is_over_limit = True
                scope.cancel()
                return
            into += chunk


async def _kill_process_group(process: Process) -> None:
    """Kill the whole group, which may outlive the program itself, and wait for the program."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    await process.aclose()
