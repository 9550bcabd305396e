"""Yahoo's result page, as recorded in 2021; its links are redirects that name their target."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Layout, SearchEngine


def build_parameters(query: Query) -> dict[str, Any]:
    return {"p": query.text, "b": query.offset + 1 if query.offset else None}


engine = SearchEngine(
    name="yahoo",
    title="Yahoo",
    base_url="https://search.yahoo.com",
    build_parameters=build_parameters,
    layouts=(Layout("ol.searchCenterMiddle > li:has(.algo), #web li:has(.algo)", "h3 a", ".compText p, .compText"),),
    no_results_selector=".zrp, #main .compNoResults, ol.searchCenterMiddle .zrp",
    ad_selector=".searchCenterTopAds, .searchCenterBottomAds, .ads",
    block_url_patterns={"consent": r"^https?://(?:consent|guce)\.yahoo\."},
    own_hosts=("yahoo.com", "www.yahoo.com", "r.search.yahoo.com", "images.search.yahoo.com", "video.search.yahoo.com"),
    features=frozenset({"page"}),
    max_count=7,
)
