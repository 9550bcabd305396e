"""What agents get of the edge: its seal, and the client of other MCP servers. Both are loaded when first needed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from outrider.core.egress.guard import EgressGuard
from outrider.core.tool import Toolset
from outrider.serve.state_encryption import build_state_codec
from outrider.settings import LoadedSettings

if TYPE_CHECKING:
    from outrider.agents.remote_tools import RemoteTool
    from outrider.serve.remote import RemoteServers


@dataclass
class LazyStateEncryption:
    """The edge's seal, for agents; loaded when something is sealed for the first time."""

    loaded: LoadedSettings

    def seal(self, payload: bytes) -> str:
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._codec.unseal(token)

    @cached_property
    def _codec(self) -> Any:
        return build_state_codec(self.loaded.settings.serve.state_key, self.loaded.settings.data_dir)


@dataclass
class LazyRemoteServers:
    """Other MCP servers, for agents; the SDK's client is loaded when the first of them is needed."""

    loaded: LoadedSettings
    guard: EgressGuard
    list_toolsets: Callable[[], dict[str, Toolset]]

    @property
    def names(self) -> list[str]:
        return list(self.loaded.settings.mcpServers)

    async def list_tools(self, server: str) -> Sequence["RemoteTool"]:
        return await self._opened.list_tools(server)

    async def aclose(self) -> None:
        if "_opened" in vars(self):
            await self._opened.aclose()

    @cached_property
    def _opened(self) -> "RemoteServers":
        from outrider.serve.remote import RemoteServers

        taken = {name for toolset in self.list_toolsets().values() for name in toolset.tools}
        return RemoteServers(self.loaded.settings.mcpServers, self.loaded.environ, self.guard, taken)
