"""How the search providers are, in words."""

import time
from dataclasses import dataclass

from outrider.dashboard.shown import duration
from outrider.search.access import ProviderStatus
from outrider.search.health import Health


@dataclass(frozen=True)
class State:
    """A provider as people see it; `mark` is a class of the style: good, warn, bad or empty."""

    status: ProviderStatus
    health: Health
    word: str
    mark: str
    why: str

    @property
    def calls(self) -> int:
        return self.health.successes + self.health.failures


def state(status: ProviderStatus) -> State:
    """What to say of it now."""
    health, now = status.health or Health(), time.time()
    if (limited := health.limited_until) is not None and limited > now:
        return State(status, health, "asked to wait", "warn", f"for another {duration(limited - now)}")
    if (opens := health.open_until) is not None and opens > now:
        why = f"for another {duration(opens - now)}: {health.last_failure}, {health.streak} in a row"
        return State(status, health, "left alone", "bad", why)
    if not status.usable:
        return State(status, health, "not set up", "", status.reason or status.remedy)
    if health.half_open(now):
        return State(status, health, "on trial", "warn", "the next search tries it again")
    if health.streak:
        return State(status, health, "failing", "warn", f"{health.last_failure}, {health.streak} in a row")
    return State(status, health, "ready", "good", "" if health.successes else "not asked yet")


def by_use(states: list[State]) -> list[State]:
    """Those in trouble first, then those in use, then the rest."""
    order = {"bad": 0, "warn": 1, "good": 2, "": 3}
    return sorted(states, key=lambda each: (order[each.mark], -each.calls, each.status.name))
