"""Quotas of persons and workspaces for calls, cost, runs and storage.

All quotas are off by default.
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.core.tool import Tool
from outrider.identity.counters import QuotaCounters
from outrider.identity.settings import Quota, QuotaSettings

MINUTE_S, DAY_S = 60, 86_400


@dataclass(frozen=True)
class QuotaOwner:
    """The owner of a quota: a workspace, or a person in it."""

    workspace: str
    person: str | None = None

    @property
    def label(self) -> str:
        """The name for messages."""
        return self.person or (f"workspace {self.workspace}" if self.workspace else "all callers")

    @property
    def key(self) -> str:
        """The name of its counters."""
        return f"{self.workspace}\x1f{self.person or ''}"


class UsageLedger(Protocol):
    """Usage that other domains record."""

    async def sum_cost(self, owner: QuotaOwner, since: float) -> float:
        """Return the US dollars that the models of the owner's agents have cost since a time."""
        ...

    def count_active_runs(self, connection: "Connection", owner: QuotaOwner) -> int:
        """Return the number of the owner's active outermost runs."""
        ...

    async def sum_stored_bytes(self, owner: QuotaOwner) -> int:
        """Return the bytes in the owner's artifacts and content stores."""
        ...


class Quotas:
    """Counts usage and refuses calls above the quotas.

    Args:
        database: Shared by all replicas.
        settings: The quotas.
        ledger: Usage that other domains record.
        clock: Returns seconds since the epoch.
    """

    def __init__(
        self,
        database: Database,
        settings: QuotaSettings,
        ledger: UsageLedger,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._clock = clock
        self._counters = QuotaCounters(database, clock=clock)
        self._measured: dict[str, tuple[float, int]] = {}

    async def check_call(self, tool: Tool, call: Call) -> None:
        """Count a call, or raise an error if a quota is used up.

        Raises Unavailable (`quota`, with `retry_after`), and Refused (`quota`) if too much is stored.
        """
        for owner, quota, setting in self._list_limits(call.workspace, call.identity):
            if quota.stored_bytes is not None and (tool.may_store or tool.effect != "read"):
                await self._check_storage(owner, quota.stored_bytes, setting)
            if quota.calls_per_minute is not None:
                await self._count_call(owner, MINUTE_S, quota.calls_per_minute, f"{setting}.calls_per_minute")
            if quota.calls_per_day is not None:
                await self._count_call(owner, DAY_S, quota.calls_per_day, f"{setting}.calls_per_day")

    @asynccontextmanager
    async def reserve_run(self, call: Call) -> AsyncGenerator[float | None]:
        """Reserve a run while it is being saved; yield the US dollars that it may cost, None for no limit.

        Raises Unavailable (`quota`, with `retry_after`).
        """
        remaining: list[float] = []
        async with AsyncExitStack() as stack:
            for owner, quota, setting in self._list_limits(call.workspace, call.identity):
                if quota.cost_per_day is not None:
                    remaining.append(
                        await self._compute_remaining_cost(owner, quota.cost_per_day, f"{setting}.cost_per_day")
                    )
                if quota.runs is not None and call.run is None:
                    await self._reserve_run_slot(owner, quota.runs, f"{setting}.runs")
                    stack.push_async_callback(self._counters.release, f"runs\x1f{owner.key}")
            yield min(remaining, default=None)

    async def check_spending(self, workspace: str, person: str | None) -> str | None:
        """Return why no more may be spent on models today, or None.

        This is checked before each request, so that concurrent agents exceed a quota by one request each at most.
        """
        for owner, quota, setting in self._list_limits(workspace, person):
            if quota.cost_per_day is None:
                continue
            try:
                await self._compute_remaining_cost(owner, quota.cost_per_day, f"{setting}.cost_per_day")
            except Unavailable as error:
                if error.code != "quota":
                    raise
                return f"{error.message}: {error.hint}"
        return None

    def _list_limits(self, workspace: str | None, person: str | None) -> list[tuple[QuotaOwner, Quota, str]]:
        """Return the quotas of workspace and person with their settings' names."""
        workspace = workspace or ""
        limits: list[tuple[QuotaOwner, Quota, str]] = []
        for section, quotas, owner, owner_name in (
            ("workspaces", self._settings.workspaces, QuotaOwner(workspace), workspace),
            ("people", self._settings.people if person else {}, QuotaOwner(workspace, person), person),
        ):
            name = owner_name if owner_name in quotas else "*"
            if name in quotas:
                limits.append((owner, quotas[name], f"identity.quotas.{section}.{name}"))
        return limits

    async def _count_call(self, owner: QuotaOwner, window_s: int, limit: int, setting: str) -> None:
        now = self._clock()
        ends = (int(now) // window_s + 1) * window_s
        if await self._counters.count_one(f"{window_s}\x1f{owner.key}", ends, limit):
            return
        period = "minute" if window_s == MINUTE_S else "day"
        message = f"{owner.label} has used up the quota of {limit:,} calls per {period}"
        raise _build_quota_error(message, ends - now, setting)

    async def _compute_remaining_cost(self, owner: QuotaOwner, limit: float, setting: str) -> float:
        now = self._clock()
        day_start = int(now) // DAY_S * DAY_S
        remaining = limit - await self._ledger.sum_cost(owner, day_start)
        if remaining > 0:
            return remaining
        message = f"the agents of {owner.label} have used up the quota of ${limit:g} per day"
        raise _build_quota_error(message, day_start + DAY_S - now, setting)

    async def _reserve_run_slot(self, owner: QuotaOwner, limit: int, setting: str) -> None:
        def count_active(connection: Connection) -> int:
            return self._ledger.count_active_runs(connection, owner)

        if await self._counters.reserve(f"runs\x1f{owner.key}", limit, count_active):
            return
        raise Unavailable(
            f"{limit} agents of {owner.label} are already running",
            code="quota",
            hint=f"wait until one has ended, or cancel one; the operator's limit is {setting}",
            retry_after=10.0,
        )

    async def _check_storage(self, owner: QuotaOwner, limit: int, setting: str) -> None:
        max_age_s = 15.0  # of a measured size
        measured_at, size = self._measured.get(owner.key, (float("-inf"), 0))
        if self._clock() - measured_at > max_age_s:
            size = await self._ledger.sum_stored_bytes(owner)
            self._measured[owner.key] = self._clock(), size
        if size >= limit:
            raise Refused(
                f"{owner.label} stores {size / 1_000_000:,.1f} MB, and {limit / 1_000_000:,.1f} MB are allowed",
                code="quota",
                hint=f"remove contents that are no longer needed; the operator's limit is {setting}.stored_bytes",
            )


def _build_quota_error(message: str, seconds: float, setting: str) -> OutriderError:
    retry_after = max(1.0, round(seconds))
    hint = f"call again in {retry_after:,.0f} seconds; the operator's limit is {setting}"
    return Unavailable(message, code="quota", hint=hint, retry_after=retry_after)
