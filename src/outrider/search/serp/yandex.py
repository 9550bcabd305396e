"""Yandex's result page, as recorded in 2021 and 2026."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Engine, Layout


def parameters(query: Query) -> dict[str, Any]:
    return {"text": query.text, "lang": query.lang}


engine = Engine(
    name="yandex",
    title="Yandex",
    home="https://yandex.com",
    path="/search/",
    parameters=parameters,
    layouts=(
        Layout("li.serp-item", "a.OrganicTitle-Link, a.organic__url", ".OrganicText, .Organic-ContentWrapper", ""),
    ),
    nothing=".EmptySearchResults, .misspell__message_type_empty",
    ads="li.serp-item:has(.AdvLabel), li.serp-item:has([class*=AdvLabel]), .serp-adv-item",
    walls={"captcha": ".CheckboxCaptcha, .AdvancedCaptcha, form[action*='/checkcaptcha']"},
    wall_urls={"captcha": r"^https?://[^/]+(?:/[^/?]+)?/showcaptcha"},
    own=("yandex.ru", "www.yandex.com", "www.yandex.ru", "yabs.yandex.ru", "yabs.yandex.com", "an.yandex.ru"),
    features=frozenset({"language"}),
)
