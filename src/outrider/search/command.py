"""Another program: run with arguments (never by a shell), bounded in time and output, ended with its children."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

from outrider.search.failures import failure

MOST = 10_000_000  # bytes of output (contracts of the seed: 10 MB)
AFTERWARDS = 0.5  # seconds in which output may still come once the program has ended


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what it said."""

    code: int
    out: str
    err: str


@dataclass
class _Output:
    """What has been read so far, of both streams together."""

    limit: int
    size: int = 0
    too_much: bool = False


async def run(
    program: Sequence[str], *, seconds: float, environ: Mapping[str, str], folder: Path, most: int = MOST
) -> Ended:
    """Runs a program to its end.

    Args:
        program: The program and its arguments.
        seconds: Time for all of it.
        environ: Its whole environment.
        folder: Its working directory.
        most: Bytes of output after which it is ended.

    Raises:
        not_configured: There is no such program, or it may not be run.
        timeout, bad_reply: It took too long, or said too much. All that it started is gone then.
    """
    name = Path(program[0]).name
    try:
        process = await anyio.open_process(
            list(program), stdin=subprocess.DEVNULL, env=dict(environ), cwd=folder, start_new_session=True
        )
    except OSError as error:
        message = f"{name} cannot be run: {error.strerror or error}"
        raise failure("not_configured", message, hint=f"install {name}, or correct its path") from None
    output, out, err = _Output(most), b"", b""
    try:
        with anyio.move_on_after(seconds) as scope:
            out, err = await _talk(process, output)
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
    if output.too_much:
        raise failure("bad_reply", f"{name} said more than {most // 1_000_000} MB and was ended")
    if scope.cancelled_caught:
        raise failure("timeout", f"{name} {program[1]} did not end within {seconds:g} seconds")
    return Ended(process.returncode or 0, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


async def _talk(process: Process, output: _Output) -> tuple[bytes, bytes]:
    assert process.stdout
    assert process.stderr
    out, err = bytearray(), bytearray()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process.stdout, out, output, tasks.cancel_scope)
        tasks.start_soon(_read, process.stderr, err, output, tasks.cancel_scope)
        await process.wait()
        # A child that it left behind may hold the streams open for ever.
        tasks.cancel_scope.deadline = anyio.current_time() + AFTERWARDS
    return bytes(out), bytes(err)


async def _read(stream: ByteReceiveStream, into: bytearray, output: _Output, scope: anyio.CancelScope) -> None:
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while True:
            chunk = await stream.receive()
            output.size += len(chunk)
            if output.size > output.limit:
                output.too_much = True
                scope.cancel()
                return
            into += chunk


async def _end(process: Process) -> None:
    """Kills the whole group, which may outlive the program itself, and collects the program."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    await process.aclose()
