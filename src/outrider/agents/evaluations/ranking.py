"""Which failures of an evaluation are worth telling first."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from outrider.agents.evaluations.evaluation import Record

# The weights are those of contract 12.6.
CONSOLE, NETWORK, AGENT = 70, 60, 85
EXCEPTION, SERVER, CLIENT, TRANSPORT = 40, 80, 30, 40
SAME_HOST, OTHER_HOST, NOISE = 25, -5, -90
TIMEOUT, WALL = 10, 20
NOISY = re.compile(
    r"(?:^|\.)(?:google-analytics|googletagmanager|doubleclick|googlesyndication|facebook|hotjar|segment|mixpanel"
    r"|clarity|cloudflareinsights|sentry|newrelic|nr-data|fullstory|amplitude|datadoghq)\.[a-z]+$"
)
IDLE_PATHS = re.compile(r"/favicon\.ico$|/apple-touch-icon[\w-]*\.png$|\.map$|/\.well-known/appspecific/")
ECHO, ECHOES = -60, "error: Failed to load resource"  # the console's word on a request that is told as one
LATE = re.compile(r"time.?out|timed out|in time", re.IGNORECASE)
WALLED = re.compile(r"captcha|robot check|bot wall|cloudflare", re.IGNORECASE)


def ranked(failures: Iterable[Record], host: str, most: int) -> list[Record]:
    """The weightiest failures first, each summary once; of the same weight the earlier.

    Args:
        failures: Records with an error.
        host: Of the page that is evaluated: what fails there matters more.
        most: How many.
    """
    by_weight = sorted(failures, key=lambda each: (-weight(each, host), each.at))
    once = {each.summary: each for each in reversed(by_weight)}
    return [each for each in by_weight if once[each.summary] is each][:most]


def weight(failure: Record, host: str) -> int:
    """How much a failure weighs."""
    if failure.kind == "console":
        thrown = failure.details.get("level") in ("exception", "fatal")
        return CONSOLE + EXCEPTION * thrown + ECHO * failure.summary.startswith(ECHOES)
    if failure.kind == "network":
        return NETWORK + _answered(failure) + _place(failure.url, host)
    return AGENT + TIMEOUT * bool(LATE.search(failure.summary)) + WALL * bool(WALLED.search(failure.summary))


def _answered(failure: Record) -> int:
    status = failure.details.get("status") or 0
    if failure.details.get("error"):
        return TRANSPORT
    return SERVER if status >= 500 else CLIENT if status >= 400 else 0


def _place(url: str, host: str) -> int:
    parts = urlsplit(url)
    there = (parts.hostname or "").lower()
    noise = NOISE if NOISY.search(there) or IDLE_PATHS.search(parts.path) else 0
    return noise + (SAME_HOST if there == host.lower() else OTHER_HOST)
