"""The tool web_crawl, which reads a site and continues in later calls."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from outrider.core.call_codec import parse_call, serialize_call
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.text import format_count
from outrider.pages.crawl import CrawlBudget, Crawler, CrawlPlan
from outrider.pages.crawl.crawler import StorePageFactory
from outrider.pages.crawl.plan import ReportProgress, StorePage
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.web.tools import web

if TYPE_CHECKING:
    from outrider.pages.crawl.result import CrawlTally

MAX_PAGES = 10_000
MAX_CRAWL_S = 3_600
GlobPatterns = list[str] | None
NEXT_STEPS = {
    "finished": "the site is read; web_fetch reads one of these pages, the same call later reads what has changed",
    "pages": "max_pages is reached: call again with a larger one to continue",
    "time": "time ran out: call again with the same arguments to continue",
    "trouble": "the site stopped answering: call again later with the same arguments to continue",
}


class CrawlReport(BaseModel, defer_build=True):
    """State of a crawl and one part of its pages."""

    status: str = Field(description="finished, pages, time or trouble")
    note: str = Field(description="What to do next")
    counts: dict[str, int]
    pages: list[dict[str, Any]]
    next_offset: int = 0

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        lines = [f"{self.status}: {counts or 'nothing'}. Next: {self.note}."]
        for page in self.pages:
            if "state" in page:
                lines.append(f"- {page['url']} ({page['state']}: {page['why']})")
                continue
            details = (f"{page['chars']} characters", page.get("change"), page.get("content_id"))
            lines.append(f"- {page['title'] or '(no title)'} {page['url']} ({', '.join(filter(None, details))})")
        if self.next_offset:
            lines.append(f"(more pages: call with offset={self.next_offset})")
        return "\n".join(lines)


@web.tool(
    effect="write",
    title="Read a whole site",
    open_world=True,
    untrusted=True,
    timeout=MAX_CRAWL_S + 60,
)
async def web_crawl(
    crawler: Crawler,
    options: ToolOptions,
    autosave: Autosave,
    call: Call,
    /,
    url: Annotated[str, Field(min_length=1, max_length=8_000, description="Start address")],
    max_pages: Annotated[int, Field(ge=1, le=MAX_PAGES)] = 50,
    max_depth: Annotated[int, Field(ge=0, le=20, description="Links from the start")] = 3,
    max_seconds: Annotated[int, Field(ge=1, le=MAX_CRAWL_S)] = 50,
    within: Annotated[
        Literal["path", "host", "subdomains"], Field(description="path: only below the address's folder")
    ] = "host",
    include: Annotated[GlobPatterns, Field(description="Globs over paths, e.g. /docs/*")] = None,
    exclude: GlobPatterns = None,
    store_id: Annotated[str | None, Field(max_length=100, description="Content store for the pages")] = None,
    offset: Annotated[int, Field(ge=0, description="List pages already read, from this one")] = 0,
) -> CrawlReport:
    """Read a site by links and sitemaps and list its pages; web_fetch shows one. Call again to continue or update."""
    included, excluded = check_globs("include", include), check_globs("exclude", exclude)
    if not url.strip():
        raise InvalidInput("url: is blank", hint="give the address to begin at")
    plan = CrawlPlan(url.strip(), max_depth, within, included, excluded, robots=options.crawl_robots)
    owner = f"{call.scope} {store_id or ''}"  # the same plan for another store is another crawl
    if offset:
        pages, next_offset = await _list_pages(crawler, plan, owner, offset)
        note = "web_fetch reads them" if pages else f"offset {offset} is past the end of the list; give a lower one"
        return CrawlReport(status="listing", note=note, counts={}, pages=pages, next_offset=next_offset)
    result = await crawler.crawl(
        plan,
        CrawlBudget(max_pages, max_seconds),
        owner,
        store_page=_build_page_saver(autosave, call, store_id),
        report_progress=_build_progress_reporter(call, max_pages),
        errand={"call": serialize_call(call), "store": store_id},
    )
    pages, next_offset = await _list_pages(crawler, plan, owner, 0)
    return CrawlReport(
        status=result.ending,
        note=NEXT_STEPS[result.ending],
        counts={name: count for name, count in vars(result.tally).items() if count},
        pages=pages,
        next_offset=next_offset,
    )


async def _list_pages(crawler: Crawler, plan: CrawlPlan, owner: str, offset: int) -> tuple[list[dict[str, Any]], int]:
    """Return up to 100 pages from `offset` on, and the offset of the next part (0: none)."""
    max_listed = 100
    rows = await crawler.list_pages(plan, owner, offset=offset, limit=max_listed + 1)
    entries: list[dict[str, Any]] = []
    for row in rows[:max_listed]:
        if row["state"] == "read":
            entry = {"url": row["url"], "title": row["title"], "chars": row["chars"]}
            entry |= {"content_id": row["kept"]} if row["kept"] else {}
        else:
            entry = {"url": row["url"], "state": row["state"], "why": row["detail"]}
        entries.append(entry | ({"change": row["change"]} if row["change"] in ("changed", "same") else {}))
    return entries, offset + max_listed if len(rows) > max_listed else 0


def build_page_saver_factory(autosave: Autosave) -> "StorePageFactory":
    """Return a function that saves pages of a resumed crawl.

    It reads the crawl's stored errand.
    """

    def restore_page_saver(errand: dict[str, Any]) -> "StorePage":
        return _build_page_saver(autosave, parse_call(errand["call"]), errand["store"])

    return restore_page_saver


def _build_page_saver(autosave: Autosave, call: Call, store_id: str | None) -> "StorePage":
    """Return a function that saves a page to the given store, or by default to the session's."""
    if store_id is None:
        return lambda page: autosave.save_page(call, page)
    return lambda page: autosave.save_page_to(call, page, store_id)


def _build_progress_reporter(call: Call, max_pages: int) -> "ReportProgress":
    async def report_progress(tally: "CrawlTally", url: str, rate: float) -> None:
        total = min(max_pages, tally.used_pages + tally.waiting)
        read = format_count(tally.used_pages, "page")
        await call.progress(tally.used_pages, total, f"{read} read, {tally.waiting} waiting, {rate:.1f}/s: {url}")

    return report_progress


def check_globs(name: str, patterns: GlobPatterns) -> tuple[str, ...]:
    max_globs, max_glob_chars = 50, 200
    globs = tuple(patterns or ())
    if any(not glob.strip() or len(glob) > max_glob_chars for glob in globs) or len(globs) > max_globs:
        hint = f"send up to {max_globs} globs of 1 to {max_glob_chars} characters, e.g. /docs/*"
        raise InvalidInput(f"{name}: has a glob that is empty or too long, or too many globs", hint=hint)
    return globs
