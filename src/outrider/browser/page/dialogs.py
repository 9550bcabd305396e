"""Answer and record alert, confirm, prompt and beforeunload dialogs.

An open dialog stops the page's scripts, so each is answered at once by policy. alert() has only one answer;
beforeunload is accepted, because a navigation was requested; confirm() and prompt() are dismissed by default, because
that has no effect.
"""

import asyncio
import time
from asyncio import Future
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.cdp import ProtocolError, TargetChannel
from outrider.browser.settings import DialogPolicy
from outrider.core.errors import NotFound, OutriderError


@dataclass
class Dialog:
    """One dialog. `kind` is `alert`, `confirm`, `prompt` or `beforeunload`.

    Attributes:
        answer: `accepted`, `dismissed`, or empty while it is open.
        default: The text that a prompt suggests.
        typed: The text that a prompt was answered with.
        is_answering: Whether an answer has been sent.
        is_unexpected: It was dismissed because no answer was defined for it.
    """

    at: float
    kind: str
    message: str
    url: str
    default: str = ""
    answer: str = ""
    typed: str = ""
    is_answering: bool = False
    is_unexpected: bool = False


class Dialogs:
    """The newest 50 dialogs of a session, and the total number.

    Args:
        policy: The answer to confirm() and prompt(): `dismiss`, `accept`, or `ask` (leave them open).
        on_unexpected: Called when a dialog is dismissed because no answer was defined for it.

    Attributes:
        open_dialog: The dialog that waits for an answer, if there is one.
        is_person_acting: Whether a person controls the session; the policy then does not answer.
    """

    def __init__(self, policy: DialogPolicy = "dismiss", on_unexpected: Callable[[], None] = lambda: None) -> None:
        self.policy: DialogPolicy = policy
        self.history: deque[Dialog] = deque(maxlen=50)
        self.total = 0
        self.open_dialog: Dialog | None = None
        self.is_person_acting: Callable[[], bool] = lambda: False
        self._on_unexpected = on_unexpected
        self._channel: TargetChannel | None = None
        self._preset_answer: tuple[bool, str | None] | None = None
        self._watchers: list[Callable[[Dialog], None]] = []

    @property
    def unanswered(self) -> Dialog | None:
        """The open dialog, unless its answer has been sent."""
        return self.open_dialog if self.open_dialog and not self.open_dialog.is_answering else None

    @property
    def is_storm(self) -> bool:
        """Whether dialogs come faster than a person could answer them."""
        min_dialogs_in_second = 3
        return sum(time.time() - dialog.at < 1.0 for dialog in self.history) >= min_dialogs_in_second

    def set_up_channel(self, channel: TargetChannel) -> list[Future[dict[str, Any]]]:
        """Subscribe to a channel of a page."""

        def mark_closed(event: dict[str, Any]) -> None:
            if self.open_dialog is not None and self._channel is channel:
                self.open_dialog.answer = "accepted" if event.get("result") else "dismissed"
                self.open_dialog = self._channel = None

        channel.on("Page.javascriptDialogOpening", lambda event: self._handle_opening(channel, event))
        channel.on("Page.javascriptDialogClosed", mark_closed)
        return []

    def on_open(self, watcher: Callable[[Dialog], None]) -> Callable[[], None]:
        """Call `watcher` with each dialog that opens; return a function that unsubscribes it."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher) if watcher in self._watchers else None

    def preset_answer(self, *, accept: bool, text: str | None = None) -> None:
        """Set the answer to the next confirm() or prompt(), regardless of the policy."""
        self._preset_answer = (accept, text)

    def list_since(self, total: int) -> list[Dialog]:
        """List the dialogs after the first `total` ones."""
        return list(self.history)[-(self.total - total) :] if self.total > total else []

    async def answer(self, *, accept: bool, text: str | None = None) -> Dialog:
        """Answer the open dialog. Raises NotFound when there is none."""
        dialog, channel = self.open_dialog, self._channel
        if dialog is None or channel is None:
            raise NotFound("no dialog is open", code="no_dialog", hint="continue without an answer")
        params: dict[str, Any] = {"accept": accept} | ({} if text is None else {"promptText": text})
        dialog.typed = text or ""
        await channel.send("Page.handleJavaScriptDialog", params, timeout=5.0)
        return dialog

    def forget_channel(self, channel: TargetChannel) -> None:
        """Forget the open dialog of a page that is gone."""
        if self._channel is channel:
            self.open_dialog = self._channel = None

    def _handle_opening(self, channel: TargetChannel, event: dict[str, Any]) -> None:
        kind = event.get("type", "alert")
        dialog = Dialog(
            time.time(), kind, event.get("message", "")[:2_000], event.get("url", ""), event.get("defaultPrompt", "")
        )
        self.history.append(dialog)
        self.total += 1
        self.open_dialog, self._channel = dialog, channel
        for watcher in list(self._watchers):
            watcher(dialog)
        if not self.is_person_acting():
            self._answer_by_policy(dialog, channel)

    def _answer_by_policy(self, dialog: Dialog, channel: TargetChannel) -> None:
        answer = self._choose_answer(dialog)
        if answer is not None:
            accept, text = answer
            dialog.is_answering = True
            dialog.typed = text or ""
            params: dict[str, Any] = {"accept": accept} | ({} if text is None else {"promptText": text})
            channel.connection.spawn_task(self._answer_until_closed(channel, dialog, params), "answering a dialog")

    def resume_policy(self) -> None:
        """Let the policy answer a dialog that a person has left open."""
        if self.open_dialog is not None and self._channel is not None and not self.open_dialog.is_answering:
            self._answer_by_policy(self.open_dialog, self._channel)

    async def _answer_until_closed(self, channel: TargetChannel, dialog: Dialog, params: dict[str, Any]) -> None:
        """Answer until the dialog is closed, because an answer during a navigation is lost."""
        max_attempts = 6  # each waits twice as long as the one before
        for attempt in range(max_attempts):
            with suppress(ProtocolError, OutriderError):
                await channel.send("Page.handleJavaScriptDialog", params, timeout=5.0)
            if self.open_dialog is not dialog or channel.lost:
                return
            await asyncio.sleep(0.02 * 2**attempt)

    def _choose_answer(self, dialog: Dialog) -> tuple[bool, str | None] | None:
        """Return whether to accept and with what text; None leaves the dialog open."""
        if dialog.kind in ("alert", "beforeunload"):
            return True, None
        if self._preset_answer is not None:
            expected, self._preset_answer = self._preset_answer, None
            return expected
        if self.policy == "ask":
            return None
        accept = self.policy == "accept"
        dialog.is_unexpected = not accept
        if dialog.is_unexpected:
            self._on_unexpected()
        return accept, (dialog.default if accept and dialog.kind == "prompt" else None)
