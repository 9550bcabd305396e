"""Who acts in a session: its agent, or a person who has paused it and taken control. One holder at a time.

The rules are those of gsd-browser's dashboard: input only from the holder and only while paused; taking control
pauses; release and loss of connection clear the pause; what is queued is dropped when the agent goes on.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outrider.browser.live.control_input import InputRejected, parse_input
from outrider.browser.live.control_queue import InputQueue
from outrider.browser.live.pause_gate import PauseGate
from outrider.browser.protocol.condition import Condition
from outrider.browser.protocol.page import BrowserPage


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

    def to_dict(self) -> dict[str, Any]:
        """As it goes over the wire."""
        if self.error:
            return {"ok": False, "error": self.error} | ({"message": self.message} if self.message else {})
        return {"ok": True, "queued": self.queued, "dropped": self.dropped}


class SessionControl:
    """One session's gate, its holder, and the holder's inputs.

    Args:
        gate: Holds the agent up.
        page: The page in front, or None while there is none to act on.
        handed_back: Called when the agent goes on after a person has had control.

    Attributes:
        holder: The connection that has control; None while nobody has.
        held_since: In seconds since the epoch.
        changed: Rings when any of this has changed.
    """

    def __init__(
        self, gate: PauseGate, page: Callable[[], BrowserPage | None], handed_back: Callable[[], None]
    ) -> None:
        self.gate = gate
        self.holder: str | None = None
        self.held_since: float | None = None
        self.changed = Condition()
        self._page = page
        self._queue = InputQueue(page)
        self._on_handed_back = handed_back
        self._was_controlled = False

    @property
    def paused(self) -> bool:
        return self.gate.paused

    def pause(self) -> Ack:
        """Holds the agent up before its next call. Anybody may."""
        self.gate.pause()
        self.changed.notify_all()
        return Ack()

    def resume(self, connection_id: str) -> Ack:
        """Lets the agent go on; while somebody has control, only they may. `not_holder` else."""
        if self.holder not in (None, connection_id):
            return Ack("not_holder")
        self._resume_agent()
        return Ack()

    def take_control(self, connection_id: str) -> Ack:
        """Gives control to a connection, and pauses. `not_holder` while another has it."""
        if self.holder not in (None, connection_id):
            return Ack("not_holder")
        if self.holder is None:
            self.holder, self.held_since = connection_id, time.time()
        self._was_controlled = True
        return self.pause()

    def release_control(self, connection_id: str) -> Ack:
        """Hands back: the pause ends, what is queued is dropped. `not_holder` if it was not theirs."""
        if self.holder != connection_id:
            return Ack("not_holder")
        self.holder = self.held_since = None
        self._resume_agent()
        return Ack()

    def handle_disconnect(self, connection_id: str) -> None:
        """A connection is lost: if it had control, that is released."""
        self.release_control(connection_id)

    def submit_input(self, connection_id: str, kind: str, payload: object) -> Ack:
        """Takes what a person did, for the page in front; it is on its way when this returns."""
        error = self._get_input_error(connection_id)
        if error:
            return Ack(error)
        try:
            event = parse_input(kind, payload)
        except InputRejected as rejected:
            return Ack(rejected.code)
        return Ack(queued=True, dropped=self._queue.add(event))

    def serialize_state(self) -> dict[str, Any]:
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
        self._was_controlled = False
        self._resume_agent()

    def _get_input_error(self, connection_id: str) -> str:
        if self.holder != connection_id:
            return "not_holder"
        if not self.paused:
            return "not_paused"
        return "" if self._page() is not None else "no_active_session"

    def _resume_agent(self) -> None:
        self._queue.clear()
        if self._was_controlled:
            self._was_controlled = self.holder is not None
            self._on_handed_back()
        self.gate.resume()
        self.changed.notify_all()
