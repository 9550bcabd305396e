"""The tool web_map, which lists a site's addresses without reading its pages."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from outrider.core.text import format_count
from outrider.pages.crawl import Crawler, CrawlPlan
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import check_offset
from outrider.toolsets.web.crawl import GlobPatterns, check_globs
from outrider.toolsets.web.tools import web


class SiteMapReport(BaseModel, defer_build=True):
    """One part of a site's addresses."""

    total: int = Field(description="Addresses that match")
    sources: dict[str, int] = Field(description="How many each source lists: links, feed, llms.txt, sitemap")
    pages: list[dict[str, Any]] = Field(description="url, title?, modified?, markdown?, from")
    next_offset: int = 0
    notes: list[str] = []

    def __str__(self) -> str:
        sources = ", ".join(f"{name} {count}" for name, count in self.sources.items())
        lines = [
            f"{format_count(self.total, 'address', 'addresses')} ({sources or 'no source lists any'}).",
            *self.notes,
        ]
        for page in self.pages:
            markdown = f"as Markdown: {page['markdown']}" if page.get("markdown") else ""
            facts = ", ".join(filter(None, (page.get("modified", ""), "+".join(page["from"]), markdown)))
            lines.append(f"- {page['title'] + ' ' if page.get('title') else ''}{page['url']} ({facts})")
        if self.next_offset:
            lines.append(f"(more: call with offset={self.next_offset}, or narrow it with `search` or `include`)")
        return "\n".join(lines)


@web.tool(title="List a site's pages", open_world=True, untrusted=True, timeout=90)
async def web_map(
    crawler: Crawler,
    options: ToolOptions,
    /,
    url: Annotated[str, Field(min_length=1, max_length=8_000, description="Any page of the site")],
    search: Annotated[str | None, Field(max_length=200, description="Words in the address or title")] = None,
    within: Literal["path", "host", "subdomains"] = "host",
    include: Annotated[GlobPatterns, Field(description="Globs over paths, e.g. /docs/*")] = None,
    exclude: GlobPatterns = None,
    max_urls: Annotated[int, Field(ge=1, le=5_000)] = 100,
    offset: Annotated[int, Field(ge=0)] = 0,
) -> SiteMapReport:
    """List a site's addresses from its sitemaps, feeds, llms.txt and links, without reading the pages."""
    included, excluded = check_globs("include", include), check_globs("exclude", exclude)
    plan = CrawlPlan(url.strip(), 1, within, included, excluded, robots=options.crawl_robots)
    site = await crawler.map_site(plan)
    found = site.find_pages(search or "")
    check_offset(offset, len(found), "the list", "addresses")
    entries = []
    for page in found[offset : offset + max_urls]:
        landing_page = {"title": page.title, "modified": page.modified, "markdown": page.markdown}
        facts: dict[str, Any] = {"url": page.url, **landing_page, "from": page.sources}
        entries.append({name: fact for name, fact in facts.items() if fact})
    end = offset + max_urls
    return SiteMapReport(
        total=len(found),
        sources=site.count_sources(),
        pages=entries,
        next_offset=end if end < len(found) else 0,
        notes=site.notes,
    )
