"""The tool that calls tools of pages (WebMCP).

It is in a separate toolset that operators must choose.
"""

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotConfigured, OutriderError, Refused
from outrider.core.result import Result, TextBlock
from outrider.core.text import DEFAULT_CUT_CHARS, cut_text
from outrider.core.tool import Toolset
from outrider.toolsets.browser.results import ActivePage, escape_line, take_notes, use_page
from outrider.toolsets.browser.sessions import find_default_session
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES

if TYPE_CHECKING:
    from outrider.browser.devtools.web_mcp import OfferedTool

browser_webmcp = Toolset(
    "browser_webmcp",
    "snapshotPage lists the tools that a page offers; callPageTool calls them.",
    on_request=True,
    usual_names=USUAL_TOOL_NAMES["browser_webmcp"],
    default_arguments={"sessionId": find_default_session},
)


@browser_webmcp.tool(effect="act", stake="low", title="Call a page's tool", open_world=True, untrusted=True, timeout=60)
async def callPageTool(
    browsers: Browsers,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    origin: Annotated[str, Field(description="Origin in the tool list")],
    name: str,
    arguments: dict[str, Any] | None = None,
) -> Result:
    """Call a tool that the page itself offers; snapshotPage lists them."""
    from outrider.browser.actions.outcome import remember_tool_call
    from outrider.browser.devtools.web_mcp import call_offered_tool
    from outrider.browser.snapshot.outline import limit_lines

    async with use_page(browsers, call, sessionId) as active:
        offered = active.session.offered_tools
        if offered is None:
            hint = "continue with the other tools; the operator can turn it on"
            raise NotConfigured("tools of pages are off (setting browser.web_mcp)", hint=hint)
        page, values = active.tools.page, arguments or {}
        tool = offered.find_tool(page, origin, name)
        _require_consent(tool, call, values)
        await active.tools.snapshotter.ensure_baseline()
        try:
            async with remember_tool_call(active.tools.snapshotter.scripts, tool.name, values):
                answer = await call_offered_tool(page, tool, values, seconds=30.0)
        except OutriderError as error:
            error.message = escape_line(error.message)  # it may quote the page
            raise
        difference, capture = await active.tools.snapshotter.diff_since_last()
        changes = str(limit_lines(capture.lines, 3_000)) if difference.whole else str(difference)
        notes = [f"Note: {note}" for note in take_notes(active.session)]
    piece = cut_text(answer, DEFAULT_CUT_CHARS)
    cut = f"\n… cut: {piece.total} characters in all" if piece.truncated else ""
    parts = [options.mark_untrusted(text, tool.origin) for text in (piece.text + cut, changes) if text]
    return Result((TextBlock("\n".join([*parts, *notes])),), meta={"outrider/origin": tool.origin})


def list_page_tools(active: ActivePage) -> str:
    """List the tools that a page offers with their parameters, one per line; empty if there are none."""
    max_tools = 20
    offered = active.session.offered_tools
    tools = offered.list_tools(active.tools.page) if offered else []
    lines = [_describe_tool(tool) for tool in tools[:max_tools]]
    if not lines:
        return ""
    more = [f"… and {len(tools) - max_tools} more"] if len(tools) > max_tools else []
    return "\n".join(["tools of this page, for callPageTool:", *lines, *more])


def _describe_tool(tool: "OfferedTool") -> str:
    max_parameters = 12
    properties = tool.input_schema.get("properties")
    required_names = tool.input_schema.get("required")
    required = required_names if isinstance(required_names, list) else []
    items = list(properties.items())[:max_parameters] if isinstance(properties, dict) else []
    parameters = []
    for parameter, schema in items:
        details = schema if isinstance(schema, dict) else {}
        values = details.get("enum")
        choices = [json.dumps(value, ensure_ascii=False) for value in values[:8]] if isinstance(values, list) else []
        kind = "|".join(choices) or details.get("type", "any")
        parameters.append(f"{parameter}{'' if parameter in required else '?'}: {kind}")
    hints = ["reads only"] * tool.is_read_only + ["a person is asked"] * tool.is_consequential
    signature = escape_line(f"{tool.name}({', '.join(parameters)})", 400)
    description = escape_line(tool.description, 200)
    return " · ".join([f" {signature}", *hints, tool.origin, *([description] if description else [])])


def _require_consent(tool: "OfferedTool", call: Call, arguments: dict[str, Any]) -> None:
    """Ask a person before a tool that the page itself calls consequential. Raises AnswerNeeded or Refused."""
    if not tool.is_consequential or call.answer is True:
        return
    if call.answer is False:
        raise Refused(
            "the user did not allow this tool of the page", hint="do not repeat the call; continue without it"
        )
    description = escape_line(f"{tool.name} with {json.dumps(arguments)}", 4_000)
    raise AnswerNeeded(f"Let {tool.origin} run its tool {description}?", state=tool.name)
