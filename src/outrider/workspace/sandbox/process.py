"""Run sandboxed code: capture its output, watch its limits, and kill all of its processes at the end."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
from anyio.abc import ByteReceiveStream, Process

from outrider.workspace.broken_pipes import CLOSED_PIPE_ERRORS, silence_broken_stdin
from outrider.workspace.quota import measure_size
from outrider.workspace.sandbox.backend import LaunchPlan
from outrider.workspace.sandbox.cgroup import Cgroup
from outrider.workspace.sandbox.job import Job
from outrider.workspace.sandbox.output import OutputBuffer
from outrider.workspace.sandbox.rlimits import COUNTS_PER_NAMESPACE, apply_rlimits, count_threads

EndReason = Literal["", "timeout", "memory", "stopped", "disk"]
START_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 0.1
DRAIN_TIMEOUT_S = 2.0  # for output in transit when everything has ended


class SandboxStartError(Exception):
    """The sandbox itself did not start; the message is its error output."""


@dataclass
class SandboxProcess:
    """An execution. `finished` is set when all of its processes have ended and their output has been read.

    Attributes:
        job: The job.
        exit_code: The program's; 128 + n if signal n ended it; None while it runs.
        end_reason: Why it was killed; empty if it ended on its own.
        seconds: How long it has run.
    """

    job: Job
    plan: LaunchPlan
    process: Process
    child_pid: int
    cgroup: Cgroup | None
    stdout: OutputBuffer
    stderr: OutputBuffer
    finished: asyncio.Event
    started_at: float
    exit_code: int | None = None
    end_reason: EndReason = ""
    ended_at: float = 0.0

    @property
    def seconds(self) -> float:
        return (self.ended_at or time.monotonic()) - self.started_at

    @classmethod
    async def start(cls, plan: LaunchPlan, job: Job, parent_group: Path | None) -> "SandboxProcess":
        """Start a plan, and close it if that fails. Raises SandboxStartError."""
        try:
            with anyio.CancelScope(shield=True):  # a job that is cancelled meanwhile would leave its processes
                process = await anyio.open_process(
                    plan.command, env=plan.environ, pass_fds=plan.child_fds, start_new_session=True, cwd="/"
                )
            plan.close_child_fds()
            silence_broken_stdin(process)
            streams = OutputBuffer(job.limits.output_bytes), OutputBuffer(job.limits.output_bytes)
            running = cls(job, plan, process, 0, None, *streams, asyncio.Event(), time.monotonic())
            try:
                if plan.info_fd is not None:
                    running.child_pid = await _read_child_pid(plan.info_fd, process)
                    running.cgroup = await anyio.to_thread.run_sync(running._apply_limits, parent_group)
                    await running._signal_start()
            except BaseException:
                running.kill()
                with anyio.CancelScope(shield=True):
                    with anyio.move_on_after(DRAIN_TIMEOUT_S):
                        await process.wait()
                    await process.aclose()
                raise
        except BaseException:
            plan.close()
            raise
        return running

    def _apply_limits(self, parent_group: Path | None) -> Cgroup | None:
        """Set the limits of the waiting process; return its cgroup, if it has one."""
        if self.plan.needs_limits:
            other_threads = 0 if COUNTS_PER_NAMESPACE else count_threads(None)
            apply_rlimits(self.child_pid, self.job.limits, other_threads=other_threads)
        group = Cgroup.create(parent_group, self.job.limits) if parent_group else None
        if group and not group.add_process(self.child_pid):
            group.remove()
            return None
        return group

    async def _signal_start(self) -> None:
        """Let the code start; in a PID namespace once its first process has written its line."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            with anyio.fail_after(START_TIMEOUT_S):
                if self.plan.has_pid_namespace:
                    await self.process.stdout.receive(1)
                await self.process.stdin.send(b"go\n")
        except (TimeoutError, anyio.EndOfStream, *CLOSED_PIPE_ERRORS):
            raise SandboxStartError(await _read_stderr_tail(self.process)) from None

    async def communicate(self, seconds: float, min_interval_s: float = POLL_INTERVAL_S) -> None:
        """Read the output until everything has ended; kill it after `seconds`.

        Its limits are checked every `min_interval_s` at most. Cancelling kills everything at once.
        """
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self.watch_limits, seconds, min_interval_s)
                group.start_soon(self._feed_stdin)
                async with anyio.create_task_group() as readers:
                    readers.start_soon(_drain_stream, self.process.stdout, self.stdout)
                    readers.start_soon(_drain_stream, self.process.stderr, self.stderr)
                    await self.process.wait()
                    # A process that escaped may hold the streams open: do not wait for it.
                    readers.cancel_scope.deadline = anyio.current_time() + DRAIN_TIMEOUT_S
                group.cancel_scope.cancel()
        finally:
            self.kill()
            with anyio.CancelScope(shield=True):
                status = await self.process.wait()
                self.exit_code = status if status >= 0 else 128 - status
                self.ended_at = time.monotonic()
                if self.cgroup:
                    self.end_reason = self.end_reason or ("memory" if self.cgroup.has_oom_kill else "")
                    await anyio.to_thread.run_sync(self.cgroup.remove)
                self.plan.close()
                await self.process.aclose()
                self.finished.set()

    async def _feed_stdin(self) -> None:
        if self.job.stdin:
            await self.write_stdin(self.job.stdin)
        if not self.job.keeps_stdin:
            await self.close_stdin()

    async def write_stdin(self, data: bytes) -> bool:
        """Write to its standard input; return whether it was still open."""
        assert self.process.stdin
        try:
            await self.process.stdin.send(data)
        except CLOSED_PIPE_ERRORS:
            return False
        return True

    async def close_stdin(self) -> None:
        """Close its standard input."""
        assert self.process.stdin
        with suppress(*CLOSED_PIPE_ERRORS):
            await self.process.stdin.aclose()

    async def watch_limits(self, seconds: float, min_interval_s: float = POLL_INTERVAL_S) -> None:
        """Kill code that exceeds its time, memory or disk space."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch_memory, seconds, min_interval_s)
            group.start_soon(self._watch_disk, min_interval_s)

    async def _watch_memory(self, seconds: float, min_interval_s: float) -> None:
        max_interval_s = max(0.5, min_interval_s)
        limit, pid = self.job.limits.memory, self.process.pid
        started_at = time.monotonic()
        deadline = started_at + seconds
        while (seconds_left := deadline - time.monotonic()) > 0:
            # The exact measure takes longer, so it is used only when the rough one is exceeded.
            if measure_memory(pid) > limit and measure_shared_memory(pid) > limit:
                self.kill("memory")
                return
            # The longer it runs, the less often it is measured.
            interval_s = max(min_interval_s, 0.02 * (time.monotonic() - started_at))
            await anyio.sleep(min(seconds_left, max_interval_s, interval_s))
        self.kill("timeout")

    async def _watch_disk(self, min_interval_s: float) -> None:
        """Kill the code when the workspace or its temporary files take too much disk space."""
        max_temp_bytes = 256_000_000
        min_interval_s = max(1.0, min_interval_s)
        temp_folder = self.plan.temp_folder

        def is_disk_full() -> bool:
            return self.job.is_over_quota() or (temp_folder is not None and measure_size(temp_folder) > max_temp_bytes)

        interval_s = min_interval_s
        while True:
            await anyio.sleep(interval_s)
            started_at = time.monotonic()
            if await anyio.to_thread.run_sync(is_disk_full):
                self.kill("disk")
                return
            # Measuring a large tree takes long: spend at most a twentieth of the time on it.
            interval_s = max(min_interval_s, 20 * (time.monotonic() - started_at))

    async def stop(self) -> None:
        """Ask its programs to end, and kill them after a few seconds."""
        grace_s = 3.0
        with anyio.move_on_after(grace_s):
            async with anyio.create_task_group() as group:
                group.start_soon(self._terminate_all)
                await self.finished.wait()
                group.cancel_scope.cancel()
        if self.exit_code is None:
            self.kill("stopped")
            await self.finished.wait()
        self.end_reason = self.end_reason or "stopped"

    async def _terminate_all(self) -> None:
        """Send SIGTERM once to each program, including those that start in the meantime."""
        leader = self.child_pid if self.plan.has_pid_namespace else self.process.pid
        signalled: set[int] = set()
        while self.process.returncode is None:
            for pid in set(iter_descendants(leader)) - signalled:
                signalled.add(pid)
                with suppress(OSError):
                    os.kill(pid, signal.SIGTERM)
            await anyio.sleep(POLL_INTERVAL_S)

    def kill(self, reason: EndReason = "") -> None:
        """Kill all of its processes."""
        if self.exit_code is not None:
            return
        has_supervisor = self.plan.alive_fd is not None
        self.plan.release()
        if self.process.returncode is not None:  # its PIDs may belong to other processes by now
            return
        self.end_reason = self.end_reason or reason
        if has_supervisor or self.child_pid:  # killing the supervisor itself would leave its processes running
            return
        with suppress(OSError):
            if sys.platform != "win32":
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()


async def _read_child_pid(info_fd: int, process: Process) -> int:
    """Return the PID that the launcher reports. Raises SandboxStartError if it ends without reporting."""
    report = b""
    with anyio.move_on_after(START_TIMEOUT_S):
        while b"}" not in report:
            await anyio.wait_readable(info_fd)
            if not (block := os.read(info_fd, 4_096)):
                break
            report += block
        else:
            return json.loads(report)["child-pid"]
    raise SandboxStartError(await _read_stderr_tail(process))


async def _read_stderr_tail(process: Process) -> str:
    max_chars = 1_000
    output = OutputBuffer(2 * max_chars)
    with anyio.move_on_after(DRAIN_TIMEOUT_S):
        await _drain_stream(process.stderr, output)
    return output.text.strip()[-max_chars:] or "it ended without an error message"


async def _drain_stream(stream: ByteReceiveStream | None, output: OutputBuffer) -> None:
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while stream:
            output.add(await stream.receive(65_536))


def iter_descendants(pid: int) -> Iterator[int]:
    """Yield all descendants of a process; none except on Linux."""
    parents = [pid]
    while parents:
        parent = parents.pop()
        children: list[int] = []
        with suppress(OSError, ValueError):
            for task in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208 - called many times a second
                children += map(int, Path(f"/proc/{parent}/task/{task}/children").read_text().split())
        parents += children
        yield from children


def measure_memory(pid: int) -> int:
    """Return the bytes of memory that the descendants of `pid` use.

    Memory that processes share counts for each of them; if the sum is too large, `measure_shared_memory` is exact,
    which takes longer.
    """
    return sum(_read_resident(descendant) for descendant in iter_descendants(pid))


def measure_shared_memory(pid: int) -> int:
    """Return the same with shared memory divided between its processes (proportional set size)."""
    total = 0
    for descendant in iter_descendants(pid):
        try:
            lines = Path(f"/proc/{descendant}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
        except (OSError, ValueError, StopIteration):
            total += _read_resident(descendant)
    return total


def _read_resident(pid: int) -> int:
    """Return the bytes of anonymous and shared pages; those of program files are not counted."""
    with suppress(OSError, ValueError, IndexError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return 0
