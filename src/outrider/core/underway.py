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

PRIVATE = "[not shown]"
SHOWN = 200  # characters of one argument
ENDED = 500  # ended calls that are remembered: the last of each browser session


@dataclass(frozen=True)
class Doing:
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
    def about(self) -> str:
        """The browser session that it is about, if it names one."""
        return self.arguments.get("sessionId", "")


class Underway:
    """The calls under way, oldest first, and the last one that has ended of each browser session."""

    def __init__(self) -> None:
        self._now: dict[str, Doing] = {}
        self._ended: OrderedDict[str, Doing] = OrderedDict()

    @property
    def calls(self) -> list[Doing]:
        """Those under way."""
        return list(self._now.values())

    def last(self, session: str) -> Doing | None:
        """The newest that has ended of those that were about a browser session."""
        return self._ended.get(session)

    @contextmanager
    def noted(self, tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Generator[None]:
        """Around a call."""
        doing = Doing(
            uuid.uuid4().hex,
            tool.name,
            tool.title or tool.name,
            tool.toolset,
            call.session,
            call.run.id if call.run else "",
            time.time(),
            {name: _shown(tool, name, value) for name, value in arguments.items()},
        )
        self._now[doing.id] = doing
        try:
            yield
        finally:
            self._end(self._now.pop(doing.id))

    def _end(self, doing: Doing) -> None:
        if not doing.about:
            return
        self._ended[doing.about] = replace(doing, ended_at=time.time())
        self._ended.move_to_end(doing.about)
        while len(self._ended) > ENDED:
            self._ended.popitem(last=False)


def _shown(tool: Tool, name: str, value: object) -> str:
    if name in tool.private:
        return PRIVATE
    text = str(value)[: SHOWN + 1]
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
