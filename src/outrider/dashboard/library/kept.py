"""Artifacts: screenshots as a wall of pictures, everything else as a list, and each on a page of its own."""

from collections.abc import Sequence
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response

from outrider.core.artifacts import Artifact
from outrider.dashboard.files import artifact_of, served
from outrider.dashboard.library.listing import SIZE, asked, further, part, section
from outrider.dashboard.library.viewing import look, start_of
from outrider.dashboard.naming import label
from outrider.dashboard.page import house_of
from outrider.dashboard.reach import Owner, may_see, only_workspace

FILES, SCREENSHOTS = "library_files", "library_screenshots"
WALL = 24  # pictures of one page: whoever turns pages quickly asks for each of them


async def show_screenshots(request: Request) -> Response:
    """Pictures, the newest first, under the session or the evaluation that they were taken in."""
    wish, house = asked(request), house_of(request)
    found = await house.artifacts.listed(
        pictures=True,
        session=wish.session,
        text=wish.q,
        workspace=only_workspace(request),
        after=wish.after,
        limit=WALL,
    )
    groups = [
        {
            "session": session,
            "label": label(session),
            "evaluation": await house.evaluations.find(session),
            "pictures": rows,
        }
        for session, rows in _by_session(_seen(request, found.items))
    ]
    return await part(request, SCREENSHOTS, "screenshots", after=found.after, groups=groups)


async def show_files(request: Request) -> Response:
    """Exports, saved pages, documents: all that is no picture."""
    wish = asked(request)
    found = await house_of(request).artifacts.listed(
        pictures=False,
        session=wish.session,
        text=wish.q,
        workspace=only_workspace(request),
        after=wish.after,
        limit=SIZE,
    )
    rows = [(each, label(each.name, "unnamed"), label(each.session)) for each in _seen(request, found.items)]
    return await part(request, FILES, "files", after=found.after, files=rows)


async def show_file(request: Request) -> Response:
    """One artifact: the picture, or the text of it, and what is known."""
    kept = await artifact_of(request)
    extracted = request.query_params.get("as") == "text"
    seen = await look(served(request, kept), start_of(request.query_params.get("from", "")), extracted=extracted)
    return await section(
        request, SCREENSHOTS if seen.picture else FILES, "file", file=kept, name=label(kept.name, "unnamed", 300),
        session=label(kept.session), said_type=label(kept.mime_type), seen=seen, extracted=extracted,
        source=further(request, **{"as": "", "from": ""}), text=further(request, **{"as": "text", "from": ""}),
        newest=further(request, **{"from": ""}) if seen.part and seen.part.start else "",
        older=further(request, **{"from": seen.part.after}) if seen.part and seen.part.after else "",
    )  # fmt: skip


def _seen(request: Request, found: Sequence[Artifact]) -> list[Artifact]:
    return [each for each in found if may_see(request, Owner(each.workspace, each.identity))]


def _by_session(found: list[Artifact]) -> list[tuple[str, list[tuple[Artifact, str]]]]:
    grouped = groupby(found, key=lambda each: each.session)
    return [(session, [(each, label(each.name, "unnamed")) for each in rows]) for session, rows in grouped]
