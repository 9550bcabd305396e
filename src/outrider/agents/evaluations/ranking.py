"""Which failures of an evaluation are worth telling first."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from outrider.agents.evaluations.evaluation import EvaluationRecord

# The weights are those of contract 12.6.
CONSOLE_WEIGHT, NETWORK_WEIGHT, AGENT_WEIGHT = 70, 60, 85
EXCEPTION_WEIGHT, SERVER_ERROR_WEIGHT, CLIENT_ERROR_WEIGHT, TRANSPORT_ERROR_WEIGHT = 40, 80, 30, 40
SAME_HOST_WEIGHT, OTHER_HOST_WEIGHT, NOISE_WEIGHT = 25, -5, -90
TIMEOUT_WEIGHT, ROBOT_CHECK_WEIGHT = 10, 20
TRACKER_HOST_PATTERN = re.compile(
    r"(?:^|\.)(?:google-analytics|googletagmanager|doubleclick|googlesyndication|facebook|hotjar|segment|mixpanel"
    r"|clarity|cloudflareinsights|sentry|newrelic|nr-data|fullstory|amplitude|datadoghq)\.[a-z]+$"
)
NOISE_PATH_PATTERN = re.compile(r"/favicon\.ico$|/apple-touch-icon[\w-]*\.png$|\.map$|/\.well-known/appspecific/")
REPEATED_ERROR_WEIGHT, REPEATED_ERROR_PREFIX = (
    -60,
    "error: Failed to load resource",
)  # the console's word on a request that is told as one
TIMEOUT_PATTERN = re.compile(r"time.?out|timed out|in time", re.IGNORECASE)
ROBOT_CHECK_PATTERN = re.compile(r"captcha|robot check|bot wall|cloudflare", re.IGNORECASE)


def rank_failures(failures: Iterable[EvaluationRecord], host: str, limit: int) -> list[EvaluationRecord]:
    """The weightiest failures first, each summary once; of the same weight the earlier.

    Args:
        failures: Records with an error.
        host: Of the page that is evaluated: what fails there matters more.
        limit: How many.
    """
    by_weight = sorted(failures, key=lambda each: (-weigh_failure(each, host), each.at))
    once = {each.summary: each for each in reversed(by_weight)}
    return [each for each in by_weight if once[each.summary] is each][:limit]


def weigh_failure(failure: EvaluationRecord, host: str) -> int:
    """How much a failure weighs."""
    if failure.kind == "console":
        thrown = failure.details.get("level") in ("exception", "fatal")
        return (
            CONSOLE_WEIGHT
            + EXCEPTION_WEIGHT * thrown
            + REPEATED_ERROR_WEIGHT * failure.summary.startswith(REPEATED_ERROR_PREFIX)
        )
    if failure.kind == "network":
        return NETWORK_WEIGHT + _weigh_status(failure) + _weigh_location(failure.url, host)
    return (
        AGENT_WEIGHT
        + TIMEOUT_WEIGHT * bool(TIMEOUT_PATTERN.search(failure.summary))
        + ROBOT_CHECK_WEIGHT * bool(ROBOT_CHECK_PATTERN.search(failure.summary))
    )


def _weigh_status(failure: EvaluationRecord) -> int:
    status = failure.details.get("status") or 0
    if failure.details.get("error"):
        return TRANSPORT_ERROR_WEIGHT
    return SERVER_ERROR_WEIGHT if status >= 500 else CLIENT_ERROR_WEIGHT if status >= 400 else 0


def _weigh_location(url: str, host: str) -> int:
    parts = urlsplit(url)
    there = (parts.hostname or "").lower()
    noise = NOISE_WEIGHT if TRACKER_HOST_PATTERN.search(there) or NOISE_PATH_PATTERN.search(parts.path) else 0
    return noise + (SAME_HOST_WEIGHT if there == host.lower() else OTHER_HOST_WEIGHT)
