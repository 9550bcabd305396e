"""Answers that are no pages: statuses, and pages that only say that robots are not welcome."""

import re
from email.utils import parsedate_to_datetime

from outrider.core.errors import NotFound, OutriderError, Refused, Unavailable
from outrider.core.http import Reply
from outrider.pages.sniffing.markup import Text, tokens

TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
RETRIED_CODES = frozenset({"connect", "timeout", "protocol", "dns"})
FORBIDDEN = {
    401: "asks for a login",
    402: "asks for payment",
    403: "forbids this",
    407: "asks for a login",
    451: "is withheld for legal reasons",
}
LOGIN_HINT = "sign in with the browser tools, or choose another source"
PASSWORD = re.compile(r"<input\b[^>]{0,500}\btype\s*=\s*[\"']?password", re.IGNORECASE)
HEAD = 60_000  # bytes in which a challenge shows itself; challenge pages are short
# What the pages of bot walls are known by: in the headers, then in the source.
WALL_HEADERS = {
    "cf-mitigated": ("challenge",),
    "x-amzn-waf-action": ("challenge", "captcha"),
    "x-datadome": ("protected",),
}
SIGNS = (  # in small letters
    b"/cdn-cgi/challenge-platform/h/", b"geo.captcha-delivery.com", b"_incapsula_resource", b'id="px-captcha',
    b"id='px-captcha", b"awswafcookiedomainlist", b"errors.edgesuite.net",
    b"unusual traffic from your computer network",
)  # fmt: skip
TITLES = re.compile(
    rb"<title>\s*(?:just a moment\.\.\.|attention required! \| cloudflare|ddos-guard"
    rb"|access to this page has been denied"
    rb"|are you a robot\?|robot check|human verification|verify you are human|pardon our interruption|security check)"
)
SUBMITTING = re.compile(rb"class=[\"']g-recaptcha[\"'][^>]*data-callback=[\"']submitcallback")
SOON = 86_400  # seconds that are worth naming
SHORT = 1_500  # characters of text that a challenge page served as a success has at most


def failure(reply: Reply, now: float) -> OutriderError | None:
    """The error that a reply is; None if it is a page."""
    if is_blocked(reply):
        return _named(
            Unavailable,
            reply,
            "answered with a robot check instead of the page",
            code="blocked_by_site",
            hint="open it in a browser, or choose another source",
        )
    if 200 <= reply.status < 300:
        return None
    if reply.status in (404, 410):
        return _named(NotFound, reply, "has no such page", hint="check the address or search for the page")
    if reply.status in FORBIDDEN:
        words = FORBIDDEN[reply.status]
        hint = LOGIN_HINT if "login" in words else "choose another source"
        return _named(Refused, reply, words, code="forbidden", hint=hint)
    if reply.status in TRANSIENT or reply.status >= 500:
        wait = retry_after(reply.headers.get("retry-after", ""), now)
        words = "asks for fewer requests" if reply.status == 429 else "is in trouble"
        code = "rate_limited" if reply.status == 429 else "server_error"
        hint = f"try again in {wait:.0f} seconds" if wait and wait <= SOON else "try again another day"
        hint = hint if wait else "try again later"
        return _named(Unavailable, reply, words, code=code, wait=wait, hint=f"{hint}, or choose another source")
    return _named(Refused, reply, "did not give the page", code="http_status", hint="check the address")


def retry_after(value: str, now: float) -> float | None:
    """The seconds that a Retry-After header asks for, given as a number or a date (RFC 9110 section 10.2.3)."""
    value = value.strip()
    if value.isascii() and value.isdigit() and len(value) < 10:
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def is_blocked(reply: Reply) -> bool:
    """Whether the reply is a bot wall's challenge, whatever its status."""
    for name, values in WALL_HEADERS.items():
        if reply.headers.get(name, "").lower() in values and (name != "x-datadome" or reply.status in (401, 403)):
            return True
    if reply.status not in (200, 202, 401, 403, 405, 429, 503) or len(reply.body) > 20 * HEAD:
        return False
    if not _is_signed(reply.body):
        return False
    return reply.status != 200 or _shown(reply.body) <= SHORT


def is_login(html: str, text: str) -> bool:
    """Whether a page served as a success asks for a password and shows little else."""
    return len(text) < SHORT and PASSWORD.search(html) is not None


def is_wall(html: str) -> bool:
    """Whether what a browser shows is still a bot wall's challenge."""
    body = html.encode()
    return _is_signed(body) and _shown(body) <= SHORT


def _is_signed(body: bytes) -> bool:
    """Whether a source bears what the pages of bot walls are known by; every page that is read is asked."""
    head = body[:HEAD].lower()
    if any(sign in head for sign in SIGNS) or TITLES.search(head):
        return True
    return b"g-recaptcha" in head and SUBMITTING.search(head) is not None


def _shown(body: bytes) -> int:
    stream = tokens(body.decode("latin-1"), tags=10_000)
    return sum(len(token.raw.strip()) for token in stream if isinstance(token, Text))


def _named(
    kind: type[OutriderError], reply: Reply, words: str, *, hint: str = "", code: str = "", wait: float | None = None
) -> OutriderError:
    host, details = reply.url.split("/")[2], {"status": reply.status, "url": reply.url}
    message = f"{host} {words} (HTTP {reply.status})"
    return kind(message, hint=hint, code=code, details=details, retry_after=wait)
