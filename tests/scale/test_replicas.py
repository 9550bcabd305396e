"""Two replicas and a worker on one Postgres: whatever began at one goes on at the other."""

import json
import os
import re
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from support.databases import postgres
from support.fakes import http_servers
from support.fakes.model_apis import Asked, ModelServer, Turn
from support.results import said
from support.scale import bank_tools
from support.scale.cluster import Cluster, cluster

pytestmark = pytest.mark.anyio

PATIENCE = 60.0
PAGES = 40
ASKED = r"qst_[0-9a-f]{32}"
RUN = r"run_[0-9a-f]{32}"
AGENT = """---
description: Books what it is told
toolsets: [bank]
budgets: {steps: 20, seconds: 600}
---
Do as you are told.
"""


@dataclass
class Town:
    """A cluster, and what its agents reach.

    Attributes:
        read: How often each page of the site's book was fetched.
        booked: Effects at the bank, by text.
        held: What the model waits for before it goes on with a job of that name.
    """

    house: Cluster
    site: str
    read: Counter[int] = field(default_factory=Counter)
    booked: Counter[str] = field(default_factory=Counter)
    held: dict[str, anyio.Event] = field(default_factory=dict)
    opened: anyio.Event = field(default_factory=anyio.Event)  # somebody asks for the page that does not come

    @property
    def first(self) -> str:
        return self.house.replicas[0].url

    @property
    def second(self) -> str:
        return self.house.replicas[1].url

    async def call(self, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        with anyio.fail_after(PATIENCE):
            return await self.house.call(tool, arguments, **more)

    async def begun(self, job: str, url: str) -> str:
        """A job for an agent, begun in the background; its run's id."""
        wish = {"agent": "clerk", "query": f"job {job}", "mode": "background"}
        begun = str(await self.call("run_agent", wish, url=url))
        found = re.search(RUN, begun)
        assert found, begun
        return found[0]


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Town]:
    async with _town(tmp_path_factory.mktemp("town")) as made:
        yield made


@asynccontextmanager
async def _town(folder: Path) -> AsyncGenerator[Town]:  # noqa: C901, PLR0915 - three small servers
    programs = postgres.found()
    if programs is None:
        pytest.skip("there is no Postgres server on this machine")
    plugins = bank_tools.install(folder / "plugins")
    made: list[Town] = []

    def play(asked: Asked) -> Turn:
        job = (re.search(r"job (\w+)", asked.text) or ["", "none"])[1]
        if asked.turns == 0 and job.startswith("held"):
            return Turn(text="Slowly. " * 3, between=made[0].held.setdefault(job, anyio.Event()), calls=[])
        if asked.turns == 0:
            return Turn(calls=[("transfer" if job.startswith("ask") else "deposit", {"text": job})])
        return Turn(text=f"Done {job}.")

    async def book(request: Request) -> Response:
        made[0].booked[(await request.json())["text"]] += 1
        return JSONResponse({})

    async def page(request: Request) -> Response:
        name = request.path_params["name"]
        headers = {"set-cookie": "who=ann"} if name == "first" else {}
        seen = request.cookies.get("who", "nobody")
        return HTMLResponse(f"<title>{name}</title><main><p>Page {name} for {seen}</p></main>", headers=headers)

    async def never(request: Request) -> Response:
        made[0].opened.set()
        while not await request.is_disconnected():
            await anyio.sleep(0.1)
        return Response()

    async def chapter(request: Request) -> Response:
        number = int(request.path_params["number"])
        made[0].read[number] += 1
        await anyio.sleep(0.1)  # a site takes its time
        links = "".join(f'<a href="/book/{each}">on</a> ' for each in (number * 2 + 1, number * 2 + 2) if each < PAGES)
        text = f"The tide of number {number} comes in twice a day, and the boats of {number} rise with it. " * 3
        return HTMLResponse(f"<title>{number}</title><main><p>{text}</p><p>{links}</p></main>")

    def prepare(home: Path) -> None:
        agents = home / ".outrider" / "agents"
        agents.mkdir(parents=True)
        (agents / "clerk.md").write_text(AGENT)

    async with (
        http_servers.serve(ModelServer(play).app()) as thinks,
        http_servers.serve(Starlette(routes=[Route("/book", book, methods=["POST"])])) as till,
        http_servers.serve(
            Starlette(routes=[Route("/book/{number:int}", chapter), Route("/never", never), Route("/{name}", page)])
        ) as site,
    ):
        profile = {"base_url": f"{thinks}/v1", "model": "scripted", "key": "SCRIPTED_KEY", "api": "chat"}
        settings = [
            "toolsets=all",
            "search.keyless=false",
            f"models.profiles={json.dumps({'scripted': profile})}",
            "models.default=scripted",
            "models.local=false",
            f"egress.allow=127.0.0.1:{site.rsplit(':', 1)[1]}",
            "pages.per_host_rate=1000",
        ]
        path = os.pathsep.join((str(Path(__file__).parent.parent), str(plugins)))
        environment = {"PYTHONPATH": path, "SCRIPTED_KEY": "sk-x", "BANK": f"{till}/book"}
        more: dict[str, Any] = {"settings": settings, "environment": environment, "prepare": prepare}
        async with cluster(folder, replicas=2, workers=1, programs=programs, **more) as house:
            made.append(Town(house, site))
            yield made[0]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_one_client_is_answered_by_both_replicas_whatever_its_protocol(town: Town, mode: str):
    async with (
        httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0)) as http,
        Client(streamable_http_client(town.house.url, http_client=http), mode=mode) as client,
    ):
        with anyio.fail_after(PATIENCE):
            await client.call_tool("create_goal", {"goal": f"Tea {mode}"})
            seen = [said(await client.call_tool("get_current_state", {})) for _ in range(4)]
    assert all(f"Tea {mode}" in each for each in seen), seen


async def test_a_run_begun_at_one_is_answered_at_the_other(town: Town):
    run_id = await town.begun("plain", town.first)
    result = await town.call("agent_run", {"runId": run_id, "waitSeconds": 30}, url=town.second)
    assert "Done plain." in str(result)
    assert town.booked["plain"] == 1


async def test_what_one_replica_asks_is_decided_at_the_other(town: Town):
    run_id = await town.begun("ask", town.first)
    asked = await town.call("agent_run", {"runId": run_id, "waitSeconds": 30}, url=town.first)
    (question,) = set(re.findall(ASKED, str(asked)))
    assert not town.booked["ask"]
    meta = {"stepContext": {"decisions": [{"actionId": question, "decision": "approved"}]}}
    done = await town.call("agent_run", {"runId": run_id, "waitSeconds": 30}, url=town.second, meta=meta)
    assert "Done ask." in str(done)
    assert town.booked["ask"] == 1


async def test_a_run_is_cancelled_from_the_other_replica(town: Town):
    run_id = await town.begun("held_cancel", town.first)
    ended = await town.call("cancel_agent_run", {"runId": run_id}, url=town.second)
    assert "cancelled" in said(ended)
    after = await town.call("agent_run", {"runId": run_id, "waitSeconds": 30}, url=town.first)
    assert "cancelled" in said(after)


async def test_a_browser_session_is_used_through_the_other_replica(town: Town):
    opened = await town.call("createSession", {"url": f"{town.site}/first"}, url=town.first)
    name = opened.structured_content["sessionId"]
    seen = await town.call("snapshotPage", {"sessionId": name}, url=town.second)
    assert "Page first" in said(seen)
    gone_to = await town.call("navigateToUrl", {"sessionId": name, "url": f"{town.site}/second"}, url=town.second)
    assert "/second" in said(gone_to)
    listed = await town.call("listSessions", {}, url=town.second)
    assert name in said(listed)
    stranger = await town.call("snapshotPage", {"sessionId": name}, url=town.second, session="another")
    assert "no session" in said(stranger)
    await town.call("closeSession", {"sessionId": name}, url=town.second)
    assert name not in said(await town.call("listSessions", {}, url=town.first))


async def test_a_caller_that_leaves_the_other_replica_leaves_the_session_free(town: Town):
    opened = await town.call("createSession", {"url": f"{town.site}/first"}, url=town.first)
    name = opened.structured_content["sessionId"]
    async with anyio.create_task_group() as tasks:
        wish = {"sessionId": name, "url": f"{town.site}/never"}
        tasks.start_soon(partial(town.call, "navigateToUrl", wish, url=town.second))
        with anyio.fail_after(PATIENCE):
            await town.opened.wait()
        tasks.cancel_scope.cancel()
    there = await town.call("navigateToUrl", {"sessionId": name, "url": f"{town.site}/second"}, url=town.first)
    assert "/second" in said(there)
    await town.call("closeSession", {"sessionId": name}, url=town.first)


async def test_a_session_whose_replica_died_is_opened_again_elsewhere_with_what_it_had_stored(town: Town):
    opened = await town.call("createSession", {"url": f"{town.site}/first"}, url=town.first)
    name = opened.structured_content["sessionId"]
    await town.call("snapshotPage", {"sessionId": name}, url=town.first)
    memory = f"SELECT memory IS NOT NULL FROM browser_sessions WHERE id = '{name}'"
    with anyio.fail_after(PATIENCE):
        while town.house.rows(memory) != [["t"]]:
            await anyio.sleep(0.2)
    victim = town.house.replicas[0]
    await anyio.to_thread.run_sync(victim.kill)
    try:
        with anyio.fail_after(PATIENCE):
            while (told := await town.call("getCurrentUrl", {"sessionId": name}, url=town.second)).is_error:
                assert f"was at {town.site}/first" in said(told)
                await anyio.sleep(0.5)
        assert said(told) == f"{town.site}/first"
        lost = await town.call("snapshotPage", {"sessionId": name}, url=town.second)
        assert "navigateToUrl opens the session again" in said(lost)
        await town.call("navigateToUrl", {"sessionId": name, "url": f"{town.site}/second"}, url=town.second)
        seen = await town.call("snapshotPage", {"sessionId": name}, url=town.second)
        assert "Page second for ann" in said(seen)
    finally:
        victim.start()
        await victim.ready()


async def test_nobody_without_the_replicas_key_can_use_their_door(town: Town):
    async with httpx2.AsyncClient(trust_env=False) as http:
        for body in (b"", b"AAAA", b"x" * 100_000):
            answer = await http.post(f"{town.first.removesuffix('/mcp')}/internal/hop", content=body)
            assert answer.status_code == 403


async def test_a_crawl_whose_replica_died_is_finished_by_another_which_the_same_call_then_tells(town: Town):
    wish = {"url": f"{town.site}/book/0", "max_pages": 100, "max_depth": 9, "max_seconds": 50}
    victim = town.house.replicas[0]

    async def crawl() -> None:
        with suppress(Exception):  # however a connection breaks
            await town.call("web_crawl", wish, url=town.first)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(crawl)
        with anyio.fail_after(PATIENCE):
            while len(town.read) < PAGES // 4:
                await anyio.sleep(0.02)
        await anyio.to_thread.run_sync(victim.kill)
    before = dict(town.read)
    try:
        with anyio.fail_after(PATIENCE):
            while town.house.rows("SELECT state FROM crawls") != [["finished"]]:
                await anyio.sleep(0.1)
    finally:
        victim.start()
        await victim.ready()
    assert set(town.read) == set(range(PAGES))
    again = [number for number, count in town.read.items() if count > 1]
    assert len(again) <= 4, "only what was being read when it died is read again"
    assert len(before) < PAGES
