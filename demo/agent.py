"""The agent's side: the official MCP client, and `outrider mcp` as a process of its own."""

import os
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

SERVER = ("-m", "outrider", "mcp")


@dataclass(frozen=True)
class Answer:
    """What a tool answered."""

    text: str
    data: dict[str, Any]
    meta: dict[str, Any]
    failed: bool


class Agent:
    """Calls Outrider's tools as any MCP host does."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Answer:
        """One tool call; a failure is an answer too."""
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result, CallToolResult)
        text = "\n\n".join(item.text for item in result.content if isinstance(item, TextContent))
        return Answer(text, result.structured_content or {}, dict(result.meta or {}), bool(result.is_error))


@asynccontextmanager
async def connected(home: Path, settings: tuple[str, ...] = ()) -> AsyncGenerator[Agent]:
    """An agent with a server that keeps everything below `home`, started with these settings."""
    options = [part for each in settings for part in ("--set", each)]
    server = StdioServerParameters(
        command=sys.executable,
        args=[*SERVER, *options],
        env=dict(os.environ) | {"HOME": str(home)},
        cwd=home,
    )
    with (home / "server.log").open("a") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            yield Agent(client)


def command_line(settings: tuple[str, ...]) -> str:
    """The command that was started, as a user would type it."""
    return shlex.join(["outrider", "mcp", *(part for each in settings for part in ("--set", each))])
