"""Decide when a host may be asked again, by any of its watches."""

from dataclasses import dataclass, replace

from outrider.core.errors import NotFound, OutriderError, Refused

MIN_PAUSE_S = 1.0  # between two looks at a host
MAX_CRAWL_DELAY_S = 600.0
RETRY_DELAY_S = 300.0  # after the first failure; doubled for each further one
# These speak of the host and not of the page: nothing answers, or it wants no requests now.
SILENCE_CODES = frozenset({"connect", "dns", "timeout", "tls", "protocol"})
ANSWER_CODES = frozenset({"server_error", "rate_limited", "blocked_by_site", "robots", "search_failed"})


@dataclass(frozen=True)
class HostState:
    """What is known of a host; its name is empty for searches.

    Attributes:
        host: The host with its port.
        free_at: When it may be asked again, in seconds since the epoch.
        crawl_delay_s: The seconds that its robots.txt wants between two requests.
        failures: Failures in a row that spoke of the host.
        problem: The last of them; empty once it has answered.
    """

    host: str
    free_at: float = 0.0
    crawl_delay_s: float = 0.0
    failures: int = 0
    problem: str = ""

    def record_answer(self, now: float, crawl_delay_s: float | None = None) -> "HostState":
        """Return the state after an answer, with the delay of robots.txt if that was read."""
        delay_s = self.crawl_delay_s if crawl_delay_s is None else min(crawl_delay_s, MAX_CRAWL_DELAY_S)
        return HostState(self.host, now + max(delay_s, MIN_PAUSE_S), delay_s)

    def record_failure(self, now: float, error: OutriderError) -> "HostState":
        """Return the state after a failed look: a host that fails rests, longer each time."""
        if not is_host_failure(error):
            return self.record_answer(now)
        rest_s = max(compute_retry_delay(self.failures, error), self.crawl_delay_s)
        return replace(self, free_at=now + rest_s, failures=self.failures + 1, problem=error.message)


def is_host_failure(error: OutriderError) -> bool:
    """Return whether a failure speaks of the host, so that its other pages would fail as well."""
    is_ban = isinstance(error, Refused)  # robots.txt was read and forbids this page
    return not is_ban and error.code in SILENCE_CODES | ANSWER_CODES


def compute_retry_delay(failures: int, error: OutriderError) -> float:
    """Return the seconds before the next attempt, doubled for each earlier failure, at least as long as was asked for.

    A host that does not answer is tried once an hour at least: it may be this machine that is offline.
    """
    first_delay_s = 3_600.0 if isinstance(error, NotFound | Refused) else RETRY_DELAY_S
    max_delay_s = 3_600.0 if error.code in SILENCE_CODES else 86_400.0
    max_asked_s = 7 * 86_400.0
    return max(min(first_delay_s * 2 ** min(failures, 20), max_delay_s), min(error.retry_after or 0.0, max_asked_s))
