"""How often somebody may do something, counted by who it is and never by connection."""

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_KNOWN = 1_000  # who have not been seen for longest are forgotten


class RateLimit:
    """A token bucket each (ITU-T I.371's leaky bucket seen from the other side).

    Args:
        a_minute: How many go in the long run.
        burst: How many go at once after a rest.
        clock: Seconds, monotonic.
    """

    def __init__(self, a_minute: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = a_minute / 60
        self._burst = burst
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> bool:
        """Whether `who` may do it once more now; if so, that is counted."""
        now = self._clock()
        left, at = self._known.pop(who, (float(self._burst), now))
        left = min(self._burst, left + (now - at) * self._rate)
        allowed = left >= 1
        self._known[who] = (left - 1 if allowed else left, now)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return allowed
