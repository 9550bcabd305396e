"""Rank the failures of an evaluation by relevance."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from outrider.agents.evaluations.evaluation import EvaluationRecord

TRACKER_HOST_PATTERN = re.compile(
    r"(?:^|\.)(?:google-analytics|googletagmanager|doubleclick|googlesyndication|facebook|hotjar|segment|mixpanel"
    r"|clarity|cloudflareinsights|sentry|newrelic|nr-data|fullstory|amplitude|datadoghq)\.[a-z]+$"
)
NOISE_PATH_PATTERN = re.compile(r"/favicon\.ico$|/apple-touch-icon[\w-]*\.png$|\.map$|/\.well-known/appspecific/")
TIMEOUT_PATTERN = re.compile(r"time.?out|timed out|in time", re.IGNORECASE)
ROBOT_CHECK_PATTERN = re.compile(r"captcha|bot check|bot wall|cloudflare", re.IGNORECASE)


def rank_failures(failures: Iterable[EvaluationRecord], host: str, limit: int) -> list[EvaluationRecord]:
    """Return the most relevant failures first, each summary once; equal ones in order of time.

    Args:
        failures: Records with an error.
        host: The host of the evaluated page; failures of its own requests matter more.
        limit: The maximum number of failures.
    """
    ranked = sorted(failures, key=lambda failure: (-weigh_failure(failure, host), failure.at))
    best_by_summary = {failure.summary: failure for failure in reversed(ranked)}
    return [failure for failure in ranked if best_by_summary[failure.summary] is failure][:limit]


def weigh_failure(failure: EvaluationRecord, host: str) -> int:
    """Return the weight of a failure, by the table in contract 12.6."""
    if failure.kind == "console":
        is_exception = failure.details.get("level") in ("exception", "fatal")
        # The console repeats a failed request, which has a network record of its own.
        repeats_request = failure.summary.startswith("error: Failed to load resource")
        return 70 + 40 * is_exception - 60 * repeats_request
    if failure.kind == "network":
        status = failure.details.get("status") or 0
        weight = 80 if status >= 500 else 30 if status >= 400 else 0
        if failure.details.get("error"):  # the connection failed
            weight = 40
        url = urlsplit(failure.url)
        request_host = (url.hostname or "").lower()
        weight += 25 if request_host == host.lower() else -5
        is_noise = TRACKER_HOST_PATTERN.search(request_host) or NOISE_PATH_PATTERN.search(url.path)
        return 60 + (weight - 90 if is_noise else weight)
    is_timeout = bool(TIMEOUT_PATTERN.search(failure.summary))
    is_robot_check = bool(ROBOT_CHECK_PATTERN.search(failure.summary))
    return 85 + 10 * is_timeout + 20 * is_robot_check
