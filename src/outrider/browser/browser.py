"""One running browser: its contexts and its pages, each attached before it runs its first script."""

import asyncio
from typing import Any, Protocol

from outrider.browser.cdp import Connection, PageGone
from outrider.browser.page import Page

OPEN_SECONDS = 20.0


class Host(Protocol):
    """Whoever a context's pages belong to."""

    async def prepare(self, page: Page) -> None:
        """Sets up a page that opened by itself, before its first document runs."""

    def opened(self, page: Page) -> None:
        """A page that opened by itself is ready."""

    def has(self, target_id: str | None) -> bool:
        """Whether a page belongs to it."""


class Browser:
    """Attaches to every page of a browser that is ours.

    Args:
        connection: The protocol.

    Attributes:
        hosts: Context id to whoever takes the pop-ups of that context; those of nobody are closed.
        guests: Those who have pages in the browser's own context.
        pages: Protocol session to page.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.hosts: dict[str, Host] = {}
        self.guests: list[Host] = []
        self.pages: dict[str, Page] = {}
        self._ours: dict[str, asyncio.Future[Page]] = {}
        self._creating = 0
        self._by_hand = False
        self._early: list[tuple[Page, dict[str, Any]]] = []

    async def start(self, *, others: bool = False) -> None:
        """Begins to attach: to every page, or, in a browser where others have pages, to ours and what they open."""
        root = self.connection.root
        root.on("Target.attachedToTarget", self._attached)
        root.on("Target.detachedFromTarget", self._detached)
        self._by_hand = others
        if others:
            root.on("Target.targetCreated", self._created)
            await root.send("Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]})
            return
        params = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": [{"type": "page"}]}
        await root.send("Target.setAutoAttach", params)

    async def new_page(self, context_id: str | None = None) -> Page:
        """An empty page, in a context or the browser's own one; its size is a matter of `Look`."""
        params = {"url": "about:blank"} | ({"browserContextId": context_id} if context_id else {})
        self._creating += 1
        try:
            answer = await self.connection.send("Target.createTarget", params, timeout=OPEN_SECONDS)
            ready = self._claim(answer["targetId"])
            if self._by_hand:
                self._attach(answer["targetId"])
        finally:
            self._creating -= 1
            self._settle_early()
        async with asyncio.timeout(OPEN_SECONDS):
            return await ready

    async def close_page(self, page: Page) -> None:
        """Closes a page without asking it."""
        if page.lost is None or page.crashed:
            await self.connection.send("Target.closeTarget", {"targetId": page.target_id}, timeout=5.0)
        page.lose(PageGone("the page has been closed", code="page_gone"))

    def _attach(self, target_id: str) -> None:
        self.connection.root.tell("Target.attachToTarget", {"targetId": target_id, "flatten": True})

    def _created(self, event: dict[str, Any]) -> None:
        """In a browser where others have pages, what one of ours has opened is ours too."""
        info = event["targetInfo"]
        if info.get("openerId") in {page.target_id for page in self.pages.values()}:
            self._attach(info["targetId"])

    def _claim(self, target_id: str) -> asyncio.Future[Page]:
        """The page of a target that we made: attached already, or to come."""
        ready = self._ours[target_id] = asyncio.get_running_loop().create_future()
        for page, info in [each for each in self._early if each[0].target_id == target_id]:
            self._early.remove((page, info))
            self.connection.spawn(self._take(page, info), "a new page")
        return ready

    def _settle_early(self) -> None:
        """What attached while pages were being made and is claimed by nobody has opened by itself."""
        if self._creating:
            return
        early, self._early = self._early, []
        for page, info in early:
            self.connection.spawn(self._take(page, info), "a new page")

    def _attached(self, event: dict[str, Any]) -> None:
        info, channel = event["targetInfo"], self.connection.channel(event["sessionId"])
        if info["type"] != "page":
            channel.tell("Runtime.runIfWaitingForDebugger")
            return
        page = self.pages[event["sessionId"]] = Page(info["targetId"], channel)
        page.opener = info.get("openerId")
        if self._creating and not page.opener:
            self._early.append((page, info))  # perhaps ours: the answer that says so is on its way
        else:
            self.connection.spawn(self._take(page, info), "a new page")

    async def _take(self, page: Page, info: dict[str, Any]) -> None:
        ready = self._ours.pop(page.target_id, None)
        if ready is not None:
            await self._finish(page, ready)
            return
        host = self._host(page, info)
        if host is None:
            page.channel.tell("Runtime.runIfWaitingForDebugger")  # what waits does not let itself be closed
            await self.close_page(page)
            return
        await host.prepare(page)
        await page.attach()
        host.opened(page)

    def _host(self, page: Page, info: dict[str, Any]) -> Host | None:
        """Whoever has the context; in somebody else's context, whoever has the page that opened this one."""
        known = self.hosts.get(info.get("browserContextId", ""))
        return known or next((host for host in self.guests if host.has(page.opener)), None)

    async def _finish(self, page: Page, ready: asyncio.Future[Page]) -> None:
        try:
            await page.attach()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise
        if not ready.done():
            ready.set_result(page)

    def _detached(self, event: dict[str, Any]) -> None:
        page = self.pages.pop(event["sessionId"], None)
        if page is None:
            return
        page.lose(PageGone("the page has been closed", code="page_gone", hint="choose another tab"))
        if (waiting := self._ours.pop(page.target_id, None)) and not waiting.done() and page.lost:
            waiting.set_exception(page.lost)
