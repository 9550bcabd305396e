"""Describe the health of search providers."""

import time
from dataclasses import dataclass

from outrider.dashboard.filters import duration
from outrider.search.health import ProviderHealth
from outrider.search.selection import ProviderStatus


@dataclass(frozen=True)
class ProviderState:
    """A provider's state for people; `mark` is a CSS class: good, warn, bad or empty."""

    status: ProviderStatus
    health: ProviderHealth
    word: str
    mark: str
    why: str

    @property
    def calls(self) -> int:
        return self.health.successes + self.health.failures


def describe_provider(status: ProviderStatus) -> ProviderState:
    """Describe the provider's current state."""
    health, now = status.health or ProviderHealth(), time.time()
    if (limited := health.limited_until) is not None and limited > now:
        return ProviderState(status, health, "rate limited", "warn", f"for another {duration(limited - now)}")
    if (opens := health.open_until) is not None and opens > now:
        reason = f"for another {duration(opens - now)}: {health.last_failure}, {health.streak} in a row"
        return ProviderState(status, health, "paused", "bad", reason)
    if not status.usable:
        return ProviderState(status, health, "not set up", "", status.reason or status.remedy)
    if health.is_half_open(now):
        return ProviderState(status, health, "on trial", "warn", "the next search tries it again")
    if health.streak:
        return ProviderState(status, health, "failing", "warn", f"{health.last_failure}, {health.streak} in a row")
    return ProviderState(status, health, "ready", "good", "" if health.successes else "not asked yet")


def sort_by_urgency(states: list[ProviderState]) -> list[ProviderState]:
    """Sort failing providers first, then used ones, then the rest."""
    order = {"bad": 0, "warn": 1, "good": 2, "": 3}
    return sorted(states, key=lambda each: (order[each.mark], -each.calls, each.status.name))
