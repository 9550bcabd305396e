"""Give control of a session to its agent or to one person.

The rules are those of gsd-browser's dashboard: only the holder may send input, and only while the session is paused.
Taking control pauses the session; releasing it or losing the connection ends the pause and drops queued input.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from outrider.browser.live.control_input import InputRejected, InputState, UserInput, parse_input
from outrider.browser.live.pause_gate import PauseGate
from outrider.browser.protocol.condition import Condition
from outrider.browser.protocol.keys import MODIFIER_BITS
from outrider.browser.protocol.page import INPUT_TIMEOUT_S, BrowserPage

MAX_QUEUED_INPUTS = 1_000
MAX_UNANSWERED_INPUTS = 8  # further ones wait in the queue, where moves are merged


@dataclass(frozen=True)
class Ack:
    """The answer to a command or an input. `error` is one of the contract's codes, empty on success.

    Attributes:
        dropped: The queue was full, so the oldest input was dropped.
        message: A further explanation of an error.
    """

    error: str = ""
    queued: bool = False
    dropped: bool = False
    message: str = ""

    @property
    def ok(self) -> bool:
        return not self.error

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the dashboard's JSON."""
        if self.error:
            return {"ok": False, "error": self.error} | ({"message": self.message} if self.message else {})
        return {"ok": True, "queued": self.queued, "dropped": self.dropped}


class SessionControl:
    """Pause gate, holder and input queue of one session.

    Args:
        gate: Blocks the agent's calls while the session is paused.
        page: Returns the current page; None while there is none to act on.
        handed_back: Called when the agent continues after a person had control.

    Attributes:
        holder: The connection that has control; None for the agent.
        held_since: When it took control, in seconds since the epoch.
        changed: Notified when any of this changes.
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
        """Block the agent's next call; every viewer may do this."""
        self.gate.pause()
        self.changed.notify_all()
        return Ack()

    def resume(self, connection_id: str) -> Ack:
        """Let the agent continue; while a connection has control, only that one may. Error `not_holder` otherwise."""
        if self.holder not in (None, connection_id):
            return Ack("not_holder")
        self._resume_agent()
        return Ack()

    def take_control(self, connection_id: str) -> Ack:
        """Give control to a connection and pause. Error `not_holder` while another one has it."""
        if self.holder not in (None, connection_id):
            return Ack("not_holder")
        if self.holder is None:
            self.holder, self.held_since = connection_id, time.time()
        self._was_controlled = True
        return self.pause()

    def release_control(self, connection_id: str) -> Ack:
        """Return control to the agent and drop queued input. Error `not_holder` if the connection did not have it."""
        if self.holder != connection_id:
            return Ack("not_holder")
        self.holder = self.held_since = None
        self._resume_agent()
        return Ack()

    def handle_disconnect(self, connection_id: str) -> None:
        """Release control if a lost connection had it."""
        self.release_control(connection_id)

    def submit_input(self, connection_id: str, kind: str, payload: object) -> Ack:
        """Queue an input of a person for the current page."""
        if self.holder != connection_id:
            return Ack("not_holder")
        if not self.paused:
            return Ack("not_paused")
        if self._page() is None:
            return Ack("no_active_session")
        try:
            event = parse_input(kind, payload)
        except InputRejected as rejected:
            return Ack(rejected.code)
        return Ack(queued=True, dropped=self._queue.add(event))

    def serialize_state(self) -> dict[str, Any]:
        """Return the state that every viewer may see, as JSON."""
        return {
            "holder": self.holder,
            "held_since": self.held_since,
            "paused": self.paused,
            "paused_at": self.gate.paused_at,
            "waiting": self.gate.waiting,
            "queued": len(self._queue),
        }

    def close(self) -> None:
        """Release control and let waiting calls find out that the session is closed."""
        self.holder = self.held_since = None
        self._was_controlled = False
        self._resume_agent()

    def _resume_agent(self) -> None:
        self._queue.clear()
        if self._was_controlled:
            self._was_controlled = self.holder is not None
            self._on_handed_back()
        self.gate.resume()
        self.changed.notify_all()


class InputQueue:
    """The queued inputs of the person who controls a session.

    Args:
        page: Returns the page that receives them; None while there is none.
    """

    def __init__(self, page: Callable[[], BrowserPage | None]) -> None:
        self._page = page
        self._waiting: deque[UserInput] = deque()
        self._input_state = InputState()
        self._unanswered = 0
        self._target_page: BrowserPage | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, event: UserInput) -> bool:
        """Queue an input; return whether the oldest one was dropped for it."""
        if self._waiting and self._waiting[-1].try_merge(event):
            return False
        is_full = len(self._waiting) >= MAX_QUEUED_INPUTS
        if is_full:
            self._waiting.popleft()
        self._waiting.append(event)
        self._send_waiting()
        return is_full

    def clear(self) -> None:
        """Drop all queued inputs and release all held buttons and keys."""
        self._waiting.clear()
        page, commands = self._target_page, self._input_state.build_release_commands()
        self._input_state, self._target_page, self._unanswered = InputState(), None, 0
        if page is None or page.lost is not None:
            return
        for method, params in commands:
            page.channel.send_and_forget(method, params)

    def _send_waiting(self) -> None:
        while self._waiting and self._unanswered < MAX_UNANSWERED_INPUTS:
            page = self._page()
            if page is None:
                self._waiting.clear()
                return
            if page is not self._target_page:  # held buttons and keys belong to the previous page
                self._input_state, self._target_page, self._unanswered = InputState(), page, 0
            event = self._waiting.popleft()
            for answer in self._send_input(page, event):
                self._unanswered += 1
                answer.add_done_callback(lambda future, page=page: self._handle_answer(future, page))

    def _send_input(self, page: BrowserPage, event: UserInput) -> list["asyncio.Future[Any]"]:
        clipboard_keys = frozenset({"c", "x", "v", "insert"})
        commands = self._input_state.build_commands(event)
        held_modifiers = [name for name in MODIFIER_BITS if name in self._input_state.keys]
        if (
            page.clipboard is not None  # see `process.clipboard`
            and event.kind == "keydown"
            and event.key is not None
            and event.key.name.lower() in clipboard_keys
            and not {"Control", "Meta", "Shift"}.isdisjoint(held_modifiers)
        ):
            return [asyncio.ensure_future(page.dispatch_key("+".join([*held_modifiers, event.key.name])))]
        return [page.send(method, params, timeout=INPUT_TIMEOUT_S) for method, params in commands]

    def _handle_answer(self, future: "asyncio.Future[Any]", page: BrowserPage) -> None:
        if not future.cancelled():
            future.exception()  # the page may be gone
        if page is self._target_page:
            self._unanswered = max(0, self._unanswered - 1)
            self._send_waiting()
