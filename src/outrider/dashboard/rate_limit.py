"""Rate limits by viewer or address, not by connection."""

import time
from collections import OrderedDict
from collections.abc import Callable


class TokenBucketLimiter:
    """A token bucket for each key.

    Args:
        per_minute: The sustained rate.
        burst: The number allowed at once after a pause.
        clock: Returns monotonic seconds.
    """

    def __init__(self, per_minute: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_minute / 60
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def try_acquire(self, key: str) -> bool:
        """Return whether `key` is within its limit, and count the use."""
        max_buckets = 1_000  # the least recently used keys are dropped
        now = self._clock()
        tokens, at = self._buckets.pop(key, (float(self._burst), now))
        tokens = min(self._burst, tokens + (now - at) * self._rate)
        allowed = tokens >= 1
        self._buckets[key] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > max_buckets:
            self._buckets.popitem(last=False)
        return allowed
