"""The dashboard for a person: a real server over an open app, and signed-in pages of a real Chromium."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2

from outrider.app import App, open_app
from outrider.browser.actions.forms import Forms
from outrider.browser.actions.pointer import Pointer
from outrider.browser.page.navigate import navigate_page
from outrider.browser.page.screenshot import take_screenshot
from outrider.browser.process.browser import Browser
from outrider.browser.process.context import BrowserContext, open_context
from outrider.browser.process.launch import launch_browser
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.snapshot.snapshot import Snapshotter
from outrider.dashboard.server import DashboardServer
from outrider.settings import load
from support.databases import sqlite
from support.timeouts import BROWSER_TIMEOUT_S

WIDE_VIEWPORT, NARROW_VIEWPORT = (1280, 800), (390, 844)


@dataclass
class DashboardTab:
    """A browser tab with the dashboard."""

    page: BrowserPage
    base_url: str
    page_errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.snapshotter = Snapshotter(self.page)
        self.pointer = Pointer(self.snapshotter)
        self.forms = Forms(self.pointer)
        self.page.channel.on("Runtime.exceptionThrown", lambda event: self.page_errors.append(str(event)))
        self.page.channel.on("Log.entryAdded", self._record_log_entry)

    def _record_log_entry(self, event: dict[str, Any]) -> None:
        entry = event["entry"]
        if entry["level"] == "error" and entry["source"] != "network":
            self.page_errors.append(entry["text"])

    async def open_path(self, path: str) -> None:
        """Open another path of the dashboard (`/calls`), or a whole address."""
        await navigate_page(self.page, path if "://" in path else self.base_url.rstrip("/") + path)

    async def evaluate_js(self, expression: str) -> Any:
        """Evaluate an expression in the page, and await a promise."""
        return await self.page.evaluate_in("", f"() => ({expression})")

    async def wait_until(self, condition: str) -> None:
        """Wait until a JavaScript expression is true in the page, across navigations."""
        look = f"""() => new Promise((done) => {{
            const look = () => {{ if ({condition}) done(true); else setTimeout(look, 20); }};
            look();
        }})"""
        with anyio.fail_after(BROWSER_TIMEOUT_S):
            while True:
                try:
                    await self.page.evaluate_in("", look)
                except Exception as error:
                    if not any(word in str(error) for word in ("context", "navigated", "gone")):
                        raise
                    await anyio.lowlevel.checkpoint()
                else:
                    return

    async def wait_for_text(self, words: str) -> None:
        """Wait until the page shows this text."""
        await self.wait_until(f"document.body && document.body.innerText.includes({words!r})")

    async def read_text(self) -> str:
        """Return all visible text of the page."""
        return await self.evaluate_js("document.body.innerText")

    async def set_appearance(self, *, size: tuple[int, int] = WIDE_VIEWPORT, dark: bool = False) -> None:
        """Set the width and the color scheme."""
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.page.send("Emulation.setDeviceMetricsOverride", metrics)
        await self.page.send("Emulation.setEmulatedMedia", {"features": [scheme]})

    async def take_screenshot(self) -> bytes:
        """Take a picture of the whole page as PNG."""
        return (await take_screenshot(self.page, full=True)).data


@dataclass
class DashboardSession:
    """An open app with its dashboard, and a browser to view it."""

    app: App
    server: DashboardServer
    browser: Browser
    contexts: list[BrowserContext] = field(default_factory=list)

    @property
    def asgi_app(self) -> Any:
        """The dashboard as an ASGI application."""
        return self.server.application

    async def open_tab(
        self, path: str = "/", *, size: tuple[int, int] = WIDE_VIEWPORT, dark: bool = False
    ) -> DashboardTab:
        """Open a path in a new signed-in browser, without shared cookies."""
        context, page = await open_context(self.browser, None)
        self.contexts.append(context)
        view = DashboardTab(page, self.server.base_url)
        await view.set_appearance(size=size, dark=dark)
        await page.send("Log.enable")
        address, mark, fragment = path.partition("#")
        token = self.server.sign_in_url.partition("?")[2]
        await view.open_path(f"{address}{'&' if '?' in address else '?'}{token}{mark}{fragment}")
        return view

    async def open_second_tab(self, view: DashboardTab, path: str = "/") -> DashboardTab:
        """Open another tab of the same browser."""
        context = next(each for each in self.contexts if view.page in each.pages)
        tab = DashboardTab(await context.new_page(), self.server.base_url)
        await tab.set_appearance()
        await tab.open_path(path)
        return tab

    @asynccontextmanager
    async def open_http_client(self) -> AsyncGenerator[httpx2.AsyncClient]:
        """Open a signed-in HTTP client."""
        async with httpx2.AsyncClient(base_url=self.server.base_url, timeout=BROWSER_TIMEOUT_S) as client:
            await client.get("/", params={"token": self.server.sign_in_url.partition("token=")[2]})
            yield client

    async def close_tabs(self) -> None:
        """Close all tabs."""
        while self.contexts:
            await self.contexts.pop().aclose()


@asynccontextmanager
async def launch_chromium() -> AsyncGenerator[Browser]:
    """Launch a real browser without the egress proxy."""
    running = await launch_browser(proxy=None)
    try:
        browser = Browser(running.connection)
        await browser.start()
        yield browser
    finally:
        await running.aclose()


@asynccontextmanager
async def open_dashboard(
    home: Path, browser: Browser, app: App | None = None, **settings: Any
) -> AsyncGenerator[DashboardSession]:
    """Open the dashboard of an open app, or of a new one."""
    if app is None:
        loaded = load({"search": {"keyless": False}} | settings, environ={}, home=home, workspace=home)
        async with open_app(sqlite.prepare_database(loaded)) as opened, open_dashboard(home, browser, opened) as found:
            yield found
        return
    listening = DashboardServer(app.dashboard_services())
    await listening.start()
    found = DashboardSession(app, listening, browser)
    try:
        yield found
    finally:
        await found.close_tabs()
        await listening.aclose()
