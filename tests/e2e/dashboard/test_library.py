"""The library as a person uses it: what agents have made through their tools is found, looked at and taken away."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from outrider.browser.browser import Browser
from outrider.browser.downloads import Downloads
from support.apps import loopback_app
from support.apps.dashboard_browser import NARROW, SECONDS, Desk, View, desk
from support.results import said

pytestmark = pytest.mark.anyio
SHOP = loopback_app.pages(
    {"/": "<!doctype html><title>Shop</title><body style='background: rgb(0, 128, 0)'><h1>Tea</h1>"}
)
ROWS = "name,leaves\n" + "".join(f"kind {number},{number * 7}\n" for number in range(3_000))


@dataclass
class Reader:
    """A person at the dashboard, and the agent's client of the same house."""

    office: Desk
    client: Client
    site: str
    folder: Path

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Calls a tool as an agent does."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, said(result)
        return result

    async def saved(self, view: View, selector: str) -> Path:
        """Presses on a link that saves; the file that comes of it."""
        kept = Downloads(self.folder / "coming", self.folder / "saved", 10_000_000)
        context = next(each for each in self.office.contexts if each.id)
        await kept.start(self.office.browser.connection, context.id, lambda _frame: True)
        await view.hands.click(selector)
        with anyio.fail_after(SECONDS):
            while not kept.all:
                await anyio.lowlevel.checkpoint()
        done = await kept.finished()
        kept.stop()
        assert done.path
        return done.path


@pytest.fixture(scope="module")
async def reader(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[Reader]:
    home: Path = tmp_path_factory.mktemp("reader")
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(loopback_app.opened(home, SHOP))
        client = await stack.enter_async_context(Client(house.app.server()))
        office = await stack.enter_async_context(desk(home, chromium, house.app))
        yield Reader(office, client, house.site, home)


async def test_an_exported_file_is_found_and_saved_byte_for_byte(reader: Reader):
    await reader.call("write_file", path="kinds.csv", content=ROWS)
    result = await reader.call("export_file", path="kinds.csv", display_name="Kinds of tea")
    view = await reader.office.open("/library/files")
    await view.sees("Kinds of tea.csv")
    await view.hands.click("td.wide a")
    await view.sees("kind 42,294")
    path = await reader.saved(view, ".toolbar a[download]")
    assert path.name == "Kinds of tea.csv"
    assert path.read_text() == ROWS
    assert view.complaints == []
    # The tool's result says where to open it, and says nothing that would sign anybody in.
    address = result.meta["outrider/open"] if result.meta else ""
    assert f"at {address}" in said(result)
    assert "token" not in address
    await view.go(address.replace("/files/", "/library/files/"))
    await view.sees("Kinds of tea.csv")
    await reader.office.tidy()


async def test_a_screenshot_is_found_on_the_wall_and_looked_at(reader: Reader):
    opened = await reader.call("createSession", url=f"{reader.site}/")
    await reader.call("takeScreenshot", sessionId=(opened.structured_content or {})["sessionId"])
    view = await reader.office.open("/library/screenshots", size=NARROW, dark=True)
    await view.sees("screenshot.png")
    await view.until("[...document.querySelectorAll('.wall img')].every((each) => each.complete && each.naturalWidth)")
    await view.hands.click(".wall a")
    await view.until("document.querySelector('.picture img')?.naturalWidth > 300")
    green = """(() => {
        const canvas = document.createElement('canvas');
        const drawing = canvas.getContext('2d');
        drawing.drawImage(document.querySelector('.picture img'), 0, -200);
        return [...drawing.getImageData(5, 5, 1, 1).data];
    })()"""
    assert await view.js(green) == [0, 128, 0, 255]
    assert view.complaints == []
    await view.go(await view.js("document.querySelector('.picture a').href"))
    assert await view.js("[document.contentType, document.images[0].naturalWidth > 300]") == ["image/png", True]
    await reader.office.tidy()


async def test_a_store_is_searched_and_the_passage_is_read(reader: Reader):
    text = "\n\n".join(f"# Chapter {number}\n\nHere leaves of sort {number} are sorted." for number in range(30))
    made = await reader.call("createStore", name="Handbook")
    store = (made.structured_content or {})["storeId"]
    await reader.call("addContent", content=f"{text}\n\nAssam is malty.", store_id=store)
    view = await reader.office.open("/library/stores")
    await view.sees("Handbook")
    await view.fields.type('input[name="q"]', "handb", submit=True)
    await view.until("location.search === '?q=handb'")
    await view.hands.click("td.wide a")
    await view.sees("What it holds")
    await view.fields.type('input[name="find"]', "malty Assam", submit=True)
    await view.sees("1 passage found")
    assert await view.js("[...document.querySelectorAll('mark')].map((each) => each.textContent)") == ["Assam", "malty"]
    await view.hands.click(".hits a")
    await view.sees("Assam is malty.")
    assert view.complaints == []
    await reader.office.tidy()


async def test_every_part_of_the_library_is_reached_by_keyboard_alone(reader: Reader):
    view = await reader.office.open("/library")
    reached = """(() => {
        const stops = [...document.querySelectorAll('a, button, input, select, [tabindex="0"]')];
        return stops.every((each) => { each.focus(); return document.activeElement === each; });
    })()"""
    assert await view.js(reached)
    await view.js("document.querySelector('.tabs a:last-child').focus()")
    await view.page.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Enter", "code": "Enter", "text": "\r"})
    await view.until("location.pathname === '/library/workspaces'")
    await reader.office.tidy()
