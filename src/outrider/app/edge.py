"""What agents get of the edge: its seal, and the client of other MCP servers. Both are loaded when first needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from outrider.core.egress.guard import Guard
from outrider.core.tool import Toolset
from outrider.serve.seal import codec
from outrider.settings import Loaded

if TYPE_CHECKING:
    from outrider.agents.remote import RemoteTool
    from outrider.serve.remote import RemoteServers


@dataclass
class Sealing:
    """The edge's seal, for agents; loaded when something is sealed for the first time."""

    loaded: Loaded

    def seal(self, payload: bytes) -> str:
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._codec.unseal(token)

    @cached_property
    def _codec(self) -> Any:
        return codec(self.loaded.settings.serve.state_key, self.loaded.settings.data_dir)


@dataclass
class Servers:
    """Other MCP servers, for agents; the SDK's client is loaded when the first of them is needed."""

    loaded: Loaded
    guard: Guard
    every: Callable[[], dict[str, Toolset]]

    @property
    def names(self) -> list[str]:
        return list(self.loaded.settings.mcpServers)

    async def tools(self, server: str) -> Sequence["RemoteTool"]:
        return await self._opened.tools(server)

    async def aclose(self) -> None:
        if "_opened" in vars(self):
            await self._opened.aclose()

    @cached_property
    def _opened(self) -> "RemoteServers":
        from outrider.serve.remote import RemoteServers

        taken = {name for toolset in self.every().values() for name in toolset.tools}
        return RemoteServers(self.loaded.settings.mcpServers, self.loaded.environ, self.guard, taken)
