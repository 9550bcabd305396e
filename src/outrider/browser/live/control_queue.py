"""Inputs on their way to a page: in order, never waited for, and bounded when the page does not take them."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from outrider.browser.live.control_input import InputState, UserInput
from outrider.browser.protocol.keys import MODIFIER_BITS
from outrider.browser.protocol.page import INPUT_TIMEOUT_S, BrowserPage

MAX_QUEUED_INPUTS = 1_000  # inputs that wait
MAX_UNANSWERED_INPUTS = 8  # that the browser has not answered yet: while it is behind, moves are joined


class InputQueue:
    """The inputs of one session's holder.

    Args:
        page: Whom they go to: the page in front, or None while there is none.
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
        """Takes an input; whether the oldest had to go for it."""
        if self._waiting and self._waiting[-1].try_merge(event):
            return False
        full = len(self._waiting) >= MAX_QUEUED_INPUTS
        if full:
            self._waiting.popleft()
        self._waiting.append(event)
        self._send_waiting()
        return full

    def clear(self) -> None:
        """Drops what waits, and lets go whatever is held down."""
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
            if page is not self._target_page:  # buttons and keys are held on one page, not on the next
                self._input_state, self._target_page, self._unanswered = InputState(), page, 0
            event = self._waiting.popleft()
            for answer in self._send_input(page, event):
                self._unanswered += 1
                answer.add_done_callback(lambda future, page=page: self._handle_answer(future, page))

    def _send_input(self, page: BrowserPage, event: UserInput) -> list["asyncio.Future[Any]"]:
        commands = self._input_state.build_commands(event)
        chord = self._find_clipboard_chord(event)
        if chord and page.clipboard is not None:  # sessions share one clipboard: see `clipboard`
            return [asyncio.ensure_future(page.dispatch_key(chord))]
        return [page.send(method, params, timeout=INPUT_TIMEOUT_S) for method, params in commands]

    def _find_clipboard_chord(self, event: UserInput) -> str:
        """The keys that copy, cut or paste; empty for all else."""
        clipboard_keys = frozenset({"c", "x", "v", "insert"})
        if event.kind != "keydown" or event.key is None or event.key.name.lower() not in clipboard_keys:
            return ""
        held = [name for name in MODIFIER_BITS if name in self._input_state.keys]
        return "+".join([*held, event.key.name]) if {"Control", "Meta", "Shift"} & set(held) else ""

    def _handle_answer(self, future: "asyncio.Future[Any]", page: BrowserPage) -> None:
        if not future.cancelled():
            future.exception()  # a page that goes away takes its inputs with it
        if page is self._target_page:
            self._unanswered = max(0, self._unanswered - 1)
            self._send_waiting()
