"""Google's result page, as recorded in 2021 (without scripts) and 2026."""

from typing import Any

from outrider.search.locales import (
    build_google_time_filter,
    choose_google_country,
    choose_google_language,
    choose_google_restriction,
)
from outrider.search.provider import Query
from outrider.search.result_page import Layout, SearchEngine


def build_parameters(query: Query) -> dict[str, Any]:
    """Map the query; Google no longer honours `num` and shows ten results a page."""
    safe_search_levels = {"off": "off", "moderate": None, "strict": "active"}
    return {
        "q": query.text,
        "num": query.count,
        "start": query.offset or None,
        "hl": choose_google_language(query),
        "lr": choose_google_restriction(query),
        "gl": choose_google_country(query),
        "tbs": build_google_time_filter(query),
        "safe": safe_search_levels[query.safe],
    }


engine = SearchEngine(
    name="google",
    title="Google",
    base_url="https://www.google.com",
    build_parameters=build_parameters,
    layouts=(
        Layout("#rso div.wHYlTd, #rso div.tF2Cxc", "a:has(h3)", ".VwiC3b, [data-sncf]", "h3"),
        Layout("#search div.g", "a:has(h3)", ".VwiC3b, .IsZvec, .st", "h3"),
        Layout("#main div.ZINbbc", "a:has(h3)", "a:has(h3) ~ div, div.kCrYT:nth-of-type(n+2)", "h3"),
    ),
    no_results_selector="#botstuff p[role=heading], #topstuff p[role=heading], #topstuff .card-section",
    ad_selector="#tads, #tadsb, #bottomads, [data-text-ad], .commercial-unit-desktop-top",
    block_selectors={
        "consent": "form[action*='consent.google.']",
        "blocked": "iframe[src*='/httpservice/retry/enablejs']",
    },
    block_url_patterns={
        "consent": r"^https?://consent\.(?:google|youtube)\.",
        "captcha": r"^https?://[^/]+(?:/[^/?]+)?/sorry/",
    },
    own_hosts=("google.com", "accounts.google.com", "consent.google.com", "webcache.googleusercontent.com"),
    features=frozenset({"freshness", "dates", "language", "region", "safe", "page"}),
)
