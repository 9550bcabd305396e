"""Connect to `outrider mcp` with the official MCP client."""

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
class ToolAnswer:
    """The answer of a tool."""

    text: str
    data: dict[str, Any]
    meta: dict[str, Any]
    failed: bool


class Agent:
    """Call Outrider's tools as an MCP host does."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> ToolAnswer:
        """Call a tool; return its answer, even if it failed. Progress goes to the message handler."""
        result = await self.client.call_tool(tool, arguments, progress_callback=_ignore_progress)
        assert isinstance(result, CallToolResult)
        text = "\n\n".join(_iter_texts(result))
        return ToolAnswer(text, result.structured_content or {}, dict(result.meta or {}), bool(result.is_error))


async def _ignore_progress(*_: object, **__: object) -> None:
    """Request progress notifications, which arrive in full at the message handler."""


def _iter_texts(result: CallToolResult) -> Iterator[str]:
    for item in result.content:
        if isinstance(item, TextContent):
            yield item.text
        elif isinstance(item, EmbeddedResource) and isinstance(item.resource, TextResourceContents):
            yield item.resource.text


@asynccontextmanager
async def connect_agent(
    home: Path,
    settings: tuple[str, ...] = (),
    *,
    answer_question: ElicitationFnT | None = None,
    handle_message: MessageHandlerFnT | None = None,
) -> AsyncGenerator[Agent]:
    """Start a server with these settings and yield an agent that is connected to it.

    Args:
        home: The folder for all of its data.
        settings: Values for `--set`.
        answer_question: Answers what the server asks the user.
        handle_message: Receives notifications.
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
        async with Client(transport, elicitation_callback=answer_question, message_handler=handle_message) as client:
            yield Agent(client)


async def stop_daemon(home: Path) -> None:
    """Stop the shared process of `home` and its browser, which would wait for other hosts."""
    command = [sys.executable, "-m", "outrider", "daemon", "stop"]
    await anyio.run_process(command, check=False, cwd=home, env=dict(os.environ) | {"HOME": str(home)})


def format_command(settings: tuple[str, ...]) -> str:
    """Return the server's command as a user would type it."""
    return shlex.join(["outrider", "mcp", *(part for each in settings for part in ("--set", each))])
