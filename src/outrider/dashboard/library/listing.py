"""Parse the query of a library list and build its page URLs."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from outrider.dashboard import render

LIST_PAGE_SIZE = 50  # entries of a list
LIBRARY_SECTIONS = (
    ("library", "Overview"),
    ("library_stores", "Stores"),
    ("library_playbooks", "Playbooks"),
    ("library_plans", "Plans"),
    ("library_states", "Browser states"),
    ("library_screenshots", "Screenshots"),
    ("library_files", "Files"),
    ("library_pages", "Saved pages"),
    ("library_workspaces", "Workspaces"),
)


@dataclass(frozen=True)
class ListQuery:
    """Search text, session filter and start of the page; each may be empty."""

    q: str = ""
    session: str = ""
    after: str = ""


def parse_list_query(request: Request) -> ListQuery:
    """Parse the query of a request."""
    max_search_chars = 200  # characters of a search
    params = request.query_params
    return ListQuery(
        params.get("q", "").strip()[:max_search_chars], params.get("session", "")[:200], params.get("after", "")[:300]
    )


def build_list_url(request: Request, **changed: Any) -> str:
    """Return the list's URL with other values; empty ones are left out."""
    values = {name: value for name, value in {**request.query_params, **changed}.items() if value not in ("", None)}
    path = request.url.path
    return f"{path}?{urlencode(values)}" if values else path


async def render_section(request: Request, here: str, template: str, /, **values: Any) -> Response:
    """Render a library page under the tab of its section."""
    frame: dict[str, Any] = {"sections": LIBRARY_SECTIONS, "section": here, "asked": parse_list_query(request)}
    return await render.render_page(request, f"library/{template}.html", **frame, **values)


async def render_list(request: Request, here: str, template: str, /, *, after: str, **values: Any) -> Response:
    """Render one page of a list; `after` is where the next one begins."""
    older = build_list_url(request, after=after) if after else ""
    newest = build_list_url(request, after="") if parse_list_query(request).after else ""
    return await render_section(request, here, template, older=older, newest=newest, **values)
