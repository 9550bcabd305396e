"""The engine checks pages on time, survives failures, and shares work between processes."""

import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.core.database.database import Database
from outrider.core.errors import NotFound, Unavailable
from outrider.core.notices.settings import NoticeSettings
from outrider.watches.settings import WatchesSettings
from outrider.watches.watch import Reading, WatchDraft, WatchTarget
from outrider.watches.watch_engine import WatchEngine
from support.databases import sqlite
from support.fakes import website
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
HOUR_S = 3_600.0


class Web:
    """The watched pages: their texts or errors by address, and how many are read at a time."""

    def __init__(self) -> None:
        self.pages: dict[str, str | Exception] = {}
        self.reads: list[str] = []
        self.most_at_once = 0
        self.most_of_a_host = 0
        self._now: Counter[str] = Counter()

    async def read(self, target: WatchTarget) -> Reading:
        self.reads.append(target.url)
        self._now[target.host] += 1
        self.most_at_once = max(self.most_at_once, self._now.total())
        self.most_of_a_host = max(self.most_of_a_host, *self._now.values())
        for _ in range(random.randrange(3)):
            await anyio.lowlevel.checkpoint()
        self._now[target.host] -= 1
        answer = self.pages.get(target.url, "a page")
        if isinstance(answer, Exception):
            raise answer
        return Reading(answer, "Page", target.url)


@asynccontextmanager
async def open_engine(
    file: Path, web: Web, clock: website.FakeClock, *, concurrency: int = 4, **more: Any
) -> AsyncGenerator[WatchEngine]:
    database = Database.from_file(sqlite.create_migrated_file(file) if not file.exists() else file)
    settings = WatchesSettings.model_validate({"min_interval_s": 1} | more)
    try:
        async with website.open_http_client() as http:
            yield WatchEngine(
                database, settings, web.read, http, {}, clock=clock, sleep=clock.sleep, concurrency=concurrency
            )
    finally:
        await database.close()


async def test_retries_after_failures_are_delayed_further_and_the_third_is_reported(home: Path):
    clock, web = website.FakeClock(), Web()
    notices = {"mail": NoticeSettings(command=["true"])}
    async with open_engine(home / "w.db", web, clock, notices=notices, notify=["mail"]) as engine:
        await engine.add_watch("", WatchDraft(WatchTarget("http://a.example/"), "1h"))
        delays: list[float] = []
        for failure in (Unavailable("away"), Unavailable("away"), Unavailable("away"), NotFound("gone")):
            web.pages["http://a.example/"] = failure
            watch = (await engine.store.list_watches(""))[0][0]
            clock.now = watch.next_at
            assert [problem for _, _, problem in await engine.look_at_due()] == [str(failure)]
            delays.append((await engine.store.list_watches(""))[0][0].next_at - clock.now)
        assert delays == pytest.approx([300, 600, 1_200, 8 * HOUR_S], rel=0.11)
        changes = await engine.store.list_changes("", None, since=0.0, limit=9)
        assert [(change.kind, change.summary) for change in changes] == [("problem", "away")]
        web.pages["http://a.example/"] = "a page that is new"
        clock.now += 9 * HOUR_S
        (watch, change, problem) = (await engine.look_at_due())[0]
        assert (change.kind if change else "", problem) == ("changed", "")
        assert (await engine.store.list_watches(""))[0][0].failures == 0


async def test_a_page_that_became_empty_counts_as_failed_and_keeps_its_last_text(home: Path):
    clock, web = website.FakeClock(), Web()
    async with open_engine(home / "w.db", web, clock) as engine:
        watch = await engine.add_watch("", WatchDraft(WatchTarget("http://a.example/"), "1h"))
        web.pages["http://a.example/"] = " "
        assert (await engine.look_now(watch))[1].startswith("the page has no readable text now")
        web.pages["http://a.example/"] = "a page"
        assert await engine.look_now(watch) == (None, "")


@pytest.mark.nightly
async def test_many_watches_are_checked_a_few_at_a_time_and_spread(home: Path):
    clock, web = website.FakeClock(), Web()
    async with open_engine(home / "w.db", web, clock, concurrency=3) as engine:
        for number in range(120):
            target = WatchTarget(f"http://site-{number % 10}.example/{number}")
            await engine.store.add_watch("", WatchDraft(target, "1h"), clock.now, None)
        assert len(await engine.look_at_due()) == 120
        assert (web.most_at_once, web.most_of_a_host) == (3, 1)
        assert await engine.look_at_due() == []
        due = [watch.next_at - watch.looked_at for watch in (await engine.store.list_watches("", limit=200))[0]]
    assert (min(due) >= 0.9 * HOUR_S, max(due) <= 1.1 * HOUR_S, len(set(due)) > 100) == (True, True, True)


async def test_many_watches_of_a_slow_host_do_not_delay_other_hosts(home: Path):
    clock, seen, is_other_read = website.FakeClock(), list[str](), anyio.Event()

    class SlowWeb(Web):
        async def read(self, target: WatchTarget) -> Reading:
            seen.append(target.host)
            if target.host == "other.example":
                is_other_read.set()
            await is_other_read.wait()
            return await super().read(target)

    async with open_engine(home / "w.db", SlowWeb(), clock, concurrency=4) as engine:
        for number in range(80):
            await engine.store.add_watch("", WatchDraft(WatchTarget(f"http://slow.example/{number}"), "1h"), 1.0, None)
        await engine.store.add_watch("", WatchDraft(WatchTarget("http://other.example/"), "1h"), 2.0, None)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(engine.run_forever)
                await is_other_read.wait()
                tasks.cancel_scope.cancel()
    assert seen[:2] == ["slow.example", "other.example"]


async def test_processes_on_one_database_check_once_and_notify_once(home: Path):
    clock, web = website.FakeClock(), Web()
    told = home / "told"
    notices = {"mail": NoticeSettings(command=["sh", "-c", 'echo "$1" >> "$0"', str(told), "{subject}"])}
    async with (
        open_engine(home / "w.db", web, clock, notices=notices, notify=["mail"]) as one,
        open_engine(home / "w.db", web, clock, notices=notices, notify=["mail"]) as other,
    ):
        for number in range(12):
            await one.add_watch("", WatchDraft(WatchTarget(f"http://site-{number}.example/"), "1h"))
        web.pages = dict.fromkeys(web.reads, "a page that is new")
        web.reads.clear()
        clock.now += 2 * HOUR_S
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.look_at_due)
            tasks.start_soon(other.look_at_due)
        await one.look_at_due()
    assert sorted(Counter(web.reads).values()) == [1] * 12
    assert len(set(told.read_text().splitlines())) == len(told.read_text().splitlines()) == 12


class TimedWeb(Web):
    """Records when each host is asked, and the delay that its robots.txt asks for."""

    def __init__(self, clock: website.FakeClock, crawl_delay_s: float = 0.0) -> None:
        super().__init__()
        self.clock, self.crawl_delay_s = clock, crawl_delay_s
        self.times: list[float] = []

    async def read(self, target: WatchTarget) -> Reading:
        self.times.append(self.clock.now)
        return replace(await super().read(target), crawl_delay_s=self.crawl_delay_s)

    def list_pauses(self) -> list[float]:
        return [later - earlier for earlier, later in pairwise(self.times)]


async def add_watches(engine: WatchEngine, host: str, count: int, next_at: float) -> None:
    for number in range(count):
        await engine.store.add_watch("", WatchDraft(WatchTarget(f"http://{host}/{number}"), "1h"), next_at, None)


@pytest.mark.parametrize(("crawl_delay_s", "pause_s"), [(0.0, 1.0), (30.0, 30.0)])
async def test_watches_of_one_host_are_looked_at_with_its_pause_by_all_processes(
    home: Path, crawl_delay_s: float, pause_s: float
):
    clock = website.FakeClock()
    web = TimedWeb(clock, crawl_delay_s)
    async with open_engine(home / "w.db", web, clock) as one, open_engine(home / "w.db", web, clock) as other:
        await add_watches(one, "a.example", 12, clock.now)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.look_at_due)
            tasks.start_soon(other.look_at_due)
    assert sorted(Counter(web.reads).values()) == [1] * 12
    assert min(web.list_pauses()[1:]) >= pause_s


@pytest.mark.parametrize(
    ("failure", "pauses"),
    [
        (Unavailable("away", code="connect"), [300, 600, 1_200, 2_400, 3_600, 3_600]),
        (Unavailable("away", code="server_error"), [300, 600, 1_200, 2_400, 4_800, 9_600]),
        (Unavailable("away", code="rate_limited", retry_after=7_200.0), [7_200, 7_200, 7_200, 7_200, 7_200, 9_600]),
    ],
)
async def test_a_host_that_fails_rests_for_all_of_its_watches(home: Path, failure: Unavailable, pauses: list[float]):
    clock = website.FakeClock()
    web = TimedWeb(clock)
    async with open_engine(home / "w.db", web, clock) as engine:
        await add_watches(engine, "a.example", 40, clock.now)
        web.pages = {f"http://a.example/{number}": failure for number in range(40)}
        rests: list[float] = []
        for _ in pauses:
            assert len(await engine.look_at_due()) == 1
            watches = (await engine.store.list_watches("", watch_filter="failing"))[0]
            assert [watch.problem for watch in watches] == ["away"] * 40
            rests.append(min(watch.next_at for watch in watches) - clock.now)
            clock.now += rests[-1]
        told = await engine.store.list_changes("", None, since=0.0, limit=9)
        web.pages = {}
        assert len(await engine.look_at_due()) >= 34
        assert len((await engine.store.list_watches("", watch_filter="failing"))[0]) <= 6
    assert rests == pytest.approx(pauses)
    assert [(change.kind, change.summary) for change in told] == [("problem", "away")]


async def test_a_missing_page_holds_up_no_other_page_of_its_host(home: Path):
    clock = website.FakeClock()
    web = TimedWeb(clock)
    async with open_engine(home / "w.db", web, clock) as engine:
        await add_watches(engine, "a.example", 3, clock.now)
        web.pages["http://a.example/0"] = NotFound("gone")
        assert [problem for _, _, problem in await engine.look_at_due()] == ["gone", "", ""]
        failing = (await engine.store.list_watches("", watch_filter="failing"))[0]
    assert [watch.target.url for watch in failing] == ["http://a.example/0"]


async def test_what_was_due_while_nothing_ran_is_looked_at_once(home: Path):
    clock = website.FakeClock()
    web = TimedWeb(clock)
    async with open_engine(home / "w.db", web, clock) as engine:
        for every in ("1h", "0 * * * *"):
            for number in range(3):
                target = WatchTarget(f"http://a.example/{every[0]}{number}")
                await engine.store.add_watch("", WatchDraft(target, every), clock.now, None)
        clock.now += 7 * 24 * HOUR_S
        assert len(await engine.look_at_due()) == 6
        assert await engine.look_at_due() == []
        watches = (await engine.store.list_watches(""))[0]
    assert min(web.list_pauses()) >= 1.0
    assert min(watch.next_at for watch in watches) > clock.now
