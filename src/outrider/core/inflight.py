"""Which calls are under way in this process, for people who watch: `core/events` knows only those that have ended."""

import time
import uuid
from collections import OrderedDict
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from outrider.core.context import Call
from outrider.core.tool import Tool


@dataclass(frozen=True)
class InflightCall:
    """One call.

    Attributes:
        arguments: As people may see them: short, without what is private.
        run_id: The agent's run that makes it; empty for calls of hosts and people.
        ended_at: None while it is under way.
    """

    id: str
    tool: str
    title: str
    toolset: str
    session: str
    run_id: str
    began_at: float
    arguments: dict[str, str] = field(default_factory=dict)
    ended_at: float | None = None

    @property
    def browser_session(self) -> str:
        """The browser session that it is about, if it names one."""
        return self.arguments.get("sessionId", "")


class InflightCalls:
    """The calls under way, oldest first, and the last one that has ended of each browser session."""

    def __init__(self) -> None:
        self._running: dict[str, InflightCall] = {}
        self._ended: OrderedDict[str, InflightCall] = OrderedDict()

    @property
    def calls(self) -> list[InflightCall]:
        """Those under way."""
        return list(self._running.values())

    def find_last_ended(self, session: str) -> InflightCall | None:
        """The newest that has ended of those that were about a browser session."""
        return self._ended.get(session)

    @contextmanager
    def track_call(self, tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Generator[None]:
        """Around a call."""
        doing = InflightCall(
            uuid.uuid4().hex,
            tool.name,
            tool.title or tool.name,
            tool.toolset,
            call.session,
            call.run.id if call.run else "",
            time.time(),
            {name: _format_argument(tool, name, value) for name, value in arguments.items()},
        )
        self._running[doing.id] = doing
        try:
            yield
        finally:
            self._finish_call(self._running.pop(doing.id))

    def _finish_call(self, doing: InflightCall) -> None:
        max_ended = 500  # ended calls that are remembered: the last of each browser session
        if not doing.browser_session:
            return
        self._ended[doing.browser_session] = replace(doing, ended_at=time.time())
        self._ended.move_to_end(doing.browser_session)
        while len(self._ended) > max_ended:
            self._ended.popitem(last=False)


def _format_argument(tool: Tool, name: str, value: object) -> str:
    max_chars = 200  # characters of one argument
    placeholder = "[not shown]"
    if name in tool.private:
        return placeholder
    text = str(value)[: max_chars + 1]
    return text if len(text) <= max_chars else f"{text[:max_chars]}…"
