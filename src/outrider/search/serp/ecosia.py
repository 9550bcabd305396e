"""Ecosia's result page, as recorded in 2026. Cloudflare stands before it."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Engine, Layout


def parameters(query: Query) -> dict[str, Any]:
    return {"q": query.text, "p": query.page - 1 or None}


engine = Engine(
    name="ecosia",
    title="Ecosia",
    home="https://www.ecosia.org",
    parameters=parameters,
    layouts=(
        Layout("article.web-result", ".result__title a", ".web-result__description, .result__description", "h2, h3"),
    ),
    nothing=".no-results, .web__no-results",
    ads="[data-test-id*=ad-result], article.ad-result, .mainline__ad",
    own=("ecosia.org", "blog.ecosia.org"),
)
