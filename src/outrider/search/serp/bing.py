"""Bing's result page, as recorded in 2021 and 2026."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Engine, Layout

FRESHNESS = {"day": 'ex1:"ez1"', "week": 'ex1:"ez2"', "month": 'ex1:"ez3"'}
SAFE = {"off": "off", "moderate": None, "strict": "strict"}


def parameters(query: Query) -> dict[str, Any]:
    """There is no filter for a year."""
    return {
        "q": query.text,
        "count": query.count,
        "first": query.start + 1 if query.start else None,
        "setlang": query.lang,
        "cc": query.country,
        "filters": FRESHNESS.get(query.freshness or ""),
        "adlt": SAFE[query.safe],
    }


engine = Engine(
    name="bing",
    title="Bing",
    home="https://www.bing.com",
    parameters=parameters,
    layouts=(Layout("#b_results > li.b_algo", "h2 a", ".b_caption p, .b_paractl, p[class*=lineclamp]"),),
    nothing="#b_results > li.b_no",
    ads="li.b_ad, .b_adTop, .b_adBottom",
    walls={"captcha": "#b_captcha, form[action*='captcha'], iframe[src*='challenges.cloudflare.com']"},
    wall_urls={"captcha": r"^https?://[^/]+(?:/[^/?]+)?/(?:turing|challenge)/"},
    own=("bing.com", "cn.bing.com", "login.live.com"),
    features=frozenset({"language", "region", "safe", "page"}),
)
