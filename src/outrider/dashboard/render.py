"""Render pages as HTML; all values are escaped."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from outrider import __version__
from outrider.core.errors import OutriderError
from outrider.dashboard import filters
from outrider.dashboard.page import DashboardPage, build_route_path, get_services


async def render_page(
    request: Request, template: str, *, status: int = 200, feed: str = "", **values: Any
) -> HTMLResponse:
    """Render a template that extends `base.html`.

    Args:
        request: The request to answer.
        template: A file in `templates/`.
        status: The HTTP status.
        feed: The cursors from which live updates continue, from `feed.start`; empty for none.
        values: The template's variables; a missing one is an error.
    """
    pages: list[DashboardPage] = request.app.state.pages
    badges: dict[str, int] = {}
    for page in pages:
        if page.badge is not None:
            try:
                badges[page.name] = await page.badge(get_services(request))
            except OutriderError:  # the page itself reports the error
                badges[page.name] = 0
    path = request.url.path.removeprefix(request.scope.get("root_path", ""))
    page_name = path.strip("/").partition("/")[0] or "now"
    frame = {"pages": pages, "here": page_name, "badges": badges, "feed": feed}
    return render_fragment(request, template, status=status, **frame, **values)


def render_fragment(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Render a part of a page for a script to insert."""

    def url_for(name: str, /, **params: Any) -> str:
        return build_route_path(request, name, **params)

    def static(name: str) -> str:
        return build_route_path(request, "static", path=f"/{name}")

    own = {"url_for": url_for, "static": static, "version": __version__, "root": request.scope.get("root_path", "")}
    return HTMLResponse(_build_environment().get_template(template).render(**own, **values), status)


@cache
def _build_environment() -> Environment:
    template_folder = Path(__file__).parent / "templates"
    loader = FileSystemLoader(template_folder)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(filters.FILTERS)
    return environment
