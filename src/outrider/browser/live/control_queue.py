"""Send a person's inputs to the page in order, with a bounded queue."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from outrider.browser.live.control_input import InputState, UserInput
from outrider.browser.protocol.keys import MODIFIER_BITS
from outrider.browser.protocol.page import INPUT_TIMEOUT_S, BrowserPage

MAX_QUEUED_INPUTS = 1_000
MAX_UNANSWERED_INPUTS = 8  # more wait in the queue, where moves are merged


class InputQueue:
    """Queued inputs of the person who controls a session.

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
        held = [name for name in MODIFIER_BITS if name in self._input_state.keys]
        if (
            page.clipboard is not None  # see `process.clipboard`
            and event.kind == "keydown"
            and event.key is not None
            and event.key.name.lower() in clipboard_keys
            and not {"Control", "Meta", "Shift"}.isdisjoint(held)
        ):
            return [asyncio.ensure_future(page.dispatch_key("+".join([*held, event.key.name])))]
        return [page.send(method, params, timeout=INPUT_TIMEOUT_S) for method, params in commands]

    def _handle_answer(self, future: "asyncio.Future[Any]", page: BrowserPage) -> None:
        if not future.cancelled():
            future.exception()  # the page may be gone
        if page is self._target_page:
            self._unanswered = max(0, self._unanswered - 1)
            self._send_waiting()
