"""Result pages as search providers: one provider for each engine, through the browser that the app hands over."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from outrider.core.discovery import find
from outrider.search import serp
from outrider.search.failures import failure
from outrider.search.provider import Access, Powers, Provider, Query, Ran, Rate
from outrider.search.result_page import Engine, read

SUFFIX = "_page"
SECONDS = 25.0  # for one page; an engine that takes longer is down
REMEDY = "run `outrider browser install`, or set a key for another provider"


@lru_cache(maxsize=1)
def engines() -> Mapping[str, Engine]:
    """Every engine by name: those in the folder and those of plugins."""
    return {engine.name: engine for engine in find(serp, Engine, group="outrider.result_pages")}


def chosen(names: Sequence[str], where: str) -> list[Engine]:
    """The engines of those names. Raises `not_configured`, which names the setting, for one that nobody knows."""
    known = engines()
    unknown = [name for name in names if name not in known]
    if unknown:
        message = f"{where}: no engine {', '.join(map(repr, unknown))}"
        raise failure("not_configured", message, hint=f"the engines are {', '.join(known)}")
    return [known[name] for name in names]


def provider_of(engine: Engine) -> Provider:
    """The provider that reads an engine's result page. It is asked where pages are wanted, or when it is named."""

    async def run(query: Query, access: Access, powers: Powers) -> Ran:
        if powers.browser is None:
            raise failure("not_configured", "there is no browser", hint=REMEDY)
        page = await powers.browser.open(engine.address(query, access.endpoint))
        return Ran(read(engine, page, query), engine.name)

    return Provider(
        name=engine.name + SUFFIX,
        title=f"{engine.title}'s result page",
        remedy=REMEDY,
        endpoint=engine.home,
        keyless=7,
        features=engine.features,
        site_operator=True,
        max_count=engine.max_count,
        max_chars=500,
        keyless_rate=Rate(1, 1.0),
        seconds=SECONDS,
        weight=0.9,
        run=run,
        missing=_missing,
        browses=True,
    )


def _missing(powers: Powers) -> str:
    return powers.browser.missing() if powers.browser else "there is no browser"
