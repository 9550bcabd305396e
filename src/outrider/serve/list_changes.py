"""Tells clients when tools or prompts come and go: newer ones by subscription, older ones over their connection."""

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
        read_version: Something that is another whenever the list has changed.
        event: What subscribers hear.
        send: How an older connection hears it.
    """

    read_version: Callable[[], Awaitable[object]]
    event: ServerEvent
    send: Callable[[Connection], Awaitable[None]]
    last_version: object = None
    was_listed: anyio.Event = field(default_factory=anyio.Event)
    legacy_connections: WeakSet[Connection] = field(default_factory=WeakSet)


class ListChangeNotifier:
    """Looks for changes from the first time that somebody has seen a list."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.bus = InMemorySubscriptionBus()
        self._toolbox = toolbox
        self._tools = WatchedList(self._read_tools_version, ToolsListChanged(), Connection.send_tool_list_changed)
        self._prompts = WatchedList(
            toolbox.get_prompt_version, PromptsListChanged(), Connection.send_prompt_list_changed
        )

    @property
    def prompts_change(self) -> bool:
        """Whether prompts may come and go."""
        return any(each.prompts for each in self._toolbox.list_toolsets())

    async def record_tools_listed(self, context: ServerRequestContext[Any, Any]) -> None:
        """Notes who has seen the list of tools."""
        await self._record_listed(self._tools, context, changes=self._toolbox.changes)

    async def record_prompts_listed(self, context: ServerRequestContext[Any, Any]) -> None:
        """Notes who has seen the list of prompts."""
        await self._record_listed(self._prompts, context, changes=self.prompts_change)

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncGenerator[dict[str, Any]]:
        """Watches while the server runs."""
        async with anyio.create_task_group() as tasks:
            if self._toolbox.changes:
                tasks.start_soon(self._poll_changes, self._tools)
            if self.prompts_change:
                tasks.start_soon(self._poll_changes, self._prompts)
            yield {}
            tasks.cancel_scope.cancel()

    async def _read_tools_version(self) -> object:
        await self._toolbox.refresh_tools()
        return self._toolbox.version

    async def _record_listed(
        self, topic: WatchedList, context: ServerRequestContext[Any, Any], *, changes: bool
    ) -> None:
        """The SDK hands no public way to a request's connection."""
        topic.legacy_connections.add(context.session._connection)  # noqa: SLF001
        if changes and not topic.was_listed.is_set():
            topic.last_version = await topic.read_version()
            topic.was_listed.set()

    async def _poll_changes(self, topic: WatchedList) -> None:
        poll_interval_s = 2.0  # seconds between two looks; a look is a few file times, or one row of the database
        await topic.was_listed.wait()
        while True:
            await anyio.sleep(poll_interval_s)
            try:
                now = await topic.read_version()
            except OutriderError:  # a database that is away for a moment
                continue
            if now != topic.last_version:  # whoever noticed first: others look at the same lists
                topic.last_version = now
                await self._notify_clients(topic)

    async def _notify_clients(self, topic: WatchedList) -> None:
        await self.bus.publish(topic.event)
        for connection in list(topic.legacy_connections):
            await topic.send(connection)
