"""Library: stores, playbooks, plans, browser states, screenshots, files, saved pages and workspaces."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outrider.dashboard.library import kept, plans, playbooks, rooms, saved, states, stores
from outrider.dashboard.library.latest import latest
from outrider.dashboard.library.listing import section
from outrider.dashboard.page import Page


async def show(request: Request) -> Response:
    """What came last into each section."""
    return await section(request, "library", "overview", groups=await latest(request))


library = Page(
    "library",
    "Library",
    50,
    (
        Route("/library", show, name="library"),
        Route("/library/stores", stores.show_stores, name="library_stores"),
        Route("/library/stores/{store}", stores.show_store, name="library_store"),
        Route("/library/contents/{content}", stores.show_content, name="library_content"),
        Route("/library/contents/{content}/text", stores.save_content, name="library_content_text"),
        Route("/library/playbooks", playbooks.show_playbooks, name="library_playbooks"),
        Route("/library/playbooks/{key}", playbooks.show_playbook, name="library_playbook"),
        Route("/library/playbooks/{key}/json", playbooks.save_playbook, name="library_playbook_json"),
        Route("/library/plans", plans.show_plans, name="library_plans"),
        Route("/library/plans/{key}", plans.show_plan, name="library_plan"),
        Route("/library/plans/{key}/json", plans.save_plan, name="library_plan_json"),
        Route("/library/states", states.show_states, name="library_states"),
        Route("/library/screenshots", kept.show_screenshots, name="library_screenshots"),
        Route("/library/files", kept.show_files, name="library_files"),
        Route("/library/files/{key}", kept.show_file, name="library_file"),
        Route("/library/pages", saved.show_pages, name="library_pages"),
        Route("/library/pages/{key}", saved.show_page, name="library_page"),
        Route("/library/pages/{key}/text", saved.save_page, name="library_page_text"),
        Route("/library/workspaces", rooms.show_workspaces, name="library_workspaces"),
        Route("/library/workspaces/{key}", rooms.show_folder, name="library_folder"),
        Route("/library/workspaces/{key}/file", rooms.show_file, name="library_workspace_file"),
        Route("/library/workspaces/{key}/raw", rooms.save_file, name="library_workspace_raw"),
    ),
    key="l",
)
