"""Result pages as search providers: one provider for each engine, through the browser that the app hands over."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from outrider.core.discovery import discover_instances
from outrider.search import serp
from outrider.search.failures import build_failure
from outrider.search.provider import CallRate, EngineResults, ProviderAccess, Query, SearchProvider, SearchServices
from outrider.search.result_page import SearchEngine, parse_result_page

PAGE_SUFFIX = "_page"
BROWSER_REMEDY = "run `outrider browser install`, or set a key for another provider"


@lru_cache(maxsize=1)
def load_engines() -> Mapping[str, SearchEngine]:
    """Every engine by name: those in the folder and those of plugins."""
    return {engine.name: engine for engine in discover_instances(serp, SearchEngine, group="outrider.result_pages")}


def resolve_engines(names: Sequence[str], setting: str) -> list[SearchEngine]:
    """The engines of those names. Raises `not_configured`, which names the setting, for one that nobody knows."""
    known = load_engines()
    unknown = [name for name in names if name not in known]
    if unknown:
        message = f"{setting}: no engine {', '.join(map(repr, unknown))}"
        raise build_failure("not_configured", message, hint=f"the engines are {', '.join(known)}")
    return [known[name] for name in names]


def build_page_provider(engine: SearchEngine) -> SearchProvider:
    """The provider that reads an engine's result page. It is asked where pages are wanted, or when it is named."""
    timeout_s = 25.0  # for one page; an engine that takes longer is down

    async def search_page(query: Query, access: ProviderAccess, powers: SearchServices) -> EngineResults:
        if powers.browser is None:
            raise build_failure("not_configured", "there is no browser", hint=BROWSER_REMEDY)
        page = await powers.browser.open_page(engine.build_url(query, access.endpoint))
        return EngineResults(parse_result_page(engine, page, query), engine.name)

    return SearchProvider(
        name=engine.name + PAGE_SUFFIX,
        title=f"{engine.title}'s result page",
        remedy=BROWSER_REMEDY,
        endpoint=engine.base_url,
        keyless_rank=7,
        features=engine.features,
        site_operator=True,
        max_count=engine.max_count,
        max_chars=500,
        keyless_rate=CallRate(1, 1.0),
        timeout_s=timeout_s,
        weight=0.9,
        run_search=search_page,
        explain_unavailable=_explain_unavailable,
        uses_browser=True,
    )


def _explain_unavailable(services: SearchServices) -> str:
    return services.browser.explain_unavailable() if services.browser else "there is no browser"
