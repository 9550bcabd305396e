"""Yahoo's result page, as recorded in 2021. Its links are redirects that name their target."""

from typing import Any

from outrider.search.provider import Query
from outrider.search.result_page import Engine, Layout


def parameters(query: Query) -> dict[str, Any]:
    return {"p": query.text, "b": query.start + 1 if query.start else None}


engine = Engine(
    name="yahoo",
    title="Yahoo",
    home="https://search.yahoo.com",
    parameters=parameters,
    layouts=(Layout("ol.searchCenterMiddle > li:has(.algo), #web li:has(.algo)", "h3 a", ".compText p, .compText"),),
    nothing=".zrp, #main .compNoResults, ol.searchCenterMiddle .zrp",
    ads=".searchCenterTopAds, .searchCenterBottomAds, .ads",
    wall_urls={"consent": r"^https?://(?:consent|guce)\.yahoo\."},
    own=("yahoo.com", "www.yahoo.com", "r.search.yahoo.com", "images.search.yahoo.com", "video.search.yahoo.com"),
    features=frozenset({"page"}),
    max_count=7,
)
