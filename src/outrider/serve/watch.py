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

EVERY = 2.0  # seconds between two looks; a look is a few file times, or one row of the database


@dataclass
class Topic:
    """A list that may change.

    Attributes:
        look: Something that is another whenever the list has changed.
        event: What subscribers hear.
        send: How an older connection hears it.
    """

    look: Callable[[], Awaitable[object]]
    event: ServerEvent
    send: Callable[[Connection], Awaitable[None]]
    told: object = None
    seen: anyio.Event = field(default_factory=anyio.Event)
    older: WeakSet[Connection] = field(default_factory=WeakSet)


class Watch:
    """Looks for changes from the first time that somebody has seen a list."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.bus = InMemorySubscriptionBus()
        self._toolbox = toolbox
        self._tools = Topic(self._tools_now, ToolsListChanged(), Connection.send_tool_list_changed)
        self._prompts = Topic(toolbox.prompt_stamp, PromptsListChanged(), Connection.send_prompt_list_changed)

    @property
    def prompts_change(self) -> bool:
        """Whether prompts may come and go."""
        return any(each.prompts for each in self._toolbox.served())

    async def listed_tools(self, context: ServerRequestContext[Any, Any]) -> None:
        """Notes who has seen the list of tools."""
        await self._listed(self._tools, context, changes=self._toolbox.changes)

    async def listed_prompts(self, context: ServerRequestContext[Any, Any]) -> None:
        """Notes who has seen the list of prompts."""
        await self._listed(self._prompts, context, changes=self.prompts_change)

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncGenerator[dict[str, Any]]:
        """Watches while the server runs."""
        async with anyio.create_task_group() as tasks:
            if self._toolbox.changes:
                tasks.start_soon(self._look_forever, self._tools)
            if self.prompts_change:
                tasks.start_soon(self._look_forever, self._prompts)
            yield {}
            tasks.cancel_scope.cancel()

    async def _tools_now(self) -> object:
        await self._toolbox.refresh()
        return self._toolbox.version

    async def _listed(self, topic: Topic, context: ServerRequestContext[Any, Any], *, changes: bool) -> None:
        """The SDK hands no public way to a request's connection."""
        topic.older.add(context.session._connection)  # noqa: SLF001
        if changes and not topic.seen.is_set():
            topic.told = await topic.look()
            topic.seen.set()

    async def _look_forever(self, topic: Topic) -> None:
        await topic.seen.wait()
        while True:
            await anyio.sleep(EVERY)
            try:
                now = await topic.look()
            except OutriderError:  # a database that is away for a moment
                continue
            if now != topic.told:  # whoever noticed first: others look at the same lists
                topic.told = now
                await self._tell(topic)

    async def _tell(self, topic: Topic) -> None:
        await self.bus.publish(topic.event)
        for connection in list(topic.older):
            await topic.send(connection)
