"""What a person asks of a list, and the addresses of its further parts."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from outrider.dashboard import render

SIZE = 50  # entries of a list
MOST_WORDS = 200  # characters of a search
SECTIONS = (
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
class Asked:
    """A search, a filter by session, and where the part begins; each empty where nothing was asked for."""

    q: str = ""
    session: str = ""
    after: str = ""


def asked(request: Request) -> Asked:
    """What the address asks for."""
    given = request.query_params
    return Asked(given.get("q", "").strip()[:MOST_WORDS], given.get("session", "")[:200], given.get("after", "")[:300])


def further(request: Request, **changed: Any) -> str:
    """The address of this list with other values; those that are empty are left out."""
    values = {name: value for name, value in {**request.query_params, **changed}.items() if value not in ("", None)}
    path = request.url.path
    return f"{path}?{urlencode(values)}" if values else path


async def section(request: Request, here: str, template: str, /, **values: Any) -> Response:
    """A page of the library, under the tab of its section."""
    frame: dict[str, Any] = {"sections": SECTIONS, "section": here, "asked": asked(request)}
    return await render.page(request, f"library/{template}.html", **frame, **values)


async def part(request: Request, here: str, template: str, /, *, after: str, **values: Any) -> Response:
    """A part of a list; `after` is where the next one begins."""
    older = further(request, after=after) if after else ""
    newest = further(request, after="") if asked(request).after else ""
    return await section(request, here, template, older=older, newest=newest, **values)
