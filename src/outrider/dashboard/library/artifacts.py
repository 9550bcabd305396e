"""Library pages of artifacts: a gallery of screenshots, and a list of files."""

from collections.abc import Sequence
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response

from outrider.core.artifacts import Artifact
from outrider.dashboard.access import ResourceOwner, can_view, get_allowed_workspace
from outrider.dashboard.files import open_artifact, require_artifact
from outrider.dashboard.labels import format_label
from outrider.dashboard.library.listing import (
    LIST_PAGE_SIZE,
    build_list_url,
    parse_list_query,
    render_list,
    render_section,
)
from outrider.dashboard.library.preview import parse_start, preview_file
from outrider.dashboard.page import get_services

FILES_SECTION, SCREENSHOTS_SECTION = "library_files", "library_screenshots"


async def show_screenshots(request: Request) -> Response:
    """Show screenshots, newest first, by session or evaluation."""
    max_pictures = 24  # pictures on a page; leafing through pages requests all of them
    list_query, services = parse_list_query(request), get_services(request)
    found = await services.artifacts.list_batch(
        pictures=True,
        session=list_query.session,
        text=list_query.q,
        workspace=get_allowed_workspace(request),
        after=list_query.after,
        limit=max_pictures,
    )
    groups = [
        {
            "session": session,
            "label": format_label(session),
            "evaluation": await services.evaluations.find(session),
            "pictures": [(each, format_label(each.name, "unnamed")) for each in rows],
        }
        for session, rows in groupby(_filter_visible(request, found.items), key=lambda each: each.session)
    ]
    return await render_list(request, SCREENSHOTS_SECTION, "screenshots", after=found.after, groups=groups)


async def show_files(request: Request) -> Response:
    """Show exports, saved pages and documents."""
    list_query = parse_list_query(request)
    found = await get_services(request).artifacts.list_batch(
        pictures=False,
        session=list_query.session,
        text=list_query.q,
        workspace=get_allowed_workspace(request),
        after=list_query.after,
        limit=LIST_PAGE_SIZE,
    )
    rows = [
        (each, format_label(each.name, "unnamed"), format_label(each.session))
        for each in _filter_visible(request, found.items)
    ]
    return await render_list(request, FILES_SECTION, "files", after=found.after, files=rows)


async def show_file(request: Request) -> Response:
    """Show one artifact as an image or text, with its details."""
    artifact = await require_artifact(request)
    extracted = request.query_params.get("as") == "text"
    preview = await preview_file(
        open_artifact(request, artifact), parse_start(request.query_params.get("from", "")), extracted=extracted
    )
    return await render_section(
        request,
        SCREENSHOTS_SECTION if preview.picture else FILES_SECTION,
        "file",
        file=artifact,
        name=format_label(artifact.name, "unnamed", 300),
        session=format_label(artifact.session),
        said_type=format_label(artifact.mime_type),
        seen=preview,
        extracted=extracted,
        source=build_list_url(request, **{"as": "", "from": ""}),
        text=build_list_url(request, **{"as": "text", "from": ""}),
        newest=build_list_url(request, **{"from": ""}) if preview.part and preview.part.start else "",
        older=build_list_url(request, **{"from": preview.part.after}) if preview.part and preview.part.after else "",
    )


def _filter_visible(request: Request, found: Sequence[Artifact]) -> list[Artifact]:
    return [each for each in found if can_view(request, ResourceOwner(each.workspace, each.identity))]
