"""The toolset mcp_servers: tools of the user's other MCP servers, added and removed while Outrider runs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from outrider.core.errors import OutriderError
from outrider.core.tool import Services, Tool, Toolset

mcp_servers = Toolset(
    "mcp_servers",
    "list_mcp_servers shows the user's other MCP servers; the names of their tools begin with the server's.",
    on_request=True,
)


class ServerTools(Protocol):
    """The tools of other servers by server, or the problem of a server."""

    async def list_tools(self, toolset: str) -> Mapping[str, Sequence[Tool] | OutriderError]: ...


@mcp_servers.tool(title="List MCP servers", open_world=True)
async def list_mcp_servers(servers: ServerTools, /) -> str:
    """List the user's other MCP servers with the number of their tools, or why one cannot be used."""
    listed = await servers.list_tools(mcp_servers.name)
    lines = [
        f"- {name}: {found.message}" if isinstance(found, OutriderError) else f"- {name}: {len(found)} tools"
        for name, found in listed.items()
    ]
    return "\n".join(lines) or "There are none. The user can add them to ~/.outrider/mcp.json at any time."


@mcp_servers.register_tool_source
async def list_server_tools(services: Services, taken_names: Collection[str]) -> tuple[Tool, ...]:
    """Return the tools of all servers that have answered."""
    listed = await services[ServerTools].list_tools(mcp_servers.name)
    tools = [tool for found in listed.values() if not isinstance(found, OutriderError) for tool in found]
    return tuple(tool for tool in tools if tool.name not in taken_names)
