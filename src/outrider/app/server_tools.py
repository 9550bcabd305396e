"""Collect the tools of the user's other MCP servers for hosts."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import InvalidInput
from outrider.core.tool import Toolset
from outrider.settings import LoadedSettings

if TYPE_CHECKING:
    from outrider.agents.remote_tools import RemoteTool
    from outrider.agents.settings import McpServerSettings
    from outrider.serve.remote import RemoteServers
import asyncio
import time
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.core.result import Result, TextBlock
from outrider.toolsets.options import ToolOptions

if TYPE_CHECKING:
    from outrider.agents.remote_tools import RemoteTool

log = logging.getLogger(__name__)


@dataclass
class LazyRemoteServers:
    """Other MCP servers, whose client is loaded at first use; their file is read again when it has changed.

    Attributes:
        loaded: The settings, which name the servers.
        guard: Decides where requests may go.
        list_toolsets: Returns our own toolsets, whose tool names are reserved.
    """

    loaded: LoadedSettings
    guard: EgressGuard
    list_toolsets: Callable[[], dict[str, Toolset]]
    _servers: "RemoteServers | None" = None
    _settings: "dict[str, McpServerSettings] | None" = None
    _file_stamp: tuple[int, int] | None = None

    @property
    def names(self) -> list[str]:
        return list(self._read_settings())

    async def list_tools(self, server: str) -> Sequence["RemoteTool"]:
        settings = self._read_settings()
        if self._servers is None:
            from outrider.serve.remote import RemoteServers

            reserved_names = {name for toolset in self.list_toolsets().values() for name in toolset.tools}
            self._servers = RemoteServers(settings, self.loaded.environ, self.guard, reserved_names)
        elif self._servers.settings is not settings:
            await self._servers.replace_servers(settings)
        return await self._servers.list_tools(server)

    def _read_settings(self) -> "dict[str, McpServerSettings]":
        """Return the configured servers, or the previous ones.

        The previous ones apply if the file has become malformed.
        """
        stamp = None  # the file is missing
        with suppress(OSError):
            if (path := self.loaded.servers_file) is not None:
                status = path.stat()
                stamp = status.st_mtime_ns, status.st_size
        if self._settings is None or stamp != self._file_stamp:
            known = self.loaded.settings.mcpServers if self._settings is None else self._settings
            try:
                self._settings = self.loaded.reload_servers()
            except InvalidInput as error:
                self._settings = known
                log.warning("the other MCP servers keep their old settings: %s", error.message)
            self._file_stamp = stamp
        return self._settings

    async def aclose(self) -> None:
        if self._servers is not None:
            await self._servers.aclose()


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
            if self._originals.get(name) != originals:  # otherwise keep the same objects, because nothing has changed
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
