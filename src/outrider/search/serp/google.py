"""Google's result page, as recorded in 2021 (without scripts) and 2026."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Engine, Layout

FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}
SAFE = {"off": "off", "moderate": None, "strict": "active"}


def parameters(query: Query) -> dict[str, Any]:
    """`num` is no longer honoured: there are ten results a page."""
    return {
        "q": query.text,
        "num": query.count,
        "start": query.start or None,
        "hl": query.lang,
        "gl": query.country.lower() if query.country else None,
        "tbs": FRESHNESS.get(query.freshness or ""),
        "safe": SAFE[query.safe],
    }


engine = Engine(
    name="google",
    title="Google",
    home="https://www.google.com",
    parameters=parameters,
    layouts=(
        Layout("#rso div.wHYlTd, #rso div.tF2Cxc", "a:has(h3)", ".VwiC3b, [data-sncf]", "h3"),
        Layout("#search div.g", "a:has(h3)", ".VwiC3b, .IsZvec, .st", "h3"),
        Layout("#main div.ZINbbc", "a:has(h3)", "a:has(h3) ~ div, div.kCrYT:nth-of-type(n+2)", "h3"),
    ),
    nothing="#botstuff p[role=heading], #topstuff p[role=heading], #topstuff .card-section",
    ads="#tads, #tadsb, #bottomads, [data-text-ad], .commercial-unit-desktop-top",
    walls={"consent": "form[action*='consent.google.']", "blocked": "iframe[src*='/httpservice/retry/enablejs']"},
    wall_urls={"consent": r"^https?://consent\.(?:google|youtube)\.", "captcha": r"^https?://[^/]+(?:/[^/?]+)?/sorry/"},
    own=("google.com", "accounts.google.com", "consent.google.com", "webcache.googleusercontent.com"),
    features=frozenset({"freshness", "language", "region", "safe", "page"}),
)
