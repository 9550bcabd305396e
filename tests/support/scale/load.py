"""The clients of a cluster under test, and what they reach: each writes down what it was told."""

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

from support.fakes.model_apis import Asked, Turn
from support.results import said
from support.scale.cluster import MODERN, Cluster

RECOVERY = 60.0  # seconds in which a cluster of five processes on a busy machine must have moved on
CLERKS = 3  # clients that give work to agents at the same time
STEPS = 3
LONG = 15  # steps of jobs that are to be cancelled
PAGES = 30
ASKED = r"qst_[0-9a-f]{32}"  # a question that a person must answer
RUN = r"run_[0-9a-f]{32}"


@dataclass
class Bank:
    """Where effects are counted."""

    booked: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    last: dict[str, float] = field(default_factory=dict)  # when anything was booked for a job

    async def book(self, request: Request) -> Response:
        entry = await request.json()
        self.booked[entry["key"]] += 1
        self.texts[entry["text"]] += 1
        self.last[entry["text"].partition(".")[0]] = time.monotonic()
        return JSONResponse({"ok": True})


@dataclass
class Site:
    """A small site that is read whole."""

    read: Counter[str] = field(default_factory=Counter)

    async def page(self, request: Request) -> Response:
        number = int(request.path_params["number"])
        self.read[request.url.path] += 1
        links = "".join(f'<a href="/p{each}">on</a> ' for each in (number * 2 + 1, number * 2 + 2) if each < PAGES)
        text = f"The tide of number {number} comes in twice a day, and the boats of {number} rise with it. " * 3
        return HTMLResponse(f"<title>Number {number}</title><main><p>{text}</p><p>{links}</p></main>")


@dataclass
class Journal:
    """What clients were told.

    Attributes:
        runs: Run ids that were given out, with the name of their job.
        answers: Answers of runs, as their clients got them.
        stored: Texts whose storing was confirmed, with their names.
        crawls: Answers to crawls.
        kept: Files whose keeping was confirmed, by their addresses.
        cancelled: Runs that were told to be cancelled, and when.
        resumed: Runs whose first caller dropped the connection.
        failures: How often a call failed, by reason: that may happen, and must be said.
        good: When calls succeeded.
        slow: How long each of them took, and which it was.
        events: What the chaos did.
    """

    runs: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    stored: dict[str, str] = field(default_factory=dict)
    crawls: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    cancelled: dict[str, float] = field(default_factory=dict)
    resumed: set[str] = field(default_factory=set)
    failures: Counter[str] = field(default_factory=Counter)
    good: list[float] = field(default_factory=list)
    slow: list[tuple[float, str]] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    events: list[str] = field(default_factory=list)
    under_way: dict[int, str] = field(default_factory=dict)
    heard: dict[str, str] = field(default_factory=dict)  # what was last told of a run

    @property
    def longest_gap(self) -> float:
        return max((later - earlier for earlier, later in zip(self.good, self.good[1:], strict=False)), default=0.0)


def play(asked: Asked) -> Turn:
    """Books one entry a step; jobs on `x` send something away as well, which a person must allow; those on `k` last."""
    job = re.search(r"job (\w+)", asked.text)
    name = job[1] if job else "none"
    if asked.turns < (LONG if name.endswith("k") else STEPS):
        calls: list[tuple[str, Any]] = [
            ("deposit", {"text": f"{name}.{asked.turns}"}),
            ("look", {"text": f"{name}.{asked.turns}"}),
        ]
        if asked.turns == 1 and name.endswith("x"):
            calls.append(("transfer", {"text": f"{name}.x"}))
        return Turn(text="On.", calls=calls)
    confirmed = re.findall(r"booked ([\w.]+)", " ".join(asked.results))
    return Turn(text=f"Booked: {' '.join(sorted(confirmed))} end.")


@dataclass
class Load:
    """The clients."""

    house: Cluster
    journal: Journal
    site: str
    dice: random.Random
    over: anyio.Event = field(default_factory=anyio.Event)

    @property
    def clients(self) -> Sequence[Any]:
        """All of them, as functions to be started."""
        return [*(partial(self.clerk, number) for number in range(CLERKS)), self.quitter, self.dropper,
                self.writer, self.keeper, self.crawler, partial(self.reader, 1)]  # fmt: skip

    async def tried(self, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        """The result of a call, or None where it failed; then it is known that it did."""
        began = time.monotonic()
        number = id(arguments)
        self.journal.under_way[number] = f"{tool} {arguments} since {began - self.journal.began:.1f}"
        try:
            result = await self.house.call(tool, arguments, **more)
        except (httpx2.HTTPError, MCPError, OSError, TimeoutError, RuntimeError) as error:
            self.journal.failures[type(error).__name__] += 1
            return None
        except BaseExceptionGroup as group:
            if not _is_the_wires(group):
                raise
            self.journal.failures["wire"] += 1
            return None
        finally:
            del self.journal.under_way[number]
        if result.is_error and not re.search(ASKED, str(result)):
            self.journal.failures[said(result)[:160]] += 1
            return None
        self.journal.good.append(time.monotonic())
        self.journal.slow.append((round(time.monotonic() - began, 1), f"{tool} at {began - self.journal.began:.1f}"))
        return result

    async def until(self, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        """The result of a call that is made again and again until it succeeds."""
        while (result := await self.tried(tool, arguments, **more)) is None:
            await anyio.sleep(0.3)
        return result

    async def clerk(self, number: int) -> None:
        """Gives jobs to agents, lets them work, and asks for the answers; any replica may answer."""
        job = 0
        while not self.over.is_set():
            job += 1
            name = f"c{number}j{job}{'x' if job % 3 == 0 else ''}"
            begun = await self.tried("run_agent", {"agent": "clerk", "query": f"job {name}", "mode": "background"})
            found = re.search(r"run_[0-9a-f]{32}", said(begun)) if begun else None
            if found is None:
                await anyio.sleep(0.2)
                continue
            self.journal.runs[found[0]] = name
            if job % 2:
                await self.answer(found[0])

    async def answer(self, run_id: str, *, to_the_end: bool = False) -> None:
        """The run's answer, with the consent that it may need given at whichever replica is next.

        While things are broken it is given up when that is over, and asked for afterwards.
        """
        decided: list[dict[str, Any]] = []
        while run_id not in self.journal.answers and (to_the_end or not self.over.is_set()):
            meta = {"stepContext": {"decisions": decided}} if decided else None
            result = await self.tried("agent_run", {"runId": run_id, "waitSeconds": 20}, meta=meta)
            text = json.dumps(result.model_dump(mode="json")) if result else ""
            self.journal.heard[run_id] = text or "the call failed"
            if answer := re.search(r"Booked: [\w. ]*end\.", text):
                self.journal.answers[run_id] = answer[0]
            asked = re.findall(ASKED, text)
            decided = [{"actionId": each, "decision": "approved"} for each in dict.fromkeys(asked)]
            if result is None:
                await anyio.sleep(0.3)

    async def quitter(self) -> None:
        """Gives long jobs to agents and cancels them, at any replica."""
        job = 0
        while not self.over.is_set():
            job += 1
            begun = await self.tried("run_agent", {"agent": "clerk", "query": f"job q{job}k", "mode": "background"})
            if begun is None or (found := re.search(RUN, said(begun))) is None:
                await anyio.sleep(0.2)
                continue
            await anyio.sleep(self.dice.uniform(0.0, 3.0))
            while (ended := await self.tried("cancel_agent_run", {"runId": found[0]})) is None:
                await anyio.sleep(0.3)
            if "is cancelled" in said(ended):
                self.journal.cancelled[found[0]] = time.monotonic()
            else:
                self.journal.runs[found[0]] = f"q{job}k"

    async def dropper(self) -> None:
        """Waits for an agent, loses the connection, and goes on with what the first notice had named."""
        job = 0
        while not self.over.is_set():
            job += 1
            if (run_id := await self.dropped(f"d{job}")) is not None:
                self.journal.runs[run_id] = f"d{job}"
                self.journal.resumed.add(run_id)
                await self.answer(run_id)
            await anyio.sleep(0.2)

    async def dropped(self, name: str) -> str | None:
        """Begins a job and goes away in the middle of hearing of it; the run's id, if it was heard."""
        call = {"name": "run_agent", "arguments": {"agent": "clerk", "query": f"job {name}"}}
        facts = {"protocolVersion": MODERN, "clientInfo": {"name": "d", "version": "1"}, "clientCapabilities": {}}
        meta = {f"io.modelcontextprotocol/{key}": value for key, value in facts.items()}
        meta |= {"session_id": "scale", "progressToken": name}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call | {"_meta": meta}}
        named = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "run_agent"}
        headers = self.house.headers | named | {"Accept": "application/json, text/event-stream"}
        heard = ""
        try:
            async with (
                httpx2.AsyncClient(trust_env=False, timeout=20, headers=headers) as http,
                http.stream("POST", self.house.url, json=body) as stream,
            ):
                async for piece in stream.aiter_text():
                    heard += piece
                    if re.search(RUN, heard):
                        await anyio.sleep(self.dice.uniform(0.0, 0.5))
                        break
        except (httpx2.HTTPError, OSError) as error:
            self.journal.failures[type(error).__name__] += 1
        found = re.search(RUN, heard)
        return found[0] if found else None

    async def keeper(self) -> None:
        """Keeps files; what was confirmed must be readable at the end."""
        number = 0
        while not self.over.is_set():
            number += 1
            text = f"File {number}. " * 1_000
            if result := await self.tried("keep", {"text": text}):
                self.journal.kept[said(result)] = text
            await anyio.sleep(0.3)

    async def read_back(self, address: str) -> str:
        """A kept file, from any replica."""
        async with self.house.client() as client:
            (part,) = (await client.read_resource(address, meta={"session_id": "scale"})).contents
        return base64.b64decode(part.blob).decode()

    async def writer(self) -> None:
        """Puts texts into a store; what was confirmed must be there at the end."""
        number = 0
        while not self.over.is_set():
            number += 1
            text = f"The lighthouse keeper number {number} counted boats."
            if result := await self.tried("addContent", {"content": text}):
                self.journal.stored[result.structured_content["contentId"]] = text
            await anyio.sleep(0.1)

    async def reader(self, number: int) -> None:
        """Reads pages, the quickest way to see whether anybody is there."""
        while not self.over.is_set():
            await self.tried("web_fetch", {"url": f"{self.site}/p{number}"})
            await anyio.sleep(0.05)

    async def crawler(self) -> None:
        """Reads the site, again and again."""
        while not self.over.is_set():
            wish = {"url": f"{self.site}/p0", "max_pages": 100, "max_depth": 9, "max_seconds": 60}
            if result := await self.tried("web_crawl", wish, session="crawl"):
                self.journal.crawls.append(said(result))
            await anyio.sleep(0.5)


def _is_the_wires(group: BaseExceptionGroup) -> bool:
    kinds = (httpx2.HTTPError, MCPError, OSError, TimeoutError, RuntimeError)
    return all(
        _is_the_wires(e) if isinstance(e, BaseExceptionGroup) else isinstance(e, kinds) for e in group.exceptions
    )
