"""Forward calls to another replica over real HTTP, with progress, errors and permissions."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette

from outrider.app import App, open_app
from outrider.app.cluster.cluster import Cluster
from outrider.browser.session.tables import browser_sessions
from outrider.core.call_codec import serialize_result
from outrider.core.context import Call
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import InvalidInput, OutriderError
from outrider.core.replicas import ReplicaRegistry
from outrider.core.result import Result, TextBlock
from outrider.serve.rpc import RpcCipher, RpcEndpoint
from outrider.settings import load
from support.fakes import http_servers
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
KEY = "a key that all replicas share, longer than 32 characters"
SESSION = "s_elsewhere"
CallHandler = Callable[[str, dict[str, Any], Call], Awaitable[dict[str, Any]]]


@asynccontextmanager
async def open_two_replicas(make_call: CallHandler) -> AsyncGenerator[tuple[App, Cluster]]:
    """This process, and another one with a browser session that makes calls like `here`."""
    loaded = load({"toolsets": ["browser"], "serve": {"state_key": KEY}})
    async with open_app(loaded) as app:
        other = ReplicaRegistry(app.database)
        endpoint = RpcEndpoint(RpcCipher(KEY, loaded.settings.data_dir), other.id, app.database.now, make_call)
        async with http_servers.serve_app(Starlette(routes=[endpoint.build_route()])) as url:
            other.address = url
            await other.send_heartbeat()
            await _add_session(app, other.id)
            yield app, Cluster(loaded, app.database, EgressGuard(loaded.settings.egress), app.browsers)


async def _add_session(app: App, replica: str) -> None:
    now = time.time()
    row: dict[str, Any] = {
        "id": SESSION,
        "owner": "mine",
        "replica": replica,
        "url": "https://tea.example/",
        "title": "Tea",
    }
    row |= {"status": "active", "options": {}, "memory": None, "created_at": now, "used_at": now}
    await app.database.run_transaction(lambda each: each.execute(browser_sessions.insert(), [row]), write=True)


async def ask_cluster(app: App, ours: Cluster, **call: Any) -> Result | None:
    tool = app.toolbox.get_tool("snapshotPage")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        return await ours.call_remotely(tool, {"sessionId": SESSION}, Call(session="mine", **call))


async def test_progress_reaches_the_caller_in_order_before_the_result():
    async def make_call(tool: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        await call.progress(1, 2, "half", {"page": 1})
        await call.heartbeat("a person has paused it")
        await call.progress(2, 2, "whole", None)
        return serialize_result(Result((TextBlock(f"{tool} of {arguments['sessionId']}"),)))

    heard: list[Any] = []

    async def progress(done: float, total: float | None, message: str, data: dict[str, Any] | None = None) -> None:
        heard.append((done, total, message, data))

    async def alive(message: str) -> None:
        heard.append(message)

    async with open_two_replicas(make_call) as (app, ours):
        result = await ask_cluster(app, ours, progress=progress, heartbeat=alive)
    assert result
    assert result.text == f"snapshotPage of {SESSION}"
    assert heard == [(1, 2, "half", {"page": 1}), "a person has paused it", (2, 2, "whole", None)]


@pytest.mark.nightly
async def test_a_caller_that_leaves_cancels_the_remote_call():
    begun, ended = anyio.Event(), anyio.Event()

    async def make_call(tool: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        return {}

    async with open_two_replicas(make_call) as (app, ours):
        with anyio.fail_after(EVENT_TIMEOUT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask_cluster, app, ours)
                await begun.wait()
                tasks.cancel_scope.cancel()
            await ended.wait()


async def test_an_error_raised_by_a_replica_is_raised_for_the_caller():
    async def make_call(tool: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        raise InvalidInput("ref: e9 is gone", hint="look again", details={"reason": "stale"})

    async with open_two_replicas(make_call) as (app, ours):
        with pytest.raises(InvalidInput) as caught:
            await ask_cluster(app, ours)
    assert (caught.value.message, caught.value.hint) == ("ref: e9 is gone", "look again")
    assert caught.value.details == {"reason": "stale"}


async def test_a_bug_in_a_replica_is_reported_without_details_but_with_its_session():
    async def make_call(tool: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        raise ZeroDivisionError("secret detail")

    async with open_two_replicas(make_call) as (app, ours):
        with pytest.raises(OutriderError) as caught:
            await ask_cluster(app, ours)
    assert "secret detail" not in str(caught.value)
    assert caught.value.code == "replica"
    assert "https://tea.example/" in caught.value.message
