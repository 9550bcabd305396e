"""Tools that pages register for agents (WebMCP, https://webmachinelearning.github.io/webmcp/).

The browser reports them in the CDP domain `WebMCP`, which only exists if its feature is turned on.
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from outrider.browser.protocol.cdp import TargetChannel
from outrider.browser.protocol.page import BrowserPage
from outrider.core.errors import InvalidInput, NotFound, Unavailable

MAX_TOOLS = 100  # of one page


@dataclass(frozen=True)
class OfferedTool:
    """A tool that a document has registered; all its texts are the page's own.

    Attributes:
        name: Its name, unique in its document.
        description: The page's description of it.
        input_schema: JSON Schema of its arguments; empty if it has none.
        frame_id: The frame of the document.
        loader: The CDP loader id of the document; the tool ends with it.
        origin: The document's origin.
        is_read_only: The page says that it changes nothing.
        is_consequential: The page says that a person should confirm it.
        channel: The channel of the frame.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    frame_id: str
    loader: str
    origin: str
    is_read_only: bool
    is_consequential: bool
    channel: TargetChannel = field(repr=False)

    def check_arguments(self, arguments: dict[str, Any]) -> None:
        """Check arguments against the page's schema; an invalid or too expensive schema is ignored."""
        from jsonschema import Draft202012Validator, SchemaError
        from jsonschema.validators import validator_for

        max_schema_chars = 20_000
        with suppress(SchemaError, RecursionError):
            text = json.dumps(self.input_schema)
            # References would be fetched, and a pattern could run forever.
            if len(text) > max_schema_chars or "$ref" in text or "$dynamicRef" in text or "attern" in text:
                return
            validator = validator_for(self.input_schema, default=Draft202012Validator)
            validator.check_schema(self.input_schema)
            error = next(iter(validator(self.input_schema).iter_errors(arguments)), None)
            if error is not None:
                field_name = ".".join(map(str, ["arguments", *error.absolute_path]))
                raise InvalidInput(f"{field_name}: {error.message[:300]}", hint="correct it, then call again")


class OfferedTools:
    """The tools that the pages of a session currently offer."""

    def __init__(self) -> None:
        self._tools: WeakKeyDictionary[BrowserPage, dict[tuple[str, str], OfferedTool]] = WeakKeyDictionary()

    def set_up_channel(self, page: BrowserPage, channel: TargetChannel) -> list[asyncio.Future[dict[str, Any]]]:
        """Follow the tools of a channel's documents; a browser without the feature refuses the command."""

        def handle_removed(event: dict[str, Any]) -> None:
            for report in event["tools"]:
                self._tools.get(page, {}).pop((report["frameId"], report["name"]), None)

        channel.on("WebMCP.toolsAdded", lambda event: self._handle_added(page, channel, event["tools"]))
        channel.on("WebMCP.toolsRemoved", handle_removed)
        channel.send_and_forget("WebMCP.enable")
        return []

    def list_tools(self, page: BrowserPage) -> list[OfferedTool]:
        """List the tools of the documents that a page shows now."""
        tools = self._tools.get(page, {})
        withdrawn = [key for key, tool in tools.items() if not is_offered(page, tool)]
        for key in withdrawn:
            del tools[key]
        return list(tools.values())

    def find_tool(self, page: BrowserPage, origin: str, name: str) -> OfferedTool:
        """Return a tool by its origin and name. Raises NotFound."""
        tools = self.list_tools(page)
        found = [tool for tool in tools if tool.name == name]
        if not found:
            raise NotFound(
                f"name: the page offers no tool of that name (it offers {len(tools)})", hint="take a snapshot"
            )
        match = next((tool for tool in found if tool.origin == origin.rstrip("/")), None)
        if match is None:
            message = f"origin: the tool of that name belongs to {found[0].origin}"
            raise NotFound(message, hint="take a snapshot: the page has changed")
        return match

    def _handle_added(self, page: BrowserPage, channel: TargetChannel, reports: list[dict[str, Any]]) -> None:
        tools = self._tools.setdefault(page, {})
        for report in reports:
            frame = page.frames.get(report["frameId"])
            if frame is None or (len(tools) >= MAX_TOOLS and len(self.list_tools(page)) >= MAX_TOOLS):
                continue
            hints, schema = report.get("annotations", {}), report.get("inputSchema")
            tools[frame.id, report["name"]] = OfferedTool(
                report["name"],
                report.get("description", ""),
                schema if isinstance(schema, dict) else {},
                frame.id,
                frame.loader,
                frame.origin,
                bool(hints.get("readOnly")),
                bool(hints.get("consequential")),
                channel,
            )


def is_offered(page: BrowserPage, tool: OfferedTool) -> bool:
    """Return whether a tool's document is still shown."""
    frame = page.frames.get(tool.frame_id)
    return frame is not None and frame.loader == tool.loader


async def call_offered_tool(page: BrowserPage, tool: OfferedTool, arguments: dict[str, Any], seconds: float) -> str:
    """Call a page's tool and return its result as text.

    Raises:
        InvalidInput: The arguments do not match the tool's schema.
        Unavailable: It failed, did not answer in time, or its document went away.
    """
    tool.check_arguments(arguments)
    responses: dict[str, dict[str, Any]] = {}

    def handle_response(event: dict[str, Any]) -> None:
        responses[event["invocationId"]] = event
        page.loading.notify_change()

    stop = tool.channel.on("WebMCP.toolResponded", handle_response)
    params = {"frameId": tool.frame_id, "toolName": tool.name, "input": arguments}
    invocation = ""
    try:
        invocation = (await tool.channel.send("WebMCP.invokeTool", params))["invocationId"]
        await page.loading.wait_until(lambda: invocation in responses or not is_offered(page, tool), seconds)
    finally:
        stop()
        if invocation and invocation not in responses:
            tool.channel.send_and_forget("WebMCP.cancelInvocation", {"invocationId": invocation})
    response = responses.get(invocation, {})
    has_result = bool(response.get("output"))
    if not has_result and page.loading.navigating is not None:
        # A document that is being closed may end its calls first, with an empty list or no result.
        await page.loading.wait_until(lambda: not is_offered(page, tool), 2.0)
    if response and (has_result or is_offered(page, tool)):
        return _read_response(response)
    if is_offered(page, tool):
        raise Unavailable(f"the page's tool did not answer within {seconds:g} s", code="timeout")
    raise Unavailable("the page navigated away before its tool answered", hint="take a snapshot")


def _read_response(response: dict[str, Any]) -> str:
    """Return the text of a response; content blocks of MCP are joined. Raises Unavailable if the tool failed."""
    if response.get("status") != "Completed":
        reason = response.get("errorText") or response.get("exception", {}).get("description", "")
        reason = next(iter(reason.splitlines()), "") or "no reason given"
        raise Unavailable(f"the page's tool failed: {reason[:300]}", code="page_tool_failed")
    output = response.get("output")
    blocks = output.get("content") if isinstance(output, dict) else None
    if isinstance(blocks, list) and blocks and all(isinstance(block, dict) and "text" in block for block in blocks):
        return "\n".join(str(block["text"]) for block in blocks)
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
