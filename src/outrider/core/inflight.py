"""Track the calls in progress in this process, for the dashboard."""

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
    """A call in progress, or one that has just ended.

    Attributes:
        arguments: For display: shortened, without private ones.
        run_id: The agent's run that makes it; empty for calls of hosts and people.
        ended_at: Seconds since the epoch; None while it is in progress.
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
        """The browser session in the arguments, or an empty string."""
        return self.arguments.get("sessionId", "")


class InflightCalls:
    """The calls in progress, oldest first, and the last ended call of each browser session."""

    def __init__(self) -> None:
        self._running: dict[str, InflightCall] = {}
        self._ended: OrderedDict[str, InflightCall] = OrderedDict()

    @property
    def calls(self) -> list[InflightCall]:
        """The calls in progress."""
        return list(self._running.values())

    def find_last_ended(self, session: str) -> InflightCall | None:
        """Return the call on a browser session that ended last, if any."""
        return self._ended.get(session)

    @contextmanager
    def track_call(self, tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Generator[None]:
        """List the call as in progress during the body."""
        max_remembered, max_chars = 500, 200
        shown: dict[str, str] = {}
        for name, value in arguments.items():
            text = "[not shown]" if tool.private and tool.is_private(name) else str(value)[: max_chars + 1]
            shown[name] = text if len(text) <= max_chars else f"{text[:max_chars]}…"
        inflight = InflightCall(
            uuid.uuid4().hex,
            tool.name,
            tool.title or tool.name,
            tool.toolset,
            call.session,
            call.run.id if call.run else "",
            time.time(),
            shown,
        )
        self._running[inflight.id] = inflight
        try:
            yield
        finally:
            del self._running[inflight.id]
            if session := shown.get("sessionId"):
                self._ended[session] = replace(inflight, ended_at=time.time())
                self._ended.move_to_end(session)
                while len(self._ended) > max_remembered:
                    self._ended.popitem(last=False)
