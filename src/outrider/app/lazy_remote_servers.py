"""MCP clients for agents, loaded when first needed."""

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
        """Return the servers as they are configured now; those before if the file has become malformed."""
        stamp = None  # of a missing file
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
