"""Search providers that read an engine's result page in a browser."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from outrider.core.discovery import discover_instances
from outrider.search import serp
from outrider.search.failures import build_failure
from outrider.search.provider import CallRate, EngineResults, ProviderAccess, Query, SearchProvider, SearchServices
from outrider.search.result_page import SearchEngine, parse_result_page

PAGE_SUFFIX = "_page"  # of the provider's name, after that of the engine


@lru_cache(maxsize=1)
def load_engines() -> Mapping[str, SearchEngine]:
    """Return every engine by name: the built-in ones and those of plugins."""
    return {engine.name: engine for engine in discover_instances(serp, SearchEngine, group="outrider.result_pages")}


def resolve_engines(names: Sequence[str], setting: str) -> list[SearchEngine]:
    """Return the engines of those names. Raises `not_configured`, which names the setting, for an unknown one."""
    known = load_engines()
    unknown = [name for name in names if name not in known]
    if unknown:
        message = f"{setting}: no engine {', '.join(map(repr, unknown))}"
        raise build_failure("not_configured", message, hint=f"the engines are {', '.join(known)}")
    return [known[name] for name in names]


def build_page_provider(engine: SearchEngine) -> SearchProvider:
    """Return the provider that reads an engine's result page.

    It is used if result pages are enabled or it is named.
    """
    browser_remedy = "run `outrider browser install`, or set a key for another provider"

    async def search_page(query: Query, access: ProviderAccess, services: SearchServices) -> EngineResults:
        if services.browser is None:
            raise build_failure("not_configured", "no browser is available", hint=browser_remedy)
        page = await services.browser.open_page(engine.build_url(query, access.endpoint))
        return EngineResults(parse_result_page(engine, page, query), engine.name)

    def explain_unavailable(services: SearchServices) -> str:
        return services.browser.explain_unavailable() if services.browser else "no browser is available"

    return SearchProvider(
        name=engine.name + PAGE_SUFFIX,
        title=f"{engine.title}'s result page",
        remedy=browser_remedy,
        endpoint=engine.base_url,
        keyless_rank=7,
        features=engine.features,
        site_operator=True,
        max_count=engine.max_count,
        max_chars=500,
        keyless_rate=CallRate(1, 1.0),
        timeout_s=25.0,  # for one page; an engine that takes longer is down
        weight=0.9,
        run_search=search_page,
        explain_unavailable=explain_unavailable,
        uses_browser=True,
    )
