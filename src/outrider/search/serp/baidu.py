"""Baidu's result page, as recorded in 2026. Its links are opaque redirects; a result's element names the address."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Engine, Layout


def parameters(query: Query) -> dict[str, Any]:
    return {"wd": query.text, "pn": query.start or None}


engine = Engine(
    name="baidu",
    title="Baidu",
    home="https://www.baidu.com",
    path="/s",
    parameters=parameters,
    layouts=(
        Layout(
            "#content_left > .c-container:has(h3 a)",
            "h3 a",
            ".c-abstract, [class*=summary-text], [class*=text_], [class*=content-gap]",
            address="mu",
        ),
    ),
    nothing=".content_none, .nors",
    ads="[data-placeid], .ec_wise_ad, [class*=tuiguang]",
    walls={"captcha": ".passMod_dialog-wrapper, [class*=passMod_verify]"},
    wall_urls={"captcha": r"^https?://wappass\.baidu\."},
    own=("baidu.com", "image.baidu.com", "recommend_list.baidu.com", "nourl.ubs.baidu.com"),
    features=frozenset({"page"}),
)
