"""All the servers that the operator has configured, and calls to them with errors that name the remedy."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from outrider.agents.remote import RemoteTool, names_of
from outrider.agents.settings import McpServer
from outrider.core.context import Call
from outrider.core.egress.guard import Guard
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Unavailable
from outrider.core.result import Result
from outrider.serve.remote.connection import Broken, Connection
from outrider.serve.remote.results import READ, reader_of, resources_of, result_of, tool_of

WHERE = "~/.outrider/mcp.json, or mcpServers in ~/.outrider/settings.json"
KEY = "outrider/idempotencyKey"  # in a call's `_meta`: the same for every repetition of it


class RemoteServers:
    """Other MCP servers by name.

    Args:
        servers: As they are configured.
        environ: What `${NAME}` in their settings stands for.
        guard: Lets requests to addresses out.
        taken: Names of tools that the house has itself.
    """

    def __init__(
        self, servers: Mapping[str, McpServer], environ: Mapping[str, str], guard: Guard, taken: Collection[str] = ()
    ) -> None:
        self._servers = servers
        self._taken = taken
        self._connections = {
            name: Connection(name, server, environ, guard) for name, server in servers.items() if not server.disabled
        }

    async def tools(self, server: str) -> Sequence[RemoteTool]:
        """See `outrider.agents.remote.Servers`."""
        connection = self._connection(server)
        try:
            listed, reads = await connection.tools(), await connection.has_resources()
        except Broken as broken:
            raise self._unreachable(server, broken) from None
        except MCPError as error:
            raise Unavailable(
                f"server {server!r} does not list its tools: {error.message[:300]}", hint=self._look(server)
            ) from None
        originals = [tool.name for tool in listed]
        reads = reads and READ not in originals
        names = names_of(server, [*originals, READ] if reads else originals, self._taken)
        seconds = self._servers[server].timeout_s
        tools = [tool_of(tool, names[tool.name], server, self._sender(server, tool.name), seconds) for tool in listed]
        return [*tools, reader_of(names[READ], server, self._reader(server), seconds)] if reads else tools

    async def aclose(self) -> None:
        """Ends all connections."""
        async with anyio.create_task_group() as tasks:
            for connection in self._connections.values():
                tasks.start_soon(connection.aclose)

    def _connection(self, name: str) -> Connection:
        if name in self._connections:
            return self._connections[name]
        if name in self._servers:
            raise NotConfigured(
                f"mcp: server {name!r} is disabled", hint=f"remove `disabled` in {WHERE}", code="mcp_server"
            )
        close = get_close_matches(name, self._servers, n=1)
        known = f"did you mean {close[0]!r}? " if close else ""
        listed = f"there are {', '.join(self._servers)}" if self._servers else "there is none yet"
        raise NotFound(
            f"mcp: no server {name!r}", hint=f"{known}add it to {WHERE} ({listed})", code="unknown_mcp_server"
        )

    def _sender(self, server: str, tool: str) -> Any:
        async def send(call: Call, arguments: dict[str, Any]) -> Result:
            return await self._send(server, tool, call, arguments)

        return send

    def _reader(self, server: str) -> Any:
        async def read(_: Call, arguments: dict[str, Any]) -> Result:
            try:
                return resources_of(await self._connection(server).read(arguments["uri"]))
            except Broken as broken:
                raise self._unreachable(server, broken) from None
            except MCPError as error:
                raise self._said_no(server, READ, error) from None

        return read

    async def _send(self, server: str, tool: str, call: Call, arguments: dict[str, Any]) -> Result:
        async def progress(done: float, total: float | None, message: str | None) -> None:
            await call.progress(done, total, message or "")

        meta: Any = {KEY: call.run.idempotency_key} if call.run else None
        connection = self._connection(server)
        try:
            await connection.tools()  # opens it where it is not: what breaks now has not reached the tool
        except Broken as broken:
            raise self._unreachable(server, broken) from None
        try:
            return result_of(await connection.call(tool, arguments, progress_callback=progress, meta=meta))
        except Broken as broken:
            raise self._broke_off(server, tool, broken) from None
        except MCPError as error:
            raise self._said_no(server, tool, error) from None
        except (RuntimeError, ValueError) as error:  # the SDK's word for a result that breaks its own schema
            raise Unavailable(
                f"server {server!r} answered {tool} with what is no result: {str(error)[:300]}",
                hint="find out first whether it took effect; then go on without it",
                code="bad_result",
            ) from None

    def _unreachable(self, name: str, broken: Broken) -> OutriderError:
        server = self._servers[name]
        if broken.status in (401, 403):
            return NotConfigured(
                f"server {name!r} lets nobody in: HTTP {broken.status}",
                hint=f"give it a key: mcpServers.{name}.headers.Authorization in {WHERE}",
                code="mcp_server",
            )
        status = f" (HTTP {broken.status})" if broken.status else ""
        what = "reached" if server.url else "started"
        return Unavailable(
            f"server {name!r} cannot be {what}: {broken.reason}{status}", hint=self._look(name), code="mcp_server"
        )

    def _broke_off(self, server: str, tool: str, broken: Broken) -> OutriderError:
        return Unavailable(
            f"server {server!r} ended during {tool}: {broken.reason}",
            hint="it may have taken effect: find out first, and call again only if it has not; the server is started "
            "anew then",
            code="server_died",
        )

    def _said_no(self, server: str, tool: str, error: MCPError) -> OutriderError:
        if error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
            return InvalidInput(f"{tool}: {error.message[:500]}", hint="correct the arguments, or use another tool")
        return Unavailable(
            f"server {server!r} failed at {tool}: {error.message[:500]}", hint="try something else", code="mcp_error"
        )

    def _look(self, name: str) -> str:
        server = self._servers[name]
        what = f"that {server.url} is right and answers" if server.url else f"that `{server.command}` runs by itself"
        return f"check {what}; it is configured in {WHERE}"
