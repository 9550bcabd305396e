"""Live updates: server-sent events of what changes, caught up without loss after any break.

Each topic is a function of a page from a cursor to what came after it. All of it comes from the database, so the
changes of other processes come too. A viewer's place is a cursor a topic, which is the id of every event: a browser
that lost its connection says where it was (`Last-Event-ID`, HTML Living Standard, section Server-sent events), and gets
the rest, each change once. Viewers at the same place share one question to the database a second.
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
from outrider.dashboard.house import House
from outrider.dashboard.page import Change, Feed

PAUSE = 1.0  # seconds between two looks
BEAT = 15  # seconds between comments that keep the connection open
SHARED = 64  # answers that are kept for others at the same place

Cursors = dict[str, str]  # topic to cursor


class Topic:
    """One topic for all viewers."""

    def __init__(self, house: House, feed: Feed) -> None:
        self._house = house
        self._feed = feed
        self._lock = anyio.Lock()
        self._known: OrderedDict[str, tuple[float, tuple[list[Change], str]]] = OrderedDict()

    async def after(self, cursor: str) -> tuple[list[Change], str]:
        """What came after the cursor, at most a second old, and the cursor behind it."""
        async with self._lock:
            at, known = self._known.get(cursor, (0.0, ([], "")))
            if time.monotonic() - at < PAUSE:
                return known
            found = await self._feed(self._house, cursor)
            self._known[cursor] = (time.monotonic(), found)
            self._known.move_to_end(cursor)
            if len(self._known) > SHARED:
                self._known.popitem(last=False)
            return found


class Feeds:
    """All topics, and the end of all streams when the house closes.

    Attributes:
        streams: How many browsers listen.
    """

    def __init__(self, house: House, feeds: Mapping[str, Feed]) -> None:
        self.topics = {name: Topic(house, feed) for name, feed in feeds.items()}
        self._closing = anyio.Event()
        self.streams = 0

    def close(self) -> None:
        """Ends every stream; browsers will come back to whoever is there then."""
        self._closing.set()

    async def stream(self, cursors: Cursors) -> AsyncGenerator[ServerSentEvent]:
        """Events from these places on: `ready` first, then one named by its topic for each group of changes."""
        self.streams += 1
        try:
            async for event in self._events(cursors):
                yield event
        finally:
            self.streams -= 1

    async def _events(self, cursors: Cursors) -> AsyncGenerator[ServerSentEvent]:
        yield _event("ready", {"topics": list(cursors)}, cursors)
        while not self._closing.is_set():
            more = False
            for topic in list(cursors):
                changes, behind = await self._after(topic, cursors[topic])
                if changes:
                    cursors = cursors | {topic: behind}
                    more = True
                    yield _event(topic, changes, cursors)
            if not more:
                with anyio.move_on_after(PAUSE):
                    await self._closing.wait()

    async def _after(self, topic: str, cursor: str) -> tuple[list[Change], str]:
        try:
            return await self.topics[topic].after(cursor)
        except OutriderError:  # a database that does not answer now will later; nothing is lost
            return [], cursor


async def start(connection: HTTPConnection, *topics: str) -> str:
    """Where these topics stand now: take it before looking, and give it to `render.page` as `feed`.

    What changes in between is then shown twice at worst (its id says so), and never missed.
    """
    feeds: Feeds = connection.app.state.feeds
    return _packed({topic: (await feeds.topics[topic].after(""))[1] for topic in topics})


async def show(request: Request) -> Response:
    """`GET feed?at=…` (from `start`) or `?topics=a,b` (from now on)."""
    feeds: Feeds = request.app.state.feeds
    given = request.headers.get("last-event-id") or request.query_params.get("at")
    cursors = _unpacked(given) if given else await _now(feeds, request.query_params.get("topics", ""))
    unknown = cursors.keys() - feeds.topics
    if unknown or not cursors:
        raise InvalidInput(
            f"no topic {', '.join(unknown) or '(none given)'}", hint=f"topics: {', '.join(feeds.topics)}"
        )
    for topic, cursor in cursors.items():
        await feeds.topics[topic].after(cursor)  # a place that is none is refused before the stream begins
    return EventSourceResponse(
        feeds.stream(cursors), ping=BEAT, ping_message_factory=lambda: ServerSentEvent(comment="beat"), sep="\n"
    )


async def _now(feeds: Feeds, topics: str) -> Cursors:
    wanted = [topic for topic in topics.split(",") if topic]
    return {topic: (await feeds.topics[topic].after(""))[1] if topic in feeds.topics else "" for topic in wanted}


def _event(name: str, data: Any, cursors: Cursors) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(data, ensure_ascii=False, default=str), event=name, id=_packed(cursors))


def _packed(cursors: Cursors) -> str:
    return json.dumps(cursors, separators=(",", ":"))


def _unpacked(text: str) -> Cursors:
    """Raises InvalidInput."""
    try:
        found = json.loads(text)
        return {str(topic): str(cursor) for topic, cursor in found.items()}
    except (ValueError, AttributeError):
        raise InvalidInput("the place to go on from cannot be read", hint="reload the page") from None
