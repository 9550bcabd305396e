"""Yandex's result page, as recorded in 2021 and 2026."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Layout, SearchEngine


def build_parameters(query: Query) -> dict[str, Any]:
    return {"text": query.text, "lang": query.language_code}


engine = SearchEngine(
    name="yandex",
    title="Yandex",
    base_url="https://yandex.com",
    path="/search/",
    build_parameters=build_parameters,
    layouts=(
        Layout("li.serp-item", "a.OrganicTitle-Link, a.organic__url", ".OrganicText, .Organic-ContentWrapper", ""),
    ),
    no_results_selector=".EmptySearchResults, .misspell__message_type_empty",
    ad_selector="li.serp-item:has(.AdvLabel), li.serp-item:has([class*=AdvLabel]), .serp-adv-item",
    block_selectors={"captcha": ".CheckboxCaptcha, .AdvancedCaptcha, form[action*='/checkcaptcha']"},
    block_url_patterns={"captcha": r"^https?://[^/]+(?:/[^/?]+)?/showcaptcha"},
    own_hosts=("yandex.ru", "www.yandex.com", "www.yandex.ru", "yabs.yandex.ru", "yabs.yandex.com", "an.yandex.ru"),
    features=frozenset({"language"}),
)
