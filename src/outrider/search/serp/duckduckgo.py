"""DuckDuckGo's result page: the one without scripts that is asked for, and the one with scripts (2021 and 2026)."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Engine, Layout

FRESHNESS = {"day": "d", "week": "w", "month": "m", "year": "y"}
SAFE = {"off": "-2", "moderate": None, "strict": "1"}


def parameters(query: Query) -> dict[str, Any]:
    """A region is a country with a language, for instance `at-de`."""
    region = f"{query.country}-{query.lang}".lower() if query.country and query.lang else None
    return {"q": query.text, "kl": region, "df": FRESHNESS.get(query.freshness or ""), "kp": SAFE[query.safe]}


engine = Engine(
    name="duckduckgo",
    title="DuckDuckGo",
    home="https://html.duckduckgo.com",
    path="/html/",
    parameters=parameters,
    layouts=(
        Layout(".result.web-result", ".result__a", ".result__snippet"),
        Layout("article[data-testid=result]", "a[data-testid=result-title-a]", "[data-result=snippet]"),
    ),
    nothing=".no-results, .result--no-result, [data-testid=no-results-message]",
    ads=".result--ad, article[data-testid=ad], li[data-layout=ad]",
    walls={"captcha": ".anomaly-modal__title, .anomaly-modal__modal, form[action*='anomaly.js']"},
    own=("duckduckgo.com", "www.duckduckgo.com", "links.duckduckgo.com"),
    features=frozenset({"freshness", "safe"}),
    max_count=20,
)
