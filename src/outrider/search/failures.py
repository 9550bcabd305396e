"""Failure codes of search providers, and the error that each becomes.

The circuit breaker and the health ledger go by the code; a model acts on the kind of error (see `core.errors`).
"""

from collections.abc import Mapping
from typing import Literal

from outrider.core.errors import InvalidInput, NotConfigured, OutriderError, Unavailable

FailureCode = Literal[
    "auth",
    "bad_reply",
    "bad_request",
    "blocked",
    "captcha",
    "consent",
    "not_configured",
    "quota",
    "rate_limited",
    "sunset",
    "timeout",
    "unavailable",
    "unsupported",
]

ERROR_CLASSES: Mapping[FailureCode, type[OutriderError]] = {
    "auth": NotConfigured,
    "bad_reply": Unavailable,
    "bad_request": InvalidInput,
    "blocked": Unavailable,
    "captcha": Unavailable,
    "consent": Unavailable,
    "not_configured": NotConfigured,
    "quota": Unavailable,
    "rate_limited": Unavailable,
    "sunset": NotConfigured,
    "timeout": Unavailable,
    "unavailable": Unavailable,
    "unsupported": InvalidInput,
}

# The meaning of an HTTP status where the provider's own rules say nothing else (RFC 9110, section 15; 402 and 429 as
# every provider here uses them).
STATUS_FAILURES: Mapping[int, FailureCode] = {
    400: "bad_request",
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    413: "bad_request",
    414: "bad_request",
    422: "bad_request",
    429: "rate_limited",
    504: "timeout",
}

# Failures that say something about the request, not about the provider's health.
REQUEST_FAILURES: frozenset[str] = frozenset({"bad_request", "unsupported", "not_configured", "sunset"})


def build_failure(
    code: FailureCode, message: str, *, hint: str = "", retry_after: float | None = None
) -> OutriderError:
    """Return the typed error for a code; `retry_after` is in seconds."""
    return ERROR_CLASSES[code](message, code=code, hint=hint, retry_after=retry_after)


def classify_status(status: int) -> FailureCode:
    """Return the code of an HTTP status other than success."""
    return STATUS_FAILURES.get(status, "unavailable")
