"""Notify clients of changed tool and prompt lists.

They are told by subscription, or over older connections.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.connection import Connection
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ServerEvent, ToolsListChanged

from outrider.core.errors import OutriderError
from outrider.core.toolbox import Toolbox


@dataclass
class WatchedList:
    """A list that may change.

    Attributes:
        read_version: Returns a value that differs after each change of the list.
        event: The event for subscribers.
        send: Notifies a connection of an older protocol.
        last_version: The version that clients know.
        was_listed: Set when a client has seen the list for the first time.
        legacy_connections: Connections of older protocols.
    """

    read_version: Callable[[], Awaitable[object]]
    event: ServerEvent
    send: Callable[[Connection], Awaitable[None]]
    last_version: object = None
    was_listed: anyio.Event = field(default_factory=anyio.Event)
    legacy_connections: WeakSet[Connection] = field(default_factory=WeakSet)


class ListChangeNotifier:
    """Polls for changes of a list once a client has seen it."""

    def __init__(self, toolbox: Toolbox) -> None:
        async def read_tools_version() -> object:
            await toolbox.refresh_tools()
            return toolbox.version

        self.bus = InMemorySubscriptionBus()
        self._toolbox = toolbox
        self._tools = WatchedList(read_tools_version, ToolsListChanged(), Connection.send_tool_list_changed)
        self._prompts = WatchedList(
            toolbox.get_prompt_version, PromptsListChanged(), Connection.send_prompt_list_changed
        )

    @property
    def prompts_change(self) -> bool:
        """Whether the list of prompts may change."""
        return any(toolset.prompts for toolset in self._toolbox.list_toolsets())

    async def record_tools_listed(self, context: ServerRequestContext[Any, Any]) -> None:
        """Record that a client has seen the list of tools."""
        await self._record_listed(self._tools, context, changes=self._toolbox.changes)

    async def record_prompts_listed(self, context: ServerRequestContext[Any, Any]) -> None:
        """Record that a client has seen the list of prompts."""
        await self._record_listed(self._prompts, context, changes=self.prompts_change)

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncGenerator[dict[str, Any]]:
        """Poll for changes while the server runs."""
        async with anyio.create_task_group() as tasks:
            if self._toolbox.changes:
                tasks.start_soon(self._poll_changes, self._tools)
            if self.prompts_change:
                tasks.start_soon(self._poll_changes, self._prompts)
            yield {}
            tasks.cancel_scope.cancel()

    async def _record_listed(
        self, watched: WatchedList, context: ServerRequestContext[Any, Any], *, changes: bool
    ) -> None:
        watched.legacy_connections.add(context.session._connection)  # noqa: SLF001 - the SDK has no public way to it
        if changes and not watched.was_listed.is_set():
            watched.last_version = await watched.read_version()
            watched.was_listed.set()

    async def _poll_changes(self, watched: WatchedList) -> None:
        poll_interval_s = 2.0  # reading a version is cheap: a few file times, or one row of the database
        await watched.was_listed.wait()
        while True:
            await anyio.sleep(poll_interval_s)
            try:
                version = await watched.read_version()
            except OutriderError:
                continue  # the database is unavailable for a moment
            if version != watched.last_version:
                watched.last_version = version
                await self.bus.publish(watched.event)
                for connection in list(watched.legacy_connections):
                    await watched.send(connection)
