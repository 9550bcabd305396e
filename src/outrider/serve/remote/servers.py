"""Call tools of the MCP servers that the operator has configured."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from outrider.agents.remote_tools import RemoteTool, assign_tool_names
from outrider.agents.settings import McpServerSettings
from outrider.core.context import Call
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Unavailable
from outrider.core.result import Result
from outrider.serve.remote.connection import ConnectionBroken, RemoteConnection
from outrider.serve.remote.results import (
    READ_RESOURCE_TOOL,
    build_remote_tool,
    build_resource_reader,
    to_resource_result,
    to_result,
)

CONFIG_LOCATION = "~/.outrider/mcp.json, or mcpServers in ~/.outrider/settings.json"


class RemoteServers:
    """Other MCP servers by name.

    Args:
        servers: Their settings.
        environ: The environment for `${NAME}` in their settings.
        guard: Checks requests to addresses.
        taken: Names of the app's own tools.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServerSettings],
        environ: Mapping[str, str],
        guard: EgressGuard,
        taken_names: Collection[str] = (),
    ) -> None:
        self.settings: Mapping[str, McpServerSettings] = {}
        self._environ = environ
        self._guard = guard
        self._reserved_names = taken_names
        self._connections: dict[str, RemoteConnection] = {}
        self._add_connections(servers)

    async def replace_servers(self, servers: Mapping[str, McpServerSettings]) -> None:
        """Use these servers from now on; connections to others, and to those whose settings differ, end."""
        ended = [name for name in self._connections if servers.get(name) != self.settings[name]]
        connections = [self._connections.pop(name) for name in ended]
        self._add_connections(servers)
        async with anyio.create_task_group() as tasks:
            for connection in connections:
                tasks.start_soon(connection.aclose)

    def _add_connections(self, servers: Mapping[str, McpServerSettings]) -> None:
        self.settings = servers
        for name, server in servers.items():
            if not server.disabled and name not in self._connections:
                self._connections[name] = RemoteConnection(name, server, self._environ, self._guard)

    async def list_tools(self, server: str) -> Sequence[RemoteTool]:
        """Return the server's tools, and one that reads its resources if it has some.

        Raises NotFound, NotConfigured and Unavailable.
        """
        connection = self._get_connection(server)
        try:
            listed, has_resources = await connection.list_tools(), await connection.has_resources()
        except ConnectionBroken as broken:
            raise self._build_unreachable_error(server, broken) from None
        except MCPError as error:
            raise Unavailable(
                f"server {server!r} does not list its tools: {error.message[:300]}", hint=self._build_check_hint(server)
            ) from None
        remote_names = [tool.name for tool in listed]
        adds_reader = has_resources and READ_RESOURCE_TOOL not in remote_names
        if adds_reader:
            remote_names.append(READ_RESOURCE_TOOL)
        names = assign_tool_names(server, remote_names, self._reserved_names)
        seconds = self.settings[server].timeout_s
        tools = [
            build_remote_tool(tool, names[tool.name], server, partial(self._send_call, server, tool.name), seconds)
            for tool in listed
        ]
        if adds_reader:
            read_resource = partial(self._read_resource, server)
            tools.append(build_resource_reader(names[READ_RESOURCE_TOOL], server, read_resource, seconds))
        return tools

    async def aclose(self) -> None:
        """End all connections."""
        async with anyio.create_task_group() as tasks:
            for connection in self._connections.values():
                tasks.start_soon(connection.aclose)

    def _get_connection(self, name: str) -> RemoteConnection:
        if name in self._connections:
            return self._connections[name]
        if name in self.settings:
            raise NotConfigured(
                f"mcp: server {name!r} is disabled", hint=f"remove `disabled` in {CONFIG_LOCATION}", code="mcp_server"
            )
        close = get_close_matches(name, self.settings, n=1)
        known = f"did you mean {close[0]!r}? " if close else ""
        listed = f"there are {', '.join(self.settings)}" if self.settings else "there are none yet"
        raise NotFound(
            f"mcp: no server {name!r}", hint=f"{known}add it to {CONFIG_LOCATION} ({listed})", code="unknown_mcp_server"
        )

    async def _read_resource(self, server: str, _: Call, arguments: dict[str, Any]) -> Result:
        try:
            return to_resource_result(await self._get_connection(server).read_resource(arguments["uri"]))
        except ConnectionBroken as broken:
            raise self._build_unreachable_error(server, broken) from None
        except MCPError as error:
            raise self._build_refusal_error(server, READ_RESOURCE_TOOL, error) from None

    async def _send_call(self, server: str, tool: str, call: Call, arguments: dict[str, Any]) -> Result:
        async def report_progress(done: float, total: float | None, message: str | None) -> None:
            await call.progress(done, total, message or "")

        meta: Any = {"outrider/idempotencyKey": call.run.idempotency_key} if call.run else None
        connection = self._get_connection(server)
        try:
            await connection.list_tools()  # opens the connection: an error here has not reached the tool
        except ConnectionBroken as broken:
            raise self._build_unreachable_error(server, broken) from None
        try:
            return to_result(await connection.call_tool(tool, arguments, progress_callback=report_progress, meta=meta))
        except ConnectionBroken as broken:
            raise Unavailable(
                f"server {server!r} ended during {tool}: {broken.reason}",
                hint="the call may have taken effect: check that first, and call again only if it has not; "
                "the next call starts the server again",
                code="server_died",
            ) from None
        except MCPError as error:
            raise self._build_refusal_error(server, tool, error) from None
        except (RuntimeError, ValueError) as error:  # raised by the SDK for a result that does not fit its schema
            raise Unavailable(
                f"server {server!r} answered {tool} with an invalid result: {str(error)[:300]}",
                hint="check whether the call took effect, then continue without its result",
                code="bad_result",
            ) from None

    def _build_unreachable_error(self, name: str, broken: ConnectionBroken) -> OutriderError:
        server = self.settings[name]
        if broken.status in (401, 403):
            return NotConfigured(
                f"server {name!r} refused the connection: HTTP {broken.status}",
                hint=f"set its key: mcpServers.{name}.headers.Authorization in {CONFIG_LOCATION}",
                code="mcp_server",
            )
        status = f" (HTTP {broken.status})" if broken.status else ""
        action = "reached" if server.url else "started"
        return Unavailable(
            f"server {name!r} cannot be {action}: {broken.reason}{status}",
            hint=self._build_check_hint(name),
            code="mcp_server",
        )

    def _build_refusal_error(self, server: str, tool: str, error: MCPError) -> OutriderError:
        if error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
            return InvalidInput(f"{tool}: {error.message[:500]}", hint="correct the arguments, or use another tool")
        return Unavailable(
            f"server {server!r} failed at {tool}: {error.message[:500]}", hint="use another tool", code="mcp_error"
        )

    def _build_check_hint(self, name: str) -> str:
        server = self.settings[name]
        check = f"{server.url} is correct and answers" if server.url else f"`{server.command}` runs by itself"
        return f"check that {check}; it is configured in {CONFIG_LOCATION}"
