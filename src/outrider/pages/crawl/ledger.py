"""Record a crawl in the database page by page.

A killed process loses at most one page.
"""

import hashlib
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import Unavailable
from outrider.core.process_holder import build_holder, is_holder_dead
from outrider.pages.crawl.plan import CrawlPlan
from outrider.pages.crawl.result import CrawlTally
from outrider.pages.crawl.scope import build_page_key, find_slash_twin, toggle_slash
from outrider.pages.crawl.tables import crawl_pages, crawls
from outrider.pages.crawl.tables import crawl_pages as table

LEASE_S = 10.0  # how long a crawl belongs to the process that works on it, unless it renews the lease


@dataclass(frozen=True)
class DiscoveredUrl:
    """An address that belongs to the crawl, with its depth and date of modification."""

    url: str
    depth: int
    modified: float = 0.0

    @property
    def row_key(self) -> str:
        """The key of its row."""
        return hashlib.sha256(build_page_key(self.url).encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class PendingPage:
    """A page to read next, with its data from the previous round."""

    key: str
    url: str
    depth: int
    modified: float
    sha256: str
    read_at: float
    kept: str


@dataclass(frozen=True)
class PageOutcome:
    """The outcome of one page; see `tables.crawl_pages` for the fields."""

    state: str
    detail: str = ""
    again: bool = False
    final_url: str = ""
    title: str = ""
    sha256: str = ""
    chars: int = 0
    change: str = ""
    kept: str = ""


@dataclass(frozen=True)
class CrawlStatus:
    """The state of a crawl: whether a process works on it, whether its round is done, and its tally."""

    is_held: bool
    is_finished: bool
    tally: CrawlTally


class CrawlLedger:
    """The rows of one crawl.

    Args:
        database: Holds them.
        plan: What to crawl.
        owner: Whose crawl it is.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, database: Database, plan: CrawlPlan, owner: str, clock: Callable[[], float] = time.time) -> None:
        self.id = plan.derive_id(owner)
        self.round = 0
        self._database = database
        self.plan = plan
        self._owner = hashlib.sha256(owner.encode("utf-8", "replace")).hexdigest()
        self._clock = clock
        self._holder = build_holder()

    async def open(self, pages: int, errand: dict[str, Any] | None = None, until: float | None = None) -> None:
        """Take the lease of the crawl, and resume its round or start a new one.

        A new round starts if the last one is finished, or has already read `pages` pages.

        Args:
            pages: The number of pages wanted of a round.
            errand: The data that another process needs to resume if this one dies; None to prevent that.
            until: The end of the caller's time, in seconds since the epoch.

        Raises:
            Unavailable: code `crawl_running` while another process works on it.
        """
        async with self._database.write() as connection:
            await connection.execute(
                self._database.build_insert(crawls).values(self._build_initial_row()).on_conflict_do_nothing()
            )
            own_row = select(crawls).where(crawls.c.id == self.id).with_for_update()
            row = (await connection.execute(own_row)).mappings().one()
            lease_left_s = row["held_until"] - self._clock()
            if lease_left_s > 0 and not is_holder_dead(row["holder"]):
                raise Unavailable(
                    "this crawl is running in another call",
                    code="crawl_running",
                    hint="call again in half a minute with the same arguments, to continue or to see its results",
                    retry_after=min(lease_left_s, LEASE_S),
                )
            self.round = row["round"]
            is_over = row["state"] == "finished" or (await self._count_pages(connection)).used_pages >= pages
            await self._start_round(connection, is_new=is_over, errand=errand, until=until)

    async def read_status(self) -> CrawlStatus:
        """Return whether a process works on the crawl, and its progress."""
        async with self._database.read() as connection:
            row = (await connection.execute(select(crawls).where(crawls.c.id == self.id))).mappings().one()
            self.round = row["round"]
            is_held = row["held_until"] > self._clock() and not is_holder_dead(row["holder"])
            return CrawlStatus(is_held, row["state"] == "finished", await self._count_pages(connection))

    async def close(self, *, finished: bool) -> None:
        """Release the crawl; a finished round marks the pages that it no longer found as gone.

        If a page of the round could not be read, nothing is marked, because its links are unknown.
        """
        async with self._database.write() as connection:
            state = {"state": "finished"} if finished else {}
            is_own = (crawls.c.id == self.id) & (crawls.c.holder == self._holder)
            values = state | {"held_until": 0.0, "updated_at": self._clock(), "errand": None, "until": None}
            released = await connection.execute(update(crawls).where(is_own).values(**values))
            failed = (await self._count_pages(connection)).failed if finished else 0
            if finished and released.rowcount and not failed:
                old = (crawl_pages.c.crawl == self.id) & (crawl_pages.c.round < self.round)
                is_gone = old & crawl_pages.c.state.in_(("read", "duplicate"))
                values = {"state": "gone", "round": self.round, "detail": "no link leads there", "change": ""}
                await connection.execute(update(crawl_pages).where(is_gone).values(**values))

    async def add(self, found: Iterable[DiscoveredUrl]) -> None:
        """Queue addresses to read, except those already known in this round."""
        async with self._database.write() as connection:
            await self._add_urls(connection, found)

    async def list_next(self, taken_keys: Collection[str]) -> list[PendingPage]:
        """Return the next pages, those nearest to the start first, without those already taken."""
        batch_size = 50
        names = ("key", "url", "depth", "modified", "sha256", "read_at", "kept")
        query = (
            select(*(table.c[name] for name in names))
            .where(table.c.crawl == self.id, table.c.round == self.round, table.c.state == "waiting")
            .order_by(table.c.depth, table.c.number)
            .limit(batch_size + len(taken_keys))
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [PendingPage(**row) for row in rows if row["key"] not in taken_keys][:batch_size]

    async def renew_lease(self) -> None:
        """Extend the lease of this process. Raises Unavailable if another process has taken the crawl over."""
        async with self._database.write() as connection:
            await self._renew_lease(connection)

    async def record_outcome(
        self, page: PendingPage, outcome: PageOutcome, found: Iterable[DiscoveredUrl] = ()
    ) -> PageOutcome:
        """Write a page's outcome and the addresses it links to.

        Returns the outcome, turned into a duplicate if another page of the round has the same text.
        Raises Unavailable, code `crawl_running`, if another process has taken the crawl over.
        """
        kept_columns = frozenset({"sha256", "kept", "title", "chars", "read_at"})
        max_text_chars = 2_000  # of a title or a reason
        async with self._database.write() as connection:
            await self._renew_lease(connection)
            if outcome.state == "read":
                change = "new" if not page.sha256 else ("same" if page.sha256 == outcome.sha256 else "changed")
                outcome = replace(outcome, change=change)
                if outcome.chars and (other := await self._find_duplicate(connection, page.key, outcome.sha256)):
                    outcome = replace(outcome, state="duplicate", detail=other, change="")
            texts = {
                name: to_storable_text(getattr(outcome, name), max_text_chars)
                for name in ("detail", "final_url", "title")
            }
            values = asdict(outcome) | texts | {"again": int(outcome.again), "read_at": self._clock()}
            if outcome.state == "failed":  # its last successful reading stays recorded
                values = {name: value for name, value in values.items() if name not in kept_columns}
            is_own = (crawl_pages.c.crawl == self.id) & (crawl_pages.c.key == page.key)
            await connection.execute(update(crawl_pages).where(is_own).values(**values))
            if twin := find_slash_twin(page.url, outcome.final_url):  # both addresses are this page
                is_twin = (table.c.crawl == self.id) & (table.c.key == DiscoveredUrl(twin, 0).row_key)
                is_unread = (table.c.round == self.round) & (table.c.state == "waiting")
                await connection.execute(delete(table).where(is_twin & is_unread))
            await self._add_urls(connection, found)
        return outcome

    async def find_duplicate(self, key: str, sha256: str) -> str | None:
        """Return the address of another page of this round with the same text, or None."""
        async with self._database.read() as connection:
            return await self._find_duplicate(connection, key, sha256)

    async def count_pages(self) -> CrawlTally:
        """Count the pages of the round by state."""
        async with self._database.read() as connection:
            return await self._count_pages(connection)

    async def list_pages(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Return the newest round's processed pages by depth and order."""
        newest = select(func.max(table.c.round)).where(table.c.crawl == self.id).scalar_subquery()
        query = (
            select(table)
            .where(table.c.crawl == self.id, table.c.round == newest, table.c.state != "waiting")
            .order_by(table.c.depth, table.c.number)
            .offset(offset)
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]

    def _build_initial_row(self) -> dict[str, Any]:
        now = self._clock()
        facts = {"id": self.id, "owner": self._owner, "start": self.plan.start, "plan": asdict(self.plan)}
        return facts | {
            "round": 0,
            "state": "finished",
            "created_at": now,
            "updated_at": now,
            "holder": "",
            "held_until": 0.0,
        }

    async def _start_round(self, connection: AsyncConnection, *, is_new: bool, **work: Any) -> None:
        """Start a new round, or resume this one and retry its transient failures."""
        self.round += int(is_new)
        values = {
            "round": self.round,
            "state": "running",
            "holder": self._holder,
            "held_until": self._clock() + LEASE_S,
        }
        values |= work
        await connection.execute(update(crawls).where(crawls.c.id == self.id).values(**values))
        transient = (crawl_pages.c.crawl == self.id) & (crawl_pages.c.round == self.round) & (crawl_pages.c.again == 1)
        await connection.execute(update(crawl_pages).where(transient).values(state="waiting", again=0))
        await self._add_urls(connection, [DiscoveredUrl(self.plan.start, 0)])

    async def _renew_lease(self, connection: AsyncConnection) -> None:
        is_own = (crawls.c.id == self.id) & (crawls.c.holder == self._holder)
        now = self._clock()
        renewed = await connection.execute(
            update(crawls).where(is_own).values(held_until=now + LEASE_S, updated_at=now).returning(crawls.c.id)
        )
        if renewed.first() is None:
            raise Unavailable("another process has taken over this crawl", code="crawl_running", retry_after=LEASE_S)

    async def _find_duplicate(self, connection: AsyncConnection, key: str, sha256: str) -> str | None:
        equal = select(table.c.url).where(
            table.c.crawl == self.id,
            table.c.sha256 == sha256,
            table.c.round == self.round,
            table.c.state == "read",
            table.c.key != key,
        )
        return (await connection.execute(equal.limit(1))).scalar()

    async def _add_urls(self, connection: AsyncConnection, found: Iterable[DiscoveredUrl]) -> None:
        batch_size = 500
        max_urls = 100_000  # of one crawl
        fresh = list({each.row_key: each for each in reversed(list(found))}.values())[::-1]
        twins = {DiscoveredUrl(twin, 0).row_key for each in fresh if (twin := toggle_slash(each.url))}
        redirects: set[str] = set()  # keys that pages of this round with the other slash have led to
        for start in range(0, len(twins), batch_size):
            batch = sorted(twins)[start : start + batch_size]
            is_read = (table.c.crawl == self.id) & (table.c.round == self.round) & (table.c.final_url != "")
            query = select(table.c.url, table.c.final_url).where(is_read, table.c.key.in_(batch))
            ends = [find_slash_twin(url, final_url) for url, final_url in await connection.execute(query)]
            redirects |= {DiscoveredUrl(each, 0).row_key for each in ends if each}
        fresh = [each for each in fresh if each.row_key not in redirects]
        if not fresh:
            return
        known = select(func.count(), func.max(table.c.number)).where(table.c.crawl == self.id)
        count, last = (await connection.execute(known)).one()
        unread: dict[str, Any] = dict.fromkeys(("detail", "final_url", "title", "sha256", "change", "kept"), "")
        unread |= {"crawl": self.id, "round": self.round, "state": "waiting", "again": 0, "chars": 0, "read_at": 0.0}
        rows = []
        for number, each in enumerate(fresh[: max(0, max_urls - count)], (last or 0) + 1):
            facts = {"key": each.row_key, "url": to_storable_text(each.url), "number": number}
            rows.append(unread | facts | {"depth": each.depth, "modified": each.modified})
        for start in range(0, len(rows), batch_size):
            insert = self._database.build_insert(table).values(rows[start : start + batch_size])
            new = {name: insert.excluded[name] for name in ("url", "round", "number", "depth", "state", "detail")}
            new |= {"again": 0, "modified": insert.excluded.modified, "change": ""}
            older = table.c.round < insert.excluded.round
            await connection.execute(
                insert.on_conflict_do_update(index_elements=["crawl", "key"], set_=new, where=older)
            )

    async def _count_pages(self, connection: AsyncConnection) -> CrawlTally:
        query = (
            select(table.c.state, table.c.change, func.count())
            .where(table.c.crawl == self.id, table.c.round == self.round)
            .group_by(table.c.state, table.c.change)
        )
        counts: dict[str, int] = {}
        for state, change, count in (await connection.execute(query)).all():
            counts[state] = counts.get(state, 0) + count
            if state == "read" and change:
                counts[change] = counts.get(change, 0) + count
        return CrawlTally(**counts)
