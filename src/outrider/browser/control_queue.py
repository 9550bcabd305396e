"""Inputs on their way to a page: in order, never waited for, and bounded when the page does not take them."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from outrider.browser.control_input import Held, Input
from outrider.browser.keys import MODIFIERS
from outrider.browser.page import INPUT_SECONDS, Page

LIMIT = 1_000  # inputs that wait
AHEAD = 8  # that the browser has not answered yet: while it is behind, moves are joined
CLIPBOARD = frozenset({"c", "x", "v", "insert"})


class InputQueue:
    """The inputs of one session's holder.

    Args:
        page: Whom they go to: the page in front, or None while there is none.
    """

    def __init__(self, page: Callable[[], Page | None]) -> None:
        self._page = page
        self._waiting: deque[Input] = deque()
        self._held = Held()
        self._unanswered = 0
        self._to: Page | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, event: Input) -> bool:
        """Takes an input; whether the oldest had to go for it."""
        if self._waiting and self._waiting[-1].takes_in(event):
            return False
        full = len(self._waiting) >= LIMIT
        if full:
            self._waiting.popleft()
        self._waiting.append(event)
        self._send()
        return full

    def clear(self) -> None:
        """Drops what waits, and lets go whatever is held down."""
        self._waiting.clear()
        page, commands = self._to, self._held.released()
        self._held, self._to, self._unanswered = Held(), None, 0
        if page is None or page.lost is not None:
            return
        for method, params in commands:
            page.channel.tell(method, params)

    def _send(self) -> None:
        while self._waiting and self._unanswered < AHEAD:
            page = self._page()
            if page is None:
                self._waiting.clear()
                return
            if page is not self._to:  # buttons and keys are held on one page, not on the next
                self._held, self._to, self._unanswered = Held(), page, 0
            event = self._waiting.popleft()
            for answer in self._sent(page, event):
                self._unanswered += 1
                answer.add_done_callback(lambda future, page=page: self._answered(future, page))

    def _sent(self, page: Page, event: Input) -> list["asyncio.Future[Any]"]:
        commands = self._held.sent(event)
        chord = self._chord(event)
        if chord and page.clipboard is not None:  # sessions share one clipboard: see `clipboard`
            return [asyncio.ensure_future(page.key(chord))]
        return [page.send(method, params, timeout=INPUT_SECONDS) for method, params in commands]

    def _chord(self, event: Input) -> str:
        """The keys that copy, cut or paste; empty for all else."""
        if event.kind != "keydown" or event.key is None or event.key.name.lower() not in CLIPBOARD:
            return ""
        held = [name for name in MODIFIERS if name in self._held.keys]
        return "+".join([*held, event.key.name]) if {"Control", "Meta", "Shift"} & set(held) else ""

    def _answered(self, future: "asyncio.Future[Any]", page: Page) -> None:
        if not future.cancelled():
            future.exception()  # a page that goes away takes its inputs with it
        if page is self._to:
            self._unanswered = max(0, self._unanswered - 1)
            self._send()
