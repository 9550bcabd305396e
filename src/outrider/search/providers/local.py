"""Search pages that were read before; the last of the chain, which also works offline."""

from typing import Any

from outrider.search.failures import build_failure
from outrider.search.provider import ProviderAccess, Query, ResultItem, SearchProvider, SearchServices


async def search_local_index(query: Query, _access: ProviderAccess, services: SearchServices) -> list[ResultItem]:
    """Search with the app's function, whose results may be objects or mappings."""
    if services.search_local is None:
        raise build_failure("not_configured", "the local index is not available")
    hits: list[Any] = list(await services.search_local(query))
    names = ("title", "url", "snippet", "published", "score")
    return [hit if isinstance(hit, dict) else {name: getattr(hit, name, None) for name in names} for hit in hits]


def explain_unavailable(services: SearchServices) -> str:
    return "" if services.search_local else "nothing is indexed here"


provider = SearchProvider(
    name="local",
    title="the local index",
    remedy="read some pages first: what was read can be searched",
    keyless_rank=6,
    features=frozenset({"site"}),
    max_count=20,
    weight=0.7,
    run_search=search_local_index,
    explain_unavailable=explain_unavailable,
    is_local=True,
)
