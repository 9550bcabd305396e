"""Saved pages: what was read of the web and is still kept, as text and as source, never as a page."""

from starlette.requests import Request
from starlette.responses import Response

from outrider.core.errors import NotFound
from outrider.dashboard.files import attachment
from outrider.dashboard.library.listing import SIZE, asked, further, part, section
from outrider.dashboard.library.viewing import part_of, start_of
from outrider.dashboard.naming import label
from outrider.dashboard.page import house_of
from outrider.dashboard.reach import Owner, may_see
from outrider.pages.keeping import kept
from outrider.pages.page import Page

NAME = "library_pages"


async def show_pages(request: Request) -> Response:
    """All pages that the cache holds. They belong to no session: whoever asks for an address gets the same."""
    wish = asked(request)
    if not may_see(request, Owner()):
        return await part(request, NAME, "pages", after="", saved=[])
    found = await kept.listed(house_of(request).database, text=wish.q, after=wish.after, limit=SIZE)
    rows = [(each, label(each.title), label(each.url, limit=200)) for each in found.items]
    return await part(request, NAME, "pages", after=found.after, saved=rows)


async def show_page(request: Request) -> Response:
    """The text of a page, or its source."""
    found = await _page(request)
    source = request.query_params.get("as") == "source" and found.html is not None
    text = (found.html or "") if source else found.document.markdown
    seen = part_of(text, start_of(request.query_params.get("from", "")))
    return await section(
        request, NAME, "page", saved=found, key=request.path_params["key"], title=label(found.title, limit=300),
        address=label(found.url, limit=1_000), seen=seen, source=source,
        as_text=further(request, **{"as": "", "from": ""}), as_source=further(request, **{"as": "source", "from": ""}),
        newest=further(request, **{"from": ""}) if seen.start else "",
        older=further(request, **{"from": seen.after}) if seen.after else "",
    )  # fmt: skip


async def save_page(request: Request) -> Response:
    """The page as Markdown, or its source."""
    found = await _page(request)
    if request.query_params.get("as") == "source" and found.html is not None:
        return attachment(f"{label(found.title, limit=80)}.html", "text/html", found.html.encode("utf-8", "replace"))
    text = found.document.markdown.encode("utf-8", "replace")
    return attachment(f"{label(found.title, limit=80)}.md", "text/markdown", text)


async def _page(request: Request) -> Page:
    if not may_see(request, Owner()):
        raise NotFound("there is no such page")
    return await kept.kept_page(house_of(request).database, request.path_params["key"])
