"""Failure codes of search providers, and the error that each becomes.

The circuit breaker and the health ledger use the code; a model acts on the kind of error (see `core.errors`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal
from urllib.parse import quote, quote_plus

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

# The meaning of HTTP statuses, unless the provider's own rules differ (RFC 9110, section 15; 402 and 429 as all
# providers here use them).
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

# Failures caused by the request, not by the provider's health.
REQUEST_FAILURES: frozenset[str] = frozenset({"bad_request", "unsupported", "not_configured", "sunset"})
CAPTCHA_MARKS = re.compile(
    r"captcha|cf-turnstile|cf-challenge|challenge-form|challenge-platform|anomaly[-_.]?modal|anomaly\.js"
    r"|bots use duckduckgo|unusual traffic|(?:you are|you're) (?:not a robot|human|a human)"
    r"|verif\w+ (?:that )?you|are you a robot|robot check|smartcaptcha|checking your browser|proof[- ]of[- ]work"
    r"|wappass\.baidu|安全验证",
    re.IGNORECASE,
)
BLOCK_MARKS = re.compile(
    r"httpservice/retry/enablejs|access (?:to this page )?(?:is |has been )?denied|request(?: has been| was)? blocked"
    r"|you have been blocked|attention required|automated (?:queries|requests)|temporarily blocked"
    r"|ip address .{0,40}block",
    re.IGNORECASE,
)
HTML_START = re.compile(r"\s*(?:\ufeff)?\s*<(?:!doctype|html|head|body|!--|title|h1|div|\?xml)", re.IGNORECASE)


def build_failure(
    code: FailureCode, message: str, *, hint: str = "", retry_after: float | None = None
) -> OutriderError:
    """Return the typed error for a code; `retry_after` is in seconds."""
    return ERROR_CLASSES[code](message, code=code, hint=hint, retry_after=retry_after)


def classify_status(status: int) -> FailureCode:
    """Return the code of an HTTP status other than success."""
    return STATUS_FAILURES.get(status, "unavailable")


def redact_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text without the secrets.

    Their URL-encoded forms and any eight consecutive letters of them are removed too.
    """
    min_secret_chars = 4  # shorter values are not secrets, and would redact parts of ordinary words
    known = [secret for secret in secrets if len(secret) >= min_secret_chars]
    forms = {form for secret in known for form in (secret, quote(secret, safe=""), quote_plus(secret))}
    for secret in sorted(forms, key=lambda form: (-len(form), form)):
        text = _mask_secret(text, secret)
    return text


def _mask_secret(text: str, secret: str) -> str:
    window_chars = 8  # a piece of a key this long is a leak
    size = min(window_chars, len(secret))
    lowered, secret = text.lower(), secret.lower()
    if len(lowered) != len(text):  # a letter with a longer lower case shifts positions
        lowered = text
    pieces = {secret[start : start + size] for start in range(len(secret) - size + 1)}
    if not any(piece in lowered for piece in pieces):
        return text
    is_hidden = [False] * len(text)
    for start in range(len(lowered) - size + 1):
        if lowered[start : start + size] in pieces:
            is_hidden[start : start + size] = [True] * size
    masked: list[str] = []
    for letter, hidden in zip(text, is_hidden, strict=True):
        if not hidden:
            masked.append(letter)
        elif not masked or masked[-1] != "[key]":
            masked.append("[key]")
    return "".join(masked)


def is_html_page(content_type: str, text: str) -> bool:
    """Return whether the body is a web page, whatever its header."""
    if text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["} or "atom+xml" in content_type.lower():
        return False
    return "html" in content_type.lower() or HTML_START.match(text) is not None


def detect_block(text: str) -> Literal["captcha", "blocked"] | None:
    """Return the kind of block page, or None for an ordinary page."""
    max_chars = 60_000  # the telltale marks are near the beginning
    beginning = text[:max_chars]
    if CAPTCHA_MARKS.search(beginning):
        return "captcha"
    return "blocked" if BLOCK_MARKS.search(beginning) else None
