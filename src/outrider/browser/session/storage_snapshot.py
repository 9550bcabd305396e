"""Capture a session's cookies and storage regularly, so that they survive the browser."""

import asyncio
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from outrider.browser.page.tabs import Tabs
from outrider.browser.process.context import BrowserContext
from outrider.browser.session.storage import capture_state, peek_state, restore_state
from outrider.core.errors import OutriderError


class StorageTracker:
    """The cookies and local storage of one session.

    Attributes:
        latest_state: The state shortly after the last call; None before the first.
    """

    def __init__(self) -> None:
        self.latest_state: dict[str, Any] | None = None
        self._is_capture_scheduled = False
        self._origins: dict[str, None] = {}
        self._last_seen: dict[str, Any] = {}  # origin to local storage

    def record_visit(self, url: str) -> None:
        """Remember the origin of an address that a page has shown."""
        max_origins = 500
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and len(self._origins) < max_origins:
            self._origins[f"{parts.scheme}://{parts.netloc}"] = None

    async def restore_state(self, context: BrowserContext, state: dict[str, Any]) -> None:
        """Restore a saved state in a context."""
        self.latest_state = state
        await restore_state(context, state)
        self._origins |= {each["origin"]: None for each in state.get("origins", [])}
        self._last_seen |= {each["origin"]: each.get("localStorage", []) for each in state.get("origins", [])}

    async def capture_state(self, context: BrowserContext) -> dict[str, Any]:
        """Return the whole state, for `StateStore.save`."""
        return await capture_state(context, self._origins)

    async def peek_state(self, context: BrowserContext, tabs: Tabs) -> dict[str, Any]:
        """Return the state as far as the open pages show it, without opening another one."""
        return await peek_state(context, tabs, self._last_seen)

    def schedule_capture(self, context: BrowserContext, tabs: Tabs) -> None:
        """Capture the state shortly after a call, in case the browser dies."""
        capture_delay_s = 0.3
        if self._is_capture_scheduled:
            return
        self._is_capture_scheduled = True

        async def capture_later() -> None:
            await asyncio.sleep(capture_delay_s)
            self._is_capture_scheduled = False
            with suppress(OutriderError):  # the session may be closed by now
                self.latest_state = await self.peek_state(context, tabs)

        context.browser.connection.spawn_task(capture_later(), "capturing a session's state")
