"""Add, list, pause and remove watches, and list their changes."""

import uuid
from collections.abc import Callable
from typing import Any

from sqlalchemy import Select, Text, cast, func, or_, select

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import NotFound, Refused
from outrider.watches.tables import watch_changes, watch_hosts, watch_notices, watches
from outrider.watches.watch import Change, Reading, Watch, WatchDraft, WatchFilter, WatchState
from outrider.watches.watch_rows import build_row, build_snapshot, parse_change, parse_watch

ON_HOST = watch_hosts.c.host == watches.c.host


class WatchStore:
    """The watches of all people; each sees only their own.

    Args:
        database: Holds the watches.
        max_watches: The maximum number for one person.
        clock: The time in seconds since the epoch.
    """

    def __init__(self, database: Database, max_watches: int, clock: Callable[[], float]) -> None:
        self._database = database
        self._max_watches = max_watches
        self.clock = clock

    async def add_watch(self, owner: str, draft: WatchDraft, next_at: float, reading: Reading | None) -> Watch:
        """Store a watch with the reading of its first look. Raises Refused, code `too_many_watches`."""
        now = self.clock()
        row = build_row(f"w{uuid.uuid4().hex[:10]}", owner, draft, now, next_at)
        if reading is not None:
            row |= build_snapshot(reading) | {"looked_at": now, "looks": 1}
        async with self._database.write() as connection:
            count = select(func.count()).select_from(watches).where(watches.c.owner == owner)
            if (await connection.execute(count)).scalar_one() >= self._max_watches:
                raise Refused(
                    f"there are {self._max_watches:,} watches already, the limit of watches.max_watches",
                    hint="remove some first",
                    code="too_many_watches",
                )
            await connection.execute(watches.insert().values(row))
        return parse_watch(row)

    async def list_watches(
        self, owner: str | None, *, offset: int = 0, limit: int = 100, text: str = "", watch_filter: WatchFilter = "all"
    ) -> tuple[list[Watch], int]:
        """Return some of a person's watches, the last changed first, and the total number.

        Args:
            owner: Their owner; None for those of all people.
            offset: How many to skip.
            limit: How many to return.
            text: A text that the name or target must contain.
            watch_filter: Only active ones, paused ones, or those whose last look failed.
        """
        is_failing = (watches.c.problem != "") | (func.coalesce(watch_hosts.c.problem, "") != "")
        conditions = [] if owner is None else [watches.c.owner == owner]
        if text:
            needle = to_storable_text(text, 300)
            found_in = (watches.c.name, watches.c.title, cast(watches.c.target, Text))
            conditions.append(or_(*(column.icontains(needle, autoescape=True) for column in found_in)))
        if watch_filter != "all":
            conditions.append(is_failing if watch_filter == "failing" else watches.c.state == watch_filter)
        order = (watches.c.changed_at.desc(), watches.c.created_at.desc(), watches.c.id)
        query = _select_watches().where(*conditions).order_by(*order).offset(offset).limit(limit)
        count = select(func.count()).select_from(watches).join(watch_hosts, ON_HOST, isouter=True).where(*conditions)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
            total = (await connection.execute(count)).scalar_one()
        return [parse_watch(row) for row in rows], total

    async def load_watch(self, watch_id: str) -> Watch:
        """Return the watch with this id, of any owner. Raises NotFound."""
        query = _select_watches().where(watches.c.id == to_storable_text(watch_id, 300))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise NotFound(f"no watch has the id {watch_id!r}", hint="it may have been removed")
        return parse_watch(row)

    async def find_watch(self, owner: str, name: str) -> Watch:
        """Return a person's watch by its id, its name or its address. Raises NotFound."""
        text = to_storable_text(name, 300)
        named = (watches.c.id == text) | (watches.c.name == text)
        query = _select_watches().where(watches.c.owner == owner, named).limit(2)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        if len(rows) != 1:
            problem = "several watches have the name" if rows else "no watch has the name"
            raise NotFound(f"id: {problem} {name!r}", hint="use the id of a watch that action=list shows")
        return parse_watch(rows[0])

    async def set_state(self, watch: Watch, state: WatchState, next_at: float) -> None:
        """Pause a watch, or resume it with a look at that time."""
        changed = watches.update().where(watches.c.id == watch.id).values(state=state, next_at=next_at, failures=0)
        async with self._database.write() as connection:
            await connection.execute(changed)

    async def remove_watch(self, watch: Watch) -> None:
        """Delete a watch with its history, and its host's state if no longer needed."""
        others = select(watches.c.id).where(watches.c.host == watch_hosts.c.host, watches.c.id != watch.id)
        is_unused = (watch_hosts.c.host == watch.target.host) & ~others.exists()
        async with self._database.write() as connection:
            await connection.execute(watch_hosts.delete().where(is_unused))
            for column in (watch_notices.c.watch, watch_changes.c.watch, watches.c.id):
                await connection.execute(column.table.delete().where(column == watch.id))

    async def list_changes(self, owner: str, watch: Watch | None, *, since: float, limit: int) -> list[Change]:
        """Return the changes of a watch or a person after a time, newest first."""
        chosen = watches.c.id == watch.id if watch else watches.c.owner == owner
        query = (
            select(watch_changes)
            .join(watches, watches.c.id == watch_changes.c.watch)
            .where(chosen, watch_changes.c.at > since)
            .order_by(watch_changes.c.at.desc(), watch_changes.c.watch, watch_changes.c.number.desc())
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [parse_change(row) for row in (await connection.execute(query)).mappings()]

    async def count_failed_notices(self, owner: str) -> list[str]:
        """Return why a person's notices could not be sent, one line for each notice's name."""
        query = (
            select(watch_notices.c.name, func.count(), func.max(watch_notices.c.problem))
            .join(watches, watches.c.id == watch_notices.c.watch)
            .where(watches.c.owner == owner, watch_notices.c.problem != "")
            .group_by(watch_notices.c.name)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [f"{count} notices of {name!r} could not be sent: {problem}" for name, count, problem in rows]


def _select_watches() -> Select[*tuple[Any, ...]]:
    """Select watches with the states of their hosts, without snapshots, which may be large."""
    columns = [column for column in watches.c if column.name != "snapshot"]
    host_columns = (watch_hosts.c.free_at, watch_hosts.c.problem.label("host_problem"))
    return select(*columns, *host_columns).join(watch_hosts, ON_HOST, isouter=True)
