"""Attach to a browser's pages before they run their first script."""

import asyncio
from typing import Any, Protocol

from outrider.browser.protocol.cdp import CdpConnection, PageGone
from outrider.browser.protocol.page import BrowserPage

TARGET_TIMEOUT_S = 20.0


class PageOwner(Protocol):
    """Owner of a context's pages, such as a session."""

    async def prepare_page(self, page: BrowserPage) -> None:
        """Set up a pop-up before its first document runs."""

    def adopt_popup(self, page: BrowserPage) -> None:
        """Take over a pop-up that is ready."""

    def has_target(self, target_id: str | None) -> bool:
        """Return whether a page belongs to it."""


class Browser:
    """Attaches to the pages of a browser that are opened here.

    Args:
        connection: The CDP connection.
        is_guarded: Whether all its traffic passes the egress guard.

    Attributes:
        owners: Context id to the owner of its pop-ups; pop-ups without an owner are closed.
        default_context_owners: Owners of pages in the browser's default context.
        pages: CDP session id to page.
    """

    def __init__(self, connection: CdpConnection, *, is_guarded: bool = True) -> None:
        self.connection = connection
        self.is_guarded = is_guarded
        self.owners: dict[str, PageOwner] = {}
        self.default_context_owners: list[PageOwner] = []
        self.pages: dict[str, BrowserPage] = {}
        self._expected_pages: dict[str, asyncio.Future[BrowserPage]] = {}
        self._creating = 0
        self._attaches_manually = False
        self._unclaimed_pages: list[tuple[BrowserPage, dict[str, Any]]] = []

    async def start(self, *, others: bool = False) -> None:
        """Start attaching to pages; with `others` (other programs also have pages), only to those opened here."""
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
        """Open an empty page in a context or in the browser's default one."""
        params = {"url": "about:blank"} | ({"browserContextId": context_id} if context_id else {})
        self._creating += 1
        try:
            answer = await self.connection.send("Target.createTarget", params, timeout=TARGET_TIMEOUT_S)
            target_id = answer["targetId"]
            ready = self._expected_pages[target_id] = asyncio.get_running_loop().create_future()
            for page, info in [item for item in self._unclaimed_pages if item[0].target_id == target_id]:
                self._unclaimed_pages.remove((page, info))
                self.connection.spawn_task(self._adopt_page(page, info), "a new page")
            if self._attaches_manually:
                self._attach_target(target_id)
        finally:
            self._creating -= 1
            if not self._creating:  # unclaimed pages are pop-ups
                popups, self._unclaimed_pages = self._unclaimed_pages, []
                for page, info in popups:
                    self.connection.spawn_task(self._adopt_page(page, info), "a new page")
        async with asyncio.timeout(TARGET_TIMEOUT_S):
            return await ready

    async def close_page(self, page: BrowserPage) -> None:
        """Close a page without its beforeunload handlers."""
        if page.lost is None or page.crashed:
            await self.connection.send("Target.closeTarget", {"targetId": page.target_id}, timeout=5.0)
        page.mark_lost(PageGone("the page has been closed", code="page_gone"))

    def _attach_target(self, target_id: str) -> None:
        self.connection.root.send_and_forget("Target.attachToTarget", {"targetId": target_id, "flatten": True})

    def _handle_target_created(self, event: dict[str, Any]) -> None:
        """Attach to a page that one of the followed pages has opened."""
        info = event["targetInfo"]
        if info.get("openerId") in {page.target_id for page in self.pages.values()}:
            self._attach_target(info["targetId"])

    def _handle_target_attached(self, event: dict[str, Any]) -> None:
        info, channel = event["targetInfo"], self.connection.get_channel(event["sessionId"])
        if info["type"] != "page":
            channel.send_and_forget("Runtime.runIfWaitingForDebugger")
            return
        page = self.pages[event["sessionId"]] = BrowserPage(info["targetId"], channel)
        page.opener = info.get("openerId")
        if self._creating and not page.opener:
            self._unclaimed_pages.append((page, info))  # may belong to a `new_page` without an answer yet
        else:
            self.connection.spawn_task(self._adopt_page(page, info), "a new page")

    async def _adopt_page(self, page: BrowserPage, info: dict[str, Any]) -> None:
        ready = self._expected_pages.pop(page.target_id, None)
        if ready is not None:
            try:
                await page.attach()
            except BaseException as error:
                if not ready.done():
                    ready.set_exception(error)
                raise
            if not ready.done():
                ready.set_result(page)
            return
        owner = self.owners.get(info.get("browserContextId", ""))
        if owner is None:  # in the default context, its opener decides
            owner = next((owner for owner in self.default_context_owners if owner.has_target(page.opener)), None)
        if owner is None:
            page.channel.send_and_forget("Runtime.runIfWaitingForDebugger")  # a waiting page cannot be closed
            await self.close_page(page)
            return
        await owner.prepare_page(page)
        await page.attach()
        owner.adopt_popup(page)

    def _handle_target_detached(self, event: dict[str, Any]) -> None:
        page = self.pages.pop(event["sessionId"], None)
        if page is None:
            return
        page.mark_lost(PageGone("the page has been closed", code="page_gone", hint="choose another tab"))
        ready = self._expected_pages.pop(page.target_id, None)
        if ready is not None and not ready.done() and page.lost:
            ready.set_exception(page.lost)
