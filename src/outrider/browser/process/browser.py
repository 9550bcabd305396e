"""One running browser: its contexts and its pages, each attached before it runs its first script."""

import asyncio
from typing import Any, Protocol

from outrider.browser.protocol.cdp import CdpConnection, PageGone
from outrider.browser.protocol.page import BrowserPage

TARGET_TIMEOUT_S = 20.0


class PageOwner(Protocol):
    """Whoever a context's pages belong to."""

    async def prepare_page(self, page: BrowserPage) -> None:
        """Sets up a page that opened by itself, before its first document runs."""

    def adopt_popup(self, page: BrowserPage) -> None:
        """A page that opened by itself is ready."""

    def has_target(self, target_id: str | None) -> bool:
        """Whether a page belongs to it."""


class Browser:
    """Attaches to every page of a browser that is ours.

    Args:
        connection: The protocol.

    Attributes:
        owners: Context id to whoever takes the pop-ups of that context; those of nobody are closed.
        default_context_owners: Those who have pages in the browser's own context.
        pages: Protocol session to page.
    """

    def __init__(self, connection: CdpConnection) -> None:
        self.connection = connection
        self.owners: dict[str, PageOwner] = {}
        self.default_context_owners: list[PageOwner] = []
        self.pages: dict[str, BrowserPage] = {}
        self._expected_pages: dict[str, asyncio.Future[BrowserPage]] = {}
        self._creating = 0
        self._attaches_manually = False
        self._unclaimed_pages: list[tuple[BrowserPage, dict[str, Any]]] = []

    async def start(self, *, others: bool = False) -> None:
        """Begins to attach: to every page, or, in a browser where others have pages, to ours and what they open."""
        root = self.connection.root
        root.on("Target.attachedToTarget", self._handle_target_attached)
        root.on("Target.detachedFromTarget", self._handle_target_detached)
        self._attaches_manually = others
        if others:
            root.on("Target.targetCreated", self._handle_target_created)
            await root.send("Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]})
            return
        params = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": [{"type": "page"}]}
        await root.send("Target.setAutoAttach", params)

    async def new_page(self, context_id: str | None = None) -> BrowserPage:
        """An empty page, in a context or the browser's own one; its size is a matter of `Look`."""
        params = {"url": "about:blank"} | ({"browserContextId": context_id} if context_id else {})
        self._creating += 1
        try:
            answer = await self.connection.send("Target.createTarget", params, timeout=TARGET_TIMEOUT_S)
            ready = self._claim_page(answer["targetId"])
            if self._attaches_manually:
                self._attach_target(answer["targetId"])
        finally:
            self._creating -= 1
            self._adopt_unclaimed()
        async with asyncio.timeout(TARGET_TIMEOUT_S):
            return await ready

    async def close_page(self, page: BrowserPage) -> None:
        """Closes a page without asking it."""
        if page.lost is None or page.crashed:
            await self.connection.send("Target.closeTarget", {"targetId": page.target_id}, timeout=5.0)
        page.mark_lost(PageGone("the page has been closed", code="page_gone"))

    def _attach_target(self, target_id: str) -> None:
        self.connection.root.send_and_forget("Target.attachToTarget", {"targetId": target_id, "flatten": True})

    def _handle_target_created(self, event: dict[str, Any]) -> None:
        """In a browser where others have pages, what one of ours has opened is ours too."""
        info = event["targetInfo"]
        if info.get("openerId") in {page.target_id for page in self.pages.values()}:
            self._attach_target(info["targetId"])

    def _claim_page(self, target_id: str) -> asyncio.Future[BrowserPage]:
        """The page of a target that we made: attached already, or to come."""
        ready = self._expected_pages[target_id] = asyncio.get_running_loop().create_future()
        for page, info in [each for each in self._unclaimed_pages if each[0].target_id == target_id]:
            self._unclaimed_pages.remove((page, info))
            self.connection.spawn_task(self._adopt_page(page, info), "a new page")
        return ready

    def _adopt_unclaimed(self) -> None:
        """What attached while pages were being made and is claimed by nobody has opened by itself."""
        if self._creating:
            return
        early, self._unclaimed_pages = self._unclaimed_pages, []
        for page, info in early:
            self.connection.spawn_task(self._adopt_page(page, info), "a new page")

    def _handle_target_attached(self, event: dict[str, Any]) -> None:
        info, channel = event["targetInfo"], self.connection.get_channel(event["sessionId"])
        if info["type"] != "page":
            channel.send_and_forget("Runtime.runIfWaitingForDebugger")
            return
        page = self.pages[event["sessionId"]] = BrowserPage(info["targetId"], channel)
        page.opener = info.get("openerId")
        if self._creating and not page.opener:
            self._unclaimed_pages.append((page, info))  # perhaps ours: the answer that says so is on its way
        else:
            self.connection.spawn_task(self._adopt_page(page, info), "a new page")

    async def _adopt_page(self, page: BrowserPage, info: dict[str, Any]) -> None:
        ready = self._expected_pages.pop(page.target_id, None)
        if ready is not None:
            await self._attach_expected(page, ready)
            return
        host = self._host(page, info)
        if host is None:
            page.channel.send_and_forget("Runtime.runIfWaitingForDebugger")  # what waits does not let itself be closed
            await self.close_page(page)
            return
        await host.prepare_page(page)
        await page.attach()
        host.adopt_popup(page)

    def _host(self, page: BrowserPage, info: dict[str, Any]) -> PageOwner | None:
        """Whoever has the context; in somebody else's context, whoever has the page that opened this one."""
        known = self.owners.get(info.get("browserContextId", ""))
        return known or next((host for host in self.default_context_owners if host.has_target(page.opener)), None)

    async def _attach_expected(self, page: BrowserPage, ready: asyncio.Future[BrowserPage]) -> None:
        try:
            await page.attach()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise
        if not ready.done():
            ready.set_result(page)

    def _handle_target_detached(self, event: dict[str, Any]) -> None:
        page = self.pages.pop(event["sessionId"], None)
        if page is None:
            return
        page.mark_lost(PageGone("the page has been closed", code="page_gone", hint="choose another tab"))
        if (waiting := self._expected_pages.pop(page.target_id, None)) and not waiting.done() and page.lost:
            waiting.set_exception(page.lost)
