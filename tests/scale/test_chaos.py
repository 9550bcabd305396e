"""Replicas and workers die, Postgres restarts, networks fail, disks fill, clocks are wrong, all at random.

`SECONDS` is the duration, `SEED` repeats a run. Every effect is counted: nothing accepted may be
lost, nothing may happen twice, no failure may be reported as success, and everything must recover by itself.
Faults that this machine or user cannot inject are named at the beginning.
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

from support.busy_machine import scale_to_load
from support.databases import postgres
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer
from support.results import read_first_text
from support.scale import bank_tools
from support.scale.cluster import Cluster, start_cluster
from support.scale.disk import SmallDisk, mount_disk
from support.scale.fault_injector import FaultInjector
from support.scale.load import (
    RECOVERY_TIMEOUT_S,
    STEPS_PER_JOB,
    CrawlSite,
    EffectCounter,
    LoadClients,
    LoadJournal,
    play_booking_agent,
)
from support.scale.networks import MachineNetwork, create_network
from support.scale.proxies import proxy_to_port

pytestmark = pytest.mark.anyio

CHAOS_DURATION_S = float(os.environ.get("SECONDS", "120"))
CHAOS_SEED = int(os.environ.get("SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)
REPLICA_COUNT, WORKER_COUNT = 3, 2
CANCEL_GRACE_S = 20.0  # seconds after a cancellation in which effects may still arrive, for example delayed packets
DATA_DISK, ARTIFACT_DISK = "Postgres", "the artifacts"
DISK_SIZES_MB = {DATA_DISK: 400, ARTIFACT_DISK: 16}  # megabytes
AGENT_FILE = """---
description: Books what it is told
toolsets: [bank]
budgets: {steps: 40, seconds: 600}
---
Do as you are told.
"""


@asynccontextmanager
async def run_cluster(
    folder: Path, bank: EffectCounter, site: CrawlSite
) -> AsyncGenerator[tuple[Cluster, str, dict[str, SmallDisk]]]:
    """The cluster, the model, bank and site that its agents use, and the disks that can be filled."""
    programs = postgres.require_programs()
    plugins = bank_tools.install_plugin(folder / "plugins")
    books = Starlette(routes=[Route("/book", bank.book_entry, methods=["POST"])])
    pages = Starlette(routes=[Route("/p{number:int}", site.serve_page)])
    with ExitStack() as stack:
        net = stack.enter_context(create_network())
        made = {what: stack.enter_context(mount_disk(size, what)) for what, size in DISK_SIZES_MB.items()}
        disks = {what: each for what, each in made.items() if each is not None}
        async with (
            serve_on_network(ModelServer(play_booking_agent).build_app(), net) as thinks,
            serve_on_network(books, net) as till,
            serve_on_network(pages, net) as shown,
        ):
            settings = _build_settings(thinks, shown)
            shared = disks[ARTIFACT_DISK].folder if ARTIFACT_DISK in disks else _create_folder(folder / "artifacts")
            settings += [f"artifacts.storage={shared}"]  # of all replicas, even if no disk can be mounted
            path = os.pathsep.join((str(Path(__file__).parent.parent), str(plugins)))
            environment = {"PYTHONPATH": path, "SCRIPTED_KEY": "sk-x", "BANK": f"{till}/book"}
            more: dict[str, Any] = {"settings": settings, "environment": environment, "prepare": _prepare_home}
            more |= {"network": net, "disk": disks[DATA_DISK].folder if DATA_DISK in disks else None}
            async with start_cluster(
                folder, replicas=REPLICA_COUNT, workers=WORKER_COUNT, programs=programs, **more
            ) as service:
                yield service, shown, disks


@asynccontextmanager
async def serve_on_network(app: Starlette, net: MachineNetwork) -> AsyncGenerator[str]:
    """Serve an application to all machines; yields its address."""
    async with http_servers.serve_app(app) as url:
        if not net.bridge:
            yield url
            return
        async with proxy_to_port(int(url.rpartition(":")[2]), net.gateway) as wire:
            yield f"http://{wire.host}:{wire.port}"


def _build_settings(thinks: str, shown: str) -> list[str]:
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


def _create_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _prepare_home(home: Path) -> None:
    agents = home / ".outrider" / "agents"
    agents.mkdir(parents=True)
    (agents / "clerk.md").write_text(AGENT_FILE)


async def test_chaos_loses_nothing_repeats_nothing_and_reports_no_false_success(
    tmp_path: Path,
):
    print(f"\nseed {CHAOS_SEED}, {CHAOS_DURATION_S:g} seconds")
    bank, site, journal, dice = EffectCounter(), CrawlSite(), LoadJournal(), random.Random(CHAOS_SEED)
    async with run_cluster(tmp_path, bank, site) as (service, shown, disks):
        load = LoadClients(service, journal, shown, random.Random(CHAOS_SEED + 1))
        async with anyio.create_task_group() as clients:
            for each in load.client_functions:
                clients.start_soon(each)
            await FaultInjector(service, journal, dice, disks).inject_faults(CHAOS_DURATION_S)
            load.finished.set()
        calm = time.monotonic()
        try:
            await wait_until_settled(load)
        finally:
            print_summary(journal, bank, time.monotonic() - calm)
            await print_unfinished_work(load)
        await audit_results(load, bank)


async def wait_until_settled(load: LoadClients) -> None:
    """Wait until every accepted run has its answer, with no help except the consent that some need.

    The duration depends on the machine, but without progress for `RECOVERY` seconds it is a failure.
    """
    open_ = "SELECT count(*) FROM runs WHERE status IN ('queued', 'running')"
    with anyio.CancelScope() as moving:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch_progress, load, moving)
            async with anyio.create_task_group() as clients:
                for run_id in load.journal.runs:
                    clients.start_soon(partial(load.wait_for_answer, run_id, to_the_end=True))
            while load.cluster.query_rows(open_) != [["0"]]:
                await anyio.sleep(0.2)
            tasks.cancel_scope.cancel()
    assert not moving.cancelled_caught, "nothing moves any longer"


async def watch_progress(load: LoadClients, scope: anyio.CancelScope) -> None:
    """End the wait when nothing has happened for too long."""
    seen: object = None
    while True:
        steps = load.cluster.query_rows("SELECT count(*), sum(attempt) FROM runs, run_steps WHERE run_id = id")
        now = (
            len(load.journal.answers),
            steps,
            load.cluster.query_rows("SELECT status, count(*) FROM runs GROUP BY 1 ORDER BY 1"),
        )
        if now != seen:
            seen, scope.deadline = now, anyio.current_time() + scale_to_load(RECOVERY_TIMEOUT_S)
        await anyio.sleep(0.5)


async def print_unfinished_work(load: LoadClients) -> None:
    """Describe unfinished work as the database, the processes and the clients see it."""
    unfinished = "SELECT id, status, executor, attempt, stop_reason, error FROM runs WHERE status <> 'completed'"
    for row in load.cluster.query_rows(f"{unfinished} AND status <> 'cancelled'"):
        print("not finished:", row)
    for run_id in set(load.journal.runs) - set(load.journal.answers):
        print("not answered:", run_id, load.journal.last_run_results.get(run_id, "never asked")[:1_000])
        print(
            load.cluster.query_rows(
                f"SELECT status, attempt, executor, ended_at, answer FROM runs WHERE id = '{run_id}'"
            )
        )
    print("under way:", *load.journal.inflight_calls.values(), sep="\n")
    for each in load.cluster.processes:
        print(f"--- {each.name}", *each.log_file.read_text().splitlines()[-12:], sep="\n")


async def audit_results(load: LoadClients, bank: EffectCounter) -> None:
    journal, service = load.journal, load.cluster
    assert journal.bugs == [], "a fault became a bug"
    broken_calls = service.query_rows("SELECT run_id, tool, result FROM run_steps WHERE outcome = 'bug'")
    assert broken_calls == [], "a fault became a bug of an agent's tool"
    assert [key for key, count in bank.counts_by_key.items() if count > 1] == [], "an effect came twice"
    states = {row[0]: row[1] for row in service.query_rows("SELECT id, status FROM runs WHERE parent_run_id IS NULL")}
    assert set(states.values()) <= {"completed", "blocked", "cancelled"}, Counter(states.values())
    assert {run for run in journal.runs if states[run] != "completed"} == set(), "an accepted run was lost"
    assert set(journal.answers) == set(journal.runs), "a run that was accepted has no answer"
    claimed = {entry for answer in journal.answers.values() for entry in answer.split()[1:-1]}
    assert claimed <= set(bank.counts_by_text), "a success was told that was none"
    written = "SELECT run_id, count(*) FROM messages WHERE role = 'agent' GROUP BY run_id"
    posted = {row[0]: row[1] for row in service.query_rows(written)}
    assert {run: posted.get(run) for run in journal.runs if posted.get(run) != "1"} == {}, "answers in conversations"
    await audit_cancelled_runs(load, bank, states)
    await audit_stored_content(load)


async def audit_cancelled_runs(load: LoadClients, bank: EffectCounter, states: dict[str, str]) -> None:
    """Check that exactly the runs that were reported as cancelled are cancelled."""
    jobs = {row[0]: row[1] for row in load.cluster.query_rows("SELECT id, split_part(query, ' ', 2) FROM runs")}
    cancelled = {run for run, state in states.items() if state == "cancelled"}
    assert set(load.journal.cancelled_runs) <= cancelled, "a cancellation was told that was none"
    assert {jobs[run] for run in cancelled if not jobs[run].endswith("k")} == set(), "a run was cancelled by nobody"
    late = {jobs[run]: bank.last_booked_at.get(jobs[run], 0.0) - at for run, at in load.journal.cancelled_runs.items()}
    assert {job: seconds for job, seconds in late.items() if seconds > CANCEL_GRACE_S} == {}, "a cancelled run went on"


async def audit_stored_content(load: LoadClients) -> None:
    """Check that confirmed files and texts exist, and that the crawl ends."""
    chunks = load.cluster.query_rows("SELECT content_id, replace(text, E'\\n', ' ') FROM content_chunks")
    kept = {row[0]: row[1] for row in chunks}
    assert load.journal.stored_texts.items() <= kept.items(), "a text was confirmed and is not there"
    for address, text in load.journal.stored_files.items():
        assert await load.read_stored_file(address) == text, "a file was confirmed and is not there"
    wish = {"url": f"{load.site_url}/p0", "max_pages": 100, "max_depth": 9}
    said = [""]
    while not said[-1].startswith("finished"):
        crawled = read_first_text(await load.call_until_success("web_crawl", wish, session="crawl"))
        assert crawled.startswith("finished") or (crawled.startswith("time") and crawled not in said), crawled[:200]
        said.append(crawled)  # a busy machine needs several calls, each of which continues


def print_summary(journal: LoadJournal, bank: EffectCounter, recovered: float) -> None:
    wanted = STEPS_PER_JOB * len(journal.runs) + sum(name.endswith("x") for name in journal.runs.values())
    claimed = sum(len(answer.split()) - 2 for answer in journal.answers.values())
    print(*journal.events, sep="\n")
    print(
        f"{len(journal.success_times)} calls succeeded, "
        f"{sum(journal.failures.values())} failed: {dict(journal.failures)}"
    )
    print("slowest:", *(f"{name}: {seconds} s;" for seconds, name in sorted(journal.call_durations, reverse=True)[:8]))
    print(
        f"{len(journal.runs)} runs accepted, {len(journal.answers)} answered, "
        f"{sum(bank.counts_by_key.values())} effects,"
    )
    print(f"  {claimed} of {wanted} wanted ones confirmed; the others were told to be of unknown outcome")
    print(f"{len(journal.cancelled_runs)} runs cancelled, {len(journal.resumed_runs)} callers dropped and resumed,")
    print(
        f"{len(journal.stored_texts)} texts and {len(journal.stored_files)} files stored, {len(journal.crawls)} crawls;"
    )
    print(f"recovered in {recovered:.1f} s, longest time without a successful call {journal.longest_gap:.1f} s")
