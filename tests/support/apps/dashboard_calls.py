"""Generate the call records of a busy week, the same each time."""

import random
import time

from outrider.core.call_records import CallRecord, CallRecorder
from outrider.core.database.database import Database
from outrider.search.health_ledger import HealthLedger

HOSTILE_HTML = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
TOOL_PROFILES = (  # toolset, tool, seconds, characters, outcomes
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
OUTCOME_MESSAGES = {
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
PROVIDER_NAMES = ("brave", "duckduckgo", "exa", "brave+exa")


def generate_calls(count: int, *, end_time: float | None = None, hours: float = 150, seed: int = 7) -> list[CallRecord]:
    """Generate this many calls in these hours, the newest first; some texts contain scripts."""
    chance, now = random.Random(seed), end_time or time.time()
    return [_generate_call(chance, now - hours * 3600 * (number / count) ** 1.6, number) for number in range(count)]


def _generate_call(rng: random.Random, at: float, number: int) -> CallRecord:
    toolset, tool, seconds, size, outcomes = rng.choice(TOOL_PROFILES)
    outcome = rng.choice(outcomes)
    host = rng.choice(("example.com", "shop.example", "news.example", "a-very-long-host-name.of.somebody.example"))
    message = OUTCOME_MESSAGES.get(outcome, "").format(host=host, number=number)
    hostile = number % 50 == 3
    arguments = {"url": f"https://{host}/{number}", "query": HOSTILE_HTML if hostile else f"words about {number}"}
    searched = tool == "web_search" and outcome == "ok"
    return CallRecord(
        id=f"{generate_call_id(rng)}",
        at=at,
        session=rng.choice(("default", "research", "shopping-assistant-of-the-week", "s-7")),
        assistant=None,
        thread=None,
        identity=None,
        toolset=toolset,
        tool=tool,
        arguments=arguments,
        outcome=outcome,
        message=HOSTILE_HTML if hostile and outcome != "ok" else message,
        seconds=round(rng.lognormvariate(0, 0.7) * seconds, 3),
        size=0 if outcome not in ("ok", "error") else int(rng.lognormvariate(0, 0.8) * size),
        provider=rng.choice(PROVIDER_NAMES) if searched else None,
    )


def generate_call_id(rng: random.Random) -> str:
    """Generate an id like those of calls."""
    digits = f"{rng.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


async def record_calls(database: Database, events: list[CallRecord]) -> None:
    """Write calls to the record."""
    records = CallRecorder(database)
    for start in range(0, len(events), 1_000):
        for each in events[start : start + 1_000]:
            records.record(each)
        await records.flush()


async def record_provider_health(database: Database) -> None:
    """Record the health of working and failing search providers."""
    ledger = HealthLedger(database, time.time)
    for seconds in (0.4, 0.5, 0.6):
        await ledger.update(
            "tavily:keyless", lambda each, seconds=seconds: each.record_success(time.time(), seconds, 812)
        )
    for _ in range(5):
        await ledger.update("exa:keyless", lambda each: each.record_failure(time.time(), "captcha"))
    await ledger.update("you:keyless", lambda each: each.record_failure(time.time(), "rate_limited", 240))
