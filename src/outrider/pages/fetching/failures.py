"""Classify responses that are not pages: error statuses, bot walls, login pages."""

import re
from email.utils import parsedate_to_datetime

from outrider.core.errors import NotFound, OutriderError, Refused, Unavailable
from outrider.core.http import HttpResponse
from outrider.pages.mime.html_tokens import HtmlText, iter_tokens

TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
RETRIED_CODES = frozenset({"connect", "timeout", "protocol", "dns"})
REFUSAL_REASONS = {
    401: "asks for a login",
    402: "asks for payment",
    403: "forbids this",
    407: "asks for a login",
    451: "is withheld for legal reasons",
}
LOGIN_HINT = "sign in with the browser tools, or choose another source"
WALL_HEAD_BYTES = 60_000  # challenge pages are short
# Marks of bot walls: in the headers, then in the source.
WALL_HEADERS = {
    "cf-mitigated": ("challenge",),
    "x-amzn-waf-action": ("challenge", "captcha"),
    "x-datadome": ("protected",),
}
WALL_TITLE = re.compile(
    rb"<title>\s*(?:just a moment\.\.\.|attention required! \| cloudflare|ddos-guard"
    rb"|access to this page has been denied"
    rb"|are you a robot\?|robot check|human verification|verify you are human|pardon our interruption|security check)"
)
RECAPTCHA_CALLBACK = re.compile(rb"class=[\"']g-recaptcha[\"'][^>]*data-callback=[\"']submitcallback")
MAX_CHALLENGE_CHARS = 1_500  # of text in a challenge with a success status


def classify_failure(reply: HttpResponse, now: float) -> OutriderError | None:
    """Return the error that a response means, or None if it is a page."""
    max_named_wait_s = 86_400
    if is_blocked(reply):
        return _build_error(
            Unavailable,
            reply,
            "returned a bot check instead of the page",
            code="blocked_by_site",
            hint="open it in a browser, or choose another source",
        )
    if 200 <= reply.status < 300:
        return None
    if reply.status in (404, 410):
        return _build_error(NotFound, reply, "does not have this page", hint="check the address or search for the page")
    if reply.status in REFUSAL_REASONS:
        words = REFUSAL_REASONS[reply.status]
        hint = LOGIN_HINT if "login" in words else "choose another source"
        return _build_error(Refused, reply, words, code="forbidden", hint=hint)
    if reply.status in TRANSIENT_STATUSES or reply.status >= 500:
        wait = parse_retry_after(reply.headers.get("retry-after", ""), now)
        words = "asks for fewer requests" if reply.status == 429 else "has a server error"
        code = "rate_limited" if reply.status == 429 else "server_error"
        hint = f"try again in {wait:.0f} seconds" if wait and wait <= max_named_wait_s else "try again another day"
        hint = hint if wait else "try again later"
        return _build_error(Unavailable, reply, words, code=code, wait=wait, hint=f"{hint}, or choose another source")
    return _build_error(Refused, reply, "did not return the page", code="http_status", hint="check the address")


def parse_retry_after(value: str, now: float) -> float | None:
    """Return the seconds in a Retry-After header.

    It has a number or a date (RFC 9110, section 10.2.3).
    """
    value = value.strip()
    if value.isascii() and value.isdigit() and len(value) < 10:
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def is_blocked(reply: HttpResponse) -> bool:
    """Return whether a response is a bot wall's challenge, with any status."""
    for name, values in WALL_HEADERS.items():
        if reply.headers.get(name, "").lower() in values and (name != "x-datadome" or reply.status in (401, 403)):
            return True
    if reply.status not in (200, 202, 401, 403, 405, 429, 503) or len(reply.body) > 20 * WALL_HEAD_BYTES:
        return False
    if not _has_wall_signature(reply.body):
        return False
    return reply.status != 200 or _count_text_chars(reply.body) <= MAX_CHALLENGE_CHARS


def is_bot_wall(html: str) -> bool:
    """Return whether a browser still shows a bot wall's challenge."""
    body = html.encode()
    return _has_wall_signature(body) and _count_text_chars(body) <= MAX_CHALLENGE_CHARS


def _has_wall_signature(body: bytes) -> bool:
    """Return whether a source has the marks of a bot wall."""
    wall_signatures = (  # in lower case
        b"/cdn-cgi/challenge-platform/h/", b"geo.captcha-delivery.com", b"_incapsula_resource", b'id="px-captcha',
        b"id='px-captcha", b"awswafcookiedomainlist", b"errors.edgesuite.net",
        b"unusual traffic from your computer network",
    )  # fmt: skip
    head = body[:WALL_HEAD_BYTES].lower()
    if any(signature in head for signature in wall_signatures) or WALL_TITLE.search(head):
        return True
    return b"g-recaptcha" in head and RECAPTCHA_CALLBACK.search(head) is not None


def _count_text_chars(body: bytes) -> int:
    stream = iter_tokens(body.decode("latin-1"), max_tags=10_000)
    return sum(len(token.raw.strip()) for token in stream if isinstance(token, HtmlText))


def _build_error(
    kind: type[OutriderError],
    reply: HttpResponse,
    words: str,
    *,
    hint: str = "",
    code: str = "",
    wait: float | None = None,
) -> OutriderError:
    host, details = reply.url.split("/")[2], {"status": reply.status, "url": reply.url}
    message = f"{host} {words} (HTTP {reply.status})"
    return kind(message, hint=hint, code=code, details=details, retry_after=wait)
