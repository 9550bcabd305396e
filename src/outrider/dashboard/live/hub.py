"""State that all viewers of one dashboard share."""

import time
from contextlib import suppress
from typing import Any

from outrider.browser.session.session import Session
from outrider.core.errors import NotFound, OutriderError
from outrider.dashboard.live.goals import RunGoals
from outrider.dashboard.live.serialize import find_run_id, serialize_remote_session, serialize_session
from outrider.dashboard.rate_limit import TokenBucketLimiter
from outrider.dashboard.services import DashboardServices

INPUT_BURST = 240
CONNECTS_PER_MINUTE = 30  # per signed-in browser


class LiveHub:
    """The viewers of one dashboard.

    Args:
        services: The services behind the pages.

    Attributes:
        watchers: The number of open sockets.
    """

    def __init__(self, services: DashboardServices) -> None:
        # gsd-browser allows 120 inputs per minute and connection, which stops people who type, but not those who
        # reconnect.
        inputs_per_minute = 120 * 60  # per signed-in browser: a mouse reports 60 times a second
        self.services = services
        self.input_limiter = TokenBucketLimiter(inputs_per_minute, INPUT_BURST)
        self.connect_limiter = TokenBucketLimiter(CONNECTS_PER_MINUTE, CONNECTS_PER_MINUTE)
        self.watchers = 0
        self._goals = RunGoals(services.runs)
        self._titles: dict[str, str] = {}
        self._refreshed_at = 0.0
        self._serialized_at = 0.0
        self._sessions: list[dict[str, Any]] = []
        self._remote_sessions: list[dict[str, Any]] = []

    def list_sessions(self) -> list[dict[str, Any]]:
        """List all sessions; this process's and the newest first."""
        max_age_s = 0.2  # age up to which all viewers share the description of the sessions
        if time.monotonic() - self._serialized_at >= max_age_s:
            self._serialized_at = time.monotonic()
            inflight = self.services.events.inflight
            own_sessions = [
                serialize_session(each, inflight, self._goals, self._titles.get(each.id, "") or each.options.title)
                for each in self.services.browsers.list_sessions()[::-1]
            ]
            self._sessions = [*own_sessions, *self._remote_sessions]
        return self._sessions

    def invalidate(self) -> None:
        """Mark the serialized state as outdated."""
        self._serialized_at = 0.0

    def get_session(self, session_id: str) -> Session:
        """Return the session of any owner by its id. Raises NotFound."""
        for each in self.services.browsers.list_sessions():
            if each.id == session_id:
                return each
        raise NotFound("this browser session is closed", hint="choose another", code="session_not_found")

    async def refresh(self) -> None:
        """Read titles and goals, unless that was just done."""
        refresh_interval_s = 1.5  # between two reads of titles and goals
        if time.monotonic() - self._refreshed_at < refresh_interval_s:
            return
        self._refreshed_at = time.monotonic()
        registry = self.services.browsers.registry
        if registry is not None:
            with suppress(OutriderError):  # if the database is unavailable, show the last known sessions
                self._remote_sessions = [
                    serialize_remote_session(each) for each in (await registry.list_remote())[::-1]
                ]
        sessions = self.services.browsers.list_sessions()
        self._titles = {each.id: self._titles.get(each.id, "") for each in sessions}
        for session in sessions:
            try:
                self._titles[session.id] = await session.read_title()
            except OutriderError:
                continue
            if run_id := find_run_id(session, self.services.events.inflight):
                await self._goals.refresh_goal(run_id)

    def serialize_health(self) -> dict[str, Any]:
        """Return screencast statistics by session, as gsd-browser's `/healthz`."""
        casts = {each.id: each.screencast for each in self.services.browsers.list_sessions()}
        return {
            "streaming_mode": "cdp",
            "cdp_available": bool(self.services.browsers.running_browsers),
            "active_session_ids": list(casts),
            "last_cdp_error": next((cast.counters.error for cast in casts.values() if cast.counters.error), None),
            "sessions": {
                name: vars(cast.counters) | {"viewers": cast.viewer_count, "queue_size": cast.queued_frames}
                for name, cast in casts.items()
            },
        }
