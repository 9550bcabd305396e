"""All the servers that the operator has configured, and calls to them with errors that name the remedy."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
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
        servers: As they are configured.
        environ: What `${NAME}` in their settings stands for.
        guard: Lets requests to addresses out.
        taken: Names of tools that the house has itself.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServerSettings],
        environ: Mapping[str, str],
        guard: EgressGuard,
        taken: Collection[str] = (),
    ) -> None:
        self._servers = servers
        self._reserved_names = taken
        self._connections = {
            name: RemoteConnection(name, server, environ, guard)
            for name, server in servers.items()
            if not server.disabled
        }

    async def list_tools(self, server: str) -> Sequence[RemoteTool]:
        """See `outrider.agents.remote.Servers`."""
        connection = self._get_connection(server)
        try:
            listed, reads = await connection.list_tools(), await connection.has_resources()
        except ConnectionBroken as broken:
            raise self._build_unreachable_error(server, broken) from None
        except MCPError as error:
            raise Unavailable(
                f"server {server!r} does not list its tools: {error.message[:300]}", hint=self._build_check_hint(server)
            ) from None
        originals = [tool.name for tool in listed]
        reads = reads and READ_RESOURCE_TOOL not in originals
        names = assign_tool_names(
            server, [*originals, READ_RESOURCE_TOOL] if reads else originals, self._reserved_names
        )
        seconds = self._servers[server].timeout_s
        tools = [
            build_remote_tool(tool, names[tool.name], server, self._build_sender(server, tool.name), seconds)
            for tool in listed
        ]
        return (
            [*tools, build_resource_reader(names[READ_RESOURCE_TOOL], server, self._build_reader(server), seconds)]
            if reads
            else tools
        )

    async def aclose(self) -> None:
        """Ends all connections."""
        async with anyio.create_task_group() as tasks:
            for connection in self._connections.values():
                tasks.start_soon(connection.aclose)

    def _get_connection(self, name: str) -> RemoteConnection:
        if name in self._connections:
            return self._connections[name]
        if name in self._servers:
            raise NotConfigured(
                f"mcp: server {name!r} is disabled", hint=f"remove `disabled` in {CONFIG_LOCATION}", code="mcp_server"
            )
        close = get_close_matches(name, self._servers, n=1)
        known = f"did you mean {close[0]!r}? " if close else ""
        listed = f"there are {', '.join(self._servers)}" if self._servers else "there is none yet"
        raise NotFound(
            f"mcp: no server {name!r}", hint=f"{known}add it to {CONFIG_LOCATION} ({listed})", code="unknown_mcp_server"
        )

    def _build_sender(self, server: str, tool: str) -> Any:
        async def send_call(call: Call, arguments: dict[str, Any]) -> Result:
            return await self._send_call(server, tool, call, arguments)

        return send_call

    def _build_reader(self, server: str) -> Any:
        async def read_resource(_: Call, arguments: dict[str, Any]) -> Result:
            try:
                return to_resource_result(await self._get_connection(server).read_resource(arguments["uri"]))
            except ConnectionBroken as broken:
                raise self._build_unreachable_error(server, broken) from None
            except MCPError as error:
                raise self._build_refusal_error(server, READ_RESOURCE_TOOL, error) from None

        return read_resource

    async def _send_call(self, server: str, tool: str, call: Call, arguments: dict[str, Any]) -> Result:
        idempotency_meta_key = "outrider/idempotencyKey"  # in a call's `_meta`: the same for every repetition of it

        async def report_progress(done: float, total: float | None, message: str | None) -> None:
            await call.progress(done, total, message or "")

        meta: Any = {idempotency_meta_key: call.run.idempotency_key} if call.run else None
        connection = self._get_connection(server)
        try:
            await connection.list_tools()  # opens it where it is not: what breaks now has not reached the tool
        except ConnectionBroken as broken:
            raise self._build_unreachable_error(server, broken) from None
        try:
            return to_result(await connection.call_tool(tool, arguments, progress_callback=report_progress, meta=meta))
        except ConnectionBroken as broken:
            raise self._build_died_error(server, tool, broken) from None
        except MCPError as error:
            raise self._build_refusal_error(server, tool, error) from None
        except (RuntimeError, ValueError) as error:  # the SDK's word for a result that breaks its own schema
            raise Unavailable(
                f"server {server!r} answered {tool} with what is no result: {str(error)[:300]}",
                hint="find out first whether it took effect; then go on without it",
                code="bad_result",
            ) from None

    def _build_unreachable_error(self, name: str, broken: ConnectionBroken) -> OutriderError:
        server = self._servers[name]
        if broken.status in (401, 403):
            return NotConfigured(
                f"server {name!r} lets nobody in: HTTP {broken.status}",
                hint=f"give it a key: mcpServers.{name}.headers.Authorization in {CONFIG_LOCATION}",
                code="mcp_server",
            )
        status = f" (HTTP {broken.status})" if broken.status else ""
        what = "reached" if server.url else "started"
        return Unavailable(
            f"server {name!r} cannot be {what}: {broken.reason}{status}",
            hint=self._build_check_hint(name),
            code="mcp_server",
        )

    def _build_died_error(self, server: str, tool: str, broken: ConnectionBroken) -> OutriderError:
        return Unavailable(
            f"server {server!r} ended during {tool}: {broken.reason}",
            hint="it may have taken effect: find out first, and call again only if it has not; the server is started "
            "anew then",
            code="server_died",
        )

    def _build_refusal_error(self, server: str, tool: str, error: MCPError) -> OutriderError:
        if error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
            return InvalidInput(f"{tool}: {error.message[:500]}", hint="correct the arguments, or use another tool")
        return Unavailable(
            f"server {server!r} failed at {tool}: {error.message[:500]}", hint="try something else", code="mcp_error"
        )

    def _build_check_hint(self, name: str) -> str:
        server = self._servers[name]
        what = f"that {server.url} is right and answers" if server.url else f"that `{server.command}` runs by itself"
        return f"check {what}; it is configured in {CONFIG_LOCATION}"
