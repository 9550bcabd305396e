"""DuckDuckGo's result pages, as recorded in 2021 and 2026.

The page without scripts is requested; the layout with scripts is known in case of a redirect to it.
"""

from typing import Any

from outrider.search.locales import choose_duckduckgo_region
from outrider.search.provider import Query
from outrider.search.result_page import Layout, SearchEngine


def build_parameters(query: Query) -> dict[str, Any]:
    """Map the query; a region is a country with a language, for instance `at-de`."""
    safe_search_levels = {"off": "-2", "moderate": None, "strict": "1"}
    freshness_codes = {"day": "d", "week": "w", "month": "m", "year": "y"}
    return {
        "q": query.text,
        "kl": choose_duckduckgo_region(query),
        "df": freshness_codes.get(query.freshness or ""),
        "kp": safe_search_levels[query.safe],
    }


engine = SearchEngine(
    name="duckduckgo",
    title="DuckDuckGo",
    base_url="https://html.duckduckgo.com",
    path="/html/",
    build_parameters=build_parameters,
    layouts=(
        Layout(".result.web-result", ".result__a", ".result__snippet"),
        Layout("article[data-testid=result]", "a[data-testid=result-title-a]", "[data-result=snippet]"),
    ),
    no_results_selector=".no-results, .result--no-result, [data-testid=no-results-message]",
    ad_selector=".result--ad, article[data-testid=ad], li[data-layout=ad]",
    block_selectors={"captcha": ".anomaly-modal__title, .anomaly-modal__modal, form[action*='anomaly.js']"},
    own_hosts=("duckduckgo.com", "www.duckduckgo.com", "links.duckduckgo.com"),
    features=frozenset({"freshness", "language", "region", "safe"}),
    max_count=20,
)
