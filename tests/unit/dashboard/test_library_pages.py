"""The library and its files over HTTP, on a real server over a real app."""

import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.dashboard.server import DashboardServer
from outrider.settings import load
from support.apps import library_app
from support.apps.dashboard_checks import MAX_PAGE_BYTES
from support.apps.library_app import build_png, save_artifact
from support.databases import sqlite
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
SECTIONS = ("stores", "playbooks", "plans", "states", "screenshots", "files", "pages", "workspaces")
FOREVER = "private, max-age=31536000, immutable"


@dataclass(frozen=True)
class Shelf:
    """An app with a full library, and a signed-in client."""

    app: App
    client: httpx2.AsyncClient
    place: str

    async def page(self, path: str) -> str:
        """The HTML of a page."""
        answer = await self.client.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 200, answer.text
        assert len(answer.content) < MAX_PAGE_BYTES
        return answer.text


@pytest.fixture(scope="module")
async def library_pages(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Shelf]:
    home: Path = tmp_path_factory.mktemp("library")
    values = {"toolsets": ["all"], "search": {"keyless": False}}
    async with open_app(sqlite.prepare_database(load(values, environ={}, home=home, workspace=home))) as app:
        await library_app.fill_library(app)
        listening = DashboardServer(app.dashboard_services())
        await listening.start()
        try:
            async with httpx2.AsyncClient(base_url=listening.base_url, timeout=PROCESS_TIMEOUT_S) as client:
                await client.get("/", params={"token": listening.sign_in_url.partition("token=")[2]})
                yield Shelf(app, client, listening.base_url)
        finally:
            await listening.aclose()


async def test_a_file_is_served_unchanged_and_may_be_cached_forever(library_pages: Shelf):
    data = os.urandom(700_000)
    answer = await library_pages.client.get(f"/files/{await save_artifact(library_pages.app, data, 'noise.bin')}")
    assert answer.content == data
    assert answer.headers["cache-control"] == FOREVER
    assert answer.headers["content-disposition"] == "attachment; filename=\"noise.bin\"; filename*=UTF-8''noise.bin"
    again = await library_pages.client.get(answer.request.url, headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])


async def test_a_requested_range_of_a_file_is_served(library_pages: Shelf):
    address = f"/files/{await save_artifact(library_pages.app, b'0123456789', 'digits.txt')}"
    part = await library_pages.client.get(address, headers={"range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"234")
    assert part.headers["content-range"] == "bytes 2-4/10"
    other = await library_pages.client.get(address, headers={"range": "bytes=2-4", "if-range": '"another"'})
    assert (other.status_code, other.content) == (200, b"0123456789")
    nothing = await library_pages.client.get(address, headers={"range": "bytes=10-"})
    assert (nothing.status_code, nothing.headers["content-range"]) == (416, "bytes */10")
    head = await library_pages.client.head(address)
    assert (head.content, head.headers["content-length"], head.headers["accept-ranges"]) == (b"", "10", "bytes")


async def test_an_empty_file_is_a_file(library_pages: Shelf):
    answer = await library_pages.client.get(f"/files/{await save_artifact(library_pages.app, b'', 'empty.txt')}")
    assert (answer.status_code, answer.content) == (200, b"")


async def test_a_picture_is_shown_and_saved_when_asked(library_pages: Shelf):
    address = f"/files/{await save_artifact(library_pages.app, build_png(), 'shot.png', 'text/html')}"
    shown = await library_pages.client.get(address)
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["content-disposition"].startswith("inline; ")
    saved = await library_pages.client.get(address, params={"download": "1"})
    assert saved.headers["content-disposition"].startswith("attachment; ")


async def test_a_missing_file_is_reported_as_not_found(library_pages: Shelf):
    key = await save_artifact(library_pages.app, b"soon gone", "gone.txt")
    (library_pages.app.loaded.settings.data_dir / "artifacts" / key).unlink()
    for wrong in (key, "no-such-file", "..%2foutrider.db"):
        assert (await library_pages.client.get(f"/files/{wrong}")).status_code == 404, wrong
        assert (await library_pages.client.get(f"/library/files/{wrong}")).status_code == 404, wrong


async def test_no_file_or_page_is_served_without_signing_in(library_pages: Shelf):
    key = await save_artifact(library_pages.app, b"private", "private.txt")
    async with httpx2.AsyncClient(base_url=library_pages.place) as stranger:
        for path in (f"/files/{key}", f"/library/files/{key}", *(f"/library/{name}" for name in SECTIONS)):
            answer = await stranger.get(path)
            assert answer.status_code == 401
            assert "private" not in answer.text


async def test_every_section_shows_its_items(library_pages: Shelf):
    words = {
        "stores": "What we know about tea",
        "playbooks": "Summarise a subject",
        "plans": "Write a short history of tea",
        "states": "https://mail.example.org",
        "screenshots": "screenshot-4.png",
        "files": "history.html",
        "pages": "How tea is made",
        "workspaces": "research",
    }
    for section, said in words.items():
        assert said in await library_pages.page(f"/library/{section}")
    overview = await library_pages.page("/library")
    assert "Write a short history of tea" in overview


async def test_the_contents_of_a_saved_browser_state_are_never_shown(library_pages: Shelf):
    for section in ("", *(f"/{name}" for name in SECTIONS)):
        assert "SECRET-" not in await library_pages.page(f"/library{section}")
    assert "Nothing found" in await library_pages.page("/library/states?q=SECRET")


async def test_a_long_list_comes_in_parts_that_miss_nothing(library_pages: Shelf):
    for number in range(120):
        await save_artifact(library_pages.app, b"x", f"long-{number:03}.txt", session="long list")
    shown, path = [], "/library/files?session=long+list"
    while path:
        html = await library_pages.page(path)
        shown += [piece[:8] for piece in html.split('">long-')[1:]]
        path = html.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0] if 'rel="next"' in html else ""
        path = path.replace("&amp;", "&")
    assert [each[:3] for each in shown] == [f"{number:03}" for number in reversed(range(120))]


async def test_lists_are_searched_on_the_server(library_pages: Shelf):
    found = await library_pages.page("/library/files?q=HISTORY")
    assert "history.html" in found
    assert "data.csv" not in found
    assert "Nothing found" in await library_pages.page("/library/stores?q=no+such+store")
    assert "Write a short history" in await library_pages.page("/library/plans?which=open&q=sources")
    assert "Nothing found" in await library_pages.page("/library/plans?which=done&q=sources")
    assert (await library_pages.client.get("/library/files?after=behind")).status_code == 400


async def test_a_store_is_searched_and_its_passages_are_read_and_saved(library_pages: Shelf):
    store = next(
        each for each in (await library_pages.app.content.overview.list_stores()).items if each.store.name == "Tea"
    ).store
    hits = await library_pages.page(f"/library/stores/{store.id}?find=oxidised")
    assert "<mark>oxidised</mark>" in hits
    held = (await library_pages.app.content.overview.list_contents(store.id)).items
    kinds = next(each for each in held if each.filename == "kinds.md")
    assert "steamed soon after picking" in await library_pages.page(f"/library/contents/{kinds.id}")
    saved = await library_pages.client.get(f"/library/contents/{kinds.id}/text")
    assert saved.text.startswith("# Green tea\n\nGreen tea is steamed")
    assert len(saved.text) == kinds.characters
    assert 'filename="kinds.md"' in saved.headers["content-disposition"]


@pytest.mark.nightly
async def test_a_large_text_is_shown_in_small_parts(library_pages: Shelf):
    text = "".join(f"{number} <&\"'>\n" for number in range(40_000))
    key = await save_artifact(library_pages.app, text.encode(), "heavy.txt")
    first = await library_pages.page(f"/library/files/{key}")
    assert "0 &lt;&amp;&#34;&#39;&gt;" in first
    after = first.partition("?from=")[2].partition('"')[0]
    second = await library_pages.page(f"/library/files/{key}?from={after}")
    number = text[: int(after)].count("\n")
    assert f"\n{number} &lt;" in second.replace('aria-label="Text">', "\n")
    passages = await library_pages.app.content.add(Call(session="heavy"), library_app.build_draft(text[:150_000]))
    await library_pages.page(f"/library/contents/{passages.id}")


async def test_a_web_page_is_shown_as_its_source_and_as_its_text(library_pages: Shelf):
    html = b"<!doctype html><title>Tea</title><h1>Tea</h1><p>Tea is a drink made of leaves.</p>" * 3
    key = await save_artifact(library_pages.app, html, "tea.html", "text/html")
    assert "&lt;h1&gt;Tea&lt;/h1&gt;" in await library_pages.page(f"/library/files/{key}")
    text = await library_pages.page(f"/library/files/{key}?as=text")
    assert "Tea is a drink made of leaves." in text
    assert "&lt;h1&gt;" not in text


async def test_binary_files_are_only_offered_for_download(library_pages: Shelf):
    key = await save_artifact(library_pages.app, b"\0\1\2" * 100, "noise.dat", "application/octet-stream")
    assert "This file is not text" in await library_pages.page(f"/library/files/{key}")
    assert "note warn" in await library_pages.page(f"/library/files/{key}?as=text")


async def test_a_saved_page_can_be_viewed_as_text_and_downloaded_as_source(library_pages: Shelf):
    html = await library_pages.page("/library/pages?q=tea")
    address = html.partition('href="/library/pages/')[2].partition('"')[0]
    assert "Leaves are picked." in await library_pages.page(f"/library/pages/{address}")
    source = await library_pages.client.get(f"/library/pages/{address}/text?as=source")
    assert source.text == library_app.TEA_PAGE_HTML
    assert source.headers["content-type"] == "application/octet-stream"
    assert source.headers["content-disposition"].startswith("attachment; ")


async def test_a_plan_and_a_playbook_are_shown_and_saved(library_pages: Shelf):
    scope = library_app.ANN_CALL.scope
    assert "Nine of them, three good ones" in await library_pages.page(f"/library/plans/{scope}")
    assert (await library_pages.client.get(f"/library/plans/{scope}/json")).json()[
        "goal"
    ] == "Write a short history of tea"
    playbook = (await library_pages.app.dashboard_services().playbooks.list_playbooks()).items[0]
    assert "Read each of them" in await library_pages.page(f"/library/playbooks/{playbook.id}")
    saved = (await library_pages.client.get(f"/library/playbooks/{playbook.id}/json")).json()
    assert saved == playbook.content.model_dump(mode="json")


async def test_the_files_of_a_session_are_found_read_and_saved(library_pages: Shelf):
    key = library_pages.app.workspaces.find_workspace(library_app.ANN_CALL).key
    assert "report/" in await library_pages.page(f"/library/workspaces/{key}")
    assert "history.md" in await library_pages.page(f"/library/workspaces/{key}?path=report")
    assert "It began in Yunnan." in await library_pages.page(f"/library/workspaces/{key}/file?path=report%2Fhistory.md")
    saved = await library_pages.client.get(f"/library/workspaces/{key}/raw?path=report/history.md")
    assert saved.text == "# A history of tea\n\nIt began in Yunnan.\n"
    assert saved.headers["cache-control"] == "no-store"


async def test_a_file_whose_name_is_not_text_is_listed_without_a_link(library_pages: Shelf):
    place = library_pages.app.workspaces.ensure_workspace(library_app.ANN_CALL)
    odd = Path(os.fsdecode(os.fsencode(place.directory) + b"/odd\xff.txt"))
    odd.write_text("code chose this name")
    try:
        page = await library_pages.page(f"/library/workspaces/{place.key}")
    finally:
        odd.unlink()
    assert "odd?.txt" in page
    assert "neither a file nor a folder" in page


@pytest.mark.parametrize(
    "path",
    ["../state", "..%2f..%2foutrider.db", "%2fetc%2fpasswd", "report/../../used", "link", "up/outrider.db", "a%00b"],
)
async def test_no_path_escapes_a_workspace(library_pages: Shelf, path: str):
    place = library_pages.app.workspaces.find_workspace(library_app.ANN_CALL)
    for name, target in (("link", "/etc/passwd"), ("up", "../../..")):
        if not (place.directory / name).is_symlink():
            (place.directory / name).symlink_to(target)
    for what in ("", "/file", "/raw"):
        answer = await library_pages.client.get(f"/library/workspaces/{place.key}{what}?path={path}")
        assert answer.status_code in {400, 403, 404}
        assert "root:" not in answer.text
        assert "SQLite" not in answer.text


@pytest.mark.parametrize("key", ["0" * 32, "f" * 31, "x", "a%00b"])
async def test_an_unknown_workspace_is_not_found(library_pages: Shelf, key: str):
    assert (await library_pages.client.get(f"/library/workspaces/{key}")).status_code == 404
