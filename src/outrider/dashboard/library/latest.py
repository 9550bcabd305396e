"""What came last into each section of the library."""

from dataclasses import dataclass, field

from anyio import to_thread
from starlette.requests import Request

from outrider.dashboard.house import House
from outrider.dashboard.library.owners import Owners, owners
from outrider.dashboard.library.plans import goal_of
from outrider.dashboard.naming import label
from outrider.dashboard.page import house_of, path_for
from outrider.dashboard.reach import Owner, may_see, only_workspace
from outrider.pages.keeping import kept

FEW = 4


@dataclass(frozen=True)
class Entry:
    """Something in the library: its name, its page, and when it was made or changed (seconds since the epoch)."""

    name: str
    address: str
    at: float
    picture: str = ""


@dataclass(frozen=True)
class Group:
    """A section and its newest entries."""

    section: str
    title: str
    about: str
    entries: list[Entry] = field(default_factory=list)


async def latest(request: Request) -> list[Group]:
    """Every section with its newest entries."""
    house = house_of(request)
    known = await owners(house)
    return [
        Group("library_stores", "Stores", "Texts that agents keep and search.", await _stores(request, house)),
        Group("library_playbooks", "Playbooks", "Workflows of assistants.", await _playbooks(request, house)),
        Group("library_plans", "Plans", "Goals of sessions and what is to do.", await _plans(request, house)),
        Group("library_states", "Browser states", "Saved sign-ins, by name alone.", await _states(request, house)),
        Group("library_screenshots", "Screenshots", "What browsers saw.", await _files(request, house, pictures=True)),
        Group("library_files", "Files", "Exports and documents.", await _files(request, house, pictures=False)),
        Group("library_pages", "Saved pages", "What was read of the web.", await _pages(request, house)),
        Group("library_workspaces", "Workspaces", "Files of sessions.", await _rooms(request, house, known)),
    ]


async def _stores(request: Request, house: House) -> list[Entry]:
    return [
        Entry(label(each.store.name, "unnamed"), path_for(request, "library_store", store=each.store.id),
              each.store.modified_at)
        for each in (await house.content.overview.stores(workspace=only_workspace(request), limit=FEW)).items
        if may_see(request, Owner(each.workspace, each.identity))
    ]  # fmt: skip


async def _playbooks(request: Request, house: House) -> list[Entry]:
    return [
        Entry(label(each.content.goal), path_for(request, "library_playbook", key=each.id), each.updated_at)
        for each in (await house.playbooks.listed(workspace=only_workspace(request), limit=FEW)).items
        if may_see(request, Owner(each.workspace))
    ]


async def _plans(request: Request, house: House) -> list[Entry]:
    return [
        Entry(goal_of(each), path_for(request, "library_plan", key=each.scope), each.updated_at)
        for each in (await house.plans.listed(workspace=only_workspace(request), limit=FEW)).items
        if may_see(request, Owner(each.workspace))
    ]


async def _states(request: Request, house: House) -> list[Entry]:
    found = await to_thread.run_sync(house.browsers.states.list) if may_see(request, Owner()) else []
    newest = sorted(found, key=lambda each: -each.saved_at)[:FEW]
    return [Entry(each.state_id, path_for(request, "library_states"), each.saved_at) for each in newest]


async def _files(request: Request, house: House, *, pictures: bool) -> list[Entry]:
    found = await house.artifacts.listed(pictures=pictures, workspace=only_workspace(request), limit=FEW)
    return [
        Entry(label(each.name, "unnamed"), path_for(request, "library_file", key=each.id), each.created_at,
              path_for(request, "file", key=each.id) if pictures else "")
        for each in found.items
        if may_see(request, Owner(each.workspace, each.identity))
    ]  # fmt: skip


async def _pages(request: Request, house: House) -> list[Entry]:
    found = (await kept.listed(house.database, limit=FEW)).items if may_see(request, Owner()) else []
    return [
        Entry(label(each.title) or label(each.url), path_for(request, "library_page", key=each.key), each.fetched_at)
        for each in found
    ]


async def _rooms(request: Request, house: House, known: Owners) -> list[Entry]:
    found = await to_thread.run_sync(lambda: house.workspaces.listed(limit=FEW))
    return [
        Entry(known.said(each.key), path_for(request, "library_folder", key=each.key), each.used_at)
        for each in found.items
        if may_see(request, known.owner(each.key))
    ]
