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

from outrider.workspace.room import size_of
from outrider.workspace.sandbox.backend import Plan
from outrider.workspace.sandbox.cgroup import Group
from outrider.workspace.sandbox.job import Job
from outrider.workspace.sandbox.output import Output
from outrider.workspace.sandbox.rlimits import COUNTS_APART, limit, threads_of
from outrider.workspace.sandbox.watch import descendants, memory, shared_memory

Why = Literal["", "timeout", "memory", "stopped", "disk"]
START_SECONDS = 30.0
LOOK_SECONDS = 0.1  # between two looks at the memory; less often later, up to
LOOK_MOST = 0.5
LOOK_SHARE = 0.02  # of the time that it has run
TEMPORARY = 256_000_000  # bytes of temporary files, where they are on the disk
ROOM_SECONDS = 1.0  # between two looks at the room on disk, or so many times as long as one takes
ROOM_SHARE = 20
GRACE_SECONDS = 3.0  # for a program that is asked to stop
DRAIN_SECONDS = 2.0  # for output that is on its way when everything has ended
LAST_WORDS = 1_000


class NotStarted(Exception):
    """The sandbox itself did not begin; the message is what it said."""


@dataclass
class Running:
    """An execution. `over` is set when nothing of it is left and all its output has been taken.

    Attributes:
        job: What runs.
        exit_code: Of the program; 128 + n where signal n ended it; None while it runs.
        why: What ended it before its time; empty where it ended by itself.
        seconds: How long it has run.
    """

    job: Job
    plan: Plan
    process: Process
    child: int
    group: Group | None
    stdout: Output
    stderr: Output
    over: asyncio.Event
    started_at: float
    exit_code: int | None = None
    why: Why = ""
    ended_at: float = 0.0

    @property
    def seconds(self) -> float:
        return (self.ended_at or time.monotonic()) - self.started_at

    @classmethod
    async def start(cls, plan: Plan, job: Job, groups: Path | None) -> "Running":
        """Starts a plan, and closes it if that fails. Raises NotStarted."""
        try:
            return await cls._started(plan, job, groups)
        except BaseException:
            plan.close()
            raise

    @classmethod
    async def _started(cls, plan: Plan, job: Job, groups: Path | None) -> "Running":
        process = await anyio.open_process(
            plan.command, env=plan.environ, pass_fds=plan.theirs, start_new_session=True, cwd="/"
        )
        plan.started()
        streams = Output(job.limits.output_bytes), Output(job.limits.output_bytes)
        running = cls(job, plan, process, 0, None, *streams, asyncio.Event(), time.monotonic())
        try:
            if plan.info is not None:
                running.child = await _leader(plan.info, process)
                running.group = await anyio.to_thread.run_sync(running._limit, groups)
                await running._go()
        except BaseException:
            running.kill()
            with anyio.CancelScope(shield=True):
                await _gone(process)
            raise
        return running

    def _limit(self, groups: Path | None) -> Group | None:
        if self.plan.unlimited:
            limit(self.child, self.job.limits, others=0 if COUNTS_APART else threads_of(None))
        group = Group.make(groups, self.job.limits) if groups else None
        if group and not group.add(self.child):
            group.remove()
            return None
        return group

    async def _go(self) -> None:
        """Lets the code begin; in a namespace once its first process has said that it is there."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            with anyio.fail_after(START_SECONDS):
                if self.plan.own_pids:
                    await self.process.stdout.receive(1)
                await self.process.stdin.send(b"go\n")
        except (TimeoutError, anyio.EndOfStream, anyio.BrokenResourceError):
            raise NotStarted(await _complaint(self.process)) from None

    async def run(self, seconds: float) -> None:
        """Takes the output until everything has ended, and sees to it that it does in that time.

        Cancelled, it ends everything at once.
        """
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch, seconds)
                group.start_soon(self._watch_room)
                group.start_soon(self._feed)
                async with anyio.create_task_group() as streams:
                    streams.start_soon(_drain, self.process.stdout, self.stdout)
                    streams.start_soon(_drain, self.process.stderr, self.stderr)
                    group.start_soon(self._until_dead, streams.cancel_scope)
                await self.process.wait()
                group.cancel_scope.cancel()
        finally:
            self.kill()
            with anyio.CancelScope(shield=True):
                await self._end()

    async def _feed(self) -> None:
        assert self.process.stdin
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            if self.job.stdin:
                await self.process.stdin.send(self.job.stdin)
            await self.process.stdin.aclose()

    async def _until_dead(self, streams: anyio.CancelScope) -> None:
        """Somebody who got away may hold the streams open: they are given up a moment after the end."""
        await self.process.wait()
        await anyio.sleep(DRAIN_SECONDS)
        streams.cancel()

    async def _watch(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self._too_much_memory():
                self.kill("memory")
                return
            await anyio.sleep(min(left, LOOK_MOST, max(LOOK_SECONDS, LOOK_SHARE * self.seconds)))
        self.kill("timeout")

    async def _watch_room(self) -> None:
        pause = ROOM_SECONDS
        while True:
            await anyio.sleep(pause)
            began = time.monotonic()
            if await anyio.to_thread.run_sync(self._full):
                self.kill("disk")
                return
            pause = max(ROOM_SECONDS, ROOM_SHARE * (time.monotonic() - began))

    def _full(self) -> bool:
        temporary = self.plan.temporary
        return self.job.full() or (temporary is not None and size_of(temporary) > TEMPORARY)

    def _too_much_memory(self) -> bool:
        limit, pid = self.job.limits.memory, self.process.pid
        return memory(pid) > limit and shared_memory(pid) > limit

    async def stop(self) -> None:
        """Asks its programs to end, and ends them if they do not within a few seconds."""
        with anyio.move_on_after(GRACE_SECONDS):
            async with anyio.create_task_group() as group:
                group.start_soon(self._ask)
                await self.over.wait()
                group.cancel_scope.cancel()
        if self.exit_code is None:
            self.kill("stopped")
            await self.over.wait()
        self.why = self.why or "stopped"

    async def _ask(self) -> None:
        """Asks each of its programs once, also those that come meanwhile: it may only just have begun."""
        asked: set[int] = set()
        while self.process.returncode is None:
            for pid in set(descendants(self.child if self.plan.own_pids else self.process.pid)) - asked:
                asked.add(pid)
                with suppress(OSError):
                    os.kill(pid, signal.SIGTERM)
            await anyio.sleep(LOOK_SECONDS)

    def kill(self, why: Why = "") -> None:
        """Ends all of it."""
        if self.exit_code is not None:
            return
        self.plan.let_go()
        if self.process.returncode is not None:  # by now its numbers may be somebody else's
            return
        self.why = self.why or why
        with suppress(OSError):
            if self.plan.own_pids and self.child:
                os.kill(self.child, signal.SIGKILL)
            elif not self.child and sys.platform != "win32":
                os.killpg(self.process.pid, signal.SIGKILL)
            elif not self.child:
                self.process.kill()

    async def _end(self) -> None:
        status = await self.process.wait()
        self.exit_code = status if status >= 0 else 128 - status
        self.ended_at = time.monotonic()
        if self.group:
            self.why = self.why or ("memory" if self.group.out_of_memory else "")
            await anyio.to_thread.run_sync(self.group.remove)
        self.plan.close()
        await self.process.aclose()
        self.over.set()


async def _leader(info: int, process: Process) -> int:
    """The process that leads the code, as the starter tells it. Raises NotStarted where it ended without a word."""
    said = b""
    with anyio.move_on_after(START_SECONDS):
        while b"}" not in said:
            await anyio.wait_readable(info)
            if not (block := os.read(info, 4_096)):
                break
            said += block
        else:
            return json.loads(said)["child-pid"]
    raise NotStarted(await _complaint(process))


async def _complaint(process: Process) -> str:
    words = Output(2 * LAST_WORDS)
    with anyio.move_on_after(DRAIN_SECONDS):
        await _drain(process.stderr, words)
    return words.text.strip()[-LAST_WORDS:] or "it ended without a word"


async def _gone(process: Process) -> None:
    with anyio.move_on_after(DRAIN_SECONDS):
        await process.wait()
    await process.aclose()


async def _drain(stream: ByteReceiveStream | None, output: Output) -> None:
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while stream:
            output.add(await stream.receive(65_536))
