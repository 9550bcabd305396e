"""What all watchers of one dashboard share, so that ten of them cost no more than one."""

import time
from contextlib import suppress
from typing import Any

from outrider.browser import Session
from outrider.core.errors import NotFound, OutriderError
from outrider.dashboard.house import House
from outrider.dashboard.limits import RateLimit
from outrider.dashboard.live.goals import Goals
from outrider.dashboard.live.telling import run_of, told, told_of

# The original allows 120 inputs a minute and connection, which stops whoever types, and nobody who reconnects.
INPUTS = 120 * 60  # a minute and signed-in browser: a mouse tells of itself 60 times a second
INPUT_BURST = 240
CONNECTS = 30  # a minute and signed-in browser
FRESH = 0.2  # seconds for which what is told of the sessions is good for all watchers
LOOK = 1.5  # seconds between two looks at titles and at what agents say


class Room:
    """One dashboard's watchers.

    Args:
        house: What is shown.

    Attributes:
        watchers: How many sockets are open.
    """

    def __init__(self, house: House) -> None:
        self.house = house
        self.inputs = RateLimit(INPUTS, INPUT_BURST)
        self.connects = RateLimit(CONNECTS, CONNECTS)
        self.watchers = 0
        self._goals = Goals(house.runs)
        self._titles: dict[str, str] = {}
        self._looked_at = 0.0
        self._told_at = 0.0
        self._sessions: list[dict[str, Any]] = []
        self._elsewhere: list[dict[str, Any]] = []

    def sessions(self) -> list[dict[str, Any]]:
        """All sessions, those of this process and the newest first."""
        if time.monotonic() - self._told_at >= FRESH:
            self._told_at = time.monotonic()
            mine = [self._told(each) for each in self.house.browsers.list()[::-1]]
            self._sessions = [*mine, *self._elsewhere]
        return self._sessions

    def changed(self) -> None:
        """What is told is to be looked at anew: somebody has just done something."""
        self._told_at = 0.0

    def session(self, session_id: str) -> Session:
        """The session of that id, whosever it is. Raises NotFound."""
        for each in self.house.browsers.list():
            if each.id == session_id:
                return each
        raise NotFound("this browser session is closed", hint="choose another", code="session_not_found")

    async def look(self) -> None:
        """Learns titles and what agents say, if nobody has just done so."""
        if time.monotonic() - self._looked_at < LOOK:
            return
        self._looked_at = time.monotonic()
        await self._look_elsewhere()
        sessions = self.house.browsers.list()
        self._titles = {each.id: self._titles.get(each.id, "") for each in sessions}
        for session in sessions:
            try:
                self._titles[session.id] = await session.title()
            except OutriderError:
                continue
            if run_id := run_of(session, self.house.events.underway):
                await self._goals.look(run_id)

    def health(self) -> dict[str, Any]:
        """How the pictures come along: the facts of gsd-browser's `/healthz`, a session each."""
        casts = {each.id: each.screencast for each in self.house.browsers.list()}
        return {
            "streaming_mode": "cdp",
            "cdp_available": bool(self.house.browsers.running),
            "active_session_ids": list(casts),
            "last_cdp_error": next((cast.counters.error for cast in casts.values() if cast.counters.error), None),
            "sessions": {
                name: vars(cast.counters) | {"viewers": cast.viewers, "queue_size": cast.waiting}
                for name, cast in casts.items()
            },
        }

    async def _look_elsewhere(self) -> None:
        registry = self.house.browsers.registry
        if registry is not None:
            with suppress(OutriderError):  # a database that is away for a moment: what was known is shown on
                self._elsewhere = [told_of(each) for each in (await registry.elsewhere())[::-1]]

    def _told(self, session: Session) -> dict[str, Any]:
        title = self._titles.get(session.id, "") or session.options.title
        return told(session, self.house.events.underway, self._goals, title)
