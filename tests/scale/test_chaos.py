"""Replicas and workers die, Postgres is restarted, wires are cut, disks fill, clocks lie, all at random.

`SECONDS` is how long the chaos lasts, `SEED` repeats one. Every effect is counted: nothing that was accepted may be
lost, nothing may happen twice, nobody may be told of a success that was none, and all must be well again by itself.
What this machine or user cannot break is named at the beginning.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from support.databases import postgres
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer
from support.results import said
from support.scale import bank_tools
from support.scale.cluster import Cluster, cluster
from support.scale.disk import Disk, disk
from support.scale.fault_injector import Monkey
from support.scale.load import RECOVERY, STEPS, Bank, Journal, Load, Site, play
from support.scale.networks import Network, network
from support.scale.proxies import to_port

pytestmark = pytest.mark.anyio

SECONDS = float(os.environ.get("SECONDS", "120"))
SEED = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
REPLICAS, WORKERS = 3, 2
AFTERWARDS = 20.0  # seconds after a cancellation in which what had begun may still arrive: a pulled cable's packets do
DATA, FILES = "Postgres", "the artifacts"
SIZES = {DATA: 400, FILES: 16}  # megabytes
AGENT = """---
description: Books what it is told
toolsets: [bank]
budgets: {steps: 40, seconds: 600}
---
Do as you are told.
"""


@asynccontextmanager
async def running(folder: Path, bank: Bank, site: Site) -> AsyncGenerator[tuple[Cluster, str, dict[str, Disk]]]:
    """The cluster with what its agents and tools reach: a model, the bank, a site; and the disks that can be filled."""
    programs = postgres.found()
    if programs is None:
        pytest.skip("there is no Postgres server on this machine")
    plugins = bank_tools.install(folder / "plugins")
    books = Starlette(routes=[Route("/book", bank.book, methods=["POST"])])
    pages = Starlette(routes=[Route("/p{number:int}", site.page)])
    with ExitStack() as stack:
        net = stack.enter_context(network())
        made = {what: stack.enter_context(disk(size, what)) for what, size in SIZES.items()}
        disks = {what: each for what, each in made.items() if each is not None}
        async with (
            served(ModelServer(play).app(), net) as thinks,
            served(books, net) as till,
            served(pages, net) as shown,
        ):
            settings = _settings(thinks, shown)
            settings += [f"artifacts.storage={disks[FILES].folder}"] if FILES in disks else []
            path = os.pathsep.join((str(Path(__file__).parent.parent), str(plugins)))
            environment = {"PYTHONPATH": path, "SCRIPTED_KEY": "sk-x", "BANK": f"{till}/book"}
            more: dict[str, Any] = {"settings": settings, "environment": environment, "prepare": _prepare}
            more |= {"network": net, "disk": disks[DATA].folder if DATA in disks else None}
            async with cluster(folder, replicas=REPLICAS, workers=WORKERS, programs=programs, **more) as house:
                yield house, shown, disks


@asynccontextmanager
async def served(app: Starlette, net: Network) -> AsyncGenerator[str]:
    """A server that all machines reach; its address."""
    async with http_servers.serve(app) as url:
        if not net.switch:
            yield url
            return
        async with to_port(int(url.rpartition(":")[2]), net.gate) as wire:
            yield f"http://{wire.host}:{wire.port}"


def _settings(thinks: str, shown: str) -> list[str]:
    profile = {"base_url": f"{thinks}/v1", "model": "scripted", "key": "SCRIPTED_KEY", "api": "chat"}
    return [
        "toolsets=all",
        "search.keyless=false",
        f"models.profiles={json.dumps({'scripted': profile})}",
        "models.default=scripted",
        "models.local=false",
        f"egress.allow={shown.removeprefix('http://')}",
        "pages.per_host_rate=1000",
    ]


def _prepare(home: Path) -> None:
    agents = home / ".outrider" / "agents"
    agents.mkdir(parents=True)
    (agents / "clerk.md").write_text(AGENT)


async def test_in_the_chaos_nothing_is_lost_nothing_comes_twice_and_nobody_is_told_of_a_success_that_was_none(
    tmp_path: Path,
):
    print(f"\nseed {SEED}, {SECONDS:g} seconds")
    bank, site, journal, dice = Bank(), Site(), Journal(), random.Random(SEED)
    async with running(tmp_path, bank, site) as (house, shown, disks):
        load = Load(house, journal, shown, random.Random(SEED + 1))
        async with anyio.create_task_group() as clients:
            for each in load.clients:
                clients.start_soon(each)
            await Monkey(house, journal, dice, disks).rage(SECONDS)
            load.over.set()
        calm = time.monotonic()
        try:
            await settled(load)
        finally:
            told(journal, bank, time.monotonic() - calm)
            await explained(load)
        await audit(load, bank)


async def settled(load: Load) -> None:
    """Every run that was accepted has its answer, without a person's doing but the consent that some need.

    How long that takes is the machine's affair; that for `RECOVERY` seconds nothing moves is ours.
    """
    open_ = "SELECT count(*) FROM runs WHERE status IN ('queued', 'running')"
    with anyio.CancelScope() as moving:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(still, load, moving)
            async with anyio.create_task_group() as clients:
                for run_id in load.journal.runs:
                    clients.start_soon(partial(load.answer, run_id, to_the_end=True))
            while load.house.rows(open_) != [["0"]]:
                await anyio.sleep(0.2)
            tasks.cancel_scope.cancel()
    assert not moving.cancelled_caught, "nothing moves any more"


async def still(load: Load, moving: anyio.CancelScope) -> None:
    """Ends it when nothing has happened for too long."""
    seen: object = None
    while True:
        steps = load.house.rows("SELECT count(*), sum(attempt) FROM runs, run_steps WHERE run_id = id")
        now = (
            len(load.journal.answers),
            steps,
            load.house.rows("SELECT status, count(*) FROM runs GROUP BY 1 ORDER BY 1"),
        )
        if now != seen:
            seen, moving.deadline = now, anyio.current_time() + RECOVERY
        await anyio.sleep(0.5)


async def explained(load: Load) -> None:
    """What the database, the processes and the clients say of what did not come to an end."""
    unfinished = "SELECT id, status, executor, attempt, stop_reason, error FROM runs WHERE status <> 'completed'"
    for row in load.house.rows(f"{unfinished} AND status <> 'cancelled'"):
        print("not finished:", row)
    for run_id in set(load.journal.runs) - set(load.journal.answers):
        print("not answered:", run_id, load.journal.heard.get(run_id, "never asked")[:1_000])
        print(load.house.rows(f"SELECT status, attempt, executor, ended_at, answer FROM runs WHERE id = '{run_id}'"))
    print("under way:", *load.journal.under_way.values(), sep="\n")
    for each in load.house.processes:
        print(f"--- {each.name}", *each.log.read_text().splitlines()[-12:], sep="\n")


async def audit(load: Load, bank: Bank) -> None:
    journal, house = load.journal, load.house
    assert [key for key, count in bank.booked.items() if count > 1] == [], "an effect came twice"
    states = {row[0]: row[1] for row in house.rows("SELECT id, status FROM runs WHERE parent_run_id IS NULL")}
    assert set(states.values()) <= {"completed", "blocked", "cancelled"}, Counter(states.values())
    assert {run for run in journal.runs if states[run] != "completed"} == set(), "an accepted run was lost"
    assert set(journal.answers) == set(journal.runs), "a run that was accepted has no answer"
    claimed = {entry for answer in journal.answers.values() for entry in answer.split()[1:-1]}
    assert claimed <= set(bank.texts), "a success was told that was none"
    written = "SELECT run_id, count(*) FROM messages WHERE role = 'agent' GROUP BY run_id"
    posted = {row[0]: row[1] for row in house.rows(written)}
    assert {run: posted.get(run) for run in journal.runs if posted.get(run) != "1"} == {}, "answers in conversations"
    await audit_cancelled(load, bank, states)
    await audit_stored(load)


async def audit_cancelled(load: Load, bank: Bank, states: dict[str, str]) -> None:
    """Who was told that a run is cancelled was told the truth, and nobody else's is."""
    jobs = {row[0]: row[1] for row in load.house.rows("SELECT id, split_part(query, ' ', 2) FROM runs")}
    cancelled = {run for run, state in states.items() if state == "cancelled"}
    assert set(load.journal.cancelled) <= cancelled, "a cancellation was told that was none"
    assert {jobs[run] for run in cancelled if not jobs[run].endswith("k")} == set(), "a run was cancelled by nobody"
    late = {jobs[run]: bank.last.get(jobs[run], 0.0) - at for run, at in load.journal.cancelled.items()}
    assert {job: seconds for job, seconds in late.items() if seconds > AFTERWARDS} == {}, "a cancelled run went on"


async def audit_stored(load: Load) -> None:
    """What was told to be kept is there, and the crawl comes to its end."""
    chunks = load.house.rows("SELECT content_id, replace(text, E'\\n', ' ') FROM content_chunks")
    kept = {row[0]: row[1] for row in chunks}
    assert load.journal.stored.items() <= kept.items(), "a text was confirmed and is not there"
    for address, text in load.journal.kept.items():
        assert await load.read_back(address) == text, "a file was confirmed and is not there"
    wish = {"url": f"{load.site}/p0", "max_pages": 100, "max_depth": 9}
    crawled = await load.until("web_crawl", wish, session="crawl")
    assert said(crawled).startswith("finished"), said(crawled)[:200]


def told(journal: Journal, bank: Bank, recovered: float) -> None:
    wanted = STEPS * len(journal.runs) + sum(name.endswith("x") for name in journal.runs.values())
    claimed = sum(len(answer.split()) - 2 for answer in journal.answers.values())
    print(*journal.events, sep="\n")
    print(f"{len(journal.good)} calls succeeded, {sum(journal.failures.values())} failed: {dict(journal.failures)}")
    print("slowest:", *(f"{name}: {seconds} s;" for seconds, name in sorted(journal.slow, reverse=True)[:8]))
    print(f"{len(journal.runs)} runs accepted, {len(journal.answers)} answered, {sum(bank.booked.values())} effects,")
    print(f"  {claimed} of {wanted} wanted ones confirmed; the others were told to be of unknown outcome")
    print(f"{len(journal.cancelled)} runs cancelled, {len(journal.resumed)} callers dropped and resumed,")
    print(f"{len(journal.stored)} texts and {len(journal.kept)} files stored, {len(journal.crawls)} crawls;")
    print(f"recovered in {recovered:.1f} s, longest time without a successful call {journal.longest_gap:.1f} s")
