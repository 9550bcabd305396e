"""The pages of the failures on loopback, and a visit to one of them."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from outrider.browser.actions.forms import Forms
from outrider.browser.actions.pointer import Pointer
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import PageScripts
from outrider.browser.snapshot.snapshot import Snapshotter
from support.timeouts import EVENT_TIMEOUT_S

PAGE_FOLDER = Path(__file__).parent
CONTENT_TYPES = {".html": b"text/html; charset=utf-8", ".js": b"text/javascript"}


@dataclass
class FailureSite:
    """An ASGI application that serves the failure pages and the pages that a test adds."""

    pages: dict[str, str] = field(default_factory=dict)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{message['type']}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        name = scope["path"].lstrip("/")
        path = PAGE_FOLDER / name
        body = self.pages[name].encode() if name in self.pages else path.read_bytes() if path.is_file() else b""
        kind = CONTENT_TYPES.get(path.suffix, b"text/html; charset=utf-8")
        await send(
            {"type": "http.response.start", "status": 200 if body else 404, "headers": [(b"content-type", kind)]}
        )
        await send({"type": "http.response.body", "body": body})


@dataclass
class FailurePage:
    """A page of the failures, with the tools that act on it."""

    page: BrowserPage
    snapshotter: Snapshotter
    pointer: Pointer
    forms: Forms
    scripts: PageScripts
    base_url: str

    async def read_log(self) -> list[str]:
        """Return the events that reached the page (`failures/log.js`)."""
        return await self.page.evaluate_in("", "() => log")

    async def evaluate_js(self, expression: str) -> Any:
        """Evaluate an expression in the page's own world."""
        return await self.page.evaluate_in("", f"() => ({expression})")

    async def open_page(self, name: str) -> None:
        """Open another page of the failures and wait until it is loaded."""
        await load_url(self.page, f"{self.base_url}/{name}")


async def load_url(page: BrowserPage, url: str) -> None:
    """Navigate and wait for the load event; the page must not be loading already."""
    loaded = anyio.Event()
    off = page.channel.on("Page.loadEventFired", lambda _: loaded.set())
    with anyio.fail_after(EVENT_TIMEOUT_S):
        await page.send("Page.navigate", {"url": url})
        await loaded.wait()
    off()


OpenFailurePage = Callable[[str], Coroutine[Any, Any, FailurePage]]
