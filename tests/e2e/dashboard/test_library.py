"""A person finds, views and downloads in the library what agents have stored."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from outrider.browser.page.downloads import Downloads
from outrider.browser.process.browser import Browser
from support.apps import loopback_app
from support.apps.dashboard_browser import (
    BROWSER_TIMEOUT_S,
    NARROW_VIEWPORT,
    DashboardSession,
    DashboardTab,
    open_dashboard,
)
from support.results import read_first_text

pytestmark = pytest.mark.anyio
SHOP = loopback_app.build_page_site(
    {"/": "<!doctype html><title>Shop</title><body style='background: rgb(0, 128, 0)'><h1>Tea</h1>"}
)
ROWS = "name,leaves\n" + "".join(f"kind {number},{number * 7}\n" for number in range(3_000))


@dataclass
class Reader:
    """A person at the dashboard, and the agent's client of the same app."""

    office: DashboardSession
    client: Client
    site: str
    folder: Path

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool as an agent does."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, read_first_text(result)
        return result

    async def save_file(self, view: DashboardTab, selector: str) -> Path:
        """Click a download link; return the downloaded file."""
        kept = Downloads(self.folder / "coming", self.folder / "saved", 10_000_000)
        context = next(each for each in self.office.contexts if each.id)
        await kept.start(self.office.browser.connection, context.id, lambda _frame: True)
        await view.pointer.click(selector)
        with anyio.fail_after(BROWSER_TIMEOUT_S):
            while not kept.entries:
                await anyio.lowlevel.checkpoint()
        done = await kept.wait_until_finished()
        kept.stop()
        assert done.path
        return self.folder / "saved" / done.path


@pytest.fixture(scope="module")
async def reader(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[Reader]:
    home: Path = tmp_path_factory.mktemp("reader")
    async with AsyncExitStack() as stack:
        loopback = await stack.enter_async_context(loopback_app.open_loopback_app(home, SHOP))
        client = await stack.enter_async_context(Client(loopback.app.build_server()))
        office = await stack.enter_async_context(open_dashboard(home, chromium, loopback.app))
        yield Reader(office, client, loopback.site_url, home)


@pytest.mark.nightly
async def test_an_exported_file_is_found_and_saved_byte_for_byte(reader: Reader):
    await reader.call("write_file", path="kinds.csv", content=ROWS)
    result = await reader.call("export_file", path="kinds.csv", display_name="Kinds of tea")
    view = await reader.office.open_tab("/library/files")
    await view.wait_for_text("Kinds of tea.csv")
    await view.pointer.click("td.wide a")
    await view.wait_for_text("kind 42,294")
    path = await reader.save_file(view, ".toolbar a[download]")
    assert path.name == "Kinds of tea.csv"
    assert path.read_text() == ROWS
    assert view.page_errors == []
    # The tool's result says where to open it, but contains nothing that would sign anyone in.
    address = result.meta["outrider/open"] if result.meta else ""
    assert f"at {address}" in read_first_text(result)
    assert "token" not in address
    await view.open_path(address.replace("/files/", "/library/files/"))
    await view.wait_for_text("Kinds of tea.csv")
    await reader.office.close_tabs()


@pytest.mark.nightly
async def test_a_screenshot_is_found_in_the_gallery_and_opened(reader: Reader):
    opened = await reader.call("createSession", url=f"{reader.site}/")
    await reader.call("takeScreenshot", sessionId=(opened.structured_content or {})["sessionId"])
    view = await reader.office.open_tab("/library/screenshots", size=NARROW_VIEWPORT, dark=True)
    await view.wait_for_text("screenshot.png")
    await view.wait_until(
        "[...document.querySelectorAll('.wall img')].every((each) => each.complete && each.naturalWidth)"
    )
    await view.pointer.click(".wall a")
    await view.wait_until("document.querySelector('.picture img')?.naturalWidth > 300")
    green = """(() => {
        const canvas = document.createElement('canvas');
        const drawing = canvas.getContext('2d');
        drawing.drawImage(document.querySelector('.picture img'), 0, -200);
        return [...drawing.getImageData(5, 5, 1, 1).data];
    })()"""
    assert await view.evaluate_js(green) == [0, 128, 0, 255]
    assert view.page_errors == []
    await view.open_path(await view.evaluate_js("document.querySelector('.picture a').href"))
    assert await view.evaluate_js("[document.contentType, document.images[0].naturalWidth > 300]") == [
        "image/png",
        True,
    ]
    await reader.office.close_tabs()


@pytest.mark.nightly
async def test_a_store_is_searched_and_the_passage_is_read(reader: Reader):
    text = "\n\n".join(f"# Chapter {number}\n\nHere leaves of sort {number} are sorted." for number in range(30))
    made = await reader.call("createStore", name="Handbook")
    store = (made.structured_content or {})["storeId"]
    await reader.call("addContent", content=f"{text}\n\nAssam is malty.", store_id=store)
    view = await reader.office.open_tab("/library/stores")
    await view.wait_for_text("Handbook")
    await view.forms.type('input[name="q"]', "handb", submit=True)
    await view.wait_until("location.search === '?q=handb'")
    await view.pointer.click("td.wide a")
    await view.wait_for_text("Contents")
    await view.forms.type('input[name="find"]', "malty Assam", submit=True)
    await view.wait_for_text("1 passage found")
    assert await view.evaluate_js("[...document.querySelectorAll('mark')].map((each) => each.textContent)") == [
        "Assam",
        "malty",
    ]
    await view.pointer.click(".hits a")
    await view.wait_for_text("Assam is malty.")
    assert view.page_errors == []
    await reader.office.close_tabs()


async def test_every_part_of_the_library_is_reached_by_keyboard_alone(reader: Reader):
    view = await reader.office.open_tab("/library")
    reached = """(() => {
        const stops = [...document.querySelectorAll('a, button, input, select, [tabindex="0"]')];
        return stops.every((each) => { each.focus(); return document.activeElement === each; });
    })()"""
    assert await view.evaluate_js(reached)
    await view.evaluate_js("document.querySelector('.tabs a:last-child').focus()")
    await view.page.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Enter", "code": "Enter", "text": "\r"})
    await view.wait_until("location.pathname === '/library/workspaces'")
    await reader.office.close_tabs()
