"""The files of sessions: their workspaces as trees, to be looked at and taken away."""

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from outrider.core.errors import NotFound
from outrider.dashboard.files import Served, answer
from outrider.dashboard.library.listing import SIZE, asked, further, part, section
from outrider.dashboard.library.owners import Owners, owners
from outrider.dashboard.library.viewing import look, start_of
from outrider.dashboard.naming import label
from outrider.dashboard.page import house_of
from outrider.dashboard.reach import may_see
from outrider.pages.sniffing.sniff import sniff
from outrider.workspace.jail import Entry, Jail
from outrider.workspace.workspaces import Workspace

NAME = "library_workspaces"
ENTRIES = 200  # of a folder on one page


@dataclass(frozen=True)
class Place:
    """A workspace that the viewer may see, whose it is, and the path in it that was asked for."""

    workspace: Workspace
    owner: str
    path: str

    @property
    def jail(self) -> Jail:
        """Its files."""
        return self.workspace.files.jail


async def show_workspaces(request: Request) -> Response:
    """All workspaces, the last used first."""
    house, wish = house_of(request), asked(request)
    known = await owners(house)
    keys = known.called(wish.q) if wish.q else None
    found = await to_thread.run_sync(lambda: house.workspaces.listed(keys=keys, after=wish.after, limit=SIZE))
    rows = [
        {"key": each.key, "used_at": each.used_at, "owner": known.said(each.key)}
        for each in found.items
        if may_see(request, known.owner(each.key))
    ]
    return await part(request, NAME, "workspaces", after=found.after, workspaces=rows)


async def show_folder(request: Request) -> Response:
    """What a folder of a workspace holds."""
    place = await _place(request)
    entries = await to_thread.run_sync(_entries, place)
    after = asked(request).after
    rest = [each for each in entries if _order(each) > after] if after else entries
    shown = rest[:ENTRIES]
    return await part(
        request, NAME, "folder", after=_order(shown[-1]) if len(rest) > ENTRIES else "", place=place,
        total=len(entries), above=_above(place.path), entries=[(each, label(each.name)) for each in shown],
    )  # fmt: skip


async def show_file(request: Request) -> Response:
    """A file of a workspace: the picture, or its text."""
    place = await _place(request)
    file = await _served(place)
    extracted = request.query_params.get("as") == "text"
    seen = await look(file, start_of(request.query_params.get("from", "")), extracted=extracted)
    return await section(
        request, NAME, "workspace_file", place=place, name=label(file.name), size=file.size, seen=seen,
        above=_above(place.path), extracted=extracted,
        source=further(request, **{"as": "", "from": ""}), text=further(request, **{"as": "text", "from": ""}),
        newest=further(request, **{"from": ""}) if seen.part and seen.part.start else "",
        older=further(request, **{"from": seen.part.after}) if seen.part and seen.part.after else "",
    )  # fmt: skip


async def save_file(request: Request) -> Response:
    """A file of a workspace."""
    return await answer(request, await _served(await _place(request)))


async def _place(request: Request) -> Place:
    """Raises NotFound, also for a workspace that the viewer may not see."""
    house, key = house_of(request), request.path_params["key"]
    known: Owners = await owners(house)
    found = await to_thread.run_sync(house.workspaces.at, key)
    if not may_see(request, known.owner(key)):
        raise NotFound("there is no such workspace")
    return Place(found, known.said(key), request.query_params.get("path", "") or ".")


def _entries(place: Place) -> list[Entry]:
    if place.path == "." and not place.workspace.directory.is_dir():
        return []
    return sorted(map(_named, place.jail.list(place.path)), key=_order)


def _named(entry: Entry) -> Entry:
    """The entry; of a name that is no text, which no address can have, only that it is there."""
    name = entry.name.encode("utf-8", "replace").decode()
    return entry if name == entry.name else replace(entry, name=name, path=name, kind="other")


def _order(entry: Entry) -> str:
    return f"{'0' if entry.kind == 'directory' else '1'}{entry.name}"


async def _served(place: Place) -> Served:
    def part(start: int, stop: int) -> bytes:
        with place.jail.opened(place.path) as file:
            file.seek(start)
            return file.read(max(stop - start, 0))

    async def read(start: int, stop: int) -> bytes:
        return await to_thread.run_sync(part, start, stop)

    head, size = await to_thread.run_sync(place.workspace.files.head, place.path, 1_445)
    name = PurePosixPath(place.path).name
    return Served(name, sniff("", head, name), size, read)


def _above(path: str) -> list[dict[str, Any]]:
    """The folders on the way to a path, outermost first."""
    ways = [each for each in reversed(PurePosixPath(path).parents) if str(each) != "."]
    return [{"path": str(each), "name": label(each.name)} for each in ways]
