"""The socket of the live page as a program sees it: its events, its commands and its access checks."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Close
from websockets.typing import Origin

from outrider.browser.process.browser import Browser
from outrider.dashboard.live.hub import CONNECTS_PER_MINUTE, INPUT_BURST
from support.apps.browser_app import BrowserAppClient as Service
from support.apps.browser_app import open_browser_app
from support.apps.dashboard_browser import DashboardSession, open_dashboard
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio


class Watcher:
    """One socket, read to its end by the test."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.sid = ""
        self.number = 0

    async def next(self, event: str) -> Any:
        """Return the data of the next such event, and drop earlier ones."""
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while True:
                message = await self.socket.recv()
                if isinstance(message, bytes):
                    if event == "frame":
                        return message
                    continue
                told = json.loads(message)
                if told["event"] == event and (event != "answer" or told["id"] == self.number):
                    return told["data"]

    async def ask(self, event: str, **data: Any) -> dict[str, Any]:
        """Send a command and return its answer."""
        self.number += 1
        await self.socket.send(json.dumps({"event": event, "id": self.number, "data": data}))
        return await self.next("answer")

    async def expect_refusal(self, event: str, **data: Any) -> str:
        """Send an invalid command and return the reason of the refusal."""
        answer = await self.ask(event, **data)
        assert answer["ok"] is False
        return answer["error"]


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Service]:
    async with open_browser_app(tmp_path_factory.mktemp("wire")) as found:
        yield found


@pytest.fixture
async def office(service: Service, chromium: Browser) -> AsyncGenerator[DashboardSession]:
    async with open_dashboard(service.folder, chromium, service.loopback.app) as found:
        yield found
    await service.loopback.app.browsers.close_owner_sessions("default")


async def cookie_of(office: DashboardSession) -> str:
    async with office.open_http_client() as client:
        return "; ".join(f"{name}={value}" for name, value in client.cookies.items())


def build_connection(office: DashboardSession, cookie: str, came_from: str | None = "", **headers: str) -> connect:
    """Open a socket, by default from our own page's origin."""
    place = office.server.base_url
    origin = Origin(place.rstrip("/")) if came_from == "" else Origin(came_from) if came_from else None
    url = f"{place.replace('http', 'ws')}live/socket"
    return connect(url, origin=origin, additional_headers={"Cookie": cookie} | headers)


@asynccontextmanager
async def open_watchers(office: DashboardSession, session: str, count: int = 1) -> AsyncGenerator[list[Watcher]]:
    """Sockets of one signed-in browser that watch a session."""
    cookie = await cookie_of(office)
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(count):
            watcher = Watcher(await stack.enter_async_context(build_connection(office, cookie)))
            watcher.sid = (await watcher.next("welcome"))["sid"]
            assert (await watcher.ask("watch", session_id=session, quality="med"))["ok"]
            found.append(watcher)
        yield found


async def test_ten_viewers_cost_one_screencast_and_it_ends_with_the_last(service: Service, office: DashboardSession):
    session = await service.open_session()
    cast = service.find_session(session).screencast
    async with open_watchers(office, session, 10) as ten:
        for each in ten:
            await each.next("frame")
        async with office.open_http_client() as client:
            told = (await client.get("/live/health")).json()["sessions"][session]
        assert (told["starts"], told["viewers"]) == (1, 10)
        assert told["emitted"] >= 10
        assert told["seq"] == told["received"] <= told["emitted"]
    async with open_watchers(office, session) as [one]:
        frame = await one.next("frame")
    length = int.from_bytes(frame[:4], "big")
    header = json.loads(frame[4 : 4 + length])
    assert header["session_id"] == session
    assert header["metadata"] == {"width": 1200, "height": 800, "scale": 1}
    assert {"seq", "captured_ts", "received_ts", "emitted_ts", "latency_ms"} <= header.keys()
    assert frame[4 + length :].startswith(b"\xff\xd8\xff")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while cast.viewer_count:
            await anyio.sleep(0.01)
    assert cast.counters.starts == 2


async def test_control_follows_its_rules(service: Service, office: DashboardSession):
    session = await service.open_session()
    async with open_watchers(office, session, 2) as [first, second]:
        click = {"x": 5, "y": 5, "button": "left", "click_count": 1, "modifiers": 0}
        assert await first.expect_refusal("input_click", **click) == "not_holder"
        assert (await first.ask("take_control"))["ok"]
        state = await second.next("control_state")
        while state["holder_sid"] is None:
            state = await second.next("control_state")
        assert (state["holder_sid"], state["paused"], state["active_session_id"]) == (first.sid, True, session)
        assert await second.expect_refusal("take_control") == "not_holder"
        assert await second.expect_refusal("resume_agent") == "not_holder"
        assert await first.ask("input_click", **click) == {"ok": True, "queued": True, "dropped": False}
        assert (await first.ask("resume_agent"))["ok"]
        assert await first.expect_refusal("input_click", **click) == "not_paused"
        assert (await first.ask("release_control"))["ok"]
        assert await first.expect_refusal("release_control") == "not_holder"
        assert (await second.ask("take_control"))["ok"]
    control = service.find_session(session).control
    assert await control.changed.wait_until(lambda: control.holder is None and not control.paused, EVENT_TIMEOUT_S)


async def test_excessive_input_is_refused_over_any_number_of_connections(service: Service, office: DashboardSession):
    session = await service.open_session()
    many = INPUT_BURST * 6
    async with open_watchers(office, session, 2) as both:
        for _ in range(many):
            for each in both:
                await each.socket.send(json.dumps({"event": "input_move", "id": 0, "data": {"x": 1, "y": 1}}))
        for each in both:
            each.number = 0
            errors = [(await each.next("answer"))["error"] for _ in range(many)]
            assert set(errors) == {"not_holder", "rate_limited"}
            assert errors.count("not_holder") < many


async def test_invalid_messages_are_reported_or_end_the_connection(service: Service, office: DashboardSession):
    session = await service.open_session()
    async with open_watchers(office, session) as [one]:
        assert await one.expect_refusal("watch", session_id=7) == "invalid_payload"
        assert await one.expect_refusal("watch", session_id=session, quality="huge") == "invalid_payload"
        assert await one.expect_refusal("steer", do="fly") == "not_holder"
        assert (await one.ask("take_control"))["ok"]
        assert await one.expect_refusal("input_dance") == "invalid_payload"
        assert await one.expect_refusal("steer", do="fly") == "invalid_payload"
        assert await one.expect_refusal("steer", do="goto", url="file:///etc/passwd") not in ("", "invalid_payload")
        assert await one.expect_refusal("watch", session_id="no such session") == "no_active_session"
        assert await one.expect_refusal("input_move", x=1, y=1) == "no_active_session"
        await one.socket.send("{" * 30)
        with pytest.raises(ConnectionClosed) as closed:
            await one.next("nothing more")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


async def test_unauthenticated_and_foreign_origin_connections_are_refused(office: DashboardSession):
    cookie = await cookie_of(office)
    for given, came_from, more in (
        ("", "", {}),
        (cookie, "https://evil.example", {}),
        (cookie, None, {}),
        (cookie, "http://evil.example", {"Host": "evil.example"}),
    ):
        with pytest.raises(InvalidStatus):
            async with build_connection(office, given, came_from, **more):
                pass


async def test_reconnecting_does_not_help_against_limits(office: DashboardSession, service: Service):
    session, cookie = await service.open_session(), await cookie_of(office)
    came, refusal = 0, None
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while refusal is None:
            async with build_connection(office, cookie) as socket:
                refusal = await read_refusal(Watcher(socket))
                came += refusal is None
    assert refusal.code == 1013
    assert came >= CONNECTS_PER_MINUTE
    assert not service.find_session(session).control.paused


async def read_refusal(watcher: Watcher) -> Close | None:
    """Return how the server closes an unwanted socket; None if it accepts the socket."""
    try:
        await watcher.next("welcome")
    except ConnectionClosed as closed:
        return closed.rcvd
    return None
