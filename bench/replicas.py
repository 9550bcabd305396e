"""Measure processes on one Postgres: calls, resumed runs, the delay of tokens, idle sessions."""

import asyncio
import hashlib
import importlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bench.peers import ROOT
from bench.tables import Comparison, Part

sys.path.insert(0, str(ROOT / "tests"))  # servers and processes come from the tests
http_servers: Any = importlib.import_module("support.fakes.http_servers")
postgres: Any = importlib.import_module("support.databases.postgres")
cluster: Any = importlib.import_module("support.scale.cluster")

CONNECTION_COUNT = 16
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
TOKEN_INTERVAL_S = 0.05  # seconds between two tokens


def run(*, quick: bool) -> Part:
    """Measure everything on this machine."""
    method = (
        "Real `outrider serve` and `outrider worker` processes on one real Postgres, over its socket. The load comes "
        f"from another process over {CONNECTION_COUNT} kept connections: calls of `get_current_state` (one read of "
        "the database) in the protocol of 2026-07-28, spread evenly over the replicas. The load and Postgres use the "
        "same processors, so once these are busy, more replicas cannot answer more calls; compare the CPU time of a "
        "call instead. A token's delay is measured from the model's server through a worker and Postgres to a "
        "follower in another process. *Resumed* is when another worker asks the model again after `kill -9` of the "
        "first. Sessions use the protocol of 2025-11-25 with `serve.stateless=false`; by default, a replica on "
        "Postgres keeps none."
    )
    programs = postgres.find_programs()
    if programs is None:
        raise SystemExit("the part replicas needs a Postgres server: install postgresql")
    tables, remarks = anyio.run(_measure_all, programs, quick)
    return Part("Replicas", method, tables, remarks)


async def _measure_all(programs: Path, quick: bool) -> tuple[list[Comparison], str]:
    session_count = 1_000
    replica_counts = (1, 2, 4)
    seconds, turns = (1.0, 1) if quick else (6.0, 3)
    rates: dict[str, list[float]] = {}
    slowest: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}
    async with _start_cluster(programs, replicas=max(replica_counts), workers=0) as (running, _):
        for _ in range(turns):
            for count in replica_counts:
                before = _read_cpu_seconds(running)
                times = await _measure_calls(running.replicas[:count], seconds)
                name = f"{count} replica{'s' * (count > 1)}"
                taken = _read_cpu_seconds(running) - before
                spent.setdefault(name, []).append(1_000 * taken / len(times))
                rates.setdefault(name, []).append(1_000 * seconds / len(times))
                slowest.setdefault(name, []).append(1_000 * sorted(times)[int(len(times) * 0.99)])
    speaker = TokenModel()
    async with _start_cluster(programs, replicas=1, workers=2, model=speaker) as (running, _):
        resumed = [await _measure_resumption(running, speaker) for _ in range(1 if quick else 5)]
        tokens = sorted(await _measure_token_delays(running, speaker, 10 if quick else 300))
    idle = await _measure_idle_sessions(programs, 50 if quick else session_count)
    middle, late = tokens[len(tokens) // 2], tokens[int(len(tokens) * 0.99)]
    tables = [
        Comparison("milliseconds a call, all replicas together", "1 replica", rates, digits=2),
        Comparison("CPU milliseconds a call, of all replicas together", "1 replica", spent, digits=2),
        Comparison("p99 of a call in milliseconds", "1 replica", slowest, digits=1),
        Comparison("seconds from kill -9 to resumed", "a run", {"a run": resumed}, digits=2),
    ]
    remarks = (
        f"A token's delay to another process: p50 {middle * 1_000:.0f} ms, p99 {late * 1_000:.0f} ms "
        f"({len(tokens)} tokens). A thousand idle sessions hold {idle:.0f} MB."
    )
    return tables, remarks


class TokenModel:
    """Send one token per tick, and remember when each was sent."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.said: dict[int, float] = {}
        self.count = 0
        self.hold = False

    def build_app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self.stream_answer, methods=["POST"])])

    async def stream_answer(self, request: Request) -> Response:
        await request.body()
        self.asked.append(time.monotonic())
        return StreamingResponse(self._stream_tokens(), media_type="text/event-stream")

    async def _stream_tokens(self) -> AsyncGenerator[str]:
        head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        number = 0
        while self.hold or number < self.count:
            self.said[number] = time.monotonic()
            delta = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": f"t{number} "}}]}
            yield f"data: {json.dumps(head | delta)}\n\n"
            number += 1
            await anyio.sleep(TOKEN_INTERVAL_S)
        done = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        yield f"data: {json.dumps(head | done)}\n\ndata: [DONE]\n\n"


@asynccontextmanager
async def _start_cluster(
    programs: Path, *, replicas: int, workers: int, model: TokenModel | None = None, more: Sequence[str] = ()
) -> AsyncGenerator[tuple[Any, str]]:
    agent_file = "---\ndescription: Speaks\ntoolsets: []\n---\nSpeak.\n"

    def write_agent(home: Path) -> None:
        agents = home / ".outrider" / "agents"
        agents.mkdir(parents=True)
        (agents / "speaker.md").write_text(agent_file)

    with tempfile.TemporaryDirectory() as folder:
        async with http_servers.serve_app((model or TokenModel()).build_app()) as url:
            profile = {"base_url": f"{url}/v1", "model": "scripted", "key": "SCRIPTED_KEY", "api": "chat"}
            settings = [
                "toolsets=all",
                "search.keyless=false",
                f"models.profiles={json.dumps({'scripted': profile})}",
                "models.default=scripted",
                "models.local=false",
                *more,
            ]
            arguments: dict[str, Any] = {
                "settings": settings,
                "environment": {"SCRIPTED_KEY": "k"},
                "prepare": write_agent,
            }
            async with cluster.start_cluster(
                Path(folder), replicas=replicas, workers=workers, programs=programs, proxied=False, **arguments
            ) as running:
                yield running, url


# Calls per second


async def _measure_calls(replicas: Sequence[Any], seconds: float) -> list[float]:
    """Return the seconds of each call in a fixed time."""
    times: list[float] = []
    end = time.monotonic() + seconds
    async with anyio.create_task_group() as tasks:
        for number in range(CONNECTION_COUNT):
            tasks.start_soon(_call_repeatedly, replicas[number % len(replicas)].port, number, end, times)
    return times


async def _call_repeatedly(port: int, number: int, end: float, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.monotonic() < end:
            started = time.monotonic()
            writer.write(_build_request(port, number))
            assert b'"isError":true' not in await _read_response(reader)
            times.append(time.monotonic() - started)
    finally:
        writer.transport.abort()


def _build_request(port: int, number: int) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "session_id": f"s{number}",
    }
    call = {"name": "get_current_state", "arguments": {}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}).encode()
    named = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: get_current_state\r\n"
    return _build_post(port, body, named)


def _build_post(port: int, body: bytes, more: str = "") -> bytes:
    request_headers = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{request_headers}{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _read_response(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    if size := re.search(rb"content-length: (\d+)", head, re.IGNORECASE):
        return head + await reader.readexactly(int(size[1]))
    parts = [head]
    while (length := int(await reader.readline(), 16)) > 0:
        parts.append((await reader.readexactly(length + 2))[:-2])
    await reader.readline()
    return b"".join(parts)


def _read_cpu_seconds(running: Any) -> float:
    """Return the CPU seconds of all replicas so far."""
    stats = [Path(f"/proc/{each.pid}/stat").read_text().rpartition(")")[2].split() for each in running.replicas]
    return sum(int(user) + int(system) for user, system in (fields[11:13] for fields in stats)) / TICKS_PER_SECOND


# Runs


async def _start_run(running: Any) -> str:
    arguments = {"agent": "speaker", "query": "Speak.", "mode": "background"}
    found = re.search(r"run_[0-9a-f]{32}", str(await running.call_tool("run_agent", arguments)))
    assert found
    return found[0]


async def _measure_resumption(running: Any, speaker: TokenModel) -> float:
    """Return the seconds from the death of a run's process until its model is asked again."""
    speaker.hold, before = True, len(speaker.asked)
    run_id = await _start_run(running)
    await _wait_until(lambda: len(speaker.asked) > before)
    await anyio.sleep(0.5)
    victim = _find_process(running, run_id)
    killed, asked = time.monotonic(), len(speaker.asked)
    await anyio.to_thread.run_sync(victim.kill)
    await _wait_until(lambda: len(speaker.asked) > asked)
    seconds = speaker.asked[asked] - killed
    speaker.hold = False
    victim.start()
    await victim.wait_until_ready()
    return seconds


def _find_process(running: Any, run_id: str) -> Any:
    """Find the process whose database session holds the lock of a run's executor."""
    [[worker]] = running.query_rows(f"SELECT executor FROM runs WHERE id = '{run_id}'")
    number = int.from_bytes(hashlib.blake2s(worker.encode(), digest_size=8).digest(), signed=True)
    [[name]] = running.query_rows(
        "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' "
        f"AND (classid::bigint << 32 | objid::bigint) = {number} AND granted"
    )
    return next(each for each in running.processes if each.name == name)


async def _wait_until(true: Any) -> None:
    with anyio.fail_after(60):
        while not true():
            await anyio.sleep(0.005)


async def _measure_token_delays(running: Any, speaker: TokenModel, count: int) -> list[float]:
    """Return the seconds from each token's sending to its arrival at a follower in this process."""
    from outrider.app import open_app
    from outrider.settings import load

    speaker.count, speaker.hold = count, False
    speaker.said.clear()
    run_id = await _start_run(running)
    found: dict[int, float] = {}
    async with open_app(load({"database": running.replicas[0].database_url, "agents": {"runs": 0}})) as app:
        async for event in app.runs.follow(run_id):
            if event.kind == "text":
                now = time.monotonic()
                found |= {int(each): now for each in re.findall(r"t(\d+) ", event.data["text"])}
    live = [
        number for number in found if number > 2 / TOKEN_INTERVAL_S
    ]  # text from before the follower started arrives at once
    return [found[number] - speaker.said[number] for number in live or found]


# Sessions


async def _measure_idle_sessions(programs: Path, count: int) -> float:
    """Return the megabytes of a thousand idle sessions of older clients."""
    async with _start_cluster(programs, replicas=1, workers=0, more=["serve.stateless=false"]) as (running, _):
        port = running.replicas[0].port
        await _open_sessions(port, 20)
        before = _read_resident_mb(running.replicas[0])
        await _open_sessions(port, count)
        return (_read_resident_mb(running.replicas[0]) - before) / count * 1_000


async def _open_sessions(port: int, count: int) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}).encode()
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_build_post(port, body))
        await _read_response(reader)
        writer.transport.abort()


def _read_resident_mb(process: Any) -> float:
    """Return the resident megabytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found
    return int(found[1]) / 1_000
