"""Several processes on one Postgres: calls, kill to resumed, a token on its way to another replica, idle sessions."""

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

from bench.figures import Measured, Part
from bench.peers import ROOT

sys.path.insert(0, str(ROOT / "tests"))  # its servers and processes are the tests' own
fakes: Any = importlib.import_module("fakes")
postgres: Any = importlib.import_module("postgres")
scale_cluster: Any = importlib.import_module("scale_cluster")

COUNTS = (1, 2, 4)
CONNECTIONS = 16
SESSIONS = 1_000
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
TICK = 0.05  # seconds between two tokens
HEADERS = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
AGENT = "---\ndescription: Speaks\ntoolsets: []\n---\nSpeak.\n"


def run(*, quick: bool) -> Part:
    """Measures it all on this machine."""
    programs = postgres.found()
    if programs is None:
        raise SystemExit("there is no Postgres server on this machine")
    tables, remarks = anyio.run(_measured, programs, quick)
    return Part("Replicas", METHOD, tables, remarks)


METHOD = (
    "Real `outrider serve` and `outrider worker` processes on one real Postgres, over its socket. The load comes from "
    f"another process over {CONNECTIONS} kept connections: calls of `get_current_state` (one read of the database) in "
    "the protocol of 2026-07-28, spread evenly over the replicas. The load and Postgres use the same processors, so "
    "once these are busy, more replicas cannot answer more calls; compare the CPU time of a call instead. A token's "
    "delay is measured from the model's server through a worker and Postgres to a follower in another process. "
    "*Resumed* is when another worker asks the model again after `kill -9` of the first. Sessions use the protocol of "
    "2025-11-25 with `serve.stateless=false`; by default, a replica on Postgres keeps none."
)


async def _measured(programs: Path, quick: bool) -> tuple[list[Measured], str]:
    seconds, turns = (1.0, 1) if quick else (6.0, 3)
    rates: dict[str, list[float]] = {}
    slowest: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}
    async with _placed(programs, replicas=max(COUNTS), workers=0) as (house, _):
        for _ in range(turns):
            for count in COUNTS:
                before = _processor_seconds(house)
                times = await _load(house.replicas[:count], seconds)
                name = f"{count} replica{'s' * (count > 1)}"
                taken = _processor_seconds(house) - before
                spent.setdefault(name, []).append(1_000 * taken / len(times))
                rates.setdefault(name, []).append(1_000 * seconds / len(times))
                slowest.setdefault(name, []).append(1_000 * sorted(times)[int(len(times) * 0.99)])
    speaker = Speaker()
    async with _placed(programs, replicas=1, workers=2, model=speaker) as (house, _):
        resumed = [await _resumed(house, speaker) for _ in range(1 if quick else 5)]
        tokens = sorted(await _tokens(house, speaker, 10 if quick else 300))
    idle = await _idle(programs, 50 if quick else SESSIONS)
    middle, late = tokens[len(tokens) // 2], tokens[int(len(tokens) * 0.99)]
    tables = [
        Measured("milliseconds a call, all replicas together", "1 replica", rates, digits=2),
        Measured("CPU milliseconds a call, of all replicas together", "1 replica", spent, digits=2),
        Measured("p99 of a call in milliseconds", "1 replica", slowest, digits=1),
        Measured("seconds from kill -9 to resumed", "a run", {"a run": resumed}, digits=2),
    ]
    remarks = (
        f"A token's delay to another process: p50 {middle * 1_000:.0f} ms, p99 {late * 1_000:.0f} ms "
        f"({len(tokens)} tokens). A thousand idle sessions hold {idle:.0f} MB."
    )
    return tables, remarks


class Speaker:
    """A model that speaks one token a tick, and knows when it said each."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.said: dict[int, float] = {}
        self.count = 0
        self.hold = False

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self.answer, methods=["POST"])])

    async def answer(self, request: Request) -> Response:
        await request.body()
        self.asked.append(time.monotonic())
        return StreamingResponse(self._spoken(), media_type="text/event-stream")

    async def _spoken(self) -> AsyncGenerator[str]:
        head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        number = 0
        while self.hold or number < self.count:
            self.said[number] = time.monotonic()
            delta = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": f"t{number} "}}]}
            yield f"data: {json.dumps(head | delta)}\n\n"
            number += 1
            await anyio.sleep(TICK)
        done = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        yield f"data: {json.dumps(head | done)}\n\ndata: [DONE]\n\n"


@asynccontextmanager
async def _placed(
    programs: Path, *, replicas: int, workers: int, model: Speaker | None = None, more: Sequence[str] = ()
) -> AsyncGenerator[tuple[Any, str]]:
    def prepare(home: Path) -> None:
        agents = home / ".outrider" / "agents"
        agents.mkdir(parents=True)
        (agents / "speaker.md").write_text(AGENT)

    with tempfile.TemporaryDirectory() as folder:
        async with fakes.serve((model or Speaker()).app()) as url:
            profile = {"base_url": f"{url}/v1", "model": "scripted", "key": "SCRIPTED_KEY", "api": "chat"}
            settings = [
                "toolsets=all",
                "search.keyless=false",
                f"models.profiles={json.dumps({'scripted': profile})}",
                "models.default=scripted",
                "models.local=false",
                *more,
            ]
            given: dict[str, Any] = {"settings": settings, "environment": {"SCRIPTED_KEY": "k"}, "prepare": prepare}
            async with scale_cluster.cluster(
                Path(folder), replicas=replicas, workers=workers, programs=programs, proxied=False, **given
            ) as house:
                yield house, url


# Calls a second


async def _load(replicas: Sequence[Any], seconds: float) -> list[float]:
    """How long each call took, of as many as could be made."""
    times: list[float] = []
    end = time.monotonic() + seconds
    async with anyio.create_task_group() as tasks:
        for number in range(CONNECTIONS):
            tasks.start_soon(_calls, replicas[number % len(replicas)].port, number, end, times)
    return times


async def _calls(port: int, number: int, end: float, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.monotonic() < end:
            began = time.monotonic()
            writer.write(_request(port, number))
            assert b'"isError":true' not in await _answered(reader)
            times.append(time.monotonic() - began)
    finally:
        writer.transport.abort()


def _request(port: int, number: int) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "session_id": f"s{number}",
    }
    call = {"name": "get_current_state", "arguments": {}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}).encode()
    named = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: get_current_state\r\n"
    return _posted(port, body, named)


def _posted(port: int, body: bytes, more: str = "") -> bytes:
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{HEADERS}{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _answered(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    if size := re.search(rb"content-length: (\d+)", head, re.IGNORECASE):
        return head + await reader.readexactly(int(size[1]))
    parts = [head]
    while (length := int(await reader.readline(), 16)) > 0:
        parts.append((await reader.readexactly(length + 2))[:-2])
    await reader.readline()
    return b"".join(parts)


def _processor_seconds(house: Any) -> float:
    """What all replicas have used."""
    stats = [Path(f"/proc/{each.number}/stat").read_text().rpartition(")")[2].split() for each in house.replicas]
    return sum(int(user) + int(system) for user, system in (fields[11:13] for fields in stats)) / CLOCK_TICKS


# Runs


async def _begun(house: Any) -> str:
    wish = {"agent": "speaker", "query": "Speak.", "mode": "background"}
    found = re.search(r"run_[0-9a-f]{32}", str(await house.call("run_agent", wish)))
    assert found
    return found[0]


async def _resumed(house: Any, speaker: Speaker) -> float:
    """Seconds from the death of the process that works on a run until its model is asked again."""
    speaker.hold, before = True, len(speaker.asked)
    run_id = await _begun(house)
    await _until(lambda: len(speaker.asked) > before)
    await anyio.sleep(0.5)
    victim = _working_on(house, run_id)
    killed, asked = time.monotonic(), len(speaker.asked)
    await anyio.to_thread.run_sync(victim.kill)
    await _until(lambda: len(speaker.asked) > asked)
    seconds = speaker.asked[asked] - killed
    speaker.hold = False
    victim.start()
    await victim.ready()
    return seconds


def _working_on(house: Any, run_id: str) -> Any:
    """The process that works on the run: whose session of the database holds the lock that tells that it lives."""
    [[worker]] = house.rows(f"SELECT executor FROM runs WHERE id = '{run_id}'")
    number = int.from_bytes(hashlib.blake2s(worker.encode(), digest_size=8).digest(), signed=True)
    [[name]] = house.rows(
        "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' "
        f"AND (classid::bigint << 32 | objid::bigint) = {number} AND granted"
    )
    return next(each for each in house.processes if each.name == name)


async def _until(true: Any) -> None:
    with anyio.fail_after(60):
        while not true():
            await anyio.sleep(0.005)


async def _tokens(house: Any, speaker: Speaker, count: int) -> list[float]:
    """Seconds from a token's leaving the model until a follower in this process has it."""
    from outrider.app import open_app
    from outrider.settings import load

    speaker.count, speaker.hold = count, False
    speaker.said.clear()
    run_id = await _begun(house)
    found: dict[int, float] = {}
    async with open_app(load({"database": house.replicas[0].database, "agents": {"runs": 0}})) as app:
        async for event in app.runs.follow(run_id):
            if event.kind == "text":
                now = time.monotonic()
                found |= {int(each): now for each in re.findall(r"t(\d+) ", event.data["text"])}
    live = [number for number in found if number > 2 / TICK]  # what was said before it began to follow came at once
    return [found[number] - speaker.said[number] for number in live or found]


# Sessions


async def _idle(programs: Path, count: int) -> float:
    """Megabytes that a thousand idle sessions of older clients hold."""
    async with _placed(programs, replicas=1, workers=0, more=["serve.stateless=false"]) as (house, _):
        port = house.replicas[0].port
        await _open(port, 20)
        before = _resident(house.replicas[0])
        await _open(port, count)
        return (_resident(house.replicas[0]) - before) / count * 1_000


async def _open(port: int, count: int) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}).encode()
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(_posted(port, body))
        await _answered(reader)
        writer.transport.abort()


def _resident(process: Any) -> float:
    """Megabytes."""
    status = Path(f"/proc/{process.number}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found
    return int(found[1]) / 1_000
