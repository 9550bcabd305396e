"""Result pages through the program `agent-browser` (npm), where an operator has set it up."""

from outrider.core.errors import OutriderError
from outrider.search.browsing import chosen
from outrider.search.failures import failure
from outrider.search.provider import Access, Powers, Provider, Query, Ran, Rate
from outrider.search.result_page import Engine, Page, read, read_lines

ELSEWHERE = frozenset({"consent", "captcha", "blocked", "bad_reply", "timeout", "unavailable"})


async def run(query: Query, access: Access, powers: Powers) -> Ran:
    """Opens the engines' result pages in turn until one can be read."""
    browser = powers.agent_browser
    if browser is None:
        raise failure("not_configured", "agent-browser is not set up", hint=provider.remedy)
    failed: list[OutriderError] = []
    pages = chosen(browser.engines, "search.agent_browser.engines")
    if not pages:
        raise failure("not_configured", "search.agent_browser.engines names no engine", hint="name google, or another")
    async with browser.visit() as visit:
        for engine in pages:
            try:
                seen = await visit.see(engine.address(query, _home(engine, access)))
                found = read_lines(engine, seen.url, seen.lines)
                return Ran(found or read(engine, Page(seen.url, await visit.html()), query), engine.name)
            except OutriderError as error:
                failed.append(error)
                if error.code not in ELSEWHERE:
                    raise
    last = failed[-1]
    raise type(last)("; ".join(error.message for error in failed), code=last.code, hint=last.hint)


def _home(engine: Engine, access: Access) -> str:
    """An endpoint that an operator set stands before all engines, which are told apart by name."""
    return f"{access.endpoint}/{engine.name}" if access.trusted else ""


def missing(powers: Powers) -> str:
    return powers.agent_browser.missing() if powers.agent_browser else "it is not set up"


provider = Provider(
    name="agent_browser",
    title="agent-browser",
    remedy="install it with npm and set `search.agent_browser.command`, see docs/guides/web-search.md",
    keyless=8,
    site_operator=True,
    max_count=10,
    max_chars=500,
    keyless_rate=Rate(1, 1.0),
    seconds=60.0,
    weight=0.8,
    run=run,
    missing=missing,
    browses=True,
)
