"""The tools websearch and webbrowser, with typed resources and citation references."""

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

import anyio
from pydantic import Field

from outrider.browser.session.browsers import Browsers
from outrider.core.citations import CitationPool
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, OutriderError
from outrider.core.markdown import find_markdown_frame
from outrider.core.result import ImageBlock, ResourceBlock, Result, ResultBlock
from outrider.core.server_record import ServerRecord
from outrider.core.text import count_tokens, cut_tokens
from outrider.core.tool import Toolset
from outrider.core.untrusted import clean_untrusted
from outrider.pages.fetched_page import FetchedPage, describe_remote_reading
from outrider.pages.options import ReadOptions
from outrider.pages.pages import Pages
from outrider.search.provider import Query
from outrider.search.search import Search
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES

web_search_browse = Toolset(
    "web_search_browse",
    "websearch gives each result a reference: cite as :cite[ref] or :cite[ref1,ref2].",
    display_name="web_search_&_browse",
    record=ServerRecord(
        id=5,
        description="Search the web (Google and others) and retrieve information from specific websites.",
        icon="ActionGlobeAltIcon",
        category="search",
        availability="auto",
        retry_on_interrupt=True,
    ),
    usual_names=USUAL_TOOL_NAMES["web_search_browse"],
)


PageUrls = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=8_000)]],
    Field(min_length=1, max_length=16, description="Addresses to read, 1 to 16"),
]


@web_search_browse.tool(title="Web search", open_world=True, untrusted=True, timeout=90)
async def websearch(
    search: Search,
    citations: CitationPool,
    options: ToolOptions,
    call: Call,
    /,
    query: Annotated[
        str, Field(min_length=1, max_length=500, description="What to look for; site:example.com restricts the domain")
    ],
    page: Annotated[int, Field(ge=1, le=10, description="2 and up: further results")] = 1,
) -> Result:
    """Search the web for sources to cite: every result has a reference."""
    if not query.strip():
        raise InvalidInput("query: is blank", hint="say what to look for")
    max_results = 16  # shared by all searches of one step; hosts may give this search a smaller share
    share = call.extra.get("websearchResultCount")
    count = min(share, max_results) if isinstance(share, int) and share > 0 else max_results
    try:
        outcome = await search.find(Query(text=query.strip(), count=count, page=page, caller=call))
    except OutriderError as error:
        raise _prefix_error(error, "Failed to search: ") from None
    references = await citations.take(call, len(outcome.hits))
    hits = list(zip(outcome.hits, references, strict=False))
    rows = [
        {"title": hit.title, "url": hit.url, "snippet": hit.snippet, "reference": reference} for hit, reference in hits
    ]
    hit_type, query_type = options.build_output_type("websearch-result"), options.build_output_type("websearch-query")
    content = [
        ResourceBlock(hit.url, hit_type, hit.snippet, {"title": hit.title, "reference": reference})
        for hit, reference in hits
    ]
    notes = [*outcome.warnings, *outcome.notes]
    data = {"query": query, "page": page, "provider": outcome.provider, "results": rows}
    return Result((*content, ResourceBlock("", query_type, query)), data=data | ({"notes": notes} if notes else {}))


@web_search_browse.tool(title="Browse web pages", open_world=True, untrusted=True, timeout=170)
async def webbrowser(
    pages: Pages,
    browsers: Browsers,
    options: ToolOptions,
    autosave: Autosave,
    call: Call,
    /,
    urls: PageUrls,
    format: Annotated[Literal["markdown", "html"], Field(description="html: the page's source")] = "markdown",
    screenshotMode: Literal["none", "viewport", "fullPage"] = "none",
    links: Annotated[bool, Field(description="Also list the pages' first 50 links")] = False,
    offset: Annotated[int, Field(ge=0, description="First character to return")] = 0,
) -> Result:
    """Read several web pages at once."""
    outcomes = await _read_pages(pages, list(dict.fromkeys(urls)), call)
    fetched = {url: page for url, page in outcomes.items() if not isinstance(page, OutriderError)}
    shots: dict[str, ImageBlock | OutriderError] = {}
    if screenshotMode != "none":
        shots = await _take_screenshots(browsers, list(fetched), full=screenshotMode == "fullPage")
    content_ids = {url: await autosave.save_page(call, page) for url, page in fetched.items()}
    content: list[ResultBlock] = []
    for url in urls:
        html = format == "html"
        items = _build_items(options, url, outcomes[url], html=html, links=links, shot=shots.get(url), offset=offset)
        for item in items:
            if content_ids.get(url) and isinstance(item, ResourceBlock):  # the page can be read again by this id
                content.append(replace(item, meta=item.meta | {"outrider/content_id": content_ids[url]}))
            else:
                content.append(item)
    return Result(tuple(content), is_error=not fetched)


async def _read_pages(pages: Pages, urls: list[str], call: Call) -> dict[str, FetchedPage | OutriderError]:
    """Read the pages, eight at a time; return the page or the error of each address."""
    max_parallel_reads = 8
    outcomes: dict[str, FetchedPage | OutriderError] = {}
    limiter = anyio.CapacityLimiter(max_parallel_reads)

    async def read_page(url: str) -> None:
        async with limiter:
            try:
                outcomes[url] = await pages.read(url, ReadOptions(remote_reader=True))
            except OutriderError as error:
                outcomes[url] = error
        await call.progress(len(outcomes), len(urls), f"{len(outcomes)} of {len(urls)} pages")

    async with anyio.create_task_group() as tasks:
        for url in urls:
            tasks.start_soon(read_page, url)
    return outcomes


async def _take_screenshots(
    browsers: Browsers, urls: list[str], *, full: bool
) -> dict[str, ImageBlock | OutriderError]:
    """Take a screenshot of each page, three at a time; return the picture or the error of each address."""
    max_parallel_shots = 3
    from outrider.browser.session.one_off_visit import screenshot_url

    shots: dict[str, ImageBlock | OutriderError] = {}
    limiter = anyio.CapacityLimiter(max_parallel_shots)

    async def take_screenshot(url: str) -> None:
        async with limiter:
            try:
                shots[url] = ImageBlock((await screenshot_url(browsers, url, full=full)).data)
            except OutriderError as error:
                shots[url] = error

    async with anyio.create_task_group() as tasks:
        for url in urls:
            tasks.start_soon(take_screenshot, url)
    return shots


def _build_items(
    options: ToolOptions,
    url: str,
    page: FetchedPage | OutriderError,
    *,
    html: bool,
    links: bool,
    shot: ImageBlock | OutriderError | None,
    offset: int,
) -> list[ResultBlock]:
    """Build the resources of one address: text, links and screenshot, or the error."""
    max_links = 50
    kind = options.build_output_type("browse-result")
    if isinstance(page, OutriderError):
        status = str(page.details.get("status", 403 if page.kind == "refused" else 500))
        cause = f"{page.message}. {page.hint}" if page.hint else page.message
        fields = {"requestedUrl": url, "responseCode": status, "errorMessage": cause}
        return [ResourceBlock(url, kind, f"Browse error ({status}) for {url}: {cause}", fields)]
    items: list[ResultBlock] = [_build_page_resource(options, url, page, html=html, offset=offset)]
    if links and page.document.links:
        lines = []
        for link in page.document.links[:max_links]:
            label = re.sub(r"[\[\]\s]+", " ", link.text).strip()  # brackets would end the label
            lines.append(f"- [{label or link.url}]({link.url})")
        rest = len(page.document.links) - max_links
        lines += [f"({rest} more)"] if rest > 0 else []
        body = options.mark_untrusted("\n".join(lines), page.url)
        items.append(_build_resource(kind, url, page, f"## Links (first {max_links})\n{body}"))
    if isinstance(shot, OutriderError):
        items.append(_build_resource(kind, url, page, f"Screenshot failed: {shot.message}. {shot.hint}".strip()))
    elif shot is not None:
        items.append(shot)
    return items


def _build_page_resource(
    options: ToolOptions, url: str, page: FetchedPage, *, html: bool, offset: int
) -> ResourceBlock:
    """Build the resource of a page: its text within the boundary, and how to read on."""
    max_page_tokens = 32_000  # of the o200k vocabulary, per page
    spare_tokens = 8  # the tokens of joined texts may differ from their sum
    source = clean_untrusted(page.html) if html and page.html else page.document.markdown
    boundary = options.mark_untrusted("", page.url)
    limit = max_page_tokens - (count_tokens(boundary) + spare_tokens if boundary else 0)
    piece = cut_tokens(source, limit, offset)
    text = piece.text
    if not html:
        # Truncated code is fenced, and the piece shortened so that both fit into the page's tokens.
        frame = find_markdown_frame(source, piece.offset, piece.offset + len(text))
        added = frame.before + frame.after
        if added and (budget := limit - count_tokens(added) - spare_tokens) > limit // 2:
            piece = cut_tokens(source, budget, piece.offset)
            frame = find_markdown_frame(source, piece.offset, piece.offset + len(piece.text))
        text = frame.wrap(piece.text)
    text = options.mark_untrusted(text, page.url)
    if offset and offset >= piece.total:
        text = f"[offset {offset} is past the end of this page ({piece.total:,} characters)]"
    if piece.truncated:
        text += f"\n\n[Truncated to {max_page_tokens} tokens of this page; read on with offset={piece.next_offset}]"
    if note := describe_remote_reading(page):
        text += f"\n\n[{note}]"
    fields = {"html": text} if html else {}
    meta = {f"outrider/{name}": value for name, value in piece.to_dict().items()}
    return _build_resource(options.build_output_type("browse-result"), url, page, text, fields, meta)


def _build_resource(
    kind: str,
    url: str,
    page: FetchedPage,
    text: str,
    extra_fields: dict[str, Any] | None = None,
    meta: dict[str, Any] | None = None,
) -> ResourceBlock:
    fields = {"requestedUrl": url, "responseCode": str(page.status)}
    if page.document.title:
        fields["title"] = page.document.title
    if page.document.description:
        fields["description"] = page.document.description
    return ResourceBlock(page.url, kind, text, fields | (extra_fields or {}), meta or {})


def _prefix_error(error: OutriderError, prefix: str) -> OutriderError:
    return type(error)(
        prefix + error.message,
        hint=error.hint,
        code=error.code,
        details=error.details,
        retry_after=error.retry_after,
    )
