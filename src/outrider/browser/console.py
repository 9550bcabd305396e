"""What a page has said to its console: bounded, and without secrets."""

import time
from asyncio import Future
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from outrider.browser.cdp import Channel
from outrider.browser.redact import READ_CHARS, clean_message, clean_url

KEPT = 200  # messages of a session
SHOWN = 10  # arguments of one call
ERRORS = frozenset({"error", "assert", "exception"})


@dataclass(frozen=True)
class Message:
    """One message. `at` is in seconds since the epoch; `level` is `log`, `info`, `warning`, `error`."""

    at: float
    level: str
    text: str
    url: str = ""
    line: int | None = None
    column: int | None = None

    @property
    def is_error(self) -> bool:
        return self.level in ERRORS


class Console:
    """The messages of one session, the newest 200, and how many there were in all, and how many errors."""

    def __init__(self) -> None:
        self.errors = 0
        self._kept: deque[Message] = deque(maxlen=KEPT)
        self.total = 0

    @property
    def messages(self) -> list[Message]:
        """The messages, oldest first. Cleaned when they are asked for: a page may say thousands a second."""
        return [replace(each, text=clean_message(each.text), url=clean_url(each.url)) for each in self._kept]

    def dress(self, channel: Channel) -> list[Future[dict[str, Any]]]:
        """Listens to a channel of a page."""
        channel.on("Runtime.consoleAPICalled", lambda event: self._called(channel, event))
        channel.on("Runtime.exceptionThrown", self._thrown)
        channel.on("Log.entryAdded", self._logged)
        return [channel.send("Log.enable")]

    def since(self, total: int) -> list[Message]:
        """What came after there had been so many messages."""
        return self.messages[-(self.total - total) :] if self.total > total else []

    def _called(self, channel: Channel, event: dict[str, Any]) -> None:
        arguments = event.get("args", [])
        text = " ".join(_shown(each) for each in arguments[:SHOWN])
        self._keep(event.get("type", "log"), text, *_place(event.get("stackTrace")))
        if any("objectId" in each for each in arguments):
            channel.tell("Runtime.releaseObjectGroup", {"objectGroup": "console"})

    def _thrown(self, event: dict[str, Any]) -> None:
        details = event["exceptionDetails"]
        text = details.get("exception", {}).get("description") or details.get("text", "")
        place = (details.get("url", ""), details.get("lineNumber"), details.get("columnNumber"))
        self._keep("exception", str(text), *place)

    def _logged(self, event: dict[str, Any]) -> None:
        entry = event["entry"]
        self._keep(entry.get("level", "info"), entry.get("text", ""), entry.get("url", ""), entry.get("lineNumber"))

    def _keep(self, level: str, text: str, url: str = "", line: int | None = None, column: int | None = None) -> None:
        self.total += 1
        self.errors += level in ERRORS
        level = "warning" if level == "warn" else level
        line = None if line is None else line + 1  # the protocol counts from zero
        column = None if column is None else column + 1
        self._kept.append(Message(time.time(), level, text[:READ_CHARS], url[:READ_CHARS], line, column))


def _shown(argument: dict[str, Any]) -> str:
    if "value" in argument:
        return str(argument["value"])
    preview = argument.get("preview", {}).get("properties")
    if preview:
        return "{" + ", ".join(f"{each['name']}: {each.get('value', '')}" for each in preview) + "}"
    return str(argument.get("description") or argument.get("unserializableValue") or argument.get("type", ""))


def _place(stack: dict[str, Any] | None) -> tuple[str, int | None, int | None]:
    frames: Iterable[dict[str, Any]] = (stack or {}).get("callFrames", ())
    for frame in frames:
        return frame.get("url", ""), frame.get("lineNumber"), frame.get("columnNumber")
    return "", None, None
