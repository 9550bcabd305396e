"""Library pages of workspace files, as trees."""

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from outrider.core.errors import NotFound
from outrider.core.jail import DirectoryEntry, Jail
from outrider.dashboard.access import can_view
from outrider.dashboard.files import ServedFile, respond_with_file
from outrider.dashboard.labels import format_label
from outrider.dashboard.library.listing import (
    LIST_PAGE_SIZE,
    build_list_url,
    parse_list_query,
    render_list,
    render_section,
)
from outrider.dashboard.library.owners import SessionOwners, load_session_owners
from outrider.dashboard.library.preview import parse_start, preview_file
from outrider.dashboard.page import get_services
from outrider.pages.mime.sniff import detect_mime_type
from outrider.workspace.workspaces import SessionWorkspace

WORKSPACES_SECTION = "library_workspaces"


@dataclass(frozen=True)
class WorkspacePath:
    """A visible workspace, its owner, and the requested path in it."""

    workspace: SessionWorkspace
    owner: str
    path: str

    @property
    def jail(self) -> Jail:
        """The files of the workspace."""
        return self.workspace.files.jail


async def show_workspaces(request: Request) -> Response:
    """Show all workspaces, last used first."""
    services, list_query = get_services(request), parse_list_query(request)
    known = await load_session_owners(services)
    keys = known.find_keys_by_name(list_query.q) if list_query.q else None
    found = await to_thread.run_sync(
        lambda: services.workspaces.list_recent(keys=keys, after=list_query.after, limit=LIST_PAGE_SIZE)
    )
    rows = [
        {"key": each.key, "used_at": each.used_at, "owner": known.describe_owner(each.key)}
        for each in found.items
        if can_view(request, known.find_owner(each.key))
    ]
    return await render_list(request, WORKSPACES_SECTION, "workspaces", after=found.after, workspaces=rows)


async def show_folder(request: Request) -> Response:
    """Show the content of a folder."""
    max_entries = 200  # of a folder on one page
    place = await _require_workspace_path(request)
    entries = await to_thread.run_sync(_list_entries, place)
    after = parse_list_query(request).after
    rest = [each for each in entries if _build_sort_key(each) > after] if after else entries
    entries_here = rest[:max_entries]
    return await render_list(
        request,
        WORKSPACES_SECTION,
        "folder",
        after=_build_sort_key(entries_here[-1]) if len(rest) > max_entries else "",
        place=place,
        total=len(entries),
        above=_list_parents(place.path),
        entries=[(each, format_label(each.name)) for each in entries_here],
    )


async def show_workspace_file(request: Request) -> Response:
    """Show a file as an image or text."""
    place = await _require_workspace_path(request)
    file = await _open_served_file(place)
    extracted = request.query_params.get("as") == "text"
    preview = await preview_file(file, parse_start(request.query_params.get("from", "")), extracted=extracted)
    return await render_section(
        request,
        WORKSPACES_SECTION,
        "workspace_file",
        place=place,
        name=format_label(file.name),
        size=file.size,
        seen=preview,
        above=_list_parents(place.path),
        extracted=extracted,
        source=build_list_url(request, **{"as": "", "from": ""}),
        text=build_list_url(request, **{"as": "text", "from": ""}),
        newest=build_list_url(request, **{"from": ""}) if preview.part and preview.part.start else "",
        older=build_list_url(request, **{"from": preview.part.after}) if preview.part and preview.part.after else "",
    )


async def save_workspace_file(request: Request) -> Response:
    """Download a file."""
    return await respond_with_file(request, await _open_served_file(await _require_workspace_path(request)))


async def _require_workspace_path(request: Request) -> WorkspacePath:
    """Resolve the path. Raises NotFound, even if the viewer just may not see the workspace."""
    services, key = get_services(request), request.path_params["key"]
    known: SessionOwners = await load_session_owners(services)
    found = await to_thread.run_sync(services.workspaces.get_by_key, key)
    if not can_view(request, known.find_owner(key)):
        raise NotFound("no such workspace")
    return WorkspacePath(found, known.describe_owner(key), request.query_params.get("path", "") or ".")


def _list_entries(place: WorkspacePath) -> list[DirectoryEntry]:
    if place.path == "." and not place.workspace.directory.is_dir():
        return []
    entries = []
    for entry in place.jail.list(place.path):
        name = entry.name.encode("utf-8", "replace").decode()  # a URL cannot contain a name that is not valid Unicode
        entries.append(entry if name == entry.name else replace(entry, name=name, path=name, kind="other"))
    return sorted(entries, key=_build_sort_key)


def _build_sort_key(entry: DirectoryEntry) -> str:
    return f"{'0' if entry.kind == 'directory' else '1'}{entry.name}"


async def _open_served_file(place: WorkspacePath) -> ServedFile:
    def read_range(start: int, stop: int) -> bytes:
        with place.jail.open_file(place.path) as file:
            file.seek(start)
            return file.read(max(stop - start, 0))

    async def read_range_in_thread(start: int, stop: int) -> bytes:
        return await to_thread.run_sync(read_range, start, stop)

    head, size = await to_thread.run_sync(place.workspace.files.read_head, place.path, 1_445)
    name = PurePosixPath(place.path).name
    return ServedFile(name, detect_mime_type("", head, name), size, read_range_in_thread)


def _list_parents(path: str) -> list[dict[str, Any]]:
    """Return the parent folders of a path, outermost first."""
    ways = [each for each in reversed(PurePosixPath(path).parents) if str(each) != "."]
    return [{"path": str(each), "name": format_label(each.name)} for each in ways]
