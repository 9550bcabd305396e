"""Keep the tools of the user's other MCP servers at hand, for hosts that are offered them."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from outrider.app.lazy_remote_servers import LazyRemoteServers
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.core.result import Result, TextBlock
from outrider.toolsets.options import ToolOptions

if TYPE_CHECKING:
    from outrider.agents.remote_tools import RemoteTool


@dataclass
class ServerToolLists:
    """The tools of every configured server that has answered, and the problems of the others.

    Servers are started in the background, because some take a minute: their tools are added when they have answered.
    """

    servers: LazyRemoteServers
    options: ToolOptions
    _lists: "dict[str, tuple[RemoteTool, ...]]" = field(default_factory=dict)
    _originals: dict[str, list[Any]] = field(default_factory=dict)
    _problems: dict[str, OutriderError] = field(default_factory=dict)
    _retry_at: dict[str, float] = field(default_factory=dict)
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def list_tools(self, toolset: str) -> "dict[str, Sequence[RemoteTool] | OutriderError]":
        """Return the tools of each server as tools of `toolset`, or its problem; a server may have no tools yet."""
        first_wait_s = 5.0
        names = self.servers.names
        for known in [*self._lists, *self._problems]:
            if known not in names:
                self._forget_tools(known)
        now = time.monotonic()
        started = [name for name in names if name not in self._tasks and now >= self._retry_at.get(name, 0.0)]
        self._tasks |= {name: asyncio.create_task(self._refresh_tools(name, toolset)) for name in started}
        if started:
            await asyncio.wait([self._tasks[name] for name in started], timeout=first_wait_s)
        return {name: self._problems.get(name) or self._lists.get(name, ()) for name in names}

    async def aclose(self) -> None:
        """Stop waiting for servers."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget_tools(self, name: str) -> None:
        for known in (self._lists, self._originals, self._problems, self._retry_at):
            known.pop(name, None)

    async def _refresh_tools(self, name: str, toolset: str) -> None:
        retry_s = 30.0
        try:
            tools = await self.servers.list_tools(name)
        except OutriderError as error:
            self._forget_tools(name)
            self._problems[name], self._retry_at[name] = error, time.monotonic() + retry_s
        else:
            self._problems.pop(name, None)
            originals = [(tool.name, tool.description, tool.arguments_schema, tool.stake) for tool in tools]
            if self._originals.get(name) != originals:  # else the tools stay the same objects: nothing has changed
                self._originals[name] = originals
                self._lists[name] = tuple(self._adapt_tool(tool, name, toolset) for tool in tools)
        finally:
            self._tasks.pop(name, None)

    def _adapt_tool(self, tool: "RemoteTool", server: str, toolset: str) -> "RemoteTool":
        async def call_marked(call: Call, arguments: dict[str, object]) -> Result:
            result: Result = await tool.fn(call, arguments)
            content = tuple(
                replace(item, text=self.options.mark_untrusted(item.text, f"mcp:{server}"))
                if isinstance(item, TextBlock)
                else item
                for item in result.content
            )
            return replace(result, content=content)

        return replace(tool, toolset=toolset, fn=call_marked)
