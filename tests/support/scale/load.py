"""The clients of a cluster under test, and the services that they use; each records the answers that it got."""

import base64
import json
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import httpx2
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from support.fakes.model_apis import ModelTurn, ScriptedRequest
from support.results import read_first_text
from support.scale.cluster import MODERN_VERSION, Cluster

RECOVERY_TIMEOUT_S = 60.0  # for progress of a cluster of five processes on a busy machine
AGENT_CLIENT_COUNT = 3  # clients that use agents at the same time
STEPS_PER_JOB = 3
STEPS_PER_LONG_JOB = 15  # steps of jobs that will be cancelled
SITE_PAGE_COUNT = 30
QUESTION_ID_PATTERN = r"qst_[0-9a-f]{32}"  # a question that a person must answer
RUN_ID_PATTERN = r"run_[0-9a-f]{32}"


@dataclass
class EffectCounter:
    """Counts effects."""

    counts_by_key: Counter[str] = field(default_factory=Counter)
    counts_by_text: Counter[str] = field(default_factory=Counter)
    last_booked_at: dict[str, float] = field(default_factory=dict)  # the time of the last booking of each job

    async def book_entry(self, request: Request) -> Response:
        entry = await request.json()
        self.counts_by_key[entry["key"]] += 1
        self.counts_by_text[entry["text"]] += 1
        self.last_booked_at[entry["text"].partition(".")[0]] = time.monotonic()
        return JSONResponse({"ok": True})


@dataclass
class CrawlSite:
    """A small site to crawl."""

    reads_by_path: Counter[str] = field(default_factory=Counter)

    async def serve_page(self, request: Request) -> Response:
        number = int(request.path_params["number"])
        self.reads_by_path[request.url.path] += 1
        links = "".join(
            f'<a href="/p{each}">on</a> ' for each in (number * 2 + 1, number * 2 + 2) if each < SITE_PAGE_COUNT
        )
        text = f"The tide of number {number} comes in twice a day, and the boats of {number} rise with it. " * 3
        return HTMLResponse(f"<title>Number {number}</title><main><p>{text}</p><p>{links}</p></main>")


@dataclass
class LoadJournal:
    """The answers to clients.

    Attributes:
        runs: The returned run ids, with the name of their job.
        answers: The answers of runs to their clients.
        stored_texts: Texts with confirmed storage, with their names.
        crawls: Answers to crawls.
        stored_files: Files with confirmed storage, by their addresses.
        cancelled_runs: Runs reported as cancelled, and when.
        resumed_runs: Runs whose first caller dropped the connection.
        failures: The number of failed calls by reason; they may happen, but are reported.
        bugs: Answers that report a bug, which no injected fault excuses.
        success_times: When calls succeeded.
        call_durations: The duration and name of each successful call.
        events: The injected faults.
    """

    runs: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    stored_texts: dict[str, str] = field(default_factory=dict)
    crawls: list[str] = field(default_factory=list)
    stored_files: dict[str, str] = field(default_factory=dict)
    cancelled_runs: dict[str, float] = field(default_factory=dict)
    resumed_runs: set[str] = field(default_factory=set)
    failures: Counter[str] = field(default_factory=Counter)
    bugs: list[str] = field(default_factory=list)
    success_times: list[float] = field(default_factory=list)
    call_durations: list[tuple[float, str]] = field(default_factory=list)
    started_at: float = field(default_factory=time.monotonic)
    events: list[str] = field(default_factory=list)
    inflight_calls: dict[int, str] = field(default_factory=dict)
    last_run_results: dict[str, str] = field(default_factory=dict)  # the last result of each run

    @property
    def longest_gap(self) -> float:
        return max(
            (later - earlier for earlier, later in zip(self.success_times, self.success_times[1:], strict=False)),
            default=0.0,
        )


def play_booking_agent(asked: ScriptedRequest) -> ModelTurn:
    """Book one entry per step; jobs on `x` also transfer, which a person must allow; those on `k` take long."""
    job = re.search(r"job (\w+)", asked.text)
    name = job[1] if job else "none"
    if asked.turn_count < (STEPS_PER_LONG_JOB if name.endswith("k") else STEPS_PER_JOB):
        calls: list[tuple[str, Any]] = [
            ("deposit", {"text": f"{name}.{asked.turn_count}"}),
            ("look", {"text": f"{name}.{asked.turn_count}"}),
        ]
        if asked.turn_count == 1 and name.endswith("x"):
            calls.append(("transfer", {"text": f"{name}.x"}))
        return ModelTurn(text="On.", calls=calls)
    confirmed = re.findall(r"booked ([\w.]+)", " ".join(asked.results))
    return ModelTurn(text=f"Booked: {' '.join(sorted(confirmed))} end.")


@dataclass
class LoadClients:
    """The clients."""

    cluster: Cluster
    journal: LoadJournal
    site_url: str
    rng: random.Random
    finished: anyio.Event = field(default_factory=anyio.Event)

    @property
    def client_functions(self) -> Sequence[Any]:
        """Return all clients as functions to start."""
        return [
            *(partial(self.run_agent_client, number) for number in range(AGENT_CLIENT_COUNT)),
            self.run_cancelling_client,
            self.run_disconnecting_client,
            self.run_text_client,
            self.run_file_client,
            self.run_crawling_client,
            partial(self.run_reading_client, 1),
        ]

    async def try_call(self, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        """Return the result of a call, or None if it certainly failed."""
        began = time.monotonic()
        number = id(arguments)
        self.journal.inflight_calls[number] = f"{tool} {arguments} since {began - self.journal.started_at:.1f}"
        try:
            result = await self.cluster.call_tool(tool, arguments, **more)
        except (httpx2.HTTPError, MCPError, OSError, TimeoutError, RuntimeError) as error:
            self.journal.failures[type(error).__name__] += 1
            return None
        except BaseExceptionGroup as group:
            if not _is_connection_error(group):
                raise
            self.journal.failures["wire"] += 1
            return None
        finally:
            del self.journal.inflight_calls[number]
        if result.is_error and not re.search(QUESTION_ID_PATTERN, str(result)):
            message = read_first_text(result)
            self.journal.failures[message[:160]] += 1
            if "failed on our side" in message:
                self.journal.bugs.append(f"{tool}: {message[:400]}")
            return None
        self.journal.success_times.append(time.monotonic())
        self.journal.call_durations.append(
            (round(time.monotonic() - began, 1), f"{tool} at {began - self.journal.started_at:.1f}")
        )
        return result

    async def call_until_success(self, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        """Repeat a call until it succeeds, and return its result."""
        while (result := await self.try_call(tool, arguments, **more)) is None:
            await anyio.sleep(0.3)
        return result

    async def run_agent_client(self, number: int) -> None:
        """Start jobs of agents, let them work, and request the answers from any replica."""
        job = 0
        while not self.finished.is_set():
            job += 1
            name = f"c{number}j{job}{'x' if job % 3 == 0 else ''}"
            begun = await self.try_call("run_agent", {"agent": "clerk", "query": f"job {name}", "mode": "background"})
            found = re.search(r"run_[0-9a-f]{32}", read_first_text(begun)) if begun else None
            if found is None:
                await anyio.sleep(0.2)
                continue
            self.journal.runs[found[0]] = name
            if job % 2:
                await self.wait_for_answer(found[0])

    async def wait_for_answer(self, run_id: str, *, to_the_end: bool = False) -> None:
        """Return the run's answer; give any consent that it needs at the next replica.

        Waiting ends with the load, and the answer is requested again after the repair.
        """
        decided: list[dict[str, Any]] = []
        while run_id not in self.journal.answers and (to_the_end or not self.finished.is_set()):
            meta = {"stepContext": {"decisions": decided}} if decided else None
            result = await self.try_call("agent_run", {"runId": run_id, "waitSeconds": 20}, meta=meta)
            text = json.dumps(result.model_dump(mode="json")) if result else ""
            self.journal.last_run_results[run_id] = text or "the call failed"
            if answer := re.search(r"Booked: [\w. ]*end\.", text):
                self.journal.answers[run_id] = answer[0]
            asked = re.findall(QUESTION_ID_PATTERN, text)
            decided = [{"actionId": each, "decision": "approved"} for each in dict.fromkeys(asked)]
            if result is None:
                await anyio.sleep(0.3)

    async def run_cancelling_client(self) -> None:
        """Start long jobs of agents and cancel them, at any replica."""
        job = 0
        while not self.finished.is_set():
            job += 1
            begun = await self.try_call("run_agent", {"agent": "clerk", "query": f"job q{job}k", "mode": "background"})
            if begun is None or (found := re.search(RUN_ID_PATTERN, read_first_text(begun))) is None:
                await anyio.sleep(0.2)
                continue
            await anyio.sleep(self.rng.uniform(0.0, 3.0))
            while (ended := await self.try_call("cancel_agent_run", {"runId": found[0]})) is None:
                await anyio.sleep(0.3)
            if "is cancelled" in read_first_text(ended):
                self.journal.cancelled_runs[found[0]] = time.monotonic()
            else:
                self.journal.runs[found[0]] = f"q{job}k"

    async def run_disconnecting_client(self) -> None:
        """Drop the connection to an agent, and continue with its run id."""
        job = 0
        while not self.finished.is_set():
            job += 1
            if (run_id := await self.start_job_and_disconnect(f"d{job}")) is not None:
                self.journal.runs[run_id] = f"d{job}"
                self.journal.resumed_runs.add(run_id)
                await self.wait_for_answer(run_id)
            await anyio.sleep(0.2)

    async def start_job_and_disconnect(self, name: str) -> str | None:
        """Start a job and disconnect during its progress notices; return the run's id if it arrived."""
        call = {"name": "run_agent", "arguments": {"agent": "clerk", "query": f"job {name}"}}
        facts = {
            "protocolVersion": MODERN_VERSION,
            "clientInfo": {"name": "d", "version": "1"},
            "clientCapabilities": {},
        }
        meta = {f"io.modelcontextprotocol/{key}": value for key, value in facts.items()}
        meta |= {"session_id": "scale", "progressToken": name}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call | {"_meta": meta}}
        named = {"MCP-Protocol-Version": MODERN_VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "run_agent"}
        headers = self.cluster.headers | named | {"Accept": "application/json, text/event-stream"}
        heard = ""
        try:
            async with (
                httpx2.AsyncClient(trust_env=False, timeout=20, headers=headers) as http,
                http.stream("POST", self.cluster.url, json=body) as stream,
            ):
                async for piece in stream.aiter_text():
                    heard += piece
                    if re.search(RUN_ID_PATTERN, heard):
                        await anyio.sleep(self.rng.uniform(0.0, 0.5))
                        break
        except (httpx2.HTTPError, OSError) as error:
            self.journal.failures[type(error).__name__] += 1
        found = re.search(RUN_ID_PATTERN, heard)
        return found[0] if found else None

    async def run_file_client(self) -> None:
        """Store files; confirmed ones must be readable at the end."""
        number = 0
        while not self.finished.is_set():
            number += 1
            text = f"File {number}. " * 1_000
            if result := await self.try_call("keep", {"text": text}):
                self.journal.stored_files[read_first_text(result)] = text
            await anyio.sleep(0.3)

    async def read_stored_file(self, address: str) -> str:
        """Read a stored file from any replica."""
        async with self.cluster.open_client() as client:
            (part,) = (await client.read_resource(address, meta={"session_id": "scale"})).contents
        return base64.b64decode(part.blob).decode()

    async def run_text_client(self) -> None:
        """Add texts to a store; confirmed ones must be there at the end."""
        number = 0
        while not self.finished.is_set():
            number += 1
            text = f"The lighthouse keeper number {number} counted boats."
            if result := await self.try_call("addContent", {"content": text}):
                self.journal.stored_texts[result.structured_content["contentId"]] = text
            await anyio.sleep(0.1)

    async def run_reading_client(self, number: int) -> None:
        """Read pages, the fastest way to see whether a replica answers."""
        while not self.finished.is_set():
            await self.try_call("web_fetch", {"url": f"{self.site_url}/p{number}"})
            await anyio.sleep(0.05)

    async def run_crawling_client(self) -> None:
        """Crawl the site repeatedly."""
        while not self.finished.is_set():
            wish = {"url": f"{self.site_url}/p0", "max_pages": 100, "max_depth": 9, "max_seconds": 60}
            if result := await self.try_call("web_crawl", wish, session="crawl"):
                self.journal.crawls.append(read_first_text(result))
            await anyio.sleep(0.5)


def _is_connection_error(group: BaseExceptionGroup) -> bool:
    kinds = (httpx2.HTTPError, MCPError, OSError, TimeoutError, RuntimeError)
    return all(
        _is_connection_error(e) if isinstance(e, BaseExceptionGroup) else isinstance(e, kinds) for e in group.exceptions
    )
