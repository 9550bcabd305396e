"""What was read here before: the end of the chain, and the only one that works offline."""

from typing import Any

from outrider.search.failures import failure
from outrider.search.provider import Access, Item, Powers, Provider, Query


async def run(query: Query, _access: Access, powers: Powers) -> list[Item]:
    """Searches by the function that the app handed over; its results may be objects or mappings."""
    if powers.local is None:
        raise failure("not_configured", "the local index is not available")
    found: list[Any] = list(await powers.local(query))
    return [each if isinstance(each, dict) else _item(each) for each in found]


def _item(hit: Any) -> Item:
    return {name: getattr(hit, name, None) for name in ("title", "url", "snippet", "published", "score")}


def missing(powers: Powers) -> str:
    return "" if powers.local else "nothing is indexed here"


provider = Provider(
    name="local",
    title="the local index",
    remedy="read some pages first: what was read can be searched",
    keyless=6,
    features=frozenset({"site"}),
    max_count=20,
    weight=0.7,
    run=run,
    missing=missing,
    remembers=True,
)
