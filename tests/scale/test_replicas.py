"""Two replicas and a worker on one Postgres: work that starts at one continues at another."""

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
from support.fakes.model_apis import ModelServer, ModelTurn, ScriptedRequest
from support.results import read_first_text
from support.scale import bank_tools
from support.scale.cluster import Cluster, start_cluster

pytestmark = pytest.mark.anyio

CALL_TIMEOUT_S = 60.0
BOOK_PAGE_COUNT = 40
QUESTION_ID_PATTERN = r"qst_[0-9a-f]{32}"
RUN_ID_PATTERN = r"run_[0-9a-f]{32}"
AGENT_FILE = """---
description: Books what it is told
toolsets: [bank]
budgets: {steps: 20, seconds: 600}
---
Do as you are told.
"""


@dataclass
class ReplicaSetup:
    """A cluster, and the services that its agents use.

    Attributes:
        reads_by_page: How often each page of the site's book was fetched.
        effects_by_text: Effects at the bank, by text.
        held_jobs: Events that the model awaits before it continues with the job of that name.
    """

    cluster: Cluster
    site_url: str
    reads_by_page: Counter[int] = field(default_factory=Counter)
    effects_by_text: Counter[str] = field(default_factory=Counter)
    held_jobs: dict[str, anyio.Event] = field(default_factory=dict)
    slow_page_requested: anyio.Event = field(
        default_factory=anyio.Event
    )  # someone requests the page that does not arrive

    @property
    def first_url(self) -> str:
        return self.cluster.replicas[0].url

    @property
    def second_url(self) -> str:
        return self.cluster.replicas[1].url

    async def call_tool(self, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        with anyio.fail_after(CALL_TIMEOUT_S):
            return await self.cluster.call_tool(tool, arguments, **more)

    async def start_background_job(self, job: str, url: str) -> str:
        """Start an agent's job in the background; return its run's id."""
        wish = {"agent": "clerk", "query": f"job {job}", "mode": "background"}
        begun = str(await self.call_tool("run_agent", wish, url=url))
        found = re.search(RUN_ID_PATTERN, begun)
        assert found, begun
        return found[0]


@pytest.fixture(scope="module")
async def replica_setup(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[ReplicaSetup]:
    async with start_replica_setup(tmp_path_factory.mktemp("town")) as made:
        yield made


@asynccontextmanager
async def start_replica_setup(folder: Path) -> AsyncGenerator[ReplicaSetup]:  # noqa: C901, PLR0915 - three small servers
    programs = postgres.require_programs()
    plugins = bank_tools.install_plugin(folder / "plugins")
    made: list[ReplicaSetup] = []

    def choose_turn(asked: ScriptedRequest) -> ModelTurn:
        job = (re.search(r"job (\w+)", asked.text) or ["", "none"])[1]
        if asked.turn_count == 0 and job.startswith("held"):
            return ModelTurn(
                text="Slowly. " * 3, wait_between=made[0].held_jobs.setdefault(job, anyio.Event()), calls=[]
            )
        if asked.turn_count == 0:
            return ModelTurn(calls=[("transfer" if job.startswith("ask") else "deposit", {"text": job})])
        return ModelTurn(text=f"Done {job}.")

    async def book_effect(request: Request) -> Response:
        made[0].effects_by_text[(await request.json())["text"]] += 1
        return JSONResponse({})

    async def serve_page(request: Request) -> Response:
        name = request.path_params["name"]
        headers = {"set-cookie": "who=ann"} if name == "first" else {}
        seen = request.cookies.get("who", "nobody")
        return HTMLResponse(f"<title>{name}</title><main><p>Page {name} for {seen}</p></main>", headers=headers)

    async def serve_never(request: Request) -> Response:
        made[0].slow_page_requested.set()
        while not await request.is_disconnected():
            await anyio.sleep(0.1)
        return Response()

    async def serve_chapter(request: Request) -> Response:
        number = int(request.path_params["number"])
        made[0].reads_by_page[number] += 1
        await anyio.sleep(0.1)  # a site answers slowly
        links = "".join(
            f'<a href="/book/{each}">on</a> ' for each in (number * 2 + 1, number * 2 + 2) if each < BOOK_PAGE_COUNT
        )
        text = f"The tide of number {number} comes in twice a day, and the boats of {number} rise with it. " * 3
        return HTMLResponse(f"<title>{number}</title><main><p>{text}</p><p>{links}</p></main>")

    def prepare_home(home: Path) -> None:
        agents = home / ".outrider" / "agents"
        agents.mkdir(parents=True)
        (agents / "clerk.md").write_text(AGENT_FILE)

    async with (
        http_servers.serve_app(ModelServer(choose_turn).build_app()) as thinks,
        http_servers.serve_app(Starlette(routes=[Route("/book", book_effect, methods=["POST"])])) as till,
        http_servers.serve_app(
            Starlette(
                routes=[
                    Route("/book/{number:int}", serve_chapter),
                    Route("/never", serve_never),
                    Route("/{name}", serve_page),
                ]
            )
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
        more: dict[str, Any] = {"settings": settings, "environment": environment, "prepare": prepare_home}
        async with start_cluster(folder, replicas=2, workers=1, programs=programs, **more) as service:
            made.append(ReplicaSetup(service, site))
            yield made[0]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_either_replica_answers_a_client_of_any_protocol(replica_setup: ReplicaSetup, mode: str):
    async with (
        httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0)) as http,
        Client(streamable_http_client(replica_setup.cluster.url, http_client=http), mode=mode) as client,
    ):
        with anyio.fail_after(CALL_TIMEOUT_S):
            await client.call_tool("create_goal", {"goal": f"Tea {mode}"})
            seen = [read_first_text(await client.call_tool("get_current_state", {})) for _ in range(4)]
    assert all(f"Tea {mode}" in each for each in seen), seen


async def test_a_run_started_at_one_replica_is_answered_at_the_other(replica_setup: ReplicaSetup):
    run_id = await replica_setup.start_background_job("plain", replica_setup.first_url)
    result = await replica_setup.call_tool(
        "agent_run", {"runId": run_id, "waitSeconds": 30}, url=replica_setup.second_url
    )
    assert "Done plain." in str(result)
    assert replica_setup.effects_by_text["plain"] == 1


async def test_a_question_asked_by_one_replica_is_decided_at_the_other(replica_setup: ReplicaSetup):
    run_id = await replica_setup.start_background_job("ask", replica_setup.first_url)
    asked = await replica_setup.call_tool(
        "agent_run", {"runId": run_id, "waitSeconds": 30}, url=replica_setup.first_url
    )
    (question,) = set(re.findall(QUESTION_ID_PATTERN, str(asked)))
    assert not replica_setup.effects_by_text["ask"]
    meta = {"stepContext": {"decisions": [{"actionId": question, "decision": "approved"}]}}
    done = await replica_setup.call_tool(
        "agent_run", {"runId": run_id, "waitSeconds": 30}, url=replica_setup.second_url, meta=meta
    )
    assert "Done ask." in str(done)
    assert replica_setup.effects_by_text["ask"] == 1


async def test_a_run_is_cancelled_from_the_other_replica(replica_setup: ReplicaSetup):
    run_id = await replica_setup.start_background_job("held_cancel", replica_setup.first_url)
    ended = await replica_setup.call_tool("cancel_agent_run", {"runId": run_id}, url=replica_setup.second_url)
    assert "cancelled" in read_first_text(ended)
    after = await replica_setup.call_tool(
        "agent_run", {"runId": run_id, "waitSeconds": 30}, url=replica_setup.first_url
    )
    assert "cancelled" in read_first_text(after)


async def test_a_browser_session_is_used_through_the_other_replica(replica_setup: ReplicaSetup):
    opened = await replica_setup.call_tool(
        "createSession", {"url": f"{replica_setup.site_url}/first"}, url=replica_setup.first_url
    )
    name = opened.structured_content["sessionId"]
    seen = await replica_setup.call_tool("snapshotPage", {"sessionId": name}, url=replica_setup.second_url)
    assert "Page first" in read_first_text(seen)
    gone_to = await replica_setup.call_tool(
        "navigateToUrl", {"sessionId": name, "url": f"{replica_setup.site_url}/second"}, url=replica_setup.second_url
    )
    assert "/second" in read_first_text(gone_to)
    listed = await replica_setup.call_tool("listSessions", {}, url=replica_setup.second_url)
    assert name in read_first_text(listed)
    stranger = await replica_setup.call_tool(
        "snapshotPage", {"sessionId": name}, url=replica_setup.second_url, session="another"
    )
    assert "no session" in read_first_text(stranger)
    await replica_setup.call_tool("closeSession", {"sessionId": name}, url=replica_setup.second_url)
    assert name not in read_first_text(await replica_setup.call_tool("listSessions", {}, url=replica_setup.first_url))


async def test_a_caller_that_leaves_the_other_replica_frees_the_session(replica_setup: ReplicaSetup):
    opened = await replica_setup.call_tool(
        "createSession", {"url": f"{replica_setup.site_url}/first"}, url=replica_setup.first_url
    )
    name = opened.structured_content["sessionId"]
    async with anyio.create_task_group() as tasks:
        wish = {"sessionId": name, "url": f"{replica_setup.site_url}/never"}
        tasks.start_soon(partial(replica_setup.call_tool, "navigateToUrl", wish, url=replica_setup.second_url))
        with anyio.fail_after(CALL_TIMEOUT_S):
            await replica_setup.slow_page_requested.wait()
        tasks.cancel_scope.cancel()
    there = await replica_setup.call_tool(
        "navigateToUrl", {"sessionId": name, "url": f"{replica_setup.site_url}/second"}, url=replica_setup.first_url
    )
    assert "/second" in read_first_text(there)
    await replica_setup.call_tool("closeSession", {"sessionId": name}, url=replica_setup.first_url)


async def test_a_session_of_a_dead_replica_is_reopened_elsewhere_with_its_stored_state(
    replica_setup: ReplicaSetup,
):
    opened = await replica_setup.call_tool(
        "createSession", {"url": f"{replica_setup.site_url}/first"}, url=replica_setup.first_url
    )
    name = opened.structured_content["sessionId"]
    await replica_setup.call_tool("snapshotPage", {"sessionId": name}, url=replica_setup.first_url)
    memory = f"SELECT memory IS NOT NULL FROM browser_sessions WHERE id = '{name}'"
    with anyio.fail_after(CALL_TIMEOUT_S):
        while replica_setup.cluster.query_rows(memory) != [["t"]]:
            await anyio.sleep(0.2)
    victim = replica_setup.cluster.replicas[0]
    await anyio.to_thread.run_sync(victim.kill)
    try:
        with anyio.fail_after(CALL_TIMEOUT_S):
            while (
                told := await replica_setup.call_tool(
                    "getCurrentUrl", {"sessionId": name}, url=replica_setup.second_url
                )
            ).is_error:
                assert f"was at {replica_setup.site_url}/first" in read_first_text(told)
                await anyio.sleep(0.5)
        assert read_first_text(told) == f"{replica_setup.site_url}/first"
        lost = await replica_setup.call_tool("snapshotPage", {"sessionId": name}, url=replica_setup.second_url)
        assert "navigateToUrl opens the session again" in read_first_text(lost)
        await replica_setup.call_tool(
            "navigateToUrl",
            {"sessionId": name, "url": f"{replica_setup.site_url}/second"},
            url=replica_setup.second_url,
        )
        seen = await replica_setup.call_tool("snapshotPage", {"sessionId": name}, url=replica_setup.second_url)
        assert "Page second for ann" in read_first_text(seen)
    finally:
        victim.start()
        await victim.wait_until_ready()


async def test_internal_calls_are_refused_without_the_replicas_key(replica_setup: ReplicaSetup):
    async with httpx2.AsyncClient(trust_env=False) as http:
        for body in (b"", b"AAAA", b"x" * 100_000):
            answer = await http.post(f"{replica_setup.first_url.removesuffix('/mcp')}/internal/hop", content=body)
            assert answer.status_code == 403


async def test_another_replica_finishes_the_crawl_of_a_dead_one(
    replica_setup: ReplicaSetup,
):
    wish = {"url": f"{replica_setup.site_url}/book/0", "max_pages": 100, "max_depth": 9, "max_seconds": 50}
    victim = replica_setup.cluster.replicas[0]

    async def crawl() -> None:
        with suppress(Exception):  # in any way that a connection can break
            await replica_setup.call_tool("web_crawl", wish, url=replica_setup.first_url)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(crawl)
        with anyio.fail_after(CALL_TIMEOUT_S):
            while len(replica_setup.reads_by_page) < BOOK_PAGE_COUNT // 4:
                await anyio.sleep(0.02)
        await anyio.to_thread.run_sync(victim.kill)
    before = dict(replica_setup.reads_by_page)
    try:
        with anyio.fail_after(CALL_TIMEOUT_S):
            while replica_setup.cluster.query_rows("SELECT state FROM crawls") != [["finished"]]:
                await anyio.sleep(0.1)
    finally:
        victim.start()
        await victim.wait_until_ready()
    assert set(replica_setup.reads_by_page) == set(range(BOOK_PAGE_COUNT))
    again = [number for number, count in replica_setup.reads_by_page.items() if count > 1]
    assert len(again) <= 4, "only what was being read when it died is read again"
    assert len(before) < BOOK_PAGE_COUNT
