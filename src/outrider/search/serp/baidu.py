"""Baidu's result page, as recorded in 2026.

Its links are opaque redirects, but each result's element has the address as an attribute.
"""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Layout, SearchEngine


def build_parameters(query: Query) -> dict[str, Any]:
    return {"wd": query.text, "pn": query.offset or None}


engine = SearchEngine(
    name="baidu",
    title="Baidu",
    base_url="https://www.baidu.com",
    path="/s",
    build_parameters=build_parameters,
    layouts=(
        Layout(
            "#content_left > .c-container:has(h3 a)",
            "h3 a",
            ".c-abstract, [class*=summary-text], [class*=text_], [class*=content-gap]",
            url_attribute="mu",
        ),
    ),
    no_results_selector=".content_none, .nors",
    ad_selector="[data-placeid], .ec_wise_ad, [class*=tuiguang]",
    block_selectors={"captcha": ".passMod_dialog-wrapper, [class*=passMod_verify]"},
    block_url_patterns={"captcha": r"^https?://wappass\.baidu\."},
    own_hosts=("baidu.com", "image.baidu.com", "recommend_list.baidu.com", "nourl.ubs.baidu.com"),
    features=frozenset({"page"}),
)
