"""Record console messages of a session, bounded and without secrets."""

import time
from asyncio import Future
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

from outrider.browser.page.own_requests import is_own_request
from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.redact import MAX_RAW_MESSAGE_CHARS, clean_message, clean_url

ERROR_LEVELS = frozenset({"error", "assert", "exception"})


@dataclass(frozen=True)
class ConsoleMessage:
    """One message.

    Attributes:
        at: In seconds since the epoch.
        level: The console method or log level.
        stack: The calls that led to an error or warning, innermost first; empty if the text contains them.
    """

    at: float
    level: str
    text: str
    url: str = ""
    line: int | None = None
    column: int | None = None
    stack: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        return self.level in ERROR_LEVELS


class ConsoleLog:
    """The newest 200 messages of a session, with the total numbers of messages and errors."""

    def __init__(self) -> None:
        self.errors = 0
        self._messages: deque[ConsoleMessage] = deque(maxlen=200)
        self.total = 0

    @property
    def messages(self) -> list[ConsoleMessage]:
        """The messages, oldest first."""
        # Clean them here and not on arrival, because a page may log thousands per second.
        return [
            replace(
                message,
                text=clean_message(message.text),
                url=clean_url(message.url),
                stack=tuple(map(clean_message, message.stack)),
            )
            for message in self._messages
        ]

    def set_up_channel(self, channel: TargetChannel) -> list[Future[dict[str, Any]]]:
        """Subscribe to a channel of a page."""
        channel.on("Runtime.consoleAPICalled", lambda event: self._handle_console_call(channel, event))
        channel.on("Runtime.exceptionThrown", lambda event: self._add_exception(event["exceptionDetails"]))
        channel.on("Log.entryAdded", lambda event: self._add_log_entry(event["entry"]))
        return [channel.send("Log.enable")]

    def list_since(self, total: int) -> list[ConsoleMessage]:
        """List the messages after the first `total` ones."""
        return self.messages[-(self.total - total) :] if self.total > total else []

    def _handle_console_call(self, channel: TargetChannel, event: dict[str, Any]) -> None:
        max_arguments = 10
        arguments = event.get("args", [])
        text = " ".join(_format_argument(argument) for argument in arguments[:max_arguments])
        call_site = next(iter(event.get("stackTrace", {}).get("callFrames", ())), {})
        position = (call_site.get("url", ""), call_site.get("lineNumber"), call_site.get("columnNumber"))
        self._add_message(event.get("type", "log"), text, *position, stack=event.get("stackTrace"))
        if any("objectId" in argument for argument in arguments):
            channel.send_and_forget("Runtime.releaseObjectGroup", {"objectGroup": "console"})

    def _add_exception(self, details: dict[str, Any]) -> None:
        thrown = details.get("exception", {})
        text = thrown.get("description") or f"{details.get('text', '')} {thrown.get('value', '')}".strip()
        position = (details.get("url", ""), details.get("lineNumber"), details.get("columnNumber"))
        stack = None if "\n    at " in str(text) else details.get("stackTrace")
        self._add_message("exception", str(text), *position, stack=stack)

    def _add_log_entry(self, entry: dict[str, Any]) -> None:
        text, url = entry.get("text", ""), entry.get("url", "")
        level = entry.get("level", "info")
        is_missing_icon = level == "error" and entry.get("source") == "network" and is_own_request(url)
        self._add_message("info" if is_missing_icon else level, text, url, entry.get("lineNumber"))

    def _add_message(
        self,
        level: str,
        text: str,
        url: str = "",
        line: int | None = None,
        column: int | None = None,
        *,
        stack: dict[str, Any] | None = None,
    ) -> None:
        self.total += 1
        self.errors += level in ERROR_LEVELS
        level = "warning" if level == "warn" else level
        line = None if line is None else line + 1  # the protocol counts from zero
        column = None if column is None else column + 1
        text, url = text[:MAX_RAW_MESSAGE_CHARS], url[:MAX_RAW_MESSAGE_CHARS]
        max_calls = 8
        calls = (stack or {}).get("callFrames", []) if level in (*ERROR_LEVELS, "warning", "trace") else []
        innermost = tuple(
            f"{call.get('functionName') or '(anonymous)'} {call.get('url', '')}:{call.get('lineNumber', -1) + 1}"
            for call in (calls[:max_calls] if len(calls) > 1 else ())
        )
        self._messages.append(ConsoleMessage(time.time(), level, text, url, line, column, innermost))


def _format_argument(argument: dict[str, Any]) -> str:
    if "value" in argument:
        return str(argument["value"])
    preview = argument.get("preview", {}).get("properties")
    if preview:
        return "{" + ", ".join(f"{item['name']}: {item.get('value', '')}" for item in preview) + "}"
    return str(argument.get("description") or argument.get("unserializableValue") or argument.get("type", ""))
