"""Another MCP server, built with the official SDK: as a program over stdio, or as an ASGI app.

It logs its calls to a file, so that tests can see which process really did them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    EmbeddedResource,
    ErrorData,
    ImageContent,
    JSONRPCError,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
    ToolListChangedNotification,
)

PIXEL_PNG_BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TEXT_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
READ_ONLY = ToolAnnotations(read_only_hint=True)
extra_tools: list[Tool] = []
subscription_bus = InMemorySubscriptionBus()


def write_diary(event: str, **facts: Any) -> None:
    """Write one line of the log."""
    with Path(os.environ.get("DIARY", os.devnull)).open("a") as file:
        file.write(json.dumps({"what": event, "pid": os.getpid(), **facts}) + "\n")


def build_tools() -> list[Tool]:
    return [
        Tool(name="look", description="Looks.", input_schema=EMPTY_SCHEMA, annotations=READ_ONLY),
        Tool(name="say-it", title="Say it", description="Says.", input_schema=TEXT_SCHEMA, annotations=READ_ONLY),
        Tool(
            name="append",
            description="Keeps a line.",
            input_schema=TEXT_SCHEMA,
            annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=True),
        ),
        Tool(name="wipe", description="Wipes all.", input_schema=TEXT_SCHEMA),
        Tool(
            name="everything",
            description="Shows all kinds of content.",
            input_schema=EMPTY_SCHEMA,
            annotations=READ_ONLY,
        ),
        Tool(name="die", description="Ends the server.", input_schema=EMPTY_SCHEMA, annotations=READ_ONLY),
        Tool(name="slow", description="Takes long.", input_schema=EMPTY_SCHEMA, annotations=READ_ONLY),
        Tool(name="fail", description="Fails.", input_schema=EMPTY_SCHEMA, annotations=READ_ONLY),
        Tool(name="grow", description="Brings another tool.", input_schema=EMPTY_SCHEMA, annotations=READ_ONLY),
        Tool(name="environment", description="Its environment.", input_schema=EMPTY_SCHEMA, annotations=READ_ONLY),
        *extra_tools,
    ]


async def list_tools(_: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=build_tools())


async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
    arguments = params.arguments or {}
    meta = dict(context.meta or {})
    write_diary(params.name, arguments=arguments, key=meta.get("outrider/idempotencyKey"))
    if params.name == "die":
        os._exit(3)
    if params.name == "slow":
        await anyio.sleep_forever()
    if params.name == "fail":
        return CallToolResult(content=[TextContent(text="no paper left")], is_error=True)
    if params.name == "everything":
        return build_mixed_result()
    if params.name == "environment":
        return build_text_result(json.dumps(sorted(os.environ)))
    if params.name == "grow":
        extra_tools.append(Tool(name="fresh", description="New.", input_schema=EMPTY_SCHEMA, annotations=READ_ONLY))
        await subscription_bus.publish(ToolsListChanged())
        if context.protocol_version < "2026-07-28":
            await context.session.send_notification(ToolListChangedNotification())
    return build_text_result(f"{params.name}: {arguments.get('text', '')}")


async def list_resources(_: Any, __: PaginatedRequestParams | None) -> ListResourcesResult:
    return ListResourcesResult(resources=[])


async def read_resource(_: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
    if str(params.uri) != "notes://1":
        raise MCPError(code=INVALID_PARAMS, message="there is only notes://1")
    page = TextResourceContents(uri="notes://1", mime_type="text/markdown", text="# A note\u200b")
    return ReadResourceResult(contents=[page])


def build_text_result(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)])


def build_mixed_result() -> CallToolResult:
    page = TextResourceContents(uri="notes://1", mime_type="text/markdown", text="# A note")
    return CallToolResult(
        content=[
            TextContent(text="a text\u200b with a hidden letter"),
            ImageContent(data=PIXEL_PNG_BASE64, mime_type="image/png"),
            EmbeddedResource(resource=page),
            ResourceLink(uri="https://files.example/report.pdf", name="report.pdf", mime_type="application/pdf"),
        ],
        structured_content={"count": 4},
    )


def build_server() -> Server[Any]:
    return Server(
        "diary",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_subscriptions_listen=ListenHandler(subscription_bus),
    )


async def serve_over_stdio() -> None:
    made = build_server()
    options = made.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (reading, writing):
        if "LEGACY" not in os.environ:
            await made.run(reading, writing, options)
            return
        onward, received = anyio.create_memory_object_stream[Any](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reject_discovery, reading, writing, onward)
            await made.run(received, writing, options)
            tasks.cancel_scope.cancel()


async def reject_discovery(reading: Any, writing: Any, onward: Any) -> None:
    """Make it behave like a server older than `server/discover`."""
    async with onward:
        async for item in reading:
            if getattr(item.message, "method", "") == "server/discover":
                unknown = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
                await writing.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=item.message.id, error=unknown)))
            else:
                await onward.send(item)


def build_http_app(token: str = "") -> Any:
    """Build the server as an ASGI app; with a token, it only accepts its bearer."""
    from starlette.responses import PlainTextResponse

    inner = build_server().streamable_http_app(streamable_http_path="/mcp", host="127.0.0.1")

    async def check_bearer(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers") or [])
        if scope["type"] == "http" and token and headers.get(b"authorization") != f"Bearer {token}".encode():
            await PlainTextResponse("who are you?", 401)(scope, receive, send)
            return
        await inner(scope, receive, send)

    return check_bearer


def build_command() -> list[str]:
    """Build a command that starts the server by fork, which is faster."""
    from support.processes import prefork  # not importable in the program itself

    return prefork.build_command("support.fakes.mcp_servers")


def run(_: list[str]) -> None:
    """The program."""
    print("the diary opens", file=sys.stderr)
    if "BROKEN" in os.environ:  # like servers without a key
        sys.exit(f"no DIARY_KEY in the environment, only {os.environ['BROKEN']}")
    write_diary("started")
    if "CHILD" in os.environ:  # like servers that start a browser and do not end it
        child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, start_new_session=True)
        write_diary("child", child=child.pid)
    anyio.run(serve_over_stdio)


if __name__ == "__main__":
    run([])
