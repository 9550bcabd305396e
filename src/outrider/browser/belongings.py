"""What the sites of a session have stored: seen now and then, so that it outlives the browser's death."""

import asyncio
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from outrider.browser.context import Context
from outrider.browser.storage import glimpse_state, put_state, take_state
from outrider.browser.tabs import Tabs
from outrider.core.errors import OutriderError

ORIGINS = 500  # that are known
REMEMBER_AFTER = 0.3  # seconds after a call


class Belongings:
    """One session's cookies and local storage.

    Attributes:
        memory: As they were a moment after the last call; None before the first.
    """

    def __init__(self) -> None:
        self.memory: dict[str, Any] | None = None
        self._remembering = False
        self._origins: dict[str, None] = {}
        self._stored: dict[str, Any] = {}  # origin to local storage, as last seen by `glimpse`

    def visited(self, url: str) -> None:
        """A page has been there."""
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and len(self._origins) < ORIGINS:
            self._origins[f"{parts.scheme}://{parts.netloc}"] = None

    async def put(self, context: Context, state: dict[str, Any]) -> None:
        """Brings a saved state into a context."""
        self.memory = state
        await put_state(context, state)
        self._origins |= {each["origin"]: None for each in state.get("origins", [])}
        self._stored |= {each["origin"]: each.get("localStorage", []) for each in state.get("origins", [])}

    async def taken(self, context: Context) -> dict[str, Any]:
        """All of it, for `States.save`."""
        return await take_state(context, self._origins)

    async def glimpse(self, context: Context, tabs: Tabs) -> dict[str, Any]:
        """The same as far as the open pages show it, without opening one for it."""
        return await glimpse_state(context, tabs, self._stored)

    def remember_soon(self, context: Context, tabs: Tabs) -> None:
        """Looks at it a moment after a call, in case the browser dies."""
        if not self._remembering:
            self._remembering = True
            work = self._remember(context, tabs)
            context.browser.connection.spawn(work, "remembering what a session has stored")

    async def _remember(self, context: Context, tabs: Tabs) -> None:
        await asyncio.sleep(REMEMBER_AFTER)
        self._remembering = False
        with suppress(OutriderError):  # it may have been closed meanwhile
            self.memory = await self.glimpse(context, tabs)
