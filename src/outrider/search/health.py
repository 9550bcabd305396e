"""Health of search providers: a circuit breaker for each access.

A provider that keeps failing is skipped for a while (circuit open), then one call tries it again (half-open), and a
success closes the circuit. See Nygard, Release It!, "Circuit Breaker".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from outrider.search.failures import REQUEST_FAILURES

FAILURE_THRESHOLD = 3  # failures in a row that open the circuit
MAX_PAUSE_S = 3_600.0
TRIAL_S = 30.0  # while one caller tries a half-open circuit, and others must not


class HealthBlock(NamedTuple):
    """The reason not to ask a provider now: an outcome code, and a message for people."""

    code: str
    message: str


@dataclass(frozen=True)
class ProviderHealth:
    """The record of one access to a provider; times are seconds since the epoch.

    `latency` is an exponentially weighted mean in seconds, `kinds` counts failures by code, `streak` the failures
    since the last success.
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

    def find_block(self, now: float) -> HealthBlock | None:
        """Return why the provider should not be asked now, or None."""
        if self.limited_until is not None and self.limited_until > now:
            return HealthBlock(
                "rate_limited", f"it asked for a pause of another {self.limited_until - now:.0f} seconds"
            )
        if self.open_until is not None and self.open_until > now:
            reason = f"{self.last_failure}, {self.streak} in a row"
            return HealthBlock("circuit_open", f"not asked for another {self.open_until - now:.0f} seconds ({reason})")
        return None

    def is_half_open(self, now: float) -> bool:
        """Return whether the pause is over, but no success has closed the circuit."""
        return self.open_until is not None and self.open_until <= now

    def begin_trial(self, now: float) -> "ProviderHealth":
        """Return the record while one caller tries a half-open circuit."""
        return replace(self, open_until=now + TRIAL_S, updated_at=now)

    def record_success(
        self, now: float, seconds: float, quota_left: int | None = None, pause_s: float | None = None
    ) -> "ProviderHealth":
        """Return the record after an answer with this latency in seconds and this requested pause."""
        newest_weight = 0.3  # weight of the newest latency in the mean
        latency = seconds if self.latency is None else self.latency + newest_weight * (seconds - self.latency)
        return replace(
            self,
            successes=self.successes + 1,
            latency=latency,
            quota_left=self.quota_left if quota_left is None else quota_left,
            limited_until=now + pause_s if pause_s else None,
            streak=0,
            open_until=None,
            updated_at=now,
        )

    def record_failure(self, now: float, code: str, retry_after: float | None = None) -> "ProviderHealth":
        """Return the record after a failure with one of the codes of `search.failures`."""
        default_wait_s = 60.0  # after a 429 that does not say how long to wait
        kinds = {**self.kinds, code: self.kinds.get(code, 0) + 1}
        counted = replace(self, failures=self.failures + 1, kinds=kinds, updated_at=now)
        if code in REQUEST_FAILURES:
            return counted
        counted = replace(counted, last_failure=code, streak=self.streak + 1)
        if code == "rate_limited":
            wait_s = _compute_backoff(default_wait_s, self.streak, MAX_PAUSE_S) if retry_after is None else retry_after
            return replace(counted, limited_until=now + wait_s, open_until=None)
        return replace(counted, open_until=counted.compute_open_until(now, code, retry_after))

    def compute_open_until(self, now: float, code: str, retry_after: float | None) -> float | None:
        """Return until when the circuit is open after this failure; None while it stays closed."""
        first_pause_s = 30.0  # doubled with each failed trial
        # Calling again soon cannot cure these, so they open the circuit at once: (first pause, longest pause).
        pauses_by_code: Mapping[str, tuple[float, float]] = {
            "auth": (300.0, 21_600.0),
            "blocked": (600.0, 21_600.0),
            "captcha": (600.0, 21_600.0),
            "consent": (3_600.0, 21_600.0),
            "quota": (3_600.0, 86_400.0),
        }
        if code in pauses_by_code:
            first, longest = pauses_by_code[code]
            return now + (retry_after or _compute_backoff(first, self.streak - 1, longest))
        if self.streak < FAILURE_THRESHOLD:
            return now + retry_after if retry_after else None
        backoff_s = _compute_backoff(first_pause_s, self.streak - FAILURE_THRESHOLD, MAX_PAUSE_S)
        return now + max(backoff_s, retry_after or 0.0)


def _compute_backoff(first: float, doublings: int, longest: float) -> float:
    return min(first * 2 ** min(doublings, 20), longest)
