"""The dashboard as a person has it: a real server over an open house, and signed-in pages of a real Chromium."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2

from outrider.app import App, open_app
from outrider.browser.act import Hands
from outrider.browser.browser import Browser
from outrider.browser.context import Context, open_context
from outrider.browser.fill import Fields
from outrider.browser.launch import launch
from outrider.browser.navigate import navigate
from outrider.browser.page import Page
from outrider.browser.screenshot import screenshot
from outrider.browser.snapshot import Eyes
from outrider.dashboard.listen import Listening
from outrider.settings import load
from support.databases import sqlite

WIDE, NARROW = (1280, 800), (390, 844)
SECONDS = 30  # how long anything may take on a busy machine


@dataclass
class View:
    """One tab on the dashboard."""

    page: Page
    place: str
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.eyes = Eyes(self.page)
        self.hands = Hands(self.eyes)
        self.fields = Fields(self.hands)
        self.page.channel.on("Runtime.exceptionThrown", lambda event: self.complaints.append(str(event)))
        self.page.channel.on("Log.entryAdded", self._logged)

    def _logged(self, event: dict[str, Any]) -> None:
        entry = event["entry"]
        if entry["level"] == "error" and entry["source"] != "network":
            self.complaints.append(entry["text"])

    async def go(self, path: str) -> None:
        """Shows another path of the dashboard (`/calls`), or a whole address."""
        await navigate(self.page, path if "://" in path else self.place.rstrip("/") + path)

    async def js(self, expression: str) -> Any:
        """What an expression is in the page; a promise is waited for."""
        return await self.page.evaluate_in("", f"() => ({expression})")

    async def until(self, condition: str) -> None:
        """Waits until a JavaScript expression is true in the page, across navigations."""
        look = f"""() => new Promise((done) => {{
            const look = () => {{ if ({condition}) done(true); else setTimeout(look, 20); }};
            look();
        }})"""
        with anyio.fail_after(SECONDS):
            while True:
                try:
                    await self.page.evaluate_in("", look)
                except Exception as error:
                    if not any(word in str(error) for word in ("context", "navigated", "gone")):
                        raise
                    await anyio.lowlevel.checkpoint()
                else:
                    return

    async def sees(self, words: str) -> None:
        """Waits until the page shows these words."""
        await self.until(f"document.body && document.body.innerText.includes({words!r})")

    async def text(self) -> str:
        """All that the page shows."""
        return await self.js("document.body.innerText")

    async def dress(self, *, size: tuple[int, int] = WIDE, dark: bool = False) -> None:
        """Another width, another scheme."""
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.page.send("Emulation.setDeviceMetricsOverride", metrics)
        await self.page.send("Emulation.setEmulatedMedia", {"features": [scheme]})

    async def picture(self) -> bytes:
        """The whole page as PNG."""
        return (await screenshot(self.page, full=True)).data


@dataclass
class Desk:
    """An open house with its dashboard, and a browser to look at it."""

    app: App
    listening: Listening
    browser: Browser
    contexts: list[Context] = field(default_factory=list)

    @property
    def application(self) -> Any:
        """The dashboard itself."""
        return self.listening.application

    async def open(self, path: str = "/", *, size: tuple[int, int] = WIDE, dark: bool = False) -> View:
        """A new signed-in browser of its own (no cookie is shared), which shows that path."""
        context, page = await open_context(self.browser, None)
        self.contexts.append(context)
        view = View(page, self.listening.place)
        await view.dress(size=size, dark=dark)
        await page.send("Log.enable")
        await navigate(page, self.listening.address)
        await view.go(path)
        return view

    async def another(self, view: View, path: str = "/") -> View:
        """Another tab of the same browser."""
        context = next(each for each in self.contexts if view.page in each.pages)
        tab = View(await context.new_page(), self.listening.place)
        await tab.dress()
        await tab.go(path)
        return tab

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[httpx2.AsyncClient]:
        """An HTTP client that is signed in."""
        async with httpx2.AsyncClient(base_url=self.listening.place, timeout=SECONDS) as client:
            await client.get("/", params={"token": self.listening.address.partition("token=")[2]})
            yield client

    async def tidy(self) -> None:
        """Closes all tabs."""
        while self.contexts:
            await self.contexts.pop().aclose()


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """A real browser, which goes out by itself."""
    running = await launch(proxy=None)
    try:
        browser = Browser(running.connection)
        await browser.start()
        yield browser
    finally:
        await running.aclose()


@asynccontextmanager
async def desk(home: Path, browser: Browser, app: App | None = None, **settings: Any) -> AsyncGenerator[Desk]:
    """The dashboard of an open house, or of a new one with these settings in that home."""
    if app is None:
        loaded = load({"search": {"keyless": False}} | settings, environ={}, home=home, workspace=home)
        async with open_app(sqlite.prepared(loaded)) as opened, desk(home, browser, opened) as found:
            yield found
        return
    listening = Listening(app.house())
    await listening.start()
    found = Desk(app, listening, browser)
    try:
        yield found
    finally:
        await found.tidy()
        await listening.aclose()
