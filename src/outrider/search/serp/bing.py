"""Bing's result page, as recorded in 2021 and 2026."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Layout, SearchEngine


def build_parameters(query: Query) -> dict[str, Any]:
    """Map the query; Bing has no filter for a year."""
    safe_search_levels = {"off": "off", "moderate": None, "strict": "strict"}
    freshness_filters = {"day": 'ex1:"ez1"', "week": 'ex1:"ez2"', "month": 'ex1:"ez3"'}
    return {
        "q": query.text,
        "count": query.count,
        "first": query.offset + 1 if query.offset else None,
        "setlang": query.language_code,
        "cc": query.country_code,
        "filters": freshness_filters.get(query.freshness or ""),
        "adlt": safe_search_levels[query.safe],
    }


engine = SearchEngine(
    name="bing",
    title="Bing",
    base_url="https://www.bing.com",
    build_parameters=build_parameters,
    layouts=(Layout("#b_results > li.b_algo", "h2 a", ".b_caption p, .b_paractl, p[class*=lineclamp]"),),
    no_results_selector="#b_results > li.b_no",
    ad_selector="li.b_ad, .b_adTop, .b_adBottom",
    block_selectors={"captcha": "#b_captcha, form[action*='captcha'], iframe[src*='challenges.cloudflare.com']"},
    block_url_patterns={"captcha": r"^https?://[^/]+(?:/[^/?]+)?/(?:turing|challenge)/"},
    own_hosts=("bing.com", "cn.bing.com", "login.live.com"),
    features=frozenset({"language", "region", "safe", "page"}),
)
