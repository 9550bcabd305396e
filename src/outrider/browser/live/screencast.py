"""Stream a session's current page to any number of viewers.

The browser sends a frame whenever the page changes, but only a few that are not acknowledged
(https://chromedevtools.github.io/devtools-protocol/tot/Page/#method-startScreencast). Frames are acknowledged once the
fastest viewer has taken them; slower viewers get fewer frames, but never old ones.
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
VIEWER_QUEUE_FRAMES = 2
# Chromium drops new frames while this many are not acknowledged, even the last change.
MAX_FRAMES_IN_FLIGHT = 3
FRAME_INTERVAL_S = 1 / 30  # between acknowledgements; more frames would only slow down the agent


@dataclass(frozen=True)
class ScreencastQuality:
    """JPEG quality in percent and the largest frame size in pixels."""

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
    """One frame of a screencast.

    Attributes:
        seq: Increases by one with each frame of the session.
        data: A JPEG.
        captured_at: When the browser drew it, in seconds since the epoch.
        received_at: When it arrived, in seconds since the epoch.
        size: The viewport in CSS pixels, which coordinates of inputs refer to.
        scale: The pinch zoom factor of the page.
    """

    seq: int
    data: bytes
    captured_at: float
    received_at: float
    size: tuple[float, float]
    scale: float = 1.0


@dataclass
class ScreencastCounters:
    """Totals of one session's screencast.

    Attributes:
        starts: Screencasts that were started in the browser.
        received: Frames that the browser sent.
        emitted: Frames that viewers took.
        dropped: Frames that newer ones replaced before a viewer took them.
        latency_ms: Time from the browser to a viewer, of the newest frame.
        error: The browser's error when it did not start; empty otherwise.
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
    """A viewer's queue of frames."""

    quality: QualityName
    frames: deque[ScreencastFrame] = field(default_factory=lambda: deque(maxlen=VIEWER_QUEUE_FRAMES))
    on_taken: Callable[[ScreencastFrame], None] = lambda _: None
    changed: Condition = field(default_factory=Condition)
    is_over: bool = False

    async def next_frame(self, seconds: float = 3_600) -> ScreencastFrame | None:
        """Return the next frame, or None if none comes in time.

        It is also None when the session is closed.
        """
        if not await self.changed.wait_until(lambda: bool(self.frames) or self.is_over, seconds) or not self.frames:
            return None
        frame = self.frames.popleft()
        self.on_taken(frame)
        return frame


class Screencast:
    """Screencast of one session.

    Args:
        tabs: The session's tabs; the current one is shown.
        may_raise: Returns whether the page may be brought to the front: False where a person uses the window.

    Attributes:
        last_frame: The newest frame, kept without viewers and while the session is parked.
        counters: The totals so far.
    """

    def __init__(self, tabs: Tabs, may_raise: Callable[[], bool] = lambda: True) -> None:
        self.last_frame: ScreencastFrame | None = None
        self.counters = ScreencastCounters()
        self._tabs = tabs
        self._may_raise = may_raise
        self._viewers: list[ScreencastViewer] = []
        self._cast: _PageScreencast | None = None
        self._over = False
        tabs.on_current_change(self._update_cast)

    @property
    def viewer_count(self) -> int:
        """The number of viewers."""
        return len(self._viewers)

    @property
    def queued_frames(self) -> int:
        """The number of frames that viewers have not taken yet."""
        return sum(len(viewer.frames) for viewer in self._viewers)

    @contextmanager
    def watch(self, quality: QualityName = "med") -> Generator[ScreencastViewer]:
        """Add a viewer for the duration of the context; all see the best requested quality."""
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
        """End the screencast for all viewers."""
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
        return page, max((viewer.quality for viewer in self._viewers), key=ranking.index)

    def _update_cast(self) -> None:
        """Start, stop or move the screencast to match the viewers and the current tab."""
        wanted_source, current = self._wanted_source, self._cast
        if wanted_source == ((current.page, current.quality) if current else None):
            return
        if current is not None:
            current.stop()
        self._cast = None
        if wanted_source is not None:
            self.counters.starts += 1
            self.counters.error = ""
            self._cast = _PageScreencast(
                *wanted_source, received=self._handle_frame, failed=self._handle_failure, may_raise=self._may_raise
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
    """The CDP screencast of one page."""

    def __init__(
        self,
        page: BrowserPage,
        quality: QualityName,
        *,
        received: Callable[[str, dict[str, Any]], None],
        failed: Callable[[str], None],
        may_raise: Callable[[], bool],
    ) -> None:
        self.page = page
        self.quality: QualityName = quality
        self._on_frame = received
        self._on_failure = failed
        self._may_raise = may_raise
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
        """Acknowledge all frames, one after the other, so that the browser sends more."""
        self._pending_acks += self._unseen_frames
        self._unseen_frames = []
        if self._ack_timer is None and self._pending_acks:
            self._schedule_ack(self._last_ack_at + FRAME_INTERVAL_S - _get_loop_time())

    def stop(self) -> None:
        """Stop the screencast."""
        for timer in (self._ack_timer, self._quiet_timer):
            if timer is not None:
                timer.cancel()
        for unsubscribe in self._subscriptions:
            unsubscribe()
        self.page.channel.send_and_forget("Page.stopScreencast")

    def _start_cast(self) -> None:
        quality = SCREENCAST_QUALITIES[self.quality]
        params = {"format": "jpeg", "quality": quality.jpeg, "maxWidth": quality.width, "maxHeight": quality.height}
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
        """Acknowledge one frame; after the last one, restart the cast if the browser may have dropped a change."""
        quiet_s = 0.1  # a page that sends no frame for this long is quiet
        self._ack_timer, self._last_ack_at = None, _get_loop_time()
        self.page.channel.send_and_forget("Page.screencastFrameAck", {"sessionId": self._pending_acks.pop(0)})
        if self._pending_acks:
            self._schedule_ack(FRAME_INTERVAL_S)
        elif self._may_have_lost and not self._unseen_frames:
            self._quiet_timer = asyncio.get_running_loop().call_later(quiet_s, self._restart_cast)

    def _restart_cast(self) -> None:
        """Restart the screencast, which sends the current page, including changes that were dropped."""
        self._may_have_lost, self._quiet_timer = False, None
        self.page.channel.send_and_forget("Page.stopScreencast")
        self._start_cast()

    def _handle_visibility(self, event: dict[str, Any]) -> None:
        """Bring the page to the front again.

        This is necessary because Chromium does not draw pages behind a pop-up.
        """
        if not event.get("visible") and self._may_raise():
            self.page.channel.send_and_forget("Page.bringToFront")


def _get_loop_time() -> float:
    return asyncio.get_running_loop().time()
