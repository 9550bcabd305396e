"""A session as a moving picture: one screencast of the page in front, however many watch, and none while nobody does.

The browser sends a frame whenever something has changed, and no further one than a few until they are acknowledged
(https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-startScreencast). That is done when the quickest
viewer has taken one; slower ones see fewer pictures, never old ones.
"""

import asyncio
import time
from base64 import b64decode
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from outrider.browser.bell import Bell
from outrider.browser.page import Page
from outrider.browser.tabs import Tabs

QualityName = Literal["low", "med", "high"]
QUEUE = 2  # frames that wait for one viewer
IN_FLIGHT = 3  # frames that Chromium sends without an acknowledgement; what it draws then it drops, the last one, too
APART = 1 / 30  # seconds between two acknowledgements: more pictures cost an agent time, and a person sees no more
QUIET = 0.1  # seconds without a frame after which a page counts as one that has come to rest


@dataclass(frozen=True)
class Quality:
    """JPEG quality in percent, and the box in pixels that a frame must fit into."""

    jpeg: int
    width: int
    height: int


QUALITIES: dict[QualityName, Quality] = {
    "low": Quality(35, 800, 600),
    "med": Quality(60, 1280, 720),
    "high": Quality(80, 1920, 1080),
}
RANK: tuple[QualityName, ...] = ("low", "med", "high")


@dataclass(frozen=True)
class Frame:
    """One picture.

    Attributes:
        seq: Rises by one with each frame of the session.
        data: A JPEG.
        captured_at: When the browser had drawn it, in seconds since the epoch.
        received_at: When it came here.
        size: Of the page's viewport in CSS pixels, which coordinates of inputs are in.
        scale: How far the page is zoomed in by pinching; 1 for not at all.
    """

    seq: int
    data: bytes
    captured_at: float
    received_at: float
    size: tuple[float, float]
    scale: float = 1.0


@dataclass
class Counters:
    """What has happened so far.

    Attributes:
        starts: Screencasts begun in the browser.
        received: Frames that the browser sent.
        emitted: Frames that viewers took.
        dropped: Frames that a viewer never took because newer ones had come.
        latency_ms: From drawn in the browser to taken by a viewer, of the newest.
        error: What the browser said when it would not begin; empty if it did.
    """

    starts: int = 0
    received: int = 0
    emitted: int = 0
    dropped: int = 0
    seq: int = 0
    last_at: float | None = None
    latency_ms: float | None = None
    error: str = ""


@dataclass(eq=False)
class Viewer:
    """Somebody who watches."""

    quality: QualityName
    frames: deque[Frame] = field(default_factory=lambda: deque(maxlen=QUEUE))
    taken: Callable[[Frame], None] = lambda _: None
    bell: Bell = field(default_factory=Bell)
    over: bool = False

    async def next(self, seconds: float = 3_600) -> Frame | None:
        """The newest frame that this viewer has not had; None when the session is over, or nothing came in time."""
        if not await self.bell.until(lambda: bool(self.frames) or self.over, seconds) or not self.frames:
            return None
        frame = self.frames.popleft()
        self.taken(frame)
        return frame


class Screencast:
    """One session's picture.

    Args:
        tabs: The session's pages; the one in front is shown.
        raises: Whether its page may be brought to the front: not where that would push windows before a person's eyes.

    Attributes:
        last: The newest frame, also after nobody watches any more or the session was put away.
        counters: What has happened so far.
    """

    def __init__(self, tabs: Tabs, raises: Callable[[], bool] = lambda: True) -> None:
        self.last: Frame | None = None
        self.counters = Counters()
        self._tabs = tabs
        self._raises = raises
        self._viewers: list[Viewer] = []
        self._cast: _Cast | None = None
        self._over = False
        tabs.on_front(self._follow)

    @property
    def viewers(self) -> int:
        """How many watch."""
        return len(self._viewers)

    @property
    def waiting(self) -> int:
        """Frames that viewers have not taken yet."""
        return sum(len(each.frames) for each in self._viewers)

    @contextmanager
    def watch(self, quality: QualityName = "med") -> Generator[Viewer]:
        """Shows the session to one more viewer; all see it in the best quality that one of them wants."""
        viewer = Viewer(quality, taken=self._taken, over=self._over)
        viewer.frames.extend([self.last] if self.last else [])
        self._viewers.append(viewer)
        self._follow()
        try:
            yield viewer
        finally:
            self._viewers.remove(viewer)
            self._follow()

    def close(self) -> None:
        """The session is over, and so is watching it."""
        self._over = True
        for viewer in self._viewers:
            viewer.over = True
            viewer.bell.ring()
        self._follow()

    @property
    def _wanted(self) -> tuple[Page, QualityName] | None:
        page = self._tabs.current
        if not self._viewers or self._over or page is None or page.lost is not None:
            return None
        return page, max((each.quality for each in self._viewers), key=RANK.index)

    def _follow(self) -> None:
        """Begins, ends or moves the screencast, as viewers and tabs are now."""
        wanted, now = self._wanted, self._cast
        if wanted == ((now.page, now.quality) if now else None):
            return
        if now is not None:
            now.stop()
        self._cast = None
        if wanted is not None:
            self.counters.starts += 1
            self.counters.error = ""
            self._cast = _Cast(*wanted, received=self._received, failed=self._failed, raises=self._raises)

    def _received(self, data: str, metadata: dict[str, Any]) -> None:
        now, counters = time.time(), self.counters
        counters.received += 1
        counters.seq += 1
        counters.last_at = now
        size = (metadata.get("deviceWidth", 0), metadata.get("deviceHeight", 0))
        captured = metadata.get("timestamp") or now
        self.last = Frame(counters.seq, b64decode(data), captured, now, size, metadata.get("pageScaleFactor", 1.0))
        for viewer in self._viewers:
            counters.dropped += len(viewer.frames) == QUEUE
            viewer.frames.append(self.last)
            viewer.bell.ring()

    def _taken(self, frame: Frame) -> None:
        self.counters.emitted += 1
        self.counters.latency_ms = round((time.time() - frame.captured_at) * 1_000, 1)
        if self._cast is not None:
            self._cast.acknowledge()

    def _failed(self, reason: str) -> None:
        self.counters.error = reason


class _Cast:
    """The browser's screencast of one page."""

    def __init__(
        self,
        page: Page,
        quality: QualityName,
        *,
        received: Callable[[str, dict[str, Any]], None],
        failed: Callable[[str], None],
        raises: Callable[[], bool],
    ) -> None:
        self.page = page
        self.quality: QualityName = quality
        self._received = received
        self._failed = failed
        self._raises = raises
        self._untaken: list[int] = []
        self._taken: list[int] = []
        self._lossy = False
        self._pace: asyncio.TimerHandle | None = None
        self._rest: asyncio.TimerHandle | None = None
        self._last_at = 0.0
        self._off = [
            page.channel.on("Page.screencastFrame", self._frame),
            page.channel.on("Page.screencastVisibilityChanged", self._visibility),
        ]
        self._start()

    def acknowledge(self) -> None:
        """Lets the browser send further frames, one after the other."""
        self._taken += self._untaken
        self._untaken = []
        if self._pace is None and self._taken:
            self._later(self._last_at + APART - _now())

    def stop(self) -> None:
        """Ends it."""
        for timer in (self._pace, self._rest):
            if timer is not None:
                timer.cancel()
        for each in self._off:
            each()
        self.page.channel.tell("Page.stopScreencast")

    def _start(self) -> None:
        wish = QUALITIES[self.quality]
        params = {"format": "jpeg", "quality": wish.jpeg, "maxWidth": wish.width, "maxHeight": wish.height}
        self.page.channel.send("Page.startScreencast", params).add_done_callback(self._begun)

    def _begun(self, answer: "asyncio.Future[dict[str, Any]]") -> None:
        if not answer.cancelled() and (error := answer.exception()):
            self._failed(str(error))

    def _frame(self, event: dict[str, Any]) -> None:
        if self._rest is not None:
            self._rest.cancel()
        self._untaken.append(event["sessionId"])
        self._lossy |= len(self._untaken) + len(self._taken) >= IN_FLIGHT
        self._received(event["data"], event["metadata"])

    def _later(self, seconds: float) -> None:
        self._pace = asyncio.get_running_loop().call_later(max(0.0, seconds), self._go_on)

    def _go_on(self) -> None:
        """One acknowledgement; when all are given, a look whether the browser has kept the last change to itself."""
        self._pace, self._last_at = None, _now()
        self.page.channel.tell("Page.screencastFrameAck", {"sessionId": self._taken.pop(0)})
        if self._taken:
            self._later(APART)
        elif self._lossy and not self._untaken:
            self._rest = asyncio.get_running_loop().call_later(QUIET, self._refresh)

    def _refresh(self) -> None:
        """Begins anew, which sends the page as it is: what changed while nothing was acknowledged was never sent."""
        self._lossy, self._rest = False, None
        self.page.channel.tell("Page.stopScreencast")
        self._start()

    def _visibility(self, event: dict[str, Any]) -> None:
        """Only the page in front of its window is drawn: a pop-up may have pushed ours behind."""
        if not event.get("visible") and self._raises():
            self.page.channel.tell("Page.bringToFront")


def _now() -> float:
    return asyncio.get_running_loop().time()
