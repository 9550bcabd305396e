"""Collect the newest entries of each library section."""

from dataclasses import dataclass, field

from anyio import to_thread
from starlette.requests import Request

from outrider.dashboard.access import ResourceOwner, can_view, get_allowed_workspace
from outrider.dashboard.labels import format_label
from outrider.dashboard.library.owners import SessionOwners, load_session_owners
from outrider.dashboard.library.plans import describe_goal
from outrider.dashboard.page import build_route_path, get_services
from outrider.dashboard.services import DashboardServices
from outrider.pages.cache import page_list

ENTRIES_PER_SECTION = 4


@dataclass(frozen=True)
class LatestEntry:
    """An entry's name, page, and time of creation or change (seconds since the epoch)."""

    name: str
    address: str
    at: float
    picture: str = ""


@dataclass(frozen=True)
class LatestSection:
    """A section and its newest entries."""

    section: str
    title: str
    about: str
    entries: list[LatestEntry] = field(default_factory=list)


async def collect_latest(request: Request) -> list[LatestSection]:
    """Return every section with its newest entries."""
    services = get_services(request)
    known = await load_session_owners(services)
    return [
        LatestSection(
            "library_stores", "Stores", "Texts that agents store and search.", await _list_stores(request, services)
        ),
        LatestSection(
            "library_playbooks", "Playbooks", "Workflows of assistants.", await _list_playbooks(request, services)
        ),
        LatestSection("library_plans", "Plans", "Goals and todos of sessions.", await _list_plans(request, services)),
        LatestSection(
            "library_states",
            "Browser states",
            "Saved sign-ins; only names are shown.",
            await _list_states(request, services),
        ),
        LatestSection(
            "library_screenshots",
            "Screenshots",
            "Screenshots of pages.",
            await _list_files(request, services, pictures=True),
        ),
        LatestSection(
            "library_files", "Files", "Exports and documents.", await _list_files(request, services, pictures=False)
        ),
        LatestSection(
            "library_pages", "Saved pages", "Web pages that agents have read.", await _list_pages(request, services)
        ),
        LatestSection(
            "library_workspaces", "Workspaces", "Files of sessions.", await _list_workspaces(request, services, known)
        ),
    ]


async def _list_stores(request: Request, services: DashboardServices) -> list[LatestEntry]:
    return [
        LatestEntry(
            format_label(each.store.name, "unnamed"),
            build_route_path(request, "library_store", store=each.store.id),
            each.store.modified_at,
        )
        for each in (
            await services.content.overview.list_stores(
                workspace=get_allowed_workspace(request), limit=ENTRIES_PER_SECTION
            )
        ).items
        if can_view(request, ResourceOwner(each.workspace, each.identity))
    ]


async def _list_playbooks(request: Request, services: DashboardServices) -> list[LatestEntry]:
    return [
        LatestEntry(
            format_label(each.content.goal), build_route_path(request, "library_playbook", key=each.id), each.updated_at
        )
        for each in (
            await services.playbooks.list_playbooks(workspace=get_allowed_workspace(request), limit=ENTRIES_PER_SECTION)
        ).items
        if can_view(request, ResourceOwner(each.workspace))
    ]


async def _list_plans(request: Request, services: DashboardServices) -> list[LatestEntry]:
    return [
        LatestEntry(describe_goal(each), build_route_path(request, "library_plan", key=each.scope), each.updated_at)
        for each in (
            await services.plans.list_plans(workspace=get_allowed_workspace(request), limit=ENTRIES_PER_SECTION)
        ).items
        if can_view(request, ResourceOwner(each.workspace))
    ]


async def _list_states(request: Request, services: DashboardServices) -> list[LatestEntry]:
    found = await to_thread.run_sync(services.browsers.states.list_states) if can_view(request, ResourceOwner()) else []
    newest = sorted(found, key=lambda each: -each.saved_at)[:ENTRIES_PER_SECTION]
    return [LatestEntry(each.state_id, build_route_path(request, "library_states"), each.saved_at) for each in newest]


async def _list_files(request: Request, services: DashboardServices, *, pictures: bool) -> list[LatestEntry]:
    found = await services.artifacts.list_batch(
        pictures=pictures, workspace=get_allowed_workspace(request), limit=ENTRIES_PER_SECTION
    )
    return [
        LatestEntry(
            format_label(each.name, "unnamed"),
            build_route_path(request, "library_file", key=each.id),
            each.created_at,
            build_route_path(request, "file", key=each.id) if pictures else "",
        )
        for each in found.items
        if can_view(request, ResourceOwner(each.workspace, each.identity))
    ]


async def _list_pages(request: Request, services: DashboardServices) -> list[LatestEntry]:
    found = (
        (await page_list.list_pages(services.database, limit=ENTRIES_PER_SECTION)).items
        if can_view(request, ResourceOwner())
        else []
    )
    return [
        LatestEntry(
            format_label(each.title) or format_label(each.url),
            build_route_path(request, "library_page", key=each.key),
            each.fetched_at,
        )
        for each in found
    ]


async def _list_workspaces(request: Request, services: DashboardServices, known: SessionOwners) -> list[LatestEntry]:
    found = await to_thread.run_sync(lambda: services.workspaces.list_recent(limit=ENTRIES_PER_SECTION))
    return [
        LatestEntry(
            known.describe_owner(each.key), build_route_path(request, "library_folder", key=each.key), each.used_at
        )
        for each in found.items
        if can_view(request, known.find_owner(each.key))
    ]
