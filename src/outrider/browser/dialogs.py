"""alert, confirm, prompt and beforeunload: answered at once by policy, and reported.

An open dialog stops the page's scripts, so nothing may wait behind one unnoticed. alert() has only
one answer; leaving a page that asks to stay is what whoever navigates wants; confirm() and prompt()
are dismissed unless told otherwise, because that is the answer without effect.
"""

import asyncio
import time
from asyncio import Future
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from outrider.browser.cdp import Channel, ProtocolError
from outrider.browser.settings import DialogPolicy
from outrider.core.errors import NotFound, OutriderError

KEPT = 50
STORM = 3  # dialogs in a second
ANSWERS = 6  # attempts at answering one dialog, each twice as long after the one before


@dataclass
class Dialog:
    """One dialog. `kind` is `alert`, `confirm`, `prompt` or `beforeunload`.

    Attributes:
        answer: `accepted`, `dismissed`, or empty while it is open.
        default: What a prompt suggests.
        typed: What a prompt was answered with.
        decided: Its answer is on its way.
    """

    at: float
    kind: str
    message: str
    url: str
    default: str = ""
    answer: str = ""
    typed: str = ""
    decided: bool = False


class Dialogs:
    """The dialogs of one session, the newest 50, and how many there were in all.

    Args:
        policy: What happens to confirm() and prompt(): `dismiss`, `accept`, or `ask` (stay open).

    Attributes:
        open: The dialog that waits for an answer, if one does.
        person: Whether a person acts in the session: then they answer, whatever the policy.
    """

    def __init__(self, policy: DialogPolicy = "dismiss") -> None:
        self.policy: DialogPolicy = policy
        self.seen: deque[Dialog] = deque(maxlen=KEPT)
        self.total = 0
        self.open: Dialog | None = None
        self.person: Callable[[], bool] = lambda: False
        self._channel: Channel | None = None
        self._next: tuple[bool, str | None] | None = None
        self._watchers: list[Callable[[Dialog], None]] = []

    @property
    def waiting(self) -> Dialog | None:
        """The open dialog, if nobody has answered it: not one whose answer is on its way."""
        return self.open if self.open and not self.open.decided else None

    @property
    def storm(self) -> bool:
        """Whether dialogs come faster than a person could answer them."""
        return sum(time.time() - each.at < 1.0 for each in self.seen) >= STORM

    def dress(self, channel: Channel) -> list[Future[dict[str, Any]]]:
        """Listens to a channel of a page."""
        channel.on("Page.javascriptDialogOpening", lambda event: self._opened(channel, event))
        channel.on("Page.javascriptDialogClosed", lambda event: self._closed(channel, event))
        return []

    def on_open(self, watcher: Callable[[Dialog], None]) -> Callable[[], None]:
        """Calls `watcher` with each dialog that opens; returns how to stop that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher) if watcher in self._watchers else None

    def expect(self, *, accept: bool, text: str | None = None) -> None:
        """How the next confirm() or prompt() is answered, whatever the policy."""
        self._next = (accept, text)

    def since(self, total: int) -> list[Dialog]:
        """What opened after there had been so many dialogs."""
        return list(self.seen)[-(self.total - total) :] if self.total > total else []

    async def answer(self, *, accept: bool, text: str | None = None) -> Dialog:
        """Answers the open dialog. Raises NotFound when there is none."""
        dialog, channel = self.open, self._channel
        if dialog is None or channel is None:
            raise NotFound("no dialog is open", code="no_dialog", hint="go on without it")
        params: dict[str, Any] = {"accept": accept} | ({} if text is None else {"promptText": text})
        dialog.typed = text or ""
        await channel.send("Page.handleJavaScriptDialog", params, timeout=5.0)
        return dialog

    def forget(self, channel: Channel) -> None:
        """A page is gone, and its dialog with it."""
        if self._channel is channel:
            self.open = self._channel = None

    def _opened(self, channel: Channel, event: dict[str, Any]) -> None:
        kind = event.get("type", "alert")
        dialog = Dialog(
            time.time(), kind, event.get("message", "")[:2_000], event.get("url", ""), event.get("defaultPrompt", "")
        )
        self.seen.append(dialog)
        self.total += 1
        self.open, self._channel = dialog, channel
        for watcher in list(self._watchers):
            watcher(dialog)
        if not self.person():
            self._decide(dialog, channel)

    def person_left(self) -> None:
        """What a person has left open is answered by the policy."""
        if self.open is not None and self._channel is not None and not self.open.decided:
            self._decide(self.open, self._channel)

    def _decide(self, dialog: Dialog, channel: Channel) -> None:
        answer = self._decided(dialog)
        if answer is not None:
            accept, text = answer
            dialog.decided = True
            dialog.typed = text or ""
            params: dict[str, Any] = {"accept": accept} | ({} if text is None else {"promptText": text})
            channel.connection.spawn(self._insist(channel, dialog, params), "answering a dialog")

    async def _insist(self, channel: Channel, dialog: Dialog, params: dict[str, Any]) -> None:
        """Answers until the dialog is closed: an answer that comes while the next document does is lost."""
        for number in range(ANSWERS):
            with suppress(ProtocolError, OutriderError):
                await channel.send("Page.handleJavaScriptDialog", params, timeout=5.0)
            if self.open is not dialog or channel.lost:
                return
            await asyncio.sleep(0.02 * 2**number)

    def _decided(self, dialog: Dialog) -> tuple[bool, str | None] | None:
        if dialog.kind in ("alert", "beforeunload"):
            return True, None
        if self._next is not None:
            expected, self._next = self._next, None
            return expected
        if self.policy == "ask":
            return None
        accept = self.policy == "accept"
        return accept, (dialog.default if accept and dialog.kind == "prompt" else None)

    def _closed(self, channel: Channel, event: dict[str, Any]) -> None:
        if self.open is not None and self._channel is channel:
            self.open.answer = "accepted" if event.get("result") else "dismissed"
            self.open = self._channel = None
