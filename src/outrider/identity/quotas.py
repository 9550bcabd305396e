"""How much a person or a workspace may use: calls, money, agents at work, bytes. Everything is off unless it is set."""

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
    """Whose use is counted: a workspace's, or a person's in it where one is named."""

    workspace: str
    person: str | None = None

    @property
    def label(self) -> str:
        """As a message says it."""
        return self.person or (f"workspace {self.workspace}" if self.workspace else "everybody here")

    @property
    def key(self) -> str:
        return f"{self.workspace}\x1f{self.person or ''}"


class UsageLedger(Protocol):
    """What the other domains know of somebody's use."""

    async def sum_cost(self, owner: QuotaOwner, since: float) -> float:
        """US dollars that their agents' models have cost."""
        ...

    def count_active_runs(self, connection: "Connection", owner: QuotaOwner) -> int:
        """Their agents at work, not counting those below them."""
        ...

    async def sum_stored_bytes(self, owner: QuotaOwner) -> int:
        """Bytes of their artifacts and content stores."""
        ...


class Quotas:
    """Counts and refuses.

    Args:
        database: Shared by all replicas.
        settings: The limits.
        ledger: Tells of use that is written down elsewhere.
        clock: Seconds since the epoch.
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
        """Lets a call pass and counts it. Raises Unavailable (`quota`, with `retry_after`) and Refused (`quota`)."""
        for owner, quota, setting in self._list_limits(call.workspace, call.identity):
            if quota.stored_mb is not None and tool.effect != "read":
                await self._check_storage(owner, quota.stored_mb, setting)
            if quota.calls_per_minute is not None:
                await self._count_call(owner, MINUTE_S, quota.calls_per_minute, f"{setting}.calls_per_minute")
            if quota.calls_per_day is not None:
                await self._count_call(owner, DAY_S, quota.calls_per_day, f"{setting}.calls_per_day")

    @asynccontextmanager
    async def reserve_run(self, call: Call) -> AsyncGenerator[float | None]:
        """Holds a place for a run while it is written down; yields the dollars that it may cost, None for any.

        Raises Unavailable (`quota`, with `retry_after`).
        """
        left: list[float] = []
        async with AsyncExitStack() as stack:
            for owner, quota, setting in self._list_limits(call.workspace, call.identity):
                if quota.cost_per_day is not None:
                    left.append(
                        await self._compute_remaining_cost(owner, quota.cost_per_day, f"{setting}.cost_per_day")
                    )
                if quota.runs is not None and call.run is None:
                    await self._reserve_run_slot(owner, quota.runs, f"{setting}.runs")
                    stack.push_async_callback(self._counters.release, f"runs\x1f{owner.key}")
            yield min(left, default=None)

    async def check_spending(self, workspace: str, person: str | None) -> str | None:
        """What forbids to spend more on models today, as a sentence; None where nothing does.

        Asked before each request, so that agents at work at the same time pass a limit by one request each at most.
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
        """Whose limits hold for a person there, and which settings say them."""
        workspace, chosen = workspace or "", self._settings
        found = [(QuotaOwner(workspace), *_choose_quota(chosen.workspaces, workspace, chosen.workspace, "workspace"))]
        if person:
            found.append(
                (QuotaOwner(workspace, person), *_choose_quota(chosen.people, person, chosen.person, "person"))
            )
        return found

    async def _count_call(self, owner: QuotaOwner, seconds: int, limit: int, setting: str) -> None:
        now = self._clock()
        ends = (int(now) // seconds + 1) * seconds
        if await self._counters.count_one(f"{seconds}\x1f{owner.key}", ends, limit):
            return
        span = "minute" if seconds == MINUTE_S else "day"
        raise _build_quota_error(f"the {limit:,} calls a {span} of {owner.label} are used up", ends - now, setting)

    async def _compute_remaining_cost(self, owner: QuotaOwner, limit: float, setting: str) -> float:
        now = self._clock()
        begins = int(now) // DAY_S * DAY_S
        left = limit - await self._ledger.sum_cost(owner, begins)
        if left > 0:
            return left
        raise _build_quota_error(
            f"the ${limit:g} a day that agents of {owner.label} may cost are spent", begins + DAY_S - now, setting
        )

    async def _reserve_run_slot(self, owner: QuotaOwner, limit: int, setting: str) -> None:
        retry_after_s = 10.0  # seconds after which a place among the agents at work may be free
        name = f"runs\x1f{owner.key}"
        if await self._counters.reserve(
            name, limit, lambda connection: self._ledger.count_active_runs(connection, owner)
        ):
            return
        message = f"{limit} agents of {owner.label} are at work already"
        raise Unavailable(
            message,
            code="quota",
            hint=f"wait until one is done, or cancel one; the operator's limit is {setting}",
            retry_after=retry_after_s,
        )

    async def _check_storage(self, owner: QuotaOwner, limit: float, setting: str) -> None:
        max_age_s = 15.0  # how long a sum of stored bytes is believed
        measured, size = self._measured.get(owner.key, (float("-inf"), 0))
        if self._clock() - measured > max_age_s:
            size = await self._ledger.sum_stored_bytes(owner)
            self._measured[owner.key] = self._clock(), size
        if size >= limit * 1_000_000:
            raise Refused(
                f"{owner.label} stores {size / 1_000_000:,.1f} MB, and {limit:g} MB are allowed",
                code="quota",
                hint=f"remove contents that are no longer needed; the operator's limit is {setting}.stored_mb",
            )


def _choose_quota(named: dict[str, Quota], name: str, usual: Quota, setting: str) -> tuple[Quota, str]:
    """The quota of that name, else the usual one, and the setting that says it."""
    plural = {"person": "people", "workspace": "workspaces"}[setting]
    prefix = "identity.quotas."
    return (named[name], f"{prefix}{plural}.{name}") if name in named else (usual, prefix + setting)


def _build_quota_error(message: str, seconds: float, setting: str) -> OutriderError:
    wait = max(1.0, round(seconds))
    hint = f"call again in {wait:,.0f} seconds; the operator's limit is {setting}"
    return Unavailable(message, code="quota", hint=hint, retry_after=wait)
