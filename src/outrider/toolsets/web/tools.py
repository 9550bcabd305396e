"""The tools web_search and web_fetch."""

import json
import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, OutriderError, Refused
from outrider.core.markdown import cut_markdown, find_markdown_frame
from outrider.core.result import Result, TextBlock
from outrider.core.server_record import ServerRecord
from outrider.core.text import DEFAULT_CUT_CHARS, cut_text
from outrider.core.tool import Toolset
from outrider.core.untrusted import clean_untrusted
from outrider.pages.fetched_page import FetchedPage, describe_remote_reading
from outrider.pages.fetching.failures import LOGIN_HINT
from outrider.pages.options import ReadOptions
from outrider.pages.pages import Pages
from outrider.search.outcome import SearchOutcome
from outrider.search.provider import Query
from outrider.search.search import Search
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import MaxCharacters, UpToTen, check_offset
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES
from outrider.toolsets.web.pictures import PictureSaver
from outrider.toolsets.web.search_content import read_passages
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.pages.excerpt import DocumentExcerpt
web = Toolset(
    "web",
    "web_search finds pages, web_fetch reads them: read the best two or three before you answer. With a `query`, "
    "web_fetch returns only the passages that matter.",
    default=True,
    aliases=("dogent",),
    usual_names=USUAL_TOOL_NAMES["web"],
    record=ServerRecord(category="search", availability="auto"),
)


SourceName = Literal["web", "github", "github_issues", "stackexchange", "arxiv", "wikipedia", "pypi", "npm", "crates"]


class SearchResults(BaseModel, defer_build=True):
    """Hits of a search, and the providers that were asked."""

    query: str
    mode: str
    provider: str
    profile: str
    results: list[dict[str, Any]] = Field(
        description="title, url, snippet, published?, content?; images: title, image_url, page_url, thumbnail_url, "
        "width, height"
    )
    failed: list[dict[str, str]] = Field(default=[], description="Providers that failed, and why")
    notes: list[str] = []

    def __str__(self) -> str:
        return json.dumps(self.model_dump(exclude_unset=True), ensure_ascii=False, indent=2)


@web.tool(title="Search the web", open_world=True, always_load=True, untrusted=True, timeout=90)
async def web_search(
    search: Search,
    pages: Pages,
    call: Call,
    /,
    query: Annotated[str, Field(min_length=1, max_length=500, description="What to look for; a few precise words")],
    mode: Literal["web", "image", "news"] = "web",
    num_results: UpToTen = 5,
    page: Annotated[int, Field(ge=1, le=10, description="2 and up: further results")] = 1,
    freshness: Literal["day", "week", "month", "year"] | None = None,
    since: Annotated[date | None, Field(description="First day, e.g. 2026-03-01")] = None,
    until: Annotated[date | None, Field(description="Last day")] = None,
    site: Annotated[
        str | None, Field(max_length=500, description="Only these domains, e.g. docs.python.org, peps.python.org")
    ] = None,
    exclude: Annotated[str | None, Field(max_length=500, description="Not these domains")] = None,
    language: Annotated[str | None, Field(pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*$", description="e.g. de")] = None,
    region: Annotated[str | None, Field(pattern=r"^[A-Za-z]{2}$", description="Country, e.g. at")] = None,
    source: Annotated[
        SourceName, Field(description="Search here, not the web: code, issues, answers, papers, articles, packages")
    ] = "web",
    depth: Annotated[
        Literal["quick", "balanced", "wide"], Field(description="Ask more providers: slower, finds more")
    ] = "quick",
    content: Annotated[bool, Field(description="Also return answering passages of the best pages")] = False,
) -> SearchResults:
    """Search the web. Returns titles, addresses and snippets; read pages with web_fetch."""
    search_query = Query(
        text=_require_query(query),
        mode=mode,
        count=num_results,
        page=page,
        freshness=freshness,
        since=since,
        until=until,
        sites=_split_domains(site),
        exclude=_split_domains(exclude),
        language=language,
        region=region,
        caller=call,
    )
    if source != "web" and mode != "web":
        raise InvalidInput(f"mode: must be web with source={source}, not {mode}", hint="leave out `mode`")
    outcome = await search.find(search_query, depth=depth, source="" if source == "web" else source)
    results = _build_search_results(search_query, outcome)
    if content and mode != "image":
        passages = await read_passages(pages, [result["url"] for result in results.results], search_query.text)
        results.results = [
            result | ({"content": passages[result["url"]]} if passages.get(result["url"]) else {})
            for result in results.results
        ]
    return results


@web.tool(
    title="Read a page",
    open_world=True,
    always_load=True,
    max_result_chars=100_000,  # 25,000 tokens, where Claude Code cuts other answers
    untrusted=True,
    timeout=120,
    may_store=True,
)
async def web_fetch(
    pages: Pages,
    artifacts: ArtifactStore,
    workspaces: SessionWorkspaces,
    options: ToolOptions,
    autosave: Autosave,
    call: Call,
    /,
    url: Annotated[str, Field(min_length=1, max_length=8_000, description="http(s) address")],
    query: Annotated[
        str | None, Field(min_length=1, max_length=500, description="Return only the passages that answer this")
    ] = None,
    offset: Annotated[int, Field(ge=0, description="First character to return")] = 0,
    max_chars: MaxCharacters = DEFAULT_CUT_CHARS,
    format: Annotated[Literal["markdown", "text", "html"], Field(description="html: the source")] = "markdown",
    mode: Annotated[
        Literal["auto", "text", "image"], Field(description="image: show and save a picture; auto: by its type")
    ] = "auto",
    render: Annotated[
        Literal["auto", "always", "never"], Field(description="Run the page's scripts in a browser; auto: if needed")
    ] = "auto",
    filename: Annotated[str | None, Field(max_length=200, description="For a saved picture")] = None,
    output_dir: Annotated[str | None, Field(max_length=1_000, description="Workspace folder for pictures")] = None,
) -> Result:
    """Read a web page, PDF, Office document, archive or other file as Markdown, or show and save a picture."""
    passage_query = None if query is None else _require_query(query)
    is_file_wanted = mode == "image" or bool(filename or output_dir)
    saver = PictureSaver(pages, artifacts, workspaces, options, is_file_wanted)
    if mode == "image":
        return await _save_picture(pages, options, saver, call, url, output_dir, filename)
    try:
        page = await pages.read(url, ReadOptions(render=render, remote_reader=True, markdown_first=format != "html"))
    except OutriderError as error:
        if mode == "auto" and error.code == "image":
            return await _save_picture(pages, options, saver, call, url, output_dir, filename)
        raise _add_field_hint(error, url) from None
    content_id = await autosave.save_page(call, page)
    meta = _build_meta(page) | ({"outrider/content_id": content_id} if content_id else {})
    if passage_query is not None:
        return await _find_passages(pages, options, page, passage_query, max_chars, meta)
    return _read_page_part(options, page, format, max_chars, offset, meta)


def _read_page_part(
    options: ToolOptions, page: FetchedPage, format: str, max_chars: int, offset: int, meta: dict[str, Any]
) -> Result:
    """Return the page's head and a piece of its text. Raises InvalidInput for an offset past its end."""
    if format == "html" and page.html is None:
        raise InvalidInput(f"format: {page.url} is {page.content_type}, not HTML", hint="leave out `format`")
    texts = {"markdown": page.document.markdown, "text": page.document.text}
    full_text = clean_untrusted(page.html or "") if format == "html" else texts[format]
    check_offset(offset, len(full_text), "the page", f"characters as {format}")
    if format == "markdown":
        piece, part_info = cut_markdown(full_text, max_chars, offset)
    else:
        piece = cut_text(full_text, max_chars, offset)
        part_info = piece.text
    end = piece.offset + len(piece.text)
    position = f"characters {piece.offset} to {end} of {piece.total}"
    note = f"{position}; read on with offset={end}" if piece.truncated else (position if piece.offset else "")
    if piece.text.strip():
        body = options.mark_untrusted(part_info, page.url)
    elif page.html:
        body = "(no readable text here; format=html shows the source)"
    elif page.html is None and page.status not in (204, 205):
        body = "(no readable text here)"
    else:
        body = f"(the response is empty, HTTP {page.status}: check the address, or choose another source)"
    tail = "\n\n[Truncated]" if piece.truncated else ""
    text = f"{_format_head(page, note, _describe_caveats(page))}\n\n{body}{tail}"
    return Result(
        (TextBlock(text),), meta=meta | {f"outrider/{name}": value for name, value in piece.to_dict().items()}
    )


def _add_field_hint(error: OutriderError, url: str) -> OutriderError:
    """Add the name of the wrong field, or a hint specific to this tool."""
    if error.code == "bad_url":
        error.message = f"url: {error.message}"
    if error.code == "image":
        error.hint = "leave out `mode`, or give mode=image, to save it"
    if len(url.split()) > 1:
        error.hint = "give one address, without spaces; call web_fetch once for each"
    return error


def _split_domains(text: str | None) -> tuple[str, ...]:
    """Return the domains in a text, separated by commas or spaces."""
    return tuple(re.split(r"[\s,;]+", text.strip())) if text and text.strip() else ()


def _require_query(query: str) -> str:
    if not query.strip():
        raise InvalidInput("query: is blank", hint="say what to look for")
    return query.strip()


def _build_search_results(query: Query, outcome: SearchOutcome) -> SearchResults:
    image_fields = ("title", "image_url", "page_url", "thumbnail_url", "width", "height")
    results: list[dict[str, Any]] = []
    for hit in outcome.hits:
        if query.mode == "image":
            results.append({name: getattr(hit, name) for name in image_fields})
            continue
        entry = {"title": hit.title, "url": hit.url, "snippet": hit.snippet}
        results.append(entry | ({"published": hit.published} if hit.published else {}))
    data: dict[str, Any] = {
        "query": query.text,
        "mode": query.mode,
        "provider": outcome.provider,
        "profile": outcome.profile,
        "results": results,
    }
    failed = [
        {"provider": attempt.provider, "why": attempt.message}
        for attempt in outcome.attempts
        if attempt.outcome != "ok"
    ]
    notes = [*outcome.warnings, *outcome.notes]
    return SearchResults(**data, **({"failed": failed} if failed else {}), **({"notes": notes} if notes else {}))


def _format_head(page: FetchedPage, *notes: str) -> str:
    lines = [f"URL: {page.url}"]
    lines += [f"Title: {page.document.title}"] if page.document.title else []
    lines += [f"Content-Type: {page.content_type}"] if page.content_type else []
    lines += [f"Published: {page.document.published}"] if page.document.published else []
    return "\n".join([*lines, *(f"Note: {note}" for note in notes if note)])


async def _find_passages(
    pages: Pages, options: ToolOptions, page: FetchedPage, query: str, max_chars: int, meta: dict[str, Any]
) -> Result:
    """Return the passages that answer a query, each with its position in the page's Markdown."""
    default_tokens, max_opening_chars = 1_500, 1_000
    budget = default_tokens if max_chars == DEFAULT_CUT_CHARS else max(max_chars // 4, 50)
    excerpts = await pages.find_excerpts(page, query, max_tokens=budget)
    total = len(page.document.markdown)
    if not excerpts:
        piece = cut_text(page.document.markdown, min(max_chars, max_opening_chars))
        note = f"no passage mentions {query!r}; this is the beginning of {piece.total} characters: try other words"
        note += f", or read on with offset={piece.next_offset}" if piece.truncated else ""
        text = f"{_format_head(page, note)}\n\n{options.mark_untrusted(piece.text, page.url)}"
        return Result((TextBlock(text),), meta=meta | {"outrider/excerpts": []})
    excerpts, body = _fit_passages(page.document.markdown, excerpts, max_chars)
    count = "1 passage" if len(excerpts) == 1 else f"{len(excerpts)} passages"
    note = f"{count} for {query!r} out of {total} characters; read around one with offset=<its start>"
    text = f"{_format_head(page, note, _describe_caveats(page))}\n\n{options.mark_untrusted(body, page.url)}"
    spans = [{"start": excerpt.start, "end": excerpt.end} for excerpt in excerpts]
    return Result((TextBlock(text),), meta=meta | {"outrider/excerpts": spans, "outrider/total_chars": total})


def _fit_passages(markdown: str, excerpts: "list[DocumentExcerpt]", limit: int) -> "tuple[list[DocumentExcerpt], str]":
    """Keep the best excerpts whose text fits `limit` characters; return them and that text. The last may be cut."""
    while len(body := "\n\n".join(_format_passage(markdown, excerpt) for excerpt in excerpts)) > limit:
        worst = min(excerpts, key=lambda excerpt: excerpt.score)
        if len(excerpts) > 1:
            excerpts = [excerpt for excerpt in excerpts if excerpt is not worst]
            continue
        text = cut_text(worst.text, max(len(worst.text) - (len(body) - limit), 1)).text.rstrip()
        if len(text) < 2 or text == worst.text:
            return excerpts, body[:limit]
        excerpts = [replace(worst, text=text, end=worst.start + len(text))]
    return excerpts, body


def _format_passage(markdown: str, excerpt: "DocumentExcerpt") -> str:
    """Format an excerpt below its position and headings, with its table's header row or its code fence."""
    max_heading_chars = 80
    path = " > ".join(heading[:max_heading_chars] for heading in excerpt.headings)
    text = find_markdown_frame(markdown, excerpt.start, excerpt.end).wrap(excerpt.text)
    return f"[{excerpt.start}-{excerpt.end}]{' ' + path if path else ''}\n{text}"


def _describe_caveats(page: FetchedPage) -> str:
    """Describe how the page was fetched and what it lacks."""
    stale = "the site did not answer; this is a copy from an earlier visit" if page.stale else ""
    cut_off = "the page is larger than this server reads; its end is missing" if page.cut else ""
    rendered = "rendered in a browser" if page.is_rendered else describe_remote_reading(page)
    negotiated = ", requested as text/markdown" if page.markdown_twin == page.url else f", {page.markdown_twin}"
    twin = f"this is the site's own Markdown{negotiated}" if page.markdown_twin else ""
    if page.is_login_page:
        missing = f"the page asks for a login: {LOGIN_HINT}"
    elif page.is_rendered and page.is_nearly_empty:
        missing = "the page is still nearly empty: look at it with the browser tools, or choose another source"
    elif page.is_script_shell:
        missing = "the page is nearly empty without its scripts: try render=always or the browser tools"
    else:
        missing = ""
    # Compare without scheme and `www.`; another path only matters if the page is not the wanted one.
    requested, final = (url.partition("://")[2].removeprefix("www.") for url in (page.requested_url, page.url))
    moved = requested.partition("/")[0] != final.partition("/")[0] or (
        bool(missing) and requested.rstrip("/") != final.rstrip("/")
    )
    redirect = f"redirected from {page.requested_url}" if moved else ""
    return "; ".join(filter(None, (redirect, rendered, twin, stale, cut_off, missing)))


def _build_meta(page: FetchedPage) -> dict[str, Any]:
    return {"outrider/url": page.url, "outrider/status": page.status, "outrider/title": page.document.title or ""}


async def _save_picture(
    pages: Pages, options: ToolOptions, saver: PictureSaver, call: Call, url: str, folder: str | None, name: str | None
) -> Result:
    """Save a picture, or list the pictures if the address is that of a page."""
    try:
        return await saver.save_picture(call, url, folder or options.images_path, name)
    except Refused as error:
        if error.code == "not_an_image":
            return await _list_page_images(pages, options, url, error)
        raise


async def _list_page_images(pages: Pages, options: ToolOptions, url: str, error: Refused) -> Result:
    """List a page's pictures, for a model that mistook the page's address for a picture's."""
    max_images = 40
    try:
        page = await pages.read(url)
    except OutriderError:
        raise error from None
    images = page.document.images[:max_images]
    if not images:
        raise error
    lines = [f"- {image.url}" + (f"  {image.alt}" if image.alt else "") for image in images]
    note = f"this is a page, not a picture; it shows {len(page.document.images)}: fetch one of them with mode=image"
    text = f"{_format_head(page, note)}\n\n{options.mark_untrusted(chr(10).join(lines), page.url)}"
    return Result((TextBlock(text),), meta=_build_meta(page))
