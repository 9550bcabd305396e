"""How every provider has been doing, shared by all processes through the database.

A provider that keeps failing is left alone for a while (circuit open), then one call tries it
again (half-open), and a success brings it back. The idea: Nygard, Release It!, "Circuit Breaker".
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import select

from outrider.core.database.database import Database
from outrider.core.errors import OutriderError
from outrider.search.failures import REQUEST_FAILURES
from outrider.search.tables import health

log = logging.getLogger(__name__)

FAILURE_THRESHOLD = 3  # failures in a row that open the circuit
MAX_PAUSE_S = 3_600.0
# Failures that calling again at once cannot cure open it at the first: (first pause, longest pause).
PAUSES_BY_CODE: Mapping[str, tuple[float, float]] = {
    "auth": (300.0, 21_600.0),
    "blocked": (600.0, 21_600.0),
    "captcha": (600.0, 21_600.0),
    "consent": (3_600.0, 21_600.0),
    "quota": (3_600.0, 86_400.0),
}
TRIAL_S = 30.0  # seconds in which a half-open circuit lets no second caller try


@dataclass(frozen=True)
class ProviderHealth:
    """The record of one access to a provider; times are seconds since the epoch.

    `latency` is an exponentially weighted mean in seconds, `kinds` counts failures by code,
    `streak` the failures since the last success.
    """

    successes: int = 0
    failures: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    latency: float | None = None
    quota_left: int | None = None
    limited_until: float | None = None
    streak: int = 0
    open_until: float | None = None
    last_failure: str = ""
    updated_at: float = 0.0

    def find_block(self, now: float) -> tuple[str, str] | None:
        """The code and the reason not to ask now, or None."""
        if self.limited_until is not None and self.limited_until > now:
            return "rate_limited", f"it asked to wait another {self.limited_until - now:.0f} seconds"
        if self.open_until is not None and self.open_until > now:
            reason = f"{self.last_failure}, {self.streak} in a row"
            return "circuit_open", f"left alone for another {self.open_until - now:.0f} seconds ({reason})"
        return None

    def is_half_open(self, now: float) -> bool:
        """Whether the pause is over, but no success has closed the circuit."""
        return self.open_until is not None and self.open_until <= now

    def begin_trial(self, now: float) -> "ProviderHealth":
        """While one caller tries a half-open circuit."""
        return replace(self, open_until=now + TRIAL_S, updated_at=now)

    def record_success(self, now: float, seconds: float, quota_left: int | None = None) -> "ProviderHealth":
        """After an answer."""
        newest_weight = 0.3  # weight of the newest latency
        latency = seconds if self.latency is None else self.latency + newest_weight * (seconds - self.latency)
        return replace(
            self,
            successes=self.successes + 1,
            latency=latency,
            quota_left=self.quota_left if quota_left is None else quota_left,
            limited_until=None,
            streak=0,
            open_until=None,
            updated_at=now,
        )

    def record_failure(self, now: float, code: str, retry_after: float | None = None) -> "ProviderHealth":
        """After a failure with one of the codes of `search.failures`."""
        default_wait_s = 60.0  # seconds to wait after a 429 that names none
        kinds = {**self.kinds, code: self.kinds.get(code, 0) + 1}
        counted = replace(self, failures=self.failures + 1, kinds=kinds, last_failure=code, updated_at=now)
        if code in REQUEST_FAILURES:
            return replace(counted, last_failure=self.last_failure)
        counted = replace(counted, streak=self.streak + 1)
        if code == "rate_limited":
            pause = (
                retry_after if retry_after is not None else _compute_backoff(default_wait_s, self.streak, MAX_PAUSE_S)
            )
            return replace(counted, limited_until=now + pause, open_until=None)
        return replace(counted, open_until=counted.compute_open_until(now, code, retry_after))

    def compute_open_until(self, now: float, code: str, retry_after: float | None) -> float | None:
        """Until when the circuit is open after this failure; None while it stays closed."""
        first_pause_s = 30.0  # seconds that it stays open at first; doubles with each failed trial
        if code in PAUSES_BY_CODE:
            first, longest = PAUSES_BY_CODE[code]
            return now + (retry_after or _compute_backoff(first, self.streak - 1, longest))
        if self.streak < FAILURE_THRESHOLD:
            return now + retry_after if retry_after else None
        return now + max(
            _compute_backoff(first_pause_s, self.streak - FAILURE_THRESHOLD, MAX_PAUSE_S), retry_after or 0.0
        )


def _compute_backoff(first: float, times: int, longest: float) -> float:
    return min(first * 2 ** min(times, 20), longest)


class HealthLedger:
    """The health of every access, in memory and, while the database works, in the database.

    A database that fails never fails a search: the ledger goes on in memory and says so once.
    """

    def __init__(self, database: Database | None, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._records: dict[str, ProviderHealth] = {}
        self._suspended_until = 0.0

    def get(self, access: str) -> ProviderHealth:
        """What is known of an access; a blank record at first."""
        return self._records.get(access, ProviderHealth())

    async def load(self) -> Mapping[str, ProviderHealth]:
        """Takes over what other processes have learned; returns all records by access."""
        if (database := self._active_database()) is not None:
            try:
                stored = await _read_records(database)
            except OutriderError as error:
                self._suspend_database(error)
            else:
                newer = {key: row for key, row in stored.items() if row.updated_at >= self.get(key).updated_at}
                self._records.update(newer)
        return dict(self._records)

    async def update(self, access: str, change: Callable[[ProviderHealth], ProviderHealth]) -> None:
        """Applies a change to the newest record, within one transaction."""
        changed: ProviderHealth | None = None
        if (database := self._active_database()) is not None:
            try:
                changed = await _update_record(database, access, change, self.get(access))
            except OutriderError as error:
                self._suspend_database(error)
        self._records[access] = changed if changed is not None else change(self.get(access))

    def _active_database(self) -> Database | None:
        return self._database if self._clock() >= self._suspended_until else None

    def _suspend_database(self, error: OutriderError) -> None:
        retry_delay_s = 60.0  # seconds in which a database that failed is left alone
        if not self._suspended_until:
            log.warning("the health of search providers is kept in memory only: %s", error)
        self._suspended_until = self._clock() + retry_delay_s


async def _read_records(database: Database) -> dict[str, ProviderHealth]:

    async with database.read() as connection:
        rows = (await connection.execute(select(health))).mappings().all()
    return {row["access"]: _parse_row(row) for row in rows}


async def _update_record(
    database: Database, access: str, change: Callable[[ProviderHealth], ProviderHealth], mine: ProviderHealth
) -> ProviderHealth:

    async with database.write() as connection:
        query = select(health).where(health.c.access == access).with_for_update()
        row = (await connection.execute(query)).mappings().first()
        stored = _parse_row(row) if row is not None else mine
        changed = change(stored if stored.updated_at >= mine.updated_at else mine)
        values = asdict(changed) | {"access": access, "kinds": dict(changed.kinds)}
        await connection.execute(database.build_upsert(health, values, key="access"))
    return changed


def _parse_row(row: Mapping[str, object]) -> ProviderHealth:
    facts: dict[str, Any] = {name: value for name, value in row.items() if name != "access"}
    return ProviderHealth(**facts)
