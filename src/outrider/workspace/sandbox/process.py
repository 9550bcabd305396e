"""Code that runs: its streams are taken, its limits set and watched, and its end is the end of all that it started."""

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
from anyio.abc import ByteReceiveStream, Process

from outrider.workspace.quota import measure_size
from outrider.workspace.sandbox.backend import LaunchPlan
from outrider.workspace.sandbox.cgroup import Cgroup
from outrider.workspace.sandbox.job import Job
from outrider.workspace.sandbox.output import OutputBuffer
from outrider.workspace.sandbox.process_memory import iter_descendants, measure_memory, measure_shared_memory
from outrider.workspace.sandbox.rlimits import COUNTS_PER_NAMESPACE, apply_rlimits, count_threads

EndReason = Literal["", "timeout", "memory", "stopped", "disk"]
START_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 0.1  # between two looks at the memory; less often later, up to
DRAIN_TIMEOUT_S = 2.0  # for output that is on its way when everything has ended


class SandboxStartError(Exception):
    """The sandbox itself did not begin; the message is what it said."""


@dataclass
class SandboxProcess:
    """An execution. `finished` is set when nothing of it is left and all its output has been taken.

    Attributes:
        job: What runs.
        exit_code: Of the program; 128 + n where signal n ended it; None while it runs.
        end_reason: What ended it before its time; empty where it ended by itself.
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
    async def start(cls, plan: LaunchPlan, job: Job, groups: Path | None) -> "SandboxProcess":
        """Starts a plan, and closes it if that fails. Raises NotStarted."""
        try:
            return await cls._launch(plan, job, groups)
        except BaseException:
            plan.close()
            raise

    @classmethod
    async def _launch(cls, plan: LaunchPlan, job: Job, groups: Path | None) -> "SandboxProcess":
        process = await anyio.open_process(
            plan.command, env=plan.environ, pass_fds=plan.child_fds, start_new_session=True, cwd="/"
        )
        plan.close_child_fds()
        streams = OutputBuffer(job.limits.output_bytes), OutputBuffer(job.limits.output_bytes)
        running = cls(job, plan, process, 0, None, *streams, asyncio.Event(), time.monotonic())
        try:
            if plan.info_fd is not None:
                running.child_pid = await _read_child_pid(plan.info_fd, process)
                running.cgroup = await anyio.to_thread.run_sync(running._apply_limits, groups)
                await running._signal_start()
        except BaseException:
            running.kill()
            with anyio.CancelScope(shield=True):
                await _gone(process)
            raise
        return running

    def _apply_limits(self, groups: Path | None) -> Cgroup | None:
        if self.plan.needs_limits:
            apply_rlimits(self.child_pid, self.job.limits, others=0 if COUNTS_PER_NAMESPACE else count_threads(None))
        group = Cgroup.create(groups, self.job.limits) if groups else None
        if group and not group.add_process(self.child_pid):
            group.remove()
            return None
        return group

    async def _signal_start(self) -> None:
        """Lets the code begin; in a namespace once its first process has said that it is there."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            with anyio.fail_after(START_TIMEOUT_S):
                if self.plan.has_pid_namespace:
                    await self.process.stdout.receive(1)
                await self.process.stdin.send(b"go\n")
        except (TimeoutError, anyio.EndOfStream, anyio.BrokenResourceError):
            raise SandboxStartError(await _read_stderr_tail(self.process)) from None

    async def communicate(self, seconds: float) -> None:
        """Takes the output until everything has ended, and sees to it that it does in that time.

        Cancelled, it ends everything at once.
        """
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch_limits, seconds)
                group.start_soon(self._watch_disk)
                group.start_soon(self._feed_stdin)
                async with anyio.create_task_group() as streams:
                    streams.start_soon(_drain_stream, self.process.stdout, self.stdout)
                    streams.start_soon(_drain_stream, self.process.stderr, self.stderr)
                    group.start_soon(self._close_streams_after_exit, streams.cancel_scope)
                await self.process.wait()
                group.cancel_scope.cancel()
        finally:
            self.kill()
            with anyio.CancelScope(shield=True):
                await self._record_end()

    async def _feed_stdin(self) -> None:
        assert self.process.stdin
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            if self.job.stdin:
                await self.process.stdin.send(self.job.stdin)
            await self.process.stdin.aclose()

    async def _close_streams_after_exit(self, streams: anyio.CancelScope) -> None:
        """Somebody who got away may hold the streams open: they are given up a moment after the end."""
        await self.process.wait()
        await anyio.sleep(DRAIN_TIMEOUT_S)
        streams.cancel()

    async def _watch_limits(self, seconds: float) -> None:
        interval_share = 0.02  # of the time that it has run
        max_interval_s = 0.5
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self._too_much_memory():
                self.kill("memory")
                return
            await anyio.sleep(min(left, max_interval_s, max(POLL_INTERVAL_S, interval_share * self.seconds)))
        self.kill("timeout")

    async def _watch_disk(self) -> None:
        interval_factor = 20
        min_interval_s = 1.0  # between two looks at the room on disk, or so many times as long as one takes
        pause = min_interval_s
        while True:
            await anyio.sleep(pause)
            began = time.monotonic()
            if await anyio.to_thread.run_sync(self._is_disk_full):
                self.kill("disk")
                return
            pause = max(min_interval_s, interval_factor * (time.monotonic() - began))

    def _is_disk_full(self) -> bool:
        max_temp_bytes = 256_000_000  # bytes of temporary files, where they are on the disk
        temporary = self.plan.temp_folder
        return self.job.is_over_quota() or (temporary is not None and measure_size(temporary) > max_temp_bytes)

    def _too_much_memory(self) -> bool:
        limit, pid = self.job.limits.memory, self.process.pid
        return measure_memory(pid) > limit and measure_shared_memory(pid) > limit

    async def stop(self) -> None:
        """Asks its programs to end, and ends them if they do not within a few seconds."""
        grace_s = 3.0  # for a program that is asked to stop
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
        """Asks each of its programs once, also those that come meanwhile: it may only just have begun."""
        asked: set[int] = set()
        while self.process.returncode is None:
            for pid in (
                set(iter_descendants(self.child_pid if self.plan.has_pid_namespace else self.process.pid)) - asked
            ):
                asked.add(pid)
                with suppress(OSError):
                    os.kill(pid, signal.SIGTERM)
            await anyio.sleep(POLL_INTERVAL_S)

    def kill(self, why: EndReason = "") -> None:
        """Ends all of it."""
        if self.exit_code is not None:
            return
        self.plan.release()
        if self.process.returncode is not None:  # by now its numbers may be somebody else's
            return
        self.end_reason = self.end_reason or why
        with suppress(OSError):
            if self.plan.has_pid_namespace and self.child_pid:
                os.kill(self.child_pid, signal.SIGKILL)
            elif not self.child_pid and sys.platform != "win32":
                os.killpg(self.process.pid, signal.SIGKILL)
            elif not self.child_pid:
                self.process.kill()

    async def _record_end(self) -> None:
        status = await self.process.wait()
        self.exit_code = status if status >= 0 else 128 - status
        self.ended_at = time.monotonic()
        if self.cgroup:
            self.end_reason = self.end_reason or ("memory" if self.cgroup.has_oom_kill else "")
            await anyio.to_thread.run_sync(self.cgroup.remove)
        self.plan.close()
        await self.process.aclose()
        self.finished.set()


async def _read_child_pid(info: int, process: Process) -> int:
    """The process that leads the code, as the starter tells it. Raises NotStarted where it ended without a word."""
    said = b""
    with anyio.move_on_after(START_TIMEOUT_S):
        while b"}" not in said:
            await anyio.wait_readable(info)
            if not (block := os.read(info, 4_096)):
                break
            said += block
        else:
            return json.loads(said)["child-pid"]
    raise SandboxStartError(await _read_stderr_tail(process))


async def _read_stderr_tail(process: Process) -> str:
    max_chars = 1_000
    words = OutputBuffer(2 * max_chars)
    with anyio.move_on_after(DRAIN_TIMEOUT_S):
        await _drain_stream(process.stderr, words)
    return words.text.strip()[-max_chars:] or "it ended without a word"


async def _gone(process: Process) -> None:
    with anyio.move_on_after(DRAIN_TIMEOUT_S):
        await process.wait()
    await process.aclose()


async def _drain_stream(stream: ByteReceiveStream | None, output: OutputBuffer) -> None:
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while stream:
            output.add(await stream.receive(65_536))
