"""Decide when any watch may send the next request to a host."""

from dataclasses import dataclass, replace

from outrider.core.errors import NotFound, OutriderError, Refused

MIN_PAUSE_S = 1.0  # between two looks at a host
MAX_CRAWL_DELAY_S = 600.0
RETRY_DELAY_S = 300.0  # after the first failure; doubled for each further one
# Errors of the host and not of the page: it does not answer, or accepts no requests now.
SILENCE_CODES = frozenset({"connect", "dns", "timeout", "tls", "protocol"})
ANSWER_CODES = frozenset({"server_error", "rate_limited", "blocked_by_site", "robots", "search_failed"})


@dataclass(frozen=True)
class HostState:
    """The state of a host; its name is empty for searches.

    Attributes:
        host: The host with its port.
        free_at: When the next request may be sent, in seconds since the epoch.
        crawl_delay_s: The seconds between two requests that its robots.txt demands.
        failures: Consecutive failures of the host itself.
        problem: The last failure; empty once it has answered.
    """

    host: str
    free_at: float = 0.0
    crawl_delay_s: float = 0.0
    failures: int = 0
    problem: str = ""

    def record_answer(self, now: float, crawl_delay_s: float | None = None) -> "HostState":
        """Return the state after an answer, with the delay of robots.txt if it was read."""
        delay_s = self.crawl_delay_s if crawl_delay_s is None else min(crawl_delay_s, MAX_CRAWL_DELAY_S)
        return HostState(self.host, now + max(delay_s, MIN_PAUSE_S), delay_s)

    def record_failure(self, now: float, error: OutriderError) -> "HostState":
        """Return the state after a failed check; a failing host is paused longer each time."""
        if not is_host_failure(error):
            return self.record_answer(now)
        rest_s = max(compute_retry_delay(self.failures, error), self.crawl_delay_s)
        return replace(self, free_at=now + rest_s, failures=self.failures + 1, problem=error.message)


def is_host_failure(error: OutriderError) -> bool:
    """Return whether a failure concerns the whole host, not only one page."""
    is_ban = isinstance(error, Refused)  # robots.txt was read and forbids this page
    return not is_ban and error.code in SILENCE_CODES | ANSWER_CODES


def compute_retry_delay(failures: int, error: OutriderError) -> float:
    """Return the seconds before the next attempt, doubled for each earlier failure.

    A longer delay that the host asks for is obeyed, up to a week. A host that does not answer is tried at least once an
    hour, because this machine may be the one that is offline.
    """
    first_delay_s = 3_600.0 if isinstance(error, NotFound | Refused) else RETRY_DELAY_S
    max_delay_s = 3_600.0 if error.code in SILENCE_CODES else 86_400.0
    max_asked_s = 7 * 86_400.0
    return max(min(first_delay_s * 2 ** min(failures, 20), max_delay_s), min(error.retry_after or 0.0, max_asked_s))
