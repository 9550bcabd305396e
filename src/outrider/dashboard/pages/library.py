"""Page Library: stores, playbooks, plans, states, files and workspaces."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from outrider.dashboard.library import artifacts, plans, playbooks, saved_pages, states, stores, workspaces
from outrider.dashboard.library.latest import collect_latest
from outrider.dashboard.library.listing import render_section
from outrider.dashboard.page import DashboardPage


async def show_library(request: Request) -> Response:
    """Show the newest entries of each section."""
    return await render_section(request, "library", "overview", groups=await collect_latest(request))


LIBRARY_PAGE = DashboardPage(
    "library",
    "Library",
    50,
    (
        Route("/library", show_library, name="library"),
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
        Route("/library/screenshots", artifacts.show_screenshots, name="library_screenshots"),
        Route("/library/files", artifacts.show_files, name="library_files"),
        Route("/library/files/{key}", artifacts.show_file, name="library_file"),
        Route("/library/pages", saved_pages.show_pages, name="library_pages"),
        Route("/library/pages/{key}", saved_pages.show_page, name="library_page"),
        Route("/library/pages/{key}/text", saved_pages.save_page, name="library_page_text"),
        Route("/library/workspaces", workspaces.show_workspaces, name="library_workspaces"),
        Route("/library/workspaces/{key}", workspaces.show_folder, name="library_folder"),
        Route("/library/workspaces/{key}/file", workspaces.show_workspace_file, name="library_workspace_file"),
        Route("/library/workspaces/{key}/raw", workspaces.save_workspace_file, name="library_workspace_raw"),
    ),
    key="l",
)
