"""Keep one kernel per session and language, and close idle ones."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from outrider.workspace.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from outrider.workspace.kernels.kernel import Cell, Kernel, KernelLanguage
    from outrider.workspace.sandbox.job import Job


@dataclass
class KernelSlot:
    """Holds one session's kernel for one language; `lock` makes its calls wait for one another.

    Attributes:
        loss: Why the last kernel is gone and what was lost with it, until the session is told.
    """

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    kernel: "Kernel | None" = None
    loss: str = ""


class KernelPool:
    """The kernels of all sessions.

    Attributes:
        idle_timeout_s: Seconds without a call after which a kernel is closed.
    """

    def __init__(self, sandbox: Sandbox, idle_timeout_s: float = 1_800) -> None:
        self.idle_timeout_s = idle_timeout_s
        self._sandbox = sandbox
        self._slots: dict[tuple[str, KernelLanguage], KernelSlot] = {}
        self._idle_watch: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open_cell(
        self, key: str, language: "KernelLanguage", code: str, build_job: Callable[[], Awaitable["Job"]], reset: bool
    ) -> AsyncGenerator["Cell"]:
        """Prepare a cell for the session's kernel, and start one if there is none. One call at a time gets it.

        Args:
            key: Identifies the session.
            language: The kernel's language.
            code: What the cell runs.
            build_job: Builds the job of a new kernel.
            reset: Whether to begin with a new kernel.

        Raises:
            The errors of `Sandbox.start`.
        """
        from outrider.workspace.kernels.kernel import Cell

        slot = self._slots.setdefault((key, language), KernelSlot())
        async with slot.lock:
            if reset:
                slot.loss = ""
                await self._close_kernel(slot)
            self._notice_death(slot)
            notes = [f"this ran in a new interpreter: the earlier one {slot.loss}"] if slot.loss else []
            kernel = slot.kernel = slot.kernel or await self._start_kernel(language, build_job)
            slot.loss = ""
            await self._sandbox.adopt_files(kernel.process.job)
            cell = Cell(kernel, code, notes=notes)
            try:
                yield cell
            except BaseException:
                self._record_loss(slot, "ended when its call was cancelled")
                raise
            if not kernel.is_alive:
                slot.kernel = None  # the result of this call reports it

    async def close_session(self, key: str, reason: str = "was closed when the session's host disconnected") -> None:
        """Close the kernels of a session; the next cell reports the reason."""
        for (owner, _), slot in list(self._slots.items()):
            if owner == key and slot.kernel:
                kernel = slot.kernel
                self._record_loss(slot, reason)
                await kernel.kill("stopped")

    async def close(self) -> None:
        """Close all kernels."""
        if self._idle_watch:
            self._idle_watch.cancel()
        kernels = [slot.kernel for slot in self._slots.values() if slot.kernel]
        self._slots.clear()
        await asyncio.gather(*(kernel.kill("stopped") for kernel in kernels))

    async def _start_kernel(self, language: "KernelLanguage", build_job: Callable[[], Awaitable["Job"]]) -> "Kernel":
        from outrider.workspace.kernels.kernel import Kernel

        limit = 2 * self._sandbox.settings.parallel
        idle = [slot for slot in self._slots.values() if slot.kernel and not slot.lock.locked()]
        count = sum(slot.kernel is not None for slot in self._slots.values())
        if idle and count >= limit:
            oldest = min(idle, key=lambda slot: slot.kernel.used_at if slot.kernel else 0.0)
            async with oldest.lock:
                reason = f"was closed: {limit} other interpreters, the limit, have been used since"
                await self._close_kernel(oldest, reason)
        max_slots = 1_000
        for key, slot in list(self._slots.items())[:-max_slots]:
            if not slot.kernel and not slot.lock.locked():
                del self._slots[key]
        kernel = Kernel(await self._sandbox.start(await build_job()), language)
        if self._idle_watch is None:
            self._idle_watch = asyncio.get_running_loop().create_task(self._close_idle_forever())
        return kernel

    async def _close_idle_forever(self) -> None:
        idle_s = self.idle_timeout_s
        idle_time = f"{idle_s / 60:.0f} minutes" if idle_s >= 120 else f"{idle_s:g} s"
        while True:
            await anyio.sleep(min(idle_s / 2, 60.0))
            for slot in list(self._slots.values()):
                if slot.lock.locked():
                    continue
                async with slot.lock:
                    self._notice_death(slot)
                    if slot.kernel and time.monotonic() - slot.kernel.used_at > idle_s:
                        await self._close_kernel(slot, f"was closed after {idle_time} without a call")

    async def _close_kernel(self, slot: KernelSlot, reason: str = "") -> None:
        """Close the kernel of a slot; without a reason, nothing is reported to the session."""
        kernel = slot.kernel
        if reason:
            self._record_loss(slot, reason)
        slot.kernel = None
        if kernel:
            await kernel.close()

    def _notice_death(self, slot: KernelSlot) -> None:
        """Note that a kernel has ended between two calls."""
        reasons = {"memory": "used too much memory between two calls", "disk": "ended because the workspace was full"}
        if slot.kernel and not slot.kernel.is_alive:
            self._record_loss(slot, reasons.get(slot.kernel.process.end_reason, "ended between two calls"))

    def _record_loss(self, slot: KernelSlot, reason: str) -> None:
        names = slot.kernel.names if slot.kernel else []
        slot.loss = f"{reason}{describe_lost_names(names)}"
        slot.kernel = None


def describe_lost_names(names: list[str]) -> str:
    """Return the lost variables as the end of a sentence; empty if there are none."""
    max_names = 20
    if not names:
        return ""
    more = f" and {len(names) - max_names} more" if len(names) > max_names else ""
    return f"; lost: {', '.join(names[:max_names])}{more}"
