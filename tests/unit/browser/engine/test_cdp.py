"""The CDP client over real pipes, with the test as the browser."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import suppress

import anyio
import pytest

from outrider.browser.protocol.cdp import (
    BrowserGone,
    CdpConnection,
    CommandTimeout,
    ContextGone,
    PageGone,
    ProtocolError,
)
from outrider.browser.protocol.pipe import PipeTransport
from support.timeouts import EVENT_TIMEOUT_S


class FakeBrowser:
    """The browser's ends of the pipes."""

    def __init__(self) -> None:
        self.reading, theirs_out = os.pipe()
        theirs_in, self.writing = os.pipe()
        self.transport = PipeTransport(theirs_in, theirs_out)
        self._rest = b""

    async def read_command(self) -> dict:
        """The next command."""
        while b"\0" not in self._rest:
            self._rest += await anyio.to_thread.run_sync(os.read, self.reading, 65_536)
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def send(self, *messages: dict, cut: int | None = None) -> None:
        data = b"".join(json.dumps(each).encode() + b"\0" for each in messages)
        os.write(self.writing, data[:cut])
        if cut is not None:
            os.write(self.writing, data[cut:])

    def exit(self) -> None:
        for descriptor in (self.reading, self.writing):
            with suppress(OSError):
                os.close(descriptor)


@pytest.fixture
async def browser() -> AsyncGenerator[FakeBrowser]:
    fake = FakeBrowser()
    yield fake
    fake.exit()


@pytest.fixture
async def connection(browser: FakeBrowser) -> AsyncGenerator[CdpConnection]:
    made = CdpConnection(browser.transport)
    made.start()
    yield made
    await made.aclose()


async def test_answers_find_their_commands_in_any_order(browser, connection):
    first, second = connection.send("A"), connection.send("B", {"x": "ü"})
    asked = [await browser.read_command(), await browser.read_command()]
    assert asked[1] == {"id": asked[1]["id"], "method": "B", "params": {"x": "ü"}}
    browser.send({"id": asked[1]["id"], "result": {"b": 1}}, {"id": asked[0]["id"], "result": {"a": 1}}, cut=9)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        assert (await second, await first) == ({"b": 1}, {"a": 1})


async def test_refusals_have_types(browser, connection):
    cases = {
        "Cannot find context with specified id": ContextGone,
        "Inspected target navigated or closed": ContextGone,
        "Session with given id not found.": PageGone,
        "Invalid parameters": ProtocolError,
    }
    for message, kind in cases.items():
        waiting = connection.send("A")
        asked = await browser.read_command()
        browser.send({"id": asked["id"], "error": {"code": -32000, "message": message}})
        with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(kind):
            await waiting


async def test_a_command_without_an_answer_has_a_deadline(connection):
    with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(CommandTimeout, match=r"A within 0\.05 s"):
        await connection.send("A", timeout=0.05)


async def test_every_unanswered_command_fails_at_once_when_the_browser_exits(browser, connection):
    reasons: list[str] = []
    connection.on_lost(reasons.append)
    waiting = [connection.send("A"), connection.get_channel("s").send("B")]
    browser.exit()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        for each in waiting:
            with pytest.raises(BrowserGone):
                await each
        with pytest.raises(BrowserGone):
            await connection.send("C")
    assert len(reasons) == 1


async def test_a_dropped_target_fails_only_what_waits_for_it(browser, connection):
    page, other = connection.get_channel("page"), connection.get_channel("other")
    lost, kept = page.send("A"), other.send("B")
    asked = [await browser.read_command(), await browser.read_command()]
    assert [each["sessionId"] for each in asked] == ["page", "other"]
    connection.drop_channel("page", "it was closed")
    with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(PageGone, match="it was closed"):
        await lost
    with pytest.raises(PageGone):
        await page.send("C")
    browser.send({"id": asked[1]["id"], "sessionId": "other", "result": {}})
    with anyio.fail_after(EVENT_TIMEOUT_S):
        assert await kept == {}


async def test_events_reach_their_own_channel_in_order_until_unsubscribed(browser, connection):
    received: list[tuple[str, int]] = []
    unsubscribe = connection.get_channel("a").on("E", lambda event: received.append(("a", event["n"])))
    connection.root.on("E", lambda event: received.append(("root", event["n"])))
    events = [{"method": "E", "params": {"n": n}, "sessionId": "a"} for n in (1, 2)]
    browser.send(*events, {"method": "E", "params": {"n": 3}}, {"method": "E", "params": {"n": 4}, "sessionId": "x"})
    waiting = connection.send("A")
    browser.send({"id": (await browser.read_command())["id"], "result": {}})
    await waiting
    unsubscribe()
    browser.send(events[0])
    waiting = connection.send("A")
    browser.send({"id": (await browser.read_command())["id"], "result": {}})
    await waiting
    assert received == [("a", 1), ("a", 2), ("root", 3)]


async def test_the_then_callback_runs_before_events_that_follow_the_answer(browser, connection):
    order: list[str] = []
    connection.root.on("E", lambda _: order.append("event"))
    waiting = connection.send("A", then=lambda result: order.append(result["x"]))
    number = (await browser.read_command())["id"]
    browser.send({"id": number, "result": {"x": "answer"}}, {"method": "E"})
    await waiting
    assert order[:1] == ["answer"]


async def test_a_handler_that_fails_does_not_stop_others(browser, connection, caplog):
    connection.root.on("E", lambda _: 1 / 0)
    browser.send({"method": "E"})
    waiting = connection.send("A")
    browser.send({"id": (await browser.read_command())["id"], "result": {}})
    with anyio.fail_after(EVENT_TIMEOUT_S):
        await waiting
    assert "handling E" in caplog.text


async def test_messages_longer_than_a_pipe_holds_pass_both_ways(browser, connection):
    text = "ä" * 3_000_000
    waiting = connection.send("A", {"text": text})
    asked = await browser.read_command()
    assert asked["params"]["text"] == text
    answer = asyncio.create_task(anyio.to_thread.run_sync(write_all, browser.writing, asked["id"], text))
    with anyio.fail_after(EVENT_TIMEOUT_S):
        assert (await waiting)["text"] == text
    await answer


def write_all(descriptor: int, number: int, text: str) -> None:
    data = json.dumps({"id": number, "result": {"text": text}}).encode() + b"\0"
    while data:
        data = data[os.write(descriptor, data) :]


async def test_a_message_that_is_not_json_is_skipped(browser, connection, caplog):
    os.write(browser.writing, b"hello\0")
    waiting = connection.send("A")
    browser.send({"id": (await browser.read_command())["id"], "result": {}})
    with anyio.fail_after(EVENT_TIMEOUT_S):
        await waiting
    assert "not JSON" in caplog.text
