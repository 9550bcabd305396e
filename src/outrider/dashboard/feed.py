"""Live updates by server-sent events that survive reconnects without loss.

For each topic, a page has a function that returns the changes after a cursor. It reads the database, so it also finds
the changes of other processes. The id of every event has the viewer's cursor for each topic: a browser that lost its
connection sends the last id (`Last-Event-ID`, HTML Living Standard, section Server-sent events) and gets the rest, each
change once. Viewers with the same cursor share one query per second.
"""

import json
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from outrider.core.errors import InvalidInput, OutriderError
from outrider.dashboard.page import FeedChange, FeedSource
from outrider.dashboard.services import DashboardServices

POLL_INTERVAL_S = 1.0  # seconds between queries

FeedCursors = dict[str, str]  # topic to cursor


class FeedTopic:
    """One topic for all viewers."""

    def __init__(self, services: DashboardServices, feed: FeedSource) -> None:
        self._services = services
        self._source = feed
        self._lock = anyio.Lock()
        self._cached_answers: OrderedDict[str, tuple[float, tuple[list[FeedChange], str]]] = OrderedDict()

    async def fetch_changes(self, cursor: str) -> tuple[list[FeedChange], str]:
        """Return the changes after a cursor, at most a second old, and the new cursor."""
        max_cached_answers = 64  # cached for other viewers with the same cursor
        async with self._lock:
            at, known = self._cached_answers.get(cursor, (0.0, ([], "")))
            if time.monotonic() - at < POLL_INTERVAL_S:
                return known
            found = await self._source(self._services, cursor)
            self._cached_answers[cursor] = (time.monotonic(), found)
            self._cached_answers.move_to_end(cursor)
            if len(self._cached_answers) > max_cached_answers:
                self._cached_answers.popitem(last=False)
            return found


class TopicFeeds:
    """All topics, and the end of all streams when the app closes.

    Attributes:
        streams: The number of connected browsers.
    """

    def __init__(self, services: DashboardServices, feeds: Mapping[str, FeedSource]) -> None:
        self.topics = {name: FeedTopic(services, feed) for name, feed in feeds.items()}
        self._closing = anyio.Event()
        self.streams = 0

    def close(self) -> None:
        """End every stream; browsers reconnect to the next process."""
        self._closing.set()

    async def stream_events(self, cursors: FeedCursors) -> AsyncGenerator[ServerSentEvent]:
        """Yield `ready`, then one event for each group of changes of a topic."""
        self.streams += 1
        try:
            yield _build_event("ready", {"topics": list(cursors)}, cursors)
            while not self._closing.is_set():
                more = False
                for topic in list(cursors):
                    try:
                        changes, behind = await self.topics[topic].fetch_changes(cursors[topic])
                    except OutriderError:  # the database will answer later, and nothing is lost
                        continue
                    if changes:
                        cursors = cursors | {topic: behind}
                        more = True
                        yield _build_event(topic, changes, cursors)
                if not more:
                    with anyio.move_on_after(POLL_INTERVAL_S):
                        await self._closing.wait()
        finally:
            self.streams -= 1


async def get_feed_position(connection: HTTPConnection, *topics: str) -> str:
    """Return the current cursors; take them before reading, and pass them to `render_page` as `feed`.

    A change in between may then be sent twice, with the same id, but is never missed.
    """
    feeds: TopicFeeds = connection.app.state.feeds
    return _encode_cursors({topic: (await feeds.topics[topic].fetch_changes(""))[1] for topic in topics})


async def stream_feed(request: Request) -> Response:
    """Serve `GET feed?at=…` (from `start`) or `?topics=a,b` (from now on)."""
    heartbeat_interval_s = 15  # seconds between comments that keep the connection open
    feeds: TopicFeeds = request.app.state.feeds
    last_event_id = request.headers.get("last-event-id") or request.query_params.get("at")
    if last_event_id:
        try:
            cursors = {str(topic): str(cursor) for topic, cursor in json.loads(last_event_id).items()}
        except (ValueError, AttributeError, RecursionError):
            raise InvalidInput("after: is not a valid position", hint="reload the page") from None
    else:
        cursors = {
            topic: (await feeds.topics[topic].fetch_changes(""))[1] if topic in feeds.topics else ""
            for topic in filter(None, request.query_params.get("topics", "").split(","))
        }
    unknown = cursors.keys() - feeds.topics
    if unknown or not cursors:
        raise InvalidInput(
            f"no topic {', '.join(unknown) or '(none given)'}", hint=f"topics: {', '.join(feeds.topics)}"
        )
    for topic, cursor in cursors.items():
        await feeds.topics[topic].fetch_changes(cursor)  # refuses an invalid cursor before the stream begins
    return EventSourceResponse(
        feeds.stream_events(cursors),
        ping=heartbeat_interval_s,
        ping_message_factory=lambda: ServerSentEvent(comment="beat"),
        sep="\n",
    )


def _build_event(name: str, data: Any, cursors: FeedCursors) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(data, ensure_ascii=False, default=str), event=name, id=_encode_cursors(cursors))


def _encode_cursors(cursors: FeedCursors) -> str:
    return json.dumps(cursors, separators=(",", ":"))
