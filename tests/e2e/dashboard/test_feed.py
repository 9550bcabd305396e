"""Live updates over real connections arrive exactly once, despite failures."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import anyio
import httpx2
import pytest

from outrider.app import App
from outrider.core.context import Call
from outrider.dashboard.server import DashboardServer
from support.apps import loopback_app

pytestmark = pytest.mark.anyio
FEED_TIMEOUT_S = 30


@pytest.fixture(scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[App]:
    async with loopback_app.open_loopback_app(tmp_path_factory.mktemp("feed")) as loopback:
        yield loopback.app


@pytest.fixture
async def listening(app: App) -> AsyncGenerator[DashboardServer]:
    opened = DashboardServer(app.dashboard_services())
    await opened.start()
    yield opened
    await opened.aclose()


@pytest.fixture
async def client(listening: DashboardServer) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=listening.base_url, timeout=FEED_TIMEOUT_S) as opened:
        await opened.get(listening.sign_in_url)
        yield opened


@dataclass
class Listener:
    """The events that a browser's EventSource would have received, and its position."""

    client: httpx2.AsyncClient
    place: str = ""
    heard: list[dict] = field(default_factory=list)

    async def listen(self, count: int, params: dict[str, str] | None = None) -> None:
        """Receive changes up to this total, then cut the connection."""
        headers = {"last-event-id": self.place} if self.place else {}
        with anyio.fail_after(FEED_TIMEOUT_S):
            async with self.client.stream("GET", "/feed", params=params or {}, headers=headers) as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                async for event, place, data in iter_events(answer):
                    self.place = place
                    self.heard += data if event == "calls" else []
                    if len(self.heard) >= count:
                        return


async def iter_events(answer: httpx2.Response) -> AsyncGenerator[tuple[str, str, list]]:
    """Yield the events of a stream: name, id, data."""
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "data" in fields:
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}


async def record_calls(app: App, *sessions: str) -> None:
    """Make a call in each of these sessions, and write the records."""
    for session in sessions:
        await app.call("get_current_state", Call(session=session))
    await app.events.flush()


async def test_each_change_is_reported_once_across_cut_connections(app: App, client: httpx2.AsyncClient):
    listener = Listener(client)
    await listener.listen(0, {"topics": "calls"})
    for round_ in range(3):
        await record_calls(app, *(f"{round_}-{number}" for number in range(4)))
        await listener.listen(4 * (round_ + 1))
    await record_calls(app, "last")
    await listener.listen(13)
    ids = [change["id"] for change in listener.heard]
    assert len(ids) == len(set(ids)) == 13


async def test_changes_between_a_page_and_its_stream_are_not_missed(app: App, client: httpx2.AsyncClient):
    page = await client.get("/calls", headers={"accept": "text/html"})
    place = page.text.partition('data-feed="')[2].partition('"')[0].replace("&#34;", '"')
    await record_calls(app, "in between")
    listener = Listener(client)
    await listener.listen(1, {"at": place})
    assert len(listener.heard) == 1


@pytest.mark.nightly
async def test_many_changes_arrive_in_batches_and_none_is_missing(app: App, client: httpx2.AsyncClient):
    listener = Listener(client)
    await listener.listen(0, {"topics": "calls"})
    await record_calls(app, *(str(number) for number in range(250)))
    await listener.listen(250)
    assert len({change["id"] for change in listener.heard}) == 250


async def test_ten_viewers_at_the_same_position_get_the_same_changes(
    app: App, listening: DashboardServer, client: httpx2.AsyncClient
):
    listeners = [Listener(client) for _ in range(10)]
    first = Listener(client)
    await first.listen(0, {"topics": "calls"})
    async with anyio.create_task_group() as tasks:
        for each in listeners:
            each.place = first.place
            tasks.start_soon(each.listen, 2)
        await record_calls(app, "a", "b")
    assert {tuple(change["id"] for change in each.heard) for each in listeners} == {
        tuple(change["id"] for change in listeners[0].heard)
    }


@pytest.mark.parametrize(
    "params",
    [{"topics": "nothing"}, {"at": '{"calls": "x"}'}, {"at": "[]"}, {"at": "{"}, {"at": '{"nothing": ""}'}, {}],
)
async def test_invalid_feed_positions_start_at_the_present(client: httpx2.AsyncClient, params: dict[str, str]):
    answer = await client.get("/feed", params=params)
    assert answer.status_code == 400
    assert answer.json()["error"]["hint"]


async def test_a_dashboard_that_closes_ends_its_streams(app: App):
    listening = DashboardServer(app.dashboard_services())
    await listening.start()
    async with httpx2.AsyncClient(base_url=listening.base_url, timeout=FEED_TIMEOUT_S) as client:
        await client.get(listening.sign_in_url)
        with anyio.fail_after(FEED_TIMEOUT_S):
            async with client.stream("GET", "/feed", params={"topics": "calls"}) as answer:
                lines = answer.aiter_lines()
                await anext(lines)
                assert listening.is_watched
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(listening.aclose)
                    async for _ in lines:
                        pass
    assert not listening.is_watched
