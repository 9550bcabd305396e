"""Serve one tool with the SDK's low-level server: the baseline."""

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool


async def list_tools(_context, _params):
    echo_schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1}},
        "required": ["text"],
        "additionalProperties": False,
    }
    return ListToolsResult(tools=[Tool(name="echo", description="Say it back.", input_schema=echo_schema)])


async def call_tool(_context, params):
    arguments = params.arguments
    return CallToolResult(content=[TextContent(text=arguments["text"] * arguments.get("times", 1))])


async def main():
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
