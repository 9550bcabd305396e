"""One running browser: its contexts and its pages, each attached before it runs its first script."""

import asyncio
from collections.abc import Callable
from typing import Any

from outrider.browser.cdp import Connection, PageGone
from outrider.browser.page import Page

OPEN_SECONDS = 20.0


class Browser:
    """Attaches to every page of a browser that is ours.

    Args:
        connection: The protocol.
        opened: Called with each page that nobody here asked for (a pop-up), once it is ready.
    """

    def __init__(self, connection: Connection, opened: Callable[[Page, dict[str, Any]], None] | None = None) -> None:
        self.connection = connection
        self.pages: dict[str, Page] = {}
        self._opened = opened or (lambda _page, _info: None)
        self._awaited: dict[str, asyncio.Future[Page]] = {}

    async def start(self) -> None:
        """Begins to attach."""
        root = self.connection.root
        root.on("Target.attachedToTarget", self._attached)
        root.on("Target.detachedFromTarget", self._detached)
        await root.send("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True})

    async def new_page(self, context_id: str | None = None, **options: Any) -> Page:
        """An empty page, in a context or the browser's own one; `options` as `Target.createTarget`."""
        params = {"url": "about:blank"} | options | ({"browserContextId": context_id} if context_id else {})
        answer = await self.connection.send("Target.createTarget", params, timeout=OPEN_SECONDS)
        async with asyncio.timeout(OPEN_SECONDS):
            return await self._ready(answer["targetId"])

    def _ready(self, target_id: str) -> asyncio.Future[Page]:
        if target_id not in self._awaited:
            self._awaited[target_id] = asyncio.get_running_loop().create_future()
        return self._awaited[target_id]

    def _attached(self, event: dict[str, Any]) -> None:
        info, channel = event["targetInfo"], self.connection.channel(event["sessionId"])
        if info["type"] != "page":
            channel.tell("Runtime.runIfWaitingForDebugger")
            return
        page = Page(info["targetId"], channel)
        self.pages[event["sessionId"]] = page
        self.connection.spawn(self._take(page, info), "a new page")

    async def _take(self, page: Page, info: dict[str, Any]) -> None:
        await page.attach()
        ready = self._ready(page.target_id)
        if not ready.done():
            ready.set_result(page)
        self._opened(page, info)

    def _detached(self, event: dict[str, Any]) -> None:
        page = self.pages.pop(event["sessionId"], None)
        self.connection.drop(event["sessionId"], "the page has been closed")
        if page and (waiting := self._awaited.pop(page.target_id, None)) and not waiting.done():
            waiting.set_exception(PageGone("the page closed while it opened", code="page_gone"))
