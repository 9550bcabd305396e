"""What the sites of a session have stored: seen now and then, so that it outlives the browser's death."""

import asyncio
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from outrider.browser.page.tabs import Tabs
from outrider.browser.process.context import BrowserContext
from outrider.browser.session.storage import capture_state, peek_state, restore_state
from outrider.core.errors import OutriderError


class StorageTracker:
    """One session's cookies and local storage.

    Attributes:
        latest_state: As they were a moment after the last call; None before the first.
    """

    def __init__(self) -> None:
        self.latest_state: dict[str, Any] | None = None
        self._is_capture_scheduled = False
        self._origins: dict[str, None] = {}
        self._last_seen: dict[str, Any] = {}  # origin to local storage, as last seen by `glimpse`

    def record_visit(self, url: str) -> None:
        """A page has been there."""
        max_origins = 500  # that are known
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and len(self._origins) < max_origins:
            self._origins[f"{parts.scheme}://{parts.netloc}"] = None

    async def restore_state(self, context: BrowserContext, state: dict[str, Any]) -> None:
        """Brings a saved state into a context."""
        self.latest_state = state
        await restore_state(context, state)
        self._origins |= {each["origin"]: None for each in state.get("origins", [])}
        self._last_seen |= {each["origin"]: each.get("localStorage", []) for each in state.get("origins", [])}

    async def capture_state(self, context: BrowserContext) -> dict[str, Any]:
        """All of it, for `States.save`."""
        return await capture_state(context, self._origins)

    async def peek_state(self, context: BrowserContext, tabs: Tabs) -> dict[str, Any]:
        """The same as far as the open pages show it, without opening one for it."""
        return await peek_state(context, tabs, self._last_seen)

    def schedule_capture(self, context: BrowserContext, tabs: Tabs) -> None:
        """Looks at it a moment after a call, in case the browser dies."""
        if not self._is_capture_scheduled:
            self._is_capture_scheduled = True
            work = self._capture_later(context, tabs)
            context.browser.connection.spawn_task(work, "remembering what a session has stored")

    async def _capture_later(self, context: BrowserContext, tabs: Tabs) -> None:
        capture_delay_s = 0.3  # seconds after a call
        await asyncio.sleep(capture_delay_s)
        self._is_capture_scheduled = False
        with suppress(OutriderError):  # it may have been closed meanwhile
            self.latest_state = await self.peek_state(context, tabs)
