"""The agent's side: the official MCP client, and `outrider mcp` as a process of its own."""

import os
import shlex
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT, MessageHandlerFnT
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, EmbeddedResource, TextContent, TextResourceContents

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
        """One tool call; a failure is an answer too. The connection's `heard` is told of its progress."""
        result = await self.client.call_tool(tool, arguments, progress_callback=_ignored)
        assert isinstance(result, CallToolResult)
        text = "\n\n".join(_texts(result))
        return Answer(text, result.structured_content or {}, dict(result.meta or {}), bool(result.is_error))


async def _ignored(*_: object, **__: object) -> None:
    """Progress is asked for by listening to it; what it says in full comes to the connection's handler."""


def _texts(result: CallToolResult) -> Iterator[str]:
    for item in result.content:
        if isinstance(item, TextContent):
            yield item.text
        elif isinstance(item, EmbeddedResource) and isinstance(item.resource, TextResourceContents):
            yield item.resource.text


@asynccontextmanager
async def connected(
    home: Path,
    settings: tuple[str, ...] = (),
    *,
    person: ElicitationFnT | None = None,
    heard: MessageHandlerFnT | None = None,
) -> AsyncGenerator[Agent]:
    """An agent with a server that keeps everything below `home`, started with these settings.

    `person` answers what the server asks the user; `heard` gets its notices.
    """
    options = [part for each in settings for part in ("--set", each)]
    server = StdioServerParameters(
        command=sys.executable,
        args=[*SERVER, *options],
        env=dict(os.environ) | {"HOME": str(home)},
        cwd=home,
    )
    with (home / "server.log").open("a") as log:
        transport = stdio_client(server, errlog=log)
        async with Client(transport, elicitation_callback=person, message_handler=heard) as client:
            yield Agent(client)


async def stop(home: Path) -> None:
    """Ends the process that all servers of `home` share, and with it the browser; otherwise it waits for hosts."""
    command = [sys.executable, "-m", "outrider", "daemon", "stop"]
    await anyio.run_process(command, check=False, cwd=home, env=dict(os.environ) | {"HOME": str(home)})


def command_line(settings: tuple[str, ...]) -> str:
    """The command that was started, as a user would type it."""
    return shlex.join(["outrider", "mcp", *(part for each in settings for part in ("--set", each))])
