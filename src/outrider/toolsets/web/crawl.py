"""Reading a whole site in one call, and going on with it in the next."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.pages.crawl import CrawlBudget, Crawler, CrawlPlan
from outrider.pages.crawl.crawler import StorePageFactory
from outrider.pages.crawl.plan import ReportProgress, StorePage
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.web.tools import web

if TYPE_CHECKING:
    from outrider.pages.crawl.result import CrawlResult, CrawlTally

MAX_PAGES = 10_000
MAX_CRAWL_S = 3_600
GlobPatterns = list[str] | None
NEXT_STEPS = {
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
        return "\n".join((self._summary(), *map(_format_page, self.pages), *self._more()))

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
    timeout=MAX_CRAWL_S + 60,
)
async def web_crawl(
    crawler: Crawler,
    choices: ToolOptions,
    offers: Autosave,
    call: Call,
    /,
    url: Annotated[str, Field(min_length=1, max_length=8_000, description="Where to begin")],
    max_pages: Annotated[int, Field(ge=1, le=MAX_PAGES)] = 50,
    max_depth: Annotated[int, Field(ge=0, le=20, description="Links in a row")] = 3,
    max_seconds: Annotated[int, Field(ge=1, le=MAX_CRAWL_S)] = 50,
    within: Annotated[
        Literal["path", "host", "subdomains"], Field(description="path: only below the address's folder")
    ] = "host",
    include: Annotated[GlobPatterns, Field(description="Globs over paths, e.g. /docs/*")] = None,
    exclude: GlobPatterns = None,
    store_id: Annotated[str | None, Field(max_length=100, description="Content store for the pages")] = None,
    offset: Annotated[int, Field(ge=0, description="Only list pages read, from here on")] = 0,
) -> CrawlReport:
    """Read a site by links and sitemaps and list its pages; web_fetch shows one. Call again to go on or see changes."""
    chosen, left_out = _check_globs("include", include), _check_globs("exclude", exclude)
    plan = CrawlPlan(_require_url(url), max_depth, within, chosen, left_out, robots=choices.crawl_robots)
    owner = f"{call.scope} {store_id or ''}"  # what is in a store is a crawl of its own
    if offset:
        pages, following = await _list_pages(crawler, plan, owner, offset)
        return CrawlReport(status="listing", note="web_fetch reads them", counts={}, pages=pages, next_offset=following)
    keep, tell = _build_page_saver(offers, call, store_id), _build_progress_reporter(call, max_pages)
    from outrider.core.call_codec import serialize_call

    errand = {"call": serialize_call(call), "store": store_id}
    done = await crawler.crawl(
        plan, CrawlBudget(max_pages, max_seconds), owner, store_page=keep, report_progress=tell, errand=errand
    )
    return await _build_report(crawler, plan, owner, done)


async def _build_report(crawler: Crawler, plan: CrawlPlan, owner: str, done: "CrawlResult") -> CrawlReport:
    pages, following = await _list_pages(crawler, plan, owner, 0)
    return CrawlReport(
        status=done.ending,
        note=NEXT_STEPS[done.ending],
        counts={name: count for name, count in vars(done.tally).items() if count},
        pages=pages,
        next_offset=following,
    )


async def _list_pages(crawler: Crawler, plan: CrawlPlan, owner: str, offset: int) -> tuple[list[dict[str, Any]], int]:
    """The pages from there on, and where to go on."""
    max_listed = 100  # pages in one answer
    rows = await crawler.list_pages(plan, owner, offset=offset, limit=max_listed + 1)
    return [_serialize_page(row) for row in rows[:max_listed]], offset + max_listed if len(rows) > max_listed else 0


def _serialize_page(row: dict[str, Any]) -> dict[str, Any]:
    facts = {"url": row["url"], "title": row["title"], "chars": row["chars"]} if row["state"] == "read" else {}
    entry = facts or {"url": row["url"], "state": row["state"], "why": row["detail"]}
    entry |= {"content_id": row["kept"]} if facts and row["kept"] else {}
    return entry | ({"change": row["change"]} if row["change"] in ("changed", "same") else {})


def _format_page(entry: dict[str, Any]) -> str:
    if "state" in entry:
        return f"- {entry['url']} ({entry['state']}: {entry['why']})"
    facts = (f"{entry['chars']} characters", entry.get("change"), entry.get("content_id"))
    return f"- {entry['title'] or '(no title)'} {entry['url']} ({', '.join(filter(None, facts))})"


def build_keeper(offers: Autosave) -> "StorePageFactory":
    """For crawls of processes that have died: puts their pages where the caller wanted them."""

    def resume_keep(errand: dict[str, Any]) -> "StorePage":
        from outrider.core.call_codec import parse_call

        return _build_page_saver(offers, parse_call(errand["call"]), errand["store"])

    return resume_keep


def _build_page_saver(offers: Autosave, call: Call, store_id: str | None) -> "StorePage":
    """Offers each page to the session's store, or puts it into the one asked for."""
    if store_id is None:
        return lambda page: offers.save_page(call, page)
    return lambda page: offers.save_page_to(call, page, store_id)


def _build_progress_reporter(call: Call, max_pages: int) -> "ReportProgress":
    """Progress in pages, of as many as are known or asked for."""

    async def report_progress(tally: "CrawlTally", url: str, rate: float) -> None:
        total = min(max_pages, tally.used_pages + tally.waiting)
        await call.progress(
            tally.used_pages, total, f"{tally.used_pages} pages read, {tally.waiting} waiting, {rate:.1f}/s: {url}"
        )

    return report_progress


def _require_url(url: str) -> str:
    if not url.strip():
        raise InvalidInput("url: is blank", hint="give the address to begin at")
    return url.strip()


def _check_globs(name: str, given: GlobPatterns) -> tuple[str, ...]:
    max_globs = 50
    max_glob_chars = 200  # characters of a glob
    globs = tuple(given or ())
    if any(not each.strip() or len(each) > max_glob_chars for each in globs) or len(globs) > max_globs:
        hint = f"send up to {max_globs} globs of 1 to {max_glob_chars} characters, e.g. /docs/*"
        raise InvalidInput(f"{name}: an empty or endless glob, or too many", hint=hint)
    return globs
