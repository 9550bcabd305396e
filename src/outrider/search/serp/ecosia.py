"""Ecosia's result page behind Cloudflare, as recorded in 2026."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Layout, SearchEngine


def build_parameters(query: Query) -> dict[str, Any]:
    return {"q": query.text, "p": query.page - 1 or None}


engine = SearchEngine(
    name="ecosia",
    title="Ecosia",
    base_url="https://www.ecosia.org",
    build_parameters=build_parameters,
    layouts=(
        Layout("article.web-result", ".result__title a", ".web-result__description, .result__description", "h2, h3"),
    ),
    no_results_selector=".no-results, .web__no-results",
    ad_selector="[data-test-id*=ad-result], article.ad-result, .mainline__ad",
    own_hosts=("ecosia.org", "blog.ecosia.org"),
)
