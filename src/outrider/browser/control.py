"""Who acts in a session: its agent, or a person who has paused it and taken control. One holder at a time.

The rules are those of gsd-browser's dashboard: input only from the holder and only while paused; taking control
pauses; release and loss of connection clear the pause; what is queued is dropped when the agent goes on.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outrider.browser.bell import Bell
from outrider.browser.control_input import Rejected, read_input
from outrider.browser.control_queue import InputQueue
from outrider.browser.gate import Gate
from outrider.browser.page import Page


@dataclass(frozen=True)
class Ack:
    """The answer to a command or an input: `error` is one of the contract's words, empty where it was taken.

    Attributes:
        dropped: The queue was full, and the oldest input went for this one.
        message: What else there is to say of an error.
    """

    error: str = ""
    queued: bool = False
    dropped: bool = False
    message: str = ""

    @property
    def ok(self) -> bool:
        return not self.error

    def facts(self) -> dict[str, Any]:
        """As it goes over the wire."""
        if self.error:
            return {"ok": False, "error": self.error} | ({"message": self.message} if self.message else {})
        return {"ok": True, "queued": self.queued, "dropped": self.dropped}


class Control:
    """One session's gate, its holder, and the holder's inputs.

    Args:
        gate: Holds the agent up.
        page: The page in front, or None while there is none to act on.
        handed_back: Called when the agent goes on after a person has had control.

    Attributes:
        holder: The connection that has control; None while nobody has.
        held_since: In seconds since the epoch.
        bell: Rings when any of this has changed.
    """

    def __init__(self, gate: Gate, page: Callable[[], Page | None], handed_back: Callable[[], None]) -> None:
        self.gate = gate
        self.holder: str | None = None
        self.held_since: float | None = None
        self.bell = Bell()
        self._page = page
        self._queue = InputQueue(page)
        self._handed_back = handed_back
        self._touched = False

    @property
    def paused(self) -> bool:
        return self.gate.paused

    def pause(self) -> Ack:
        """Holds the agent up before its next call. Anybody may."""
        self.gate.shut()
        self.bell.ring()
        return Ack()

    def resume(self, who: str) -> Ack:
        """Lets the agent go on; while somebody has control, only they may. `not_holder` else."""
        if self.holder not in (None, who):
            return Ack("not_holder")
        self._go_on()
        return Ack()

    def take(self, who: str) -> Ack:
        """Gives control to a connection, and pauses. `not_holder` while another has it."""
        if self.holder not in (None, who):
            return Ack("not_holder")
        if self.holder is None:
            self.holder, self.held_since = who, time.time()
        self._touched = True
        return self.pause()

    def release(self, who: str) -> Ack:
        """Hands back: the pause ends, what is queued is dropped. `not_holder` if it was not theirs."""
        if self.holder != who:
            return Ack("not_holder")
        self.holder = self.held_since = None
        self._go_on()
        return Ack()

    def gone(self, who: str) -> None:
        """A connection is lost: if it had control, that is released."""
        self.release(who)

    def input(self, who: str, kind: str, payload: object) -> Ack:
        """Takes what a person did, for the page in front; it is on its way when this returns."""
        error = self._refusal(who)
        if error:
            return Ack(error)
        try:
            event = read_input(kind, payload)
        except Rejected as rejected:
            return Ack(rejected.code)
        return Ack(queued=True, dropped=self._queue.add(event))

    def state(self) -> dict[str, Any]:
        """What everybody who watches may know."""
        return {
            "holder": self.holder,
            "held_since": self.held_since,
            "paused": self.paused,
            "paused_at": self.gate.paused_at,
            "waiting": self.gate.waiting,
            "queued": len(self._queue),
        }

    def close(self) -> None:
        """The session is over: nobody holds it, and whoever waits at the gate may go and see."""
        self.holder = self.held_since = None
        self._touched = False
        self._go_on()

    def _refusal(self, who: str) -> str:
        if self.holder != who:
            return "not_holder"
        if not self.paused:
            return "not_paused"
        return "" if self._page() is not None else "no_active_session"

    def _go_on(self) -> None:
        self._queue.clear()
        if self._touched:
            self._touched = self.holder is not None
            self._handed_back()
        self.gate.open()
        self.bell.ring()
