"""Hostile names, texts and files in the library neither run, load nor navigate in a real browser."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.browser.process.browser import Browser
from outrider.content.models import ContentDraft
from outrider.core.context import Call
from outrider.plans import PlanStore
from outrider.playbooks import PlaybookStore
from outrider.playbooks.playbook import Action, Step, Workflow
from support.apps import library_app, loopback_app
from support.apps.dashboard_browser import DashboardSession, DashboardTab, open_dashboard
from support.apps.dashboard_checks import check_page_safety
from support.fakes import hostile_payloads, http_servers
from support.fakes.hostile_payloads import CanaryServer

pytestmark = pytest.mark.anyio
SECTIONS = ("", "/stores", "/playbooks", "/plans", "/states", "/screenshots", "/files", "/pages", "/workspaces")
EMBEDDED = """async (ids) => {
    const tried = ids.flatMap((id) => [
        Object.assign(document.createElement("script"), { src: `/files/${id}` }),
        Object.assign(document.createElement("link"), { rel: "stylesheet", href: `/files/${id}?style` }),
    ]);
    const frames = ids.map((id) => Object.assign(document.createElement("iframe"), { src: `/files/${id}?frame` }));
    const ends = tried.map((each) => new Promise((done) => {
        each.onload = () => done("ran");
        each.onerror = () => done("refused");
    }));
    document.head.append(...tried);
    document.body.append(...frames);
    const counted = {};
    for (const end of await Promise.all(ends)) counted[end] = (counted[end] ?? 0) + 1;
    frames.forEach((each) => each.remove());
    return counted;
}"""


@pytest.fixture(scope="module")
async def canary_server() -> AsyncGenerator[CanaryServer]:
    async with hostile_payloads.serve_canary() as listening:
        yield listening


@pytest.fixture(scope="module")
async def office(
    tmp_path_factory: pytest.TempPathFactory, chromium: Browser, canary_server: CanaryServer
) -> AsyncGenerator[DashboardSession]:
    home: Path = tmp_path_factory.mktemp("hostile")
    async with open_dashboard(home, chromium, toolsets=["all"]) as found:
        await fill_library(found, canary_server.url)
        yield found


@pytest.fixture(scope="module")
async def view(office: DashboardSession) -> DashboardTab:
    """One tab for all tests, so that a test sees anything that an earlier one has left."""
    return await office.open_tab("/calls")


async def fill_library(office: DashboardSession, home: str) -> None:
    """Fills the library with hostile names and contents."""
    app, evil = office.app, hostile_payloads.list_hostile_texts(home)
    for text in evil:
        call = Call(session=text, assistant=text)
        await PlanStore(app.database).change(
            call, lambda plan, text=text: plan.with_goal(text).with_todo(text).with_observation(text)
        )
        await PlaybookStore(app.database).create(call, build_hostile_workflow(text))
        await library_app.cache_page(app, f"https://example.org/?{text}", text, text, f"<p>{text}", hash(text) % 1_000)
    await keep_texts(office, evil)
    for name in hostile_payloads.list_hostile_names():
        await library_app.save_artifact(app, b"harmless", name, session=evil[0])
    for name, kind, data in hostile_payloads.list_hostile_files(home):
        await library_app.save_artifact(app, data, name, kind, session=evil[3])
    origins = [{"origin": text, "localStorage": []} for text in evil]
    app.browsers.states.save("hostile", {"cookies": [], "origins": origins})
    place = app.workspaces.ensure_workspace(Call(session=evil[3]))
    for number, text in enumerate(evil):
        path = place.directory / text.replace("/", "_").replace("\0", "")[:80]
        path.write_text(text)
        (place.directory / f"page{number}.html").write_text(text)


async def keep_texts(office: DashboardSession, evil: list[str]) -> None:
    """Add a store of hostile texts, and one store per hostile name."""
    call = Call(session="hostile")
    for text in evil:
        await office.app.content.create_store(call, text, text)
    store = await office.app.content.create_store(call, "all")
    drafts = [
        ContentDraft(f"# {text}\n\n{text} needle", text, "text/html", text, text, facts={text: text}, markdown=True)
        for text in evil
    ]
    await office.app.content.add_many(call, drafts, store.id)


def build_hostile_workflow(text: str) -> Workflow:
    """Add a playbook with hostile text in every field."""
    step = Step(description=text, action=Action(toolName=text[:100], purpose=text), requiredData=[text[:100]])
    return Workflow(goal=text, initialCommand=text, inputs=[text[:100]], workflow=[step])


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.nightly
async def test_lists_show_hostile_names_as_text(view: DashboardTab, canary_server: CanaryServer, section: str):
    links = await check_page_safety(view, f"/library{section}")
    for part in sorted({link for link in links if "after=" in link}):
        await check_page_safety(view, part)
    assert view.page_errors == []
    assert canary_server.requested_paths == []


@pytest.mark.parametrize(
    "section",
    [
        "/stores",
        "/files",
        *(pytest.param(each, marks=pytest.mark.nightly) for each in ("/playbooks", "/plans", "/pages", "/workspaces")),
    ],
)
async def test_pages_show_hostile_content_as_text(view: DashboardTab, canary_server: CanaryServer, section: str):
    links = await check_page_safety(view, f"/library{section}")
    inner = [link for link in dict.fromkeys(links) if link.count("/") > 2 and "?" not in link]
    assert inner
    for link in inner[:4]:
        deeper = await check_page_safety(view, link)
        for each in [each for each in dict.fromkeys(deeper) if each.startswith((link, "/library/contents/"))][:2]:
            await check_page_safety(view, each)
    assert view.page_errors == []
    assert canary_server.requested_paths == []


async def test_search_results_are_shown_as_text_with_the_match_marked(
    office: DashboardSession, view: DashboardTab, canary_server: CanaryServer
):
    store = next(
        each.store.id for each in (await office.app.content.overview.list_stores()).items if each.store.name == "all"
    )
    await check_page_safety(view, f"/library/stores/{store}?find=needle+script+%3Cimg%3E")
    assert await view.evaluate_js(
        "[...document.querySelectorAll('mark')].some((each) => each.textContent === 'needle')"
    )
    assert view.page_errors == []
    assert canary_server.requested_paths == []


async def test_a_hostile_file_opened_at_its_address_is_downloaded_and_not_shown(
    office: DashboardSession, view: DashboardTab, canary_server: CanaryServer
):
    await view.open_path("/library/files")
    for name, kind, data in hostile_payloads.list_hostile_files(canary_server.url)[:10]:
        key = await library_app.save_artifact(office.app, data, name, kind)
        opened = await view.page.send("Page.navigate", {"url": f"{view.base_url}files/{key}"})
        assert opened["errorText"] == "net::ERR_ABORTED", name  # how a navigation reports a download
        assert await view.evaluate_js("location.pathname + document.title") == "/library/filesFiles · Outrider"
    assert canary_server.requested_paths == []


async def test_a_hostile_file_does_not_run_as_frame_picture_script_or_style(
    office: DashboardSession, view: DashboardTab, canary_server: CanaryServer
):
    await view.open_path("/library/files")
    ids = [artifact.id for artifact in (await office.app.artifacts.list_batch(pictures=False, limit=40)).items]
    assert await view.page.evaluate_in("", EMBEDDED, ids) == {"refused": 2 * len(ids)}
    assert await view.evaluate_js("document.title") == "Files · Outrider"
    assert canary_server.requested_paths == []


async def test_the_hostile_content_is_effective_on_an_unprotected_page(view: DashboardTab, canary_server: CanaryServer):
    async with hostile_payloads.serve_canary() as other:
        evil = "".join(f"<div>{text}</div>" for text in hostile_payloads.list_hostile_texts(other.url)[:1])
        async with http_servers.serve_app(
            loopback_app.build_page_site({"/": f"<!doctype html><title>x</title>{evil}"})
        ) as site:
            await view.open_path(f"{site}/")
            await view.wait_until("performance.getEntriesByType('resource').some((each) => each.name.endsWith('/ran'))")
        assert other.requested_paths == ["/ran"]
    assert canary_server.requested_paths == []


async def test_a_hostile_file_cannot_influence_its_headers(office: DashboardSession):
    async with office.open_http_client() as client:
        files = (await office.app.artifacts.list_batch(limit=100)).items
        assert files
        for artifact in files:
            answer = await client.get(f"/files/{artifact.id}")
            said = answer.headers
            assert said["content-security-policy"] == "sandbox; default-src 'none'"
            assert said["x-content-type-options"] == "nosniff"
            assert "set-cookie" not in said
            assert "x-injected" not in said
            assert "html" not in said["content-type"]
            assert "xml" not in said["content-type"] or "openxml" in said["content-type"]
            disposed = said["content-disposition"]
            assert disposed.isascii()
            assert len(disposed) < 2_000
            assert "/" not in disposed.partition(";")[2].replace("UTF-8''", "")
            assert disposed.startswith("attachment; ") or said["content-type"] == "image/gif"
