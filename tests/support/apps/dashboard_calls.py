"""A record of calls as a busy week leaves it, the same each time."""

import random
import time

from outrider.core.db import Database
from outrider.core.events import Event, Events
from outrider.search.health import Ledger

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
TOOLS = (  # toolset, tool, seconds, characters, outcomes
    ("web", "web_search", 0.8, 4_000, ("ok",) * 12 + ("search_failed", "not_configured")),
    ("web", "web_fetch", 1.4, 9_000, ("ok",) * 9 + ("timeout", "http_404", "blocked")),
    ("browser", "navigateToUrl", 1.9, 2_500, ("ok",) * 14 + ("dns", "timeout")),
    ("browser", "clickElement", 0.35, 900, ("ok",) * 10 + ("not_found", "blocked")),
    ("browser", "inputText", 0.2, 500, ("ok",) * 10 + ("asks",)),
    ("browser", "extractPageContent", 0.12, 11_000, ("ok",)),
    ("content_store", "addContent", 0.05, 200, ("ok",)),
    ("content_store", "keywordSimilaritySearch", 0.03, 3_200, ("ok",)),
    ("workspace", "run_python", 3.5, 1_200, ("ok",) * 6 + ("error", "cancelled")),
    ("run_agent", "run_researcher", 65.0, 3_000, ("ok",) * 8 + ("asks", "budget", "bug")),
)
SAID = {
    "timeout": "{host} did not answer within 30 seconds",
    "http_404": "http://{host}/page/{number} answered 404",
    "blocked": "'{host}' shows a captcha",
    "dns": "{host} has no address",
    "not_found": "no element '#item-{number}'",
    "search_failed": "all providers failed: brave (timeout), exa (quota)",
    "not_configured": "no search provider can be used: none has a key, and keyless use is off",
    "budget": "the run has used {number} of {number} tokens",
    "bug": "bug in run_researcher (incident {number:08x})",
}
PROVIDERS = ("brave", "duckduckgo", "exa", "brave+exa")


def calls(count: int, *, until: float | None = None, hours: float = 150, seed: int = 7) -> list[Event]:
    """So many calls in these hours, the newest first; some texts try to be scripts."""
    chance, now = random.Random(seed), until or time.time()
    return [_call(chance, now - hours * 3600 * (number / count) ** 1.6, number) for number in range(count)]


def _call(chance: random.Random, at: float, number: int) -> Event:
    toolset, tool, seconds, size, outcomes = chance.choice(TOOLS)
    outcome = chance.choice(outcomes)
    host = chance.choice(("example.com", "shop.example", "news.example", "a-very-long-host-name.of.somebody.example"))
    message = SAID.get(outcome, "").format(host=host, number=number)
    hostile = number % 50 == 3
    arguments = {"url": f"https://{host}/{number}", "query": HOSTILE if hostile else f"words about {number}"}
    searched = tool == "web_search" and outcome == "ok"
    return Event(
        id=f"{seed_id(chance)}",
        at=at,
        session=chance.choice(("default", "research", "shopping-assistant-of-the-week", "s-7")),
        assistant=None,
        thread=None,
        identity=None,
        toolset=toolset,
        tool=tool,
        arguments=arguments,
        outcome=outcome,
        message=HOSTILE if hostile and outcome != "ok" else message,
        seconds=round(chance.lognormvariate(0, 0.7) * seconds, 3),
        size=0 if outcome not in ("ok", "error") else int(chance.lognormvariate(0, 0.8) * size),
        provider=chance.choice(PROVIDERS) if searched else None,
    )


def seed_id(chance: random.Random) -> str:
    """An id as calls have it."""
    digits = f"{chance.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


async def record(database: Database, events: list[Event]) -> None:
    """Writes calls into the record."""
    records = Events(database)
    for start in range(0, len(events), 1_000):
        for each in events[start : start + 1_000]:
            records.record(each)
        await records.flush()


async def providers(database: Database) -> None:
    """Some search providers that do well, and some that do not."""
    ledger = Ledger(database, time.time)
    for seconds in (0.4, 0.5, 0.6):
        await ledger.change("tavily:keyless", lambda each, seconds=seconds: each.succeeded(time.time(), seconds, 812))
    for _ in range(5):
        await ledger.change("exa:keyless", lambda each: each.failed(time.time(), "captcha"))
    await ledger.change("you:keyless", lambda each: each.failed(time.time(), "rate_limited", 240))
