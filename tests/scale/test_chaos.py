"""Replicas and workers die, Postgres is restarted, wires are cut, all at random; every effect is counted.

`SECONDS` is how long the chaos lasts, `SEED` repeats one. Nothing that was accepted may be lost, nothing may happen
twice, nobody may be told of a success that was none, and all must be well again by itself.
"""

import json
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

import fakes
import postgres
import scale_tools
from answers import said
from model_apis import Asked, ModelServer, Turn
from scale_cluster import Cluster, Process, cluster

pytestmark = pytest.mark.anyio

SECONDS = float(os.environ.get("SECONDS", "120"))
SEED = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
RECOVERY = 60.0  # seconds after which a cluster of five processes on a busy machine must have finished all
REPLICAS, WORKERS = 3, 2
CLERKS = 3  # clients that give work to agents at the same time
STEPS = 3
PAGES = 30
ASKED = r"qst_[0-9a-f]{32}"  # a question that a person must answer
AGENT = """---
description: Books what it is told
toolsets: [bank]
budgets: {steps: 20, seconds: 600}
---
Do as you are told.
"""


@dataclass
class Bank:
    """Where effects are counted."""

    booked: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)

    async def book(self, request: Request) -> Response:
        entry = await request.json()
        self.booked[entry["key"]] += 1
        self.texts[entry["text"]] += 1
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
        failures: How often a call failed, by reason: that may happen, and must be said.
        good: When calls succeeded.
        slow: How long each of them took, and which it was.
        events: What the chaos did.
    """

    runs: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    stored: dict[str, str] = field(default_factory=dict)
    crawls: list[str] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    good: list[float] = field(default_factory=list)
    slow: list[tuple[float, str]] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    events: list[str] = field(default_factory=list)

    @property
    def longest_gap(self) -> float:
        return max((later - earlier for earlier, later in zip(self.good, self.good[1:], strict=False)), default=0.0)


def play(asked: Asked) -> Turn:
    """Books one entry a step; every third job sends something away as well, which a person must allow."""
    job = re.search(r"job (\w+)", asked.text)
    name = job[1] if job else "none"
    if asked.turns < STEPS:
        calls: list[tuple[str, Any]] = [("deposit", {"text": f"{name}.{asked.turns}"}), ("look", {"text": name})]
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
    over: anyio.Event = field(default_factory=anyio.Event)

    async def tried(self, tool: str, arguments: dict[str, Any], **more: Any) -> Any:
        """The result of a call, or None where it failed; then it is known that it did."""
        began = time.monotonic()
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
        if result.is_error and not re.search(ASKED, str(result)):
            self.journal.failures[said(result)[:60]] += 1
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

    async def answer(self, run_id: str) -> None:
        """The run's answer, with the consent that it may need given at whichever replica is next."""
        decided: list[dict[str, Any]] = []
        with anyio.move_on_after(RECOVERY):
            while run_id not in self.journal.answers:
                meta = {"stepContext": {"decisions": decided}} if decided else None
                result = await self.tried("agent_run", {"runId": run_id, "waitSeconds": 20}, meta=meta)
                text = json.dumps(result.model_dump(mode="json")) if result else ""
                if answer := re.search(r"Booked: [\w. ]*end\.", text):
                    self.journal.answers[run_id] = answer[0]
                asked = re.findall(ASKED, text)
                decided = [{"actionId": each, "decision": "approved"} for each in dict.fromkeys(asked)]

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


class Monkey:
    """Breaks one thing after the other, and mends what does not mend itself."""

    def __init__(self, house: Cluster, journal: Journal, dice: random.Random) -> None:
        self._house = house
        self._journal = journal
        self._dice = dice

    async def rage(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        deeds: list[Callable[[], Awaitable[None]]] = [self.kill, self.kill, self.cut, self.stall, self.restart]
        self._dice.shuffle(deeds)
        turn = 0
        while time.monotonic() < end:
            deed = deeds[turn % len(deeds)]
            turn += 1
            await deed()
            await anyio.sleep(self._dice.uniform(0.5, 2.5))

    def _note(self, words: str) -> None:
        self._journal.events.append(f"{time.monotonic() - self._journal.began:5.1f} {words}")

    async def kill(self) -> None:
        """A process dies without a word, and its supervisor starts it again."""
        victim = self._dice.choice(self._house.processes)
        self._note(f"kill -9 {victim.name}")
        await anyio.to_thread.run_sync(victim.kill)
        await anyio.sleep(self._dice.uniform(0.0, 1.0))
        victim.start()
        await victim.ready()

    async def cut(self) -> None:
        victim = self._any()
        self._note(f"cut {victim.name} from the database")
        victim.wire.cut()
        await anyio.sleep(self._dice.uniform(0.2, 2.0))
        victim.wire.mend()

    async def stall(self) -> None:
        victim = self._any()
        self._note(f"stall {victim.name}'s wire to the database")
        victim.wire.stall()
        await anyio.sleep(self._dice.uniform(0.2, 2.0))
        victim.wire.mend()

    async def restart(self) -> None:
        how = self._dice.choice([signal.SIGINT, signal.SIGQUIT])
        self._note(f"Postgres is stopped by {how.name} and started")
        await anyio.to_thread.run_sync(self._house.server.stop, how)
        await anyio.to_thread.run_sync(self._house.server.start)

    def _any(self) -> Process:
        return self._dice.choice(self._house.processes)


@asynccontextmanager
async def running(folder: Path, bank: Bank, site: Site) -> AsyncGenerator[tuple[Cluster, str]]:
    """The cluster with what its agents and tools reach: a model, the bank, a site."""
    programs = postgres.found()
    if programs is None:
        pytest.skip("there is no Postgres server on this machine")
    plugins = scale_tools.install(folder / "plugins")
    model = ModelServer(play)

    def prepare(home: Path) -> None:
        agents = home / ".outrider" / "agents"
        agents.mkdir(parents=True)
        (agents / "clerk.md").write_text(AGENT)

    books = Starlette(routes=[Route("/book", bank.book, methods=["POST"])])
    pages = Starlette(routes=[Route("/p{number:int}", site.page)])
    async with fakes.serve(model.app()) as thinks, fakes.serve(books) as till, fakes.serve(pages) as shown:
        profile = {"base_url": f"{thinks}/v1", "model": "scripted", "key": "SCRIPTED_KEY", "api": "chat"}
        settings = [
            "toolsets=all",
            "search.keyless=false",
            f"models.profiles={json.dumps({'scripted': profile})}",
            "models.default=scripted",
            "models.local=false",
            f"egress.allow=127.0.0.1:{shown.rsplit(':', 1)[1]}",
            "pages.per_host_rate=1000",
        ]
        path = os.pathsep.join((str(Path(__file__).parent.parent), str(plugins)))
        environment = {"PYTHONPATH": path, "SCRIPTED_KEY": "sk-x", "BANK": f"{till}/book"}
        more: dict[str, Any] = {"settings": settings, "environment": environment, "prepare": prepare}
        async with cluster(folder, replicas=REPLICAS, workers=WORKERS, programs=programs, **more) as house:
            yield house, shown


async def test_in_the_chaos_nothing_is_lost_nothing_comes_twice_and_nobody_is_told_of_a_success_that_was_none(
    tmp_path: Path,
):
    print(f"\nseed {SEED}, {SECONDS:g} seconds")
    bank, site, journal = Bank(), Site(), Journal()
    async with running(tmp_path, bank, site) as (house, shown):
        load = Load(house, journal, shown)
        async with anyio.create_task_group() as clients:
            for number in range(CLERKS):
                clients.start_soon(load.clerk, number)
            clients.start_soon(load.writer)
            clients.start_soon(load.crawler)
            clients.start_soon(load.reader, 1)
            await Monkey(house, journal, random.Random(SEED)).rage(SECONDS)
            load.over.set()
        calm = time.monotonic()
        try:
            await settled(load)
        finally:
            told(journal, bank, time.monotonic() - calm)
            await explained(house)
        await audit(load, bank)


async def settled(load: Load) -> None:
    """Every run that was accepted has its answer, without a person's doing but the consent that some need."""
    with anyio.fail_after(RECOVERY):
        for run_id in load.journal.runs:
            await load.answer(run_id)
        open_ = "SELECT count(*) FROM runs WHERE status IN ('queued', 'running')"
        while load.house.rows(open_) != [["0"]]:
            await anyio.sleep(0.2)


async def explained(house: Cluster) -> None:
    """What the database and the processes say of runs that did not come to an end."""
    unfinished = "SELECT id, status, executor, attempt, stop_reason, error FROM runs WHERE status <> 'completed'"
    for row in house.rows(unfinished):
        print("not finished:", row)
    for each in house.processes:
        print(f"--- {each.name}", *each.log.read_text().splitlines()[-12:], sep="\n")


async def audit(load: Load, bank: Bank) -> None:
    journal, house = load.journal, load.house
    states = Counter(row[0] for row in house.rows("SELECT status FROM runs WHERE parent_run_id IS NULL"))
    assert set(states) <= {"completed", "blocked"}, (states, house.rows("SELECT id, status, error FROM runs"))
    assert set(journal.runs) <= {row[0] for row in house.rows("SELECT id FROM runs WHERE status = 'completed'")}
    assert set(journal.answers) == set(journal.runs), "a run that was accepted has no answer"
    assert [key for key, count in bank.booked.items() if count > 1] == [], "an effect came twice"
    claimed = {entry for answer in journal.answers.values() for entry in answer.split()[1:-1]}
    assert claimed <= set(bank.texts), "a success was told that was none"
    kept = {row[0]: row[1] for row in house.rows("SELECT content_id, replace(text, E'\\n', ' ') FROM content_chunks")}
    assert journal.stored.items() <= kept.items(), "a text was confirmed and is not there"
    crawled = await load.until(
        "web_crawl", {"url": f"{load.site}/p0", "max_pages": 100, "max_depth": 9}, session="crawl"
    )
    assert said(crawled).startswith("finished"), said(crawled)[:200]


def told(journal: Journal, bank: Bank, recovered: float) -> None:
    wanted = STEPS * len(journal.runs) + sum(name.endswith("x") for name in journal.runs.values())
    claimed = sum(len(answer.split()) - 2 for answer in journal.answers.values())
    print(*journal.events, sep="\n")
    print(f"{len(journal.good)} calls succeeded, {sum(journal.failures.values())} failed: {dict(journal.failures)}")
    print("slowest:", *(f"{name}: {seconds} s;" for seconds, name in sorted(journal.slow, reverse=True)[:8]))
    print(f"{len(journal.runs)} runs accepted, {len(journal.answers)} answered, {sum(bank.booked.values())} effects,")
    print(f"  {claimed} of {wanted} wanted ones confirmed; the others were told to be of unknown outcome")
    print(f"{len(journal.stored)} texts stored, {len(journal.crawls)} crawls; recovered in {recovered:.1f} s,")
    print(f"  longest time without a successful call {journal.longest_gap:.1f} s")
