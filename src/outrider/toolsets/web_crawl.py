"""Reading a whole site in one call, and going on with it in the next."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.pages.crawl import Budget, Crawler, Plan
from outrider.pages.crawl.crawler import Keeper
from outrider.pages.crawl.plan import Keep, Tell
from outrider.toolsets.choices import Choices
from outrider.toolsets.content_store_offers import Offers
from outrider.toolsets.web import web

if TYPE_CHECKING:
    from outrider.pages.crawl.crawled import Crawled, Tally

LONGEST = 200  # characters of a glob
MOST_GLOBS = 50
LISTED = 100  # pages in one answer
MOST_PAGES = 10_000
MOST_SECONDS = 3_600
Patterns = list[str] | None
NEXT = {
    "finished": "the site is read; web_fetch reads one of these pages, the same call later reads what has changed",
    "pages": "max_pages is reached: call again with a larger one to go on",
    "time": "the time is up: call again with the same arguments to go on",
    "trouble": "the site stopped answering: call again later with the same arguments to go on",
}


class CrawlReport(BaseModel, defer_build=True):
    """`status` says how it ended, `note` what to do next."""

    status: str = Field(description="finished, pages, time or trouble")
    note: str = Field(description="What to do next")
    counts: dict[str, int]
    pages: list[dict[str, Any]]
    next_offset: int = 0

    def __str__(self) -> str:
        return "\n".join((self._summary(), *map(_line, self.pages), *self._more()))

    def _summary(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        return f"{self.status}: {counts or 'nothing'}. Next: {self.note}."

    def _more(self) -> list[str]:
        return [f"(more pages: call with offset={self.next_offset})"] if self.next_offset else []


@web.tool(
    effect="write",
    title="Read a whole site",
    open_world=True,
    untrusted=True,
    timeout=MOST_SECONDS + 60,
)
async def web_crawl(
    crawler: Crawler,
    choices: Choices,
    offers: Offers,
    call: Call,
    /,
    url: Annotated[str, Field(min_length=1, max_length=8_000, description="Where to begin")],
    max_pages: Annotated[int, Field(ge=1, le=MOST_PAGES)] = 50,
    max_depth: Annotated[int, Field(ge=0, le=20, description="Links in a row")] = 3,
    max_seconds: Annotated[int, Field(ge=1, le=MOST_SECONDS)] = 50,
    within: Annotated[
        Literal["path", "host", "subdomains"], Field(description="path: only below the address's folder")
    ] = "host",
    include: Annotated[Patterns, Field(description="Globs over paths, e.g. /docs/*")] = None,
    exclude: Patterns = None,
    store_id: Annotated[str | None, Field(max_length=100, description="Content store for the pages")] = None,
    offset: Annotated[int, Field(ge=0, description="Only list pages read, from here on")] = 0,
) -> CrawlReport:
    """Read a site by links and sitemaps and list its pages; web_fetch shows one. Call again to go on or see changes."""
    chosen, left_out = _globs("include", include), _globs("exclude", exclude)
    plan = Plan(_not_blank(url), max_depth, within, chosen, left_out, robots=choices.crawl_robots)
    owner = f"{call.scope} {store_id or ''}"  # what is in a store is a crawl of its own
    if offset:
        pages, following = await _listed(crawler, plan, owner, offset)
        return CrawlReport(status="listing", note="web_fetch reads them", counts={}, pages=pages, next_offset=following)
    keep, tell = _keeping(offers, call, store_id), _telling(call, max_pages)
    from outrider.core.carried import call_facts

    errand = {"call": call_facts(call), "store": store_id}
    done = await crawler.crawl(plan, Budget(max_pages, max_seconds), owner, keep=keep, tell=tell, errand=errand)
    return await _report(crawler, plan, owner, done)


async def _report(crawler: Crawler, plan: Plan, owner: str, done: "Crawled") -> CrawlReport:
    pages, following = await _listed(crawler, plan, owner, 0)
    return CrawlReport(
        status=done.ending,
        note=NEXT[done.ending],
        counts={name: count for name, count in vars(done.tally).items() if count},
        pages=pages,
        next_offset=following,
    )


async def _listed(crawler: Crawler, plan: Plan, owner: str, offset: int) -> tuple[list[dict[str, Any]], int]:
    """The pages from there on, and where to go on."""
    rows = await crawler.listing(plan, owner, offset=offset, limit=LISTED + 1)
    return [_entry(row) for row in rows[:LISTED]], offset + LISTED if len(rows) > LISTED else 0


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    facts = {"url": row["url"], "title": row["title"], "chars": row["chars"]} if row["state"] == "read" else {}
    entry = facts or {"url": row["url"], "state": row["state"], "why": row["detail"]}
    entry |= {"content_id": row["kept"]} if facts and row["kept"] else {}
    return entry | ({"change": row["change"]} if row["change"] in ("changed", "same") else {})


def _line(entry: dict[str, Any]) -> str:
    if "state" in entry:
        return f"- {entry['url']} ({entry['state']}: {entry['why']})"
    facts = (f"{entry['chars']} characters", entry.get("change"), entry.get("content_id"))
    return f"- {entry['title'] or '(no title)'} {entry['url']} ({', '.join(filter(None, facts))})"


def keeper(offers: Offers) -> "Keeper":
    """For crawls of processes that have died: puts their pages where the caller wanted them."""

    def keep(errand: dict[str, Any]) -> "Keep":
        from outrider.core.carried import carried_call

        return _keeping(offers, carried_call(errand["call"]), errand["store"])

    return keep


def _keeping(offers: Offers, call: Call, store_id: str | None) -> "Keep":
    """Offers each page to the session's store, or puts it into the one asked for."""
    if store_id is None:
        return lambda page: offers.page(call, page)
    return lambda page: offers.into(call, page, store_id)


def _telling(call: Call, most: int) -> "Tell":
    """Progress in pages, of as many as are known or asked for."""

    async def tell(tally: "Tally", url: str, rate: float) -> None:
        total = min(most, tally.spent + tally.waiting)
        await call.progress(
            tally.spent, total, f"{tally.spent} pages read, {tally.waiting} waiting, {rate:.1f}/s: {url}"
        )

    return tell


def _not_blank(url: str) -> str:
    if not url.strip():
        raise InvalidInput("url: is blank", hint="give the address to begin at")
    return url.strip()


def _globs(name: str, given: Patterns) -> tuple[str, ...]:
    globs = tuple(given or ())
    if any(not each.strip() or len(each) > LONGEST for each in globs) or len(globs) > MOST_GLOBS:
        hint = f"send up to {MOST_GLOBS} globs of 1 to {LONGEST} characters, e.g. /docs/*"
        raise InvalidInput(f"{name}: an empty or endless glob, or too many", hint=hint)
    return globs
