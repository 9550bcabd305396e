"""Result pages through `agent-browser` (npm), if an operator set it up."""

from outrider.core.errors import OutriderError
from outrider.search.failures import build_failure
from outrider.search.page_providers import resolve_engines
from outrider.search.provider import CallRate, EngineResults, ProviderAccess, Query, SearchProvider, SearchServices
from outrider.search.result_page import RenderedPage, parse_result_outline, parse_result_page


async def search_result_pages(query: Query, access: ProviderAccess, services: SearchServices) -> EngineResults:
    """Open the engines' result pages in turn until one can be read."""
    retryable_codes = frozenset({"consent", "captcha", "blocked", "bad_reply", "timeout", "unavailable"})
    browser = services.agent_browser
    if browser is None:
        raise build_failure("not_configured", "agent-browser is not set up", hint=provider.remedy)
    errors: list[OutriderError] = []
    async with browser.open_session() as session:
        for engine in resolve_engines(browser.engines, "search.browser.engines"):
            # An endpoint that an operator set is a gateway to all engines, each below its name.
            base_url = f"{access.endpoint}/{engine.name}" if access.trusted else ""
            try:
                page = await session.open_page(engine.build_url(query, base_url))
                items = parse_result_outline(engine, page.url, page.lines)
                if not items:
                    items = parse_result_page(engine, RenderedPage(page.url, await session.read_html()), query)
                return EngineResults(items, engine.name)
            except OutriderError as error:
                errors.append(error)
                if error.code not in retryable_codes:
                    raise
    last = errors[-1]
    raise type(last)("; ".join(error.message for error in errors), code=last.code, hint=last.hint)


def explain_unavailable(services: SearchServices) -> str:
    return services.agent_browser.explain_unavailable() if services.agent_browser else "it is not set up"


provider = SearchProvider(
    name="agent_browser",
    title="agent-browser",
    remedy="install it with npm and set `search.agent_browser.command`, see docs/guides/web-search.md",
    keyless_rank=8,
    site_operator=True,
    max_count=10,
    max_chars=500,
    keyless_rate=CallRate(1, 1.0),
    timeout_s=60.0,
    weight=0.8,
    run_search=search_result_pages,
    explain_unavailable=explain_unavailable,
    uses_browser=True,
)
