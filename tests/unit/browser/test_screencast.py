"""The screencast over the real CDP client, with the test as the browser."""

from base64 import b64encode
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from outrider.browser.live.screencast import MAX_FRAMES_IN_FLIGHT, VIEWER_QUEUE_FRAMES, Screencast
from outrider.browser.page.tabs import Tabs
from outrider.browser.protocol.cdp import CdpConnection, PageGone
from outrider.browser.protocol.page import BrowserPage
from support.fakes.cdp_transport import FakeCdpTransport

pytestmark = pytest.mark.anyio
FRAME_TIMEOUT_S = 10


class Chromium:
    """Sends frames like Chromium: one at the start, then one per change, at most three unacknowledged."""

    def __init__(self, wire: FakeCdpTransport) -> None:
        self.wire = wire
        self.casting = ""
        self.unacknowledged = 0
        self.number = 0
        self.shown = "nothing"
        self.commands: list[tuple[str, str]] = []
        wire.on_command = self.hear

    def hear(self, command: dict[str, Any]) -> None:
        session, method = command.get("sessionId", ""), command["method"].removeprefix("Page.")
        if method == "screencastFrameAck":
            self.unacknowledged -= 1
            return
        self.commands.append((session, method))
        if method == "startScreencast":
            self.casting, self.unacknowledged = session, 0
            self.draw(self.shown)
        elif method == "stopScreencast" and session == self.casting:
            self.casting = ""

    def draw(self, what: str) -> None:
        """Change the page; a frame is sent unless too many are unacknowledged."""
        self.shown = what
        if not self.casting or self.unacknowledged >= MAX_FRAMES_IN_FLIGHT:
            return
        self.number += 1
        self.unacknowledged += 1
        metadata = {"deviceWidth": 1200, "deviceHeight": 800, "pageScaleFactor": 1, "timestamp": 1.0}
        data = b64encode(what.encode()).decode()
        self.wire.send_event(self.casting, "Page.screencastFrame", data=data, metadata=metadata, sessionId=self.number)


class Show:
    """A session's tabs with their screencast."""

    def __init__(self) -> None:
        self.wire = FakeCdpTransport()
        self.connection = CdpConnection(self.wire)
        self.connection.start()
        self.chromium = Chromium(self.wire)
        self.tabs = Tabs(5)
        self.cast = Screencast(self.tabs)

    def open(self, name: str, *, front: bool = True) -> BrowserPage:
        page = BrowserPage(name, self.connection.get_channel(name))
        self.tabs.add(page, front=front)
        return page


@pytest.fixture
async def show() -> AsyncGenerator[Show]:
    made = Show()
    yield made
    made.cast.close()
    await made.connection.aclose()


async def test_the_screencast_runs_only_while_someone_watches(show: Show):
    show.open("a")
    assert show.chromium.commands == []
    with show.cast.watch() as first, show.cast.watch() as second:
        assert show.chromium.commands == [("a", "startScreencast")]
        for viewer in (first, second):
            frame = await viewer.next_frame(FRAME_TIMEOUT_S)
            assert frame is not None
            assert (frame.data, frame.size, frame.seq) == (b"nothing", (1200, 800), 1)
        assert show.cast.counters.emitted == 2
    assert show.chromium.commands[1:] == [("a", "stopScreencast")]
    with show.cast.watch() as later:
        assert later.frames[0].data == b"nothing"


async def test_the_best_quality_requested_by_any_viewer_is_used(show: Show):
    show.open("a")
    with show.cast.watch("low"):
        with show.cast.watch("high"), show.cast.watch("med"):
            pass
        sizes = [each["params"]["maxWidth"] for each in show.wire.sent if each["method"] == "Page.startScreencast"]
        assert sizes == [800, 1920, 800]


async def test_the_screencast_follows_the_tab_in_front(show: Show):
    first = show.open("a")
    with show.cast.watch():
        show.open("behind", front=False)
        assert show.chromium.casting == "a"
        second = show.open("b")
        assert show.chromium.casting == "b"
        second.mark_lost(PageGone("closed"))
        assert show.chromium.casting == "behind"
        show.tabs.current = first
        first.mark_lost(PageGone("crashed"), crashed=True)
        assert show.cast.last_frame is not None
        show.open("anew")
        assert show.chromium.casting == "anew"


async def test_a_hidden_page_is_brought_to_the_front_unless_a_person_owns_the_windows(show: Show):
    show.open("a")
    with show.cast.watch():
        show.wire.send_event("a", "Page.screencastVisibilityChanged", visible=True)
        show.wire.send_event("a", "Page.screencastVisibilityChanged", visible=False)
    assert show.chromium.commands.count(("a", "bringToFront")) == 1
    quiet = Screencast(show.tabs, lambda: False)
    with quiet.watch():
        show.wire.send_event("a", "Page.screencastVisibilityChanged", visible=False)
    assert show.chromium.commands.count(("a", "bringToFront")) == 1


async def test_a_slow_viewer_skips_frames_but_gets_the_last_one(show: Show):
    show.open("a")
    with show.cast.watch() as viewer:
        for number in range(20):
            show.chromium.draw(f"{number}")
        assert len(viewer.frames) == VIEWER_QUEUE_FRAMES
        assert show.cast.counters.received == MAX_FRAMES_IN_FLIGHT
        assert show.cast.counters.dropped == MAX_FRAMES_IN_FLIGHT - VIEWER_QUEUE_FRAMES
        with anyio.fail_after(FRAME_TIMEOUT_S):
            while (frame := await viewer.next_frame(FRAME_TIMEOUT_S)) and frame.data != b"19":
                pass
        assert frame is not None


async def test_closing_a_session_ends_its_viewers(show: Show):
    show.open("a")
    with show.cast.watch() as viewer:
        await viewer.next_frame(FRAME_TIMEOUT_S)
        show.cast.close()
        assert await viewer.next_frame(FRAME_TIMEOUT_S) is None
        assert viewer.is_over
    with show.cast.watch() as late:
        assert late.is_over
