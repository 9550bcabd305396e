"""What a page has said to its console: bounded, and without secrets."""

import time
from asyncio import Future
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.redact import MAX_RAW_MESSAGE_CHARS, clean_message, clean_url

ERROR_LEVELS = frozenset({"error", "assert", "exception"})


@dataclass(frozen=True)
class ConsoleMessage:
    """One message. `at` is in seconds since the epoch; `level` is `log`, `info`, `warning`, `error`."""

    at: float
    level: str
    text: str
    url: str = ""
    line: int | None = None
    column: int | None = None

    @property
    def is_error(self) -> bool:
        return self.level in ERROR_LEVELS


class ConsoleLog:
    """The messages of one session, the newest 200, and how many there were in all, and how many errors."""

    def __init__(self) -> None:
        max_messages = 200  # messages of a session
        self.errors = 0
        self._messages: deque[ConsoleMessage] = deque(maxlen=max_messages)
        self.total = 0

    @property
    def messages(self) -> list[ConsoleMessage]:
        """The messages, oldest first. Cleaned when they are asked for: a page may say thousands a second."""
        return [replace(each, text=clean_message(each.text), url=clean_url(each.url)) for each in self._messages]

    def set_up_channel(self, channel: TargetChannel) -> list[Future[dict[str, Any]]]:
        """Listens to a channel of a page."""
        channel.on("Runtime.consoleAPICalled", lambda event: self._handle_console_call(channel, event))
        channel.on("Runtime.exceptionThrown", self._handle_exception)
        channel.on("Log.entryAdded", self._handle_log_entry)
        return [channel.send("Log.enable")]

    def list_since(self, total: int) -> list[ConsoleMessage]:
        """What came after there had been so many messages."""
        return self.messages[-(self.total - total) :] if self.total > total else []

    def _handle_console_call(self, channel: TargetChannel, event: dict[str, Any]) -> None:
        max_arguments = 10  # arguments of one call
        arguments = event.get("args", [])
        text = " ".join(_format_argument(each) for each in arguments[:max_arguments])
        self._add_message(event.get("type", "log"), text, *_find_call_site(event.get("stackTrace")))
        if any("objectId" in each for each in arguments):
            channel.send_and_forget("Runtime.releaseObjectGroup", {"objectGroup": "console"})

    def _handle_exception(self, event: dict[str, Any]) -> None:
        details = event["exceptionDetails"]
        text = details.get("exception", {}).get("description") or details.get("text", "")
        place = (details.get("url", ""), details.get("lineNumber"), details.get("columnNumber"))
        self._add_message("exception", str(text), *place)

    def _handle_log_entry(self, event: dict[str, Any]) -> None:
        entry = event["entry"]
        self._add_message(
            entry.get("level", "info"), entry.get("text", ""), entry.get("url", ""), entry.get("lineNumber")
        )

    def _add_message(
        self, level: str, text: str, url: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        self.total += 1
        self.errors += level in ERROR_LEVELS
        level = "warning" if level == "warn" else level
        line = None if line is None else line + 1  # the protocol counts from zero
        column = None if column is None else column + 1
        self._messages.append(
            ConsoleMessage(time.time(), level, text[:MAX_RAW_MESSAGE_CHARS], url[:MAX_RAW_MESSAGE_CHARS], line, column)
        )


def _format_argument(argument: dict[str, Any]) -> str:
    if "value" in argument:
        return str(argument["value"])
    preview = argument.get("preview", {}).get("properties")
    if preview:
        return "{" + ", ".join(f"{each['name']}: {each.get('value', '')}" for each in preview) + "}"
    return str(argument.get("description") or argument.get("unserializableValue") or argument.get("type", ""))


def _find_call_site(stack: dict[str, Any] | None) -> tuple[str, int | None, int | None]:
    frames: Iterable[dict[str, Any]] = (stack or {}).get("callFrames", ())
    for frame in frames:
        return frame.get("url", ""), frame.get("lineNumber"), frame.get("columnNumber")
    return "", None, None
