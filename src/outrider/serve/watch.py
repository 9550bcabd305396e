"""Tells clients when tools have come or gone: newer ones by subscription, older ones over their connection."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakSet

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

from outrider.core.toolbox import Toolbox

EVERY = 2.0  # seconds between two looks; a look is a few file times


class Watch:
    """Looks for changes from the first time that somebody has seen the list."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.bus = InMemorySubscriptionBus()
        self._toolbox = toolbox
        self._seen = anyio.Event()
        self._older: WeakSet[Connection] = WeakSet()
        self._told = 0

    def listed(self, context: ServerRequestContext[Any, Any]) -> None:
        """Notes who has seen the list; the SDK hands no public way to a request's connection."""
        self._older.add(context.session._connection)  # noqa: SLF001
        if not self._seen.is_set():
            self._told = self._toolbox.version
            self._seen.set()

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncGenerator[dict[str, Any]]:
        """Watches while the server runs."""
        if not self._toolbox.changes:
            yield {}
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._look_forever)
            yield {}
            tasks.cancel_scope.cancel()

    async def _look_forever(self) -> None:
        await self._seen.wait()
        while True:
            await anyio.sleep(EVERY)
            await self._toolbox.refresh()
            if self._toolbox.version != self._told:  # whoever noticed first: others look at the same tools
                self._told = self._toolbox.version
                await self.tell()

    async def tell(self) -> None:
        """Says that the list has changed."""
        await self.bus.publish(ToolsListChanged())
        for connection in list(self._older):
            await connection.send_tool_list_changed()
