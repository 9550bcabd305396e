"""Operators see the readiness, metrics, traces, logs and shutdown of `outrider serve`."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from support.apps.agent_runs import build_model_settings
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, play_turns
from support.processes import outrider_command
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio

TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@dataclass
class Collector:
    """A minimal OpenTelemetry collector, which receives spans over HTTP (OTLP 1.5)."""

    spans: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def app(self) -> Starlette:
        async def take(request: Request) -> Response:
            sent = ExportTraceServiceRequest.FromString(await request.body())
            self.headers.append(dict(request.headers))
            self.spans += [span for each in sent.resource_spans for scope in each.scope_spans for span in scope.spans]
            return Response(b"", media_type="application/x-protobuf")

        return Starlette(routes=[Route("/v1/traces", take, methods=["POST"])])


@dataclass
class Served:
    """A running `outrider serve`."""

    process: subprocess.Popen[bytes]
    url: str
    metrics: str
    lines: list[str]

    @property
    def root(self) -> str:
        return self.url.removesuffix("/mcp")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def serve_outrider(home: Path, *settings: str) -> Generator[Served]:
    sets = [word for each in settings for word in ("--set", each)]
    command = outrider_command.build_command("serve", "--port", "0", *sets)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "SCRIPTED_KEY": "sk-x"}
    environment |= {name: value for name, value in os.environ.items() if name.startswith("OTEL_")}
    with subprocess.Popen(command, env=environment, cwd=home, stderr=subprocess.PIPE) as process:
        stderr = process.stderr
        assert stderr
        lines: list[str] = []
        url, metrics = "", ""
        for line in map(bytes.decode, stderr):
            url = line.split()[-1] if "serves MCP at" in line else url
            metrics = line.split()[-1] if "metrics are at" in line else metrics
            if url and (metrics or not any("telemetry.metrics" in each for each in settings)):
                break
        reading = threading.Thread(target=lambda: lines.extend(map(bytes.decode, stderr)))
        reading.start()
        try:
            yield Served(process, url, metrics, lines)
        finally:
            process.kill()
            reading.join()


@dataclass
class Site:
    """A page, and another one that is sent `late` seconds after the test releases it."""

    asked: anyio.Event = field(default_factory=anyio.Event)
    comes: anyio.Event = field(default_factory=anyio.Event)
    late: float = 0.0

    def app(self) -> Starlette:
        async def tea(_: Request) -> Response:
            return HTMLResponse(f"<title>Tea</title><article>{'Tea is a drink made of leaves. ' * 20}</article>")

        async def slow(request: Request) -> Response:
            self.asked.set()
            await self.comes.wait()
            await anyio.sleep(self.late)
            return await tea(request)

        return Starlette(routes=[Route("/tea", tea), Route("/slow", slow)])


@asynccontextmanager
async def serve_reading_server(
    home: Path, *settings: str, site: Site | None = None
) -> AsyncGenerator[tuple[Served, str]]:
    """A server, and a site that it may read."""
    async with http_servers.serve_app((site or Site()).app()) as pages:
        with serve_outrider(home, f"egress.allow=127.0.0.1:{pages.rsplit(':', 1)[1]}", *settings) as served:
            yield served, pages


async def wait_until_closed(served: Served) -> None:
    """Wait until no more connections are accepted."""
    async with httpx2.AsyncClient() as http:
        with suppress(httpx2.ConnectError, httpx2.RemoteProtocolError):  # refused, or dropped before it is answered
            while True:
                await http.get(f"{served.root}/healthz", headers={"connection": "close"})


async def wait_for_exit(served: Served) -> int:
    return await anyio.to_thread.run_sync(lambda: served.process.wait(timeout=PROCESS_TIMEOUT_S))


@pytest.mark.nightly
async def test_a_call_can_be_traced_from_the_request_to_the_page(home: Path, monkeypatch: pytest.MonkeyPatch):
    collector = Collector()
    async with http_servers.serve_app(collector.app()) as endpoint:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=tea")
        async with (
            serve_reading_server(home, f"telemetry.endpoint={endpoint}") as (served, pages),
            httpx2.AsyncClient(headers={"traceparent": TRACEPARENT}) as http,
        ):
            async with Client(streamable_http_client(served.url, http_client=http)) as client:
                await client.call_tool("web_fetch", {"url": f"{pages}/tea"})
            served.stop()
            assert await wait_for_exit(served) == 0
    above = {span.span_id: span for span in collector.spans}
    path = [next(span for span in collector.spans if span.name == "HTTP GET")]
    while path[-1].parent_span_id in above:
        path.append(above[path[-1].parent_span_id])
    assert [span.name for span in path] == ["HTTP GET", "tool web_fetch", "tools/call web_fetch", "POST"]
    assert {span.trace_id.hex() for span in path} == {TRACE}
    assert collector.headers[0]["x-team"] == "tea"


async def test_an_agents_model_and_tool_spans_belong_to_the_call_that_started_it(home: Path):
    collector = Collector()
    (home / ".outrider" / "agents").mkdir(parents=True)
    (home / ".outrider" / "agents" / "reader.md").write_text("---\ndescription: Reads\ntoolsets: [web]\n---\nRead.\n")
    async with http_servers.serve_app(collector.app()) as endpoint, http_servers.serve_app(Site().app()) as pages:
        turns = play_turns(
            ModelTurn(calls=[("web_fetch", {"url": f"{pages}/tea"})]), ModelTurn(text="Tea is made of leaves.")
        )
        async with http_servers.serve_app(ModelServer(turns).build_app()) as model:
            settings = build_model_settings(model) | {"telemetry": {"endpoint": endpoint}, "toolsets": ["run_agent"]}
            (home / ".outrider" / "settings.json").write_text(json.dumps(settings))
            with serve_outrider(home, f"egress.allow=127.0.0.1:{pages.rsplit(':', 1)[1]}") as served:
                async with Client(served.url) as client:
                    result = await client.call_tool("run_reader", {"query": "What is tea made of?"})
                served.stop()
                await wait_for_exit(served)
    assert "made of leaves" in str(result.content)
    whole = next(span for span in collector.spans if span.name == "agent reader")
    trace = {span.name for span in collector.spans if span.trace_id == whole.trace_id}
    assert {"POST", "tool run_reader", "agent reader", "chat scripted", "tool web_fetch", "HTTP GET"} <= trace


@pytest.mark.nightly
async def test_metrics_count_calls_by_tool_and_outcome(home: Path):
    async with (
        serve_reading_server(home, "telemetry.metrics=127.0.0.1:0") as (served, pages),
        httpx2.AsyncClient() as http,
    ):
        async with Client(served.url) as client:
            await client.call_tool("web_fetch", {"url": f"{pages}/tea"})
            await client.call_tool("web_fetch", {"url": f"{pages}/nothing-here"})
            opened = await client.call_tool("createSession", {"url": f"{pages}/tea"})
        assert not opened.is_error, opened
        shown = (await http.get(served.metrics)).text
        assert (await http.get(served.root + "/metrics")).status_code == 404
    families = {family.name: family for family in text_string_to_metric_families(shown)}
    all_calls = families["outrider_tool_duration_seconds"].samples
    assert {each.labels["tool"] for each in all_calls} == {"web_fetch", "createSession"}
    calls = [each for each in all_calls if each.labels["tool"] == "web_fetch"]
    counts = {each.labels["outcome"]: each.value for each in calls if each.name.endswith("_count")}
    assert counts["ok"] == 1
    assert sum(counts.values()) == 2
    assert families["outrider_browser_sessions"].samples[0].value == 1
    buckets = [each.value for each in calls if each.labels.get("le") and each.labels["outcome"] == "ok"]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 1
    assert families["process_resident_memory_bytes"].samples[0].value > 1_000_000


async def test_each_line_of_a_json_log_names_its_call(home: Path):
    # Only the call opens the database, and the log says so.
    chosen = ("log_style=json", "log_level=debug", "watches.max_watches=0", "flows.max_schedules=0")
    async with serve_reading_server(home, *chosen) as (served, pages):
        async with Client(served.url) as client:
            await client.call_tool("web_fetch", {"url": f"{pages}/tea"})
        served.stop()
        await wait_for_exit(served)
    records = [json.loads(line) for line in served.lines if line.startswith("{")]
    assert records
    assert all(record["at"].endswith("+00:00") and record["level"] and record["logger"] for record in records)
    assert any(len(record.get("call", "")) == 36 for record in records)


async def test_a_stopping_server_fails_readiness_and_finishes_running_calls(home: Path):
    site = Site()
    chosen = ("serve.notice_s=2", "serve.drain_s=20")
    async with serve_reading_server(home, *chosen, site=site) as (served, pages), httpx2.AsyncClient() as http:
        ready = f"{served.root}/readyz"
        assert (await http.get(ready)).json()["status"] == "ready"
        async with Client(served.url) as client, anyio.create_task_group() as tasks:
            await client.list_tools()  # else the client asks for the tool's schema after the answer

            async def call() -> None:
                result = await client.call_tool("web_fetch", {"url": f"{pages}/slow"})
                answers.append(str(result.content))

            answers: list[str] = []
            tasks.start_soon(call)
            with anyio.fail_after(EVENT_TIMEOUT_S):
                await site.asked.wait()
                served.stop()
                while (await http.get(ready)).status_code != 503:
                    await anyio.lowlevel.checkpoint()
            assert (await http.get(f"{served.root}/healthz")).status_code == 200
            site.comes.set()
        assert "made of leaves" in answers[0]
        assert await wait_for_exit(served) == 0


@asynccontextmanager
async def subscribe(url: str) -> AsyncGenerator[httpx2.Response]:
    """A subscription, which a server keeps open as long as possible."""
    version, prefix = "2026-07-28", "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": version, f"{prefix}clientCapabilities": {}}
    params = {"_meta": meta, "notifications": {"toolsListChanged": True}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": version}
    headers |= {"mcp-method": body["method"]}
    async with (
        httpx2.AsyncClient(timeout=PROCESS_TIMEOUT_S) as http,
        http.stream("POST", url, json=body, headers=headers) as stream,
    ):
        assert stream.status_code == 200
        yield stream


@pytest.mark.nightly
async def test_running_calls_finish_after_shutdown_and_streams_are_closed(home: Path):
    # Unless told otherwise, a library cuts streams half a second after the server stops accepting.
    site, answers = Site(late=1.0), list[str]()
    async with serve_reading_server(home, "serve.drain_s=3000", site=site) as (served, pages):
        async with Client(served.url, mode="legacy") as client, anyio.create_task_group() as tasks:
            await client.list_tools()  # else the client asks for the tool's schema after the answer

            async def call() -> None:
                answers.append(str((await client.call_tool("web_fetch", {"url": f"{pages}/slow"})).content))

            tasks.start_soon(call)
            with anyio.fail_after(EVENT_TIMEOUT_S):
                await site.asked.wait()
                async with subscribe(served.url) as changes:
                    served.stop()
                    async for _ in changes.aiter_bytes():
                        pass  # it ends by itself
            site.comes.set()
        assert "made of leaves" in answers[0]
        assert await wait_for_exit(served) == 0


async def test_a_second_signal_stops_the_server_at_once(home: Path):
    site = Site()
    async with serve_reading_server(home, "serve.drain_s=3000", site=site) as (served, pages):
        async with anyio.create_task_group() as tasks, Client(served.url) as client:

            async def call() -> None:
                with suppress(Exception):
                    await client.call_tool("web_fetch", {"url": f"{pages}/slow"})

            tasks.start_soon(call)
            with anyio.fail_after(EVENT_TIMEOUT_S):
                await site.asked.wait()
                served.stop()
                await wait_until_closed(served)
                served.stop()
                assert await wait_for_exit(served) == 0
            tasks.cancel_scope.cancel()
        site.comes.set()


async def test_a_server_whose_database_gets_damaged_is_not_ready(home: Path):
    async with httpx2.AsyncClient(timeout=PROCESS_TIMEOUT_S) as http:
        with serve_outrider(home) as served:
            before = await http.get(f"{served.root}/readyz")
            for path in (home / ".outrider").glob("**/outrider.db*"):
                if path.suffix != ".db-shm":  # memory shared by the server's own connections
                    with path.open("r+b") as file:
                        file.write(b"spoiled " * (path.stat().st_size // 8))
            after = await http.get(f"{served.root}/readyz")
    assert before.json()["checks"]["database"] == "ok"
    assert after.status_code == 503
    assert "outrider.db is damaged" in after.json()["checks"]["database"]


async def test_a_server_without_its_database_is_not_ready_but_alive(home: Path):
    with serve_outrider(home, "database=postgresql+psycopg://nobody@127.0.0.1:1/none") as served:
        async with httpx2.AsyncClient() as http:
            reply = await http.get(f"{served.root}/readyz")
            assert (await http.get(f"{served.root}/healthz")).status_code == 200
    assert reply.status_code == 503
    assert reply.json()["checks"]["serving"] == "ok"
    assert reply.json()["checks"]["database"] != "ok"
