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

from outrider.browser.page.tabs import Tabs
from outrider.browser.protocol.condition import Condition
from outrider.browser.protocol.page import BrowserPage

QualityName = Literal["low", "med", "high"]
VIEWER_QUEUE_FRAMES = 2  # frames that wait for one viewer
MAX_FRAMES_IN_FLIGHT = (
    3  # frames that Chromium sends without an acknowledgement; what it draws then it drops, the last one, too
)
FRAME_INTERVAL_S = (
    1 / 30
)  # seconds between two acknowledgements: more pictures cost an agent time, and a person sees no more


@dataclass(frozen=True)
class ScreencastQuality:
    """JPEG quality in percent, and the box in pixels that a frame must fit into."""

    jpeg: int
    width: int
    height: int


SCREENCAST_QUALITIES: dict[QualityName, ScreencastQuality] = {
    "low": ScreencastQuality(35, 800, 600),
    "med": ScreencastQuality(60, 1280, 720),
    "high": ScreencastQuality(80, 1920, 1080),
}


@dataclass(frozen=True)
class ScreencastFrame:
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
class ScreencastCounters:
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
class ScreencastViewer:
    """Somebody who watches."""

    quality: QualityName
    frames: deque[ScreencastFrame] = field(default_factory=lambda: deque(maxlen=VIEWER_QUEUE_FRAMES))
    on_taken: Callable[[ScreencastFrame], None] = lambda _: None
    changed: Condition = field(default_factory=Condition)
    is_over: bool = False

    async def next_frame(self, seconds: float = 3_600) -> ScreencastFrame | None:
        """The newest frame that this viewer has not had; None when the session is over, or nothing came in time."""
        if not await self.changed.wait_until(lambda: bool(self.frames) or self.is_over, seconds) or not self.frames:
            return None
        frame = self.frames.popleft()
        self.on_taken(frame)
        return frame


class Screencast:
    """One session's picture.

    Args:
        tabs: The session's pages; the one in front is shown.
        raises: Whether its page may be brought to the front: not where that would push windows before a person's eyes.

    Attributes:
        last_frame: The newest frame, also after nobody watches any more or the session was put away.
        counters: What has happened so far.
    """

    def __init__(self, tabs: Tabs, raises: Callable[[], bool] = lambda: True) -> None:
        self.last_frame: ScreencastFrame | None = None
        self.counters = ScreencastCounters()
        self._tabs = tabs
        self._may_raise = raises
        self._viewers: list[ScreencastViewer] = []
        self._cast: _PageScreencast | None = None
        self._over = False
        tabs.on_current_change(self._update_cast)

    @property
    def viewer_count(self) -> int:
        """How many watch."""
        return len(self._viewers)

    @property
    def queued_frames(self) -> int:
        """Frames that viewers have not taken yet."""
        return sum(len(each.frames) for each in self._viewers)

    @contextmanager
    def watch(self, quality: QualityName = "med") -> Generator[ScreencastViewer]:
        """Shows the session to one more viewer; all see it in the best quality that one of them wants."""
        viewer = ScreencastViewer(quality, on_taken=self._handle_taken, is_over=self._over)
        viewer.frames.extend([self.last_frame] if self.last_frame else [])
        self._viewers.append(viewer)
        self._update_cast()
        try:
            yield viewer
        finally:
            self._viewers.remove(viewer)
            self._update_cast()

    def close(self) -> None:
        """The session is over, and so is watching it."""
        self._over = True
        for viewer in self._viewers:
            viewer.is_over = True
            viewer.changed.notify_all()
        self._update_cast()

    @property
    def _wanted_source(self) -> tuple[BrowserPage, QualityName] | None:
        ranking: tuple[QualityName, ...] = ("low", "med", "high")
        page = self._tabs.current
        if not self._viewers or self._over or page is None or page.lost is not None:
            return None
        return page, max((each.quality for each in self._viewers), key=ranking.index)

    def _update_cast(self) -> None:
        """Begins, ends or moves the screencast, as viewers and tabs are now."""
        wanted, now = self._wanted_source, self._cast
        if wanted == ((now.page, now.quality) if now else None):
            return
        if now is not None:
            now.stop()
        self._cast = None
        if wanted is not None:
            self.counters.starts += 1
            self.counters.error = ""
            self._cast = _PageScreencast(
                *wanted, received=self._handle_frame, failed=self._handle_failure, raises=self._may_raise
            )

    def _handle_frame(self, data: str, metadata: dict[str, Any]) -> None:
        now, counters = time.time(), self.counters
        counters.received += 1
        counters.seq += 1
        counters.last_at = now
        size = (metadata.get("deviceWidth", 0), metadata.get("deviceHeight", 0))
        captured = metadata.get("timestamp") or now
        self.last_frame = ScreencastFrame(
            counters.seq, b64decode(data), captured, now, size, metadata.get("pageScaleFactor", 1.0)
        )
        for viewer in self._viewers:
            counters.dropped += len(viewer.frames) == VIEWER_QUEUE_FRAMES
            viewer.frames.append(self.last_frame)
            viewer.changed.notify_all()

    def _handle_taken(self, frame: ScreencastFrame) -> None:
        self.counters.emitted += 1
        self.counters.latency_ms = round((time.time() - frame.captured_at) * 1_000, 1)
        if self._cast is not None:
            self._cast.acknowledge()

    def _handle_failure(self, reason: str) -> None:
        self.counters.error = reason


class _PageScreencast:
    """The browser's screencast of one page."""

    def __init__(
        self,
        page: BrowserPage,
        quality: QualityName,
        *,
        received: Callable[[str, dict[str, Any]], None],
        failed: Callable[[str], None],
        raises: Callable[[], bool],
    ) -> None:
        self.page = page
        self.quality: QualityName = quality
        self._on_frame = received
        self._on_failure = failed
        self._may_raise = raises
        self._unseen_frames: list[int] = []
        self._pending_acks: list[int] = []
        self._may_have_lost = False
        self._ack_timer: asyncio.TimerHandle | None = None
        self._quiet_timer: asyncio.TimerHandle | None = None
        self._last_ack_at = 0.0
        self._subscriptions = [
            page.channel.on("Page.screencastFrame", self._handle_frame),
            page.channel.on("Page.screencastVisibilityChanged", self._handle_visibility),
        ]
        self._start_cast()

    def acknowledge(self) -> None:
        """Lets the browser send further frames, one after the other."""
        self._pending_acks += self._unseen_frames
        self._unseen_frames = []
        if self._ack_timer is None and self._pending_acks:
            self._schedule_ack(self._last_ack_at + FRAME_INTERVAL_S - _get_loop_time())

    def stop(self) -> None:
        """Ends it."""
        for timer in (self._ack_timer, self._quiet_timer):
            if timer is not None:
                timer.cancel()
        for each in self._subscriptions:
            each()
        self.page.channel.send_and_forget("Page.stopScreencast")

    def _start_cast(self) -> None:
        wish = SCREENCAST_QUALITIES[self.quality]
        params = {"format": "jpeg", "quality": wish.jpeg, "maxWidth": wish.width, "maxHeight": wish.height}
        self.page.channel.send("Page.startScreencast", params).add_done_callback(self._handle_start_answer)

    def _handle_start_answer(self, answer: "asyncio.Future[dict[str, Any]]") -> None:
        if not answer.cancelled() and (error := answer.exception()):
            self._on_failure(str(error))

    def _handle_frame(self, event: dict[str, Any]) -> None:
        if self._quiet_timer is not None:
            self._quiet_timer.cancel()
        self._unseen_frames.append(event["sessionId"])
        self._may_have_lost |= len(self._unseen_frames) + len(self._pending_acks) >= MAX_FRAMES_IN_FLIGHT
        self._on_frame(event["data"], event["metadata"])

    def _schedule_ack(self, seconds: float) -> None:
        self._ack_timer = asyncio.get_running_loop().call_later(max(0.0, seconds), self._send_ack)

    def _send_ack(self) -> None:
        """One acknowledgement; when all are given, a look whether the browser has kept the last change to itself."""
        quiet_s = 0.1  # seconds without a frame after which a page counts as one that has come to rest
        self._ack_timer, self._last_ack_at = None, _get_loop_time()
        self.page.channel.send_and_forget("Page.screencastFrameAck", {"sessionId": self._pending_acks.pop(0)})
        if self._pending_acks:
            self._schedule_ack(FRAME_INTERVAL_S)
        elif self._may_have_lost and not self._unseen_frames:
            self._quiet_timer = asyncio.get_running_loop().call_later(quiet_s, self._restart_cast)

    def _restart_cast(self) -> None:
        """Begins anew, which sends the page as it is: what changed while nothing was acknowledged was never sent."""
        self._may_have_lost, self._quiet_timer = False, None
        self.page.channel.send_and_forget("Page.stopScreencast")
        self._start_cast()

    def _handle_visibility(self, event: dict[str, Any]) -> None:
        """Only the page in front of its window is drawn: a pop-up may have pushed ours behind."""
        if not event.get("visible") and self._may_raise():
            self.page.channel.send_and_forget("Page.bringToFront")


def _get_loop_time() -> float:
    return asyncio.get_running_loop().time()
