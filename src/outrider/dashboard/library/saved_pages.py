"""Library pages of cached web pages, shown as text or source only."""

from starlette.requests import Request
from starlette.responses import Response

from outrider.core.errors import NotFound
from outrider.dashboard.access import ResourceOwner, can_view
from outrider.dashboard.files import build_attachment
from outrider.dashboard.labels import format_label
from outrider.dashboard.library.listing import (
    LIST_PAGE_SIZE,
    build_list_url,
    parse_list_query,
    render_list,
    render_section,
)
from outrider.dashboard.library.preview import cut_part, parse_start
from outrider.dashboard.page import get_services
from outrider.pages.cache import page_list
from outrider.pages.fetched_page import FetchedPage

PAGES_SECTION = "library_pages"


async def show_pages(request: Request) -> Response:
    """Show all cached pages, which belong to no session."""
    list_query = parse_list_query(request)
    if not can_view(request, ResourceOwner()):
        return await render_list(request, PAGES_SECTION, "pages", after="", saved=[])
    found = await page_list.list_pages(
        get_services(request).database, text=list_query.q, after=list_query.after, limit=LIST_PAGE_SIZE
    )
    rows = [(each, format_label(each.title), format_label(each.url, limit=200)) for each in found.items]
    return await render_list(request, PAGES_SECTION, "pages", after=found.after, saved=rows)


async def show_page(request: Request) -> Response:
    """Show the text of a page, or its source."""
    found = await _require_page(request)
    source = request.query_params.get("as") == "source" and found.html is not None
    text = (found.html or "") if source else found.document.markdown
    part = cut_part(text, parse_start(request.query_params.get("from", "")))
    return await render_section(
        request,
        PAGES_SECTION,
        "page",
        saved=found,
        key=request.path_params["key"],
        title=format_label(found.title, limit=300),
        address=format_label(found.url, limit=1_000),
        seen=part,
        source=source,
        as_text=build_list_url(request, **{"as": "", "from": ""}),
        as_source=build_list_url(request, **{"as": "source", "from": ""}),
        newest=build_list_url(request, **{"from": ""}) if part.start else "",
        older=build_list_url(request, **{"from": part.after}) if part.after else "",
    )


async def save_page(request: Request) -> Response:
    """Download a page as Markdown, or its source."""
    found = await _require_page(request)
    if request.query_params.get("as") == "source" and found.html is not None:
        return build_attachment(
            f"{format_label(found.title, limit=80)}.html", "text/html", found.html.encode("utf-8", "replace")
        )
    text = found.document.markdown.encode("utf-8", "replace")
    return build_attachment(f"{format_label(found.title, limit=80)}.md", "text/markdown", text)


async def _require_page(request: Request) -> FetchedPage:
    if not can_view(request, ResourceOwner()):
        raise NotFound("no such page")
    return await page_list.load_page(get_services(request).database, request.path_params["key"])
