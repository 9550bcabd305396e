"""Look at due watches, compare the readings, and send notices (loads SQLAlchemy)."""

import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from zoneinfo import ZoneInfo

import anyio
import anyio.to_thread

from outrider.core.database.database import Database
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.http import HttpClient
from outrider.core.notices.notice_queue import NoticeQueue
from outrider.core.notices.notice_sender import NoticeSender
from outrider.core.notices.notifier import Notifier
from outrider.core.schedule import Schedule, parse_schedule
from outrider.watches.change_notices import load_notice
from outrider.watches.difference import compare_texts
from outrider.watches.host_state import RETRY_DELAY_S, compute_retry_delay
from outrider.watches.look_ledger import LookLedger, LookOutcome
from outrider.watches.results import compare_results, merge_results
from outrider.watches.settings import WatchesSettings
from outrider.watches.tables import watch_notices
from outrider.watches.watch import Change, ClaimedWatch, Reading, ReadTarget, Watch, WatchDraft, WatchTarget
from outrider.watches.watch_store import WatchStore

log = logging.getLogger(__name__)


class WatchEngine:
    """Adds watches, checks them and reports changes.

    Args:
        database: Holds the watches.
        settings: Limits and notices.
        read_target: Reads a target again. Raises OutriderError.
        http: The guarded client, for webhooks.
        environ: Environment variables with the secrets of webhooks.
        clock: The time in seconds since the epoch.
        sleep: Waits for a number of seconds.

    Attributes:
        store: The watches and their history.
        next_due: The due time of the next watch at the last check; None if all are paused.
    """

    def __init__(
        self,
        database: Database,
        settings: WatchesSettings,
        read_target: ReadTarget,
        http: HttpClient,
        environ: Mapping[str, str],
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        concurrency: int = 4,
    ) -> None:
        self._settings = settings
        self._concurrency = concurrency
        self._read_target = read_target
        self._clock = clock
        self._sleep = sleep
        self._notifier = Notifier(http, settings.notices, environ)
        self._busy_hosts = set[str]()
        self._wake_event = anyio.Event()
        self._ledger = LookLedger(database, clock)
        queue = NoticeQueue(database, watch_notices, load_notice, clock)
        self._sender = NoticeSender(queue, self._notifier, concurrency)
        self.store = WatchStore(database, settings.max_watches, clock)
        self.next_due: float | None = None

    async def add_watch(self, owner: str, draft: WatchDraft) -> Watch:
        """Take the first look and store the watch, even if the server fails temporarily.

        Raises:
            InvalidInput: The schedule, a notice or the address is wrong.
            Refused: There are too many watches, or the page may not be read.
            NotFound: The page does not exist.
        """
        schedule = self._parse_schedule(draft.schedule)
        self._notifier.check_names(draft.notify)
        reading: Reading | None = None
        with suppress(Unavailable):
            reading = await self._read_in_time(draft.target)
        now = self._clock()
        # Without a reading, the next look is soon.
        next_at = schedule.compute_next(now, random.random()) if reading else now + RETRY_DELAY_S
        watch = await self.store.add_watch(owner, replace(draft, schedule=schedule.text), next_at, reading)
        self._wake_event.set()
        return watch

    async def resume_watch(self, watch: Watch) -> None:
        """Resume a paused watch; its next look is due now."""
        await self.store.set_state(watch, "active", self._clock())
        self._wake_event.set()

    async def pause_watch(self, watch: Watch) -> None:
        """Pause a watch until it is resumed."""
        await self.store.set_state(watch, "paused", watch.next_at)

    async def look_now(self, watch: Watch) -> tuple[Change | None, str]:
        """Look at a watch now; return the change, if any, and the reason why it could not be read, or "".

        Raises Unavailable, code `look_running`, while another process looks at it.
        """
        return await self._look_and_record(await self._ledger.claim_watch(watch.id))

    async def look_at_due(self) -> list[tuple[Watch, Change | None, str]]:
        """Check all watches that are due, and send their notices.

        Waits for hosts that pause between two looks, but not for those that rest after a failure.
        """
        looked_at: list[tuple[Watch, Change | None, str]] = []

        async def look_at_watch(claimed: ClaimedWatch) -> None:
            looked_at.append((claimed.watch, *await self._look_and_record(claimed)))

        pause_end: float | None = 0.0
        while pause_end is not None:
            while claimed := await self._ledger.claim_due(self._concurrency, ()):
                async with anyio.create_task_group() as tasks:
                    for each in claimed:
                        tasks.start_soon(look_at_watch, each)
            if (pause_end := await self._ledger.find_pause_end()) is not None:
                await self._sleep(max(pause_end - self._clock(), 0.0))
        await self._sender.send_due()
        return looked_at

    async def run_forever(self) -> None:
        """Look at watches and send notices until cancelled."""
        pause_s = 5.0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._sender.run_forever)
            while True:
                self._wake_event = anyio.Event()
                try:
                    free = self._concurrency - len(self._busy_hosts)
                    for claimed in await self._ledger.claim_due(free, self._busy_hosts) if free > 0 else ():
                        self._busy_hosts.add(claimed.watch.target.host)
                        tasks.start_soon(self._look_in_background, claimed)
                    pause_s = await self._compute_pause()
                except OutriderError as error:
                    log.warning("watches that are due could not be listed: %s", error)
                with anyio.move_on_after(pause_s):
                    await self._wake_event.wait()

    async def _compute_pause(self) -> float:
        """Return the seconds until the next look, unless a running look ends before."""
        min_pause_s, max_pause_s = 0.1, 5.0  # other processes may add watches
        self.next_due = next_at = await self._ledger.find_next_due()
        if len(self._busy_hosts) >= self._concurrency:
            return max_pause_s
        if next_at is not None and next_at <= self._clock():  # due watches wait for their hosts
            next_at = await self._ledger.find_pause_end()
        pause_s = max_pause_s if next_at is None else next_at - self._clock()
        return min(max(pause_s, min_pause_s), max_pause_s)

    async def _look_in_background(self, claimed: ClaimedWatch) -> None:
        try:
            await self._look_and_record(claimed)
        except OutriderError as error:
            log.warning("the check of %s could not be recorded: %s", claimed.watch.id, error)
        finally:
            self._busy_hosts.discard(claimed.watch.target.host)
            self._wake_event.set()
            self._sender.wake()

    async def _look_and_record(self, claimed: ClaimedWatch) -> tuple[Change | None, str]:
        """Read, compare and record; a cancelled look is released to other processes at once."""
        watch = claimed.watch
        try:
            outcome = await self._build_outcome(claimed)
        except BaseException:
            with anyio.CancelScope(shield=True), suppress(OutriderError):
                await self._ledger.release_watch(watch)
            raise
        return await self._ledger.record_look(watch, outcome), outcome.problem

    async def _build_outcome(self, claimed: ClaimedWatch) -> LookOutcome:
        watch, old = claimed.watch, claimed.text
        try:
            reading = await self._read_in_time(watch.target)
            if old and not reading.text.strip():
                raise Unavailable("the page has no readable text now; it had some before", code="empty")
        except OutriderError as error:
            return self._build_failure(claimed, error)
        host = claimed.host.record_answer(self._clock(), reading.crawl_delay_s)
        next_at = self._parse_schedule(watch.schedule).compute_next(self._clock(), random.random())
        if old is None:
            return LookOutcome(next_at, host, reading)
        is_query = watch.target.kind == "query"
        difference = await anyio.to_thread.run_sync(
            lambda: (
                compare_results(old, reading.text)
                if is_query
                else compare_texts(old, reading.text, strict=watch.strict or watch.target.kind == "fields")
            ),
            abandon_on_cancel=True,
        )
        if difference is None:
            return LookOutcome(next_at, host)
        current = replace(reading, text=merge_results(old, reading.text)) if is_query else reading
        change = {
            "kind": "changed",
            "url": reading.url,
            "summary": difference.summary,
            "difference": difference.text,
        }
        return LookOutcome(next_at, host, current, change=change, notify=self._list_notices(watch))

    def _build_failure(self, claimed: ClaimedWatch, error: OutriderError) -> LookOutcome:
        """Return the next try, later after each failure; the third in a row is reported, once for a host."""
        told_failure = 3
        watch, host = claimed.watch, claimed.host.record_failure(self._clock(), error)
        next_at = self._clock() + compute_retry_delay(watch.failures, error) * random.uniform(1.0, 1.1)
        is_told = watch.failures + 1 == told_failure and host.failures <= told_failure
        if not is_told and host.failures != told_failure:
            return LookOutcome(next_at, host, problem=error.message)
        change = {"kind": "problem", "url": watch.target.url, "summary": error.message, "difference": ""}
        notify = self._list_notices(watch)
        return LookOutcome(next_at, host, problem=error.message, change=change, notify=notify)

    def _list_notices(self, watch: Watch) -> tuple[str, ...]:
        names = watch.notify or tuple(self._settings.notify)
        return tuple(name for name in names if name in self._settings.notices)

    async def _read_in_time(self, target: WatchTarget) -> Reading:
        max_look_s = 150.0  # less than the lease
        with anyio.move_on_after(max_look_s):
            return await self._read_target(target)
        raise Unavailable(f"reading it took more than {max_look_s:g} seconds", code="timeout")

    def _parse_schedule(self, text: str) -> Schedule:
        return parse_schedule(text, ZoneInfo(self._settings.timezone or "UTC"), self._settings.min_interval_s)
