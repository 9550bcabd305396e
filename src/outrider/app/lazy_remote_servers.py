"""MCP clients for agents, loaded when first needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outrider.core.egress.guard import EgressGuard
from outrider.core.tool import Toolset
from outrider.settings import LoadedSettings

if TYPE_CHECKING:
    from outrider.agents.remote_tools import RemoteTool
    from outrider.serve.remote import RemoteServers


@dataclass
class LazyRemoteServers:
    """Other MCP servers, whose client is loaded at first use.

    Attributes:
        loaded: The settings, which name the servers.
        guard: Decides where requests may go.
        list_toolsets: Returns our own toolsets, whose tool names are reserved.
    """

    loaded: LoadedSettings
    guard: EgressGuard
    list_toolsets: Callable[[], dict[str, Toolset]]
    _servers: "RemoteServers | None" = None

    @property
    def names(self) -> list[str]:
        return list(self.loaded.settings.mcpServers)

    async def list_tools(self, server: str) -> Sequence["RemoteTool"]:
        if self._servers is None:
            from outrider.serve.remote import RemoteServers

            reserved_names = {name for toolset in self.list_toolsets().values() for name in toolset.tools}
            settings = self.loaded.settings.mcpServers
            self._servers = RemoteServers(settings, self.loaded.environ, self.guard, reserved_names)
        return await self._servers.list_tools(server)

    async def aclose(self) -> None:
        if self._servers is not None:
            await self._servers.aclose()
