"""Offer two tools instead of all: one finds tools, the other calls them."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from outrider.core.tool import Tool as OutriderTool
from outrider.core.toolbox import Toolbox
from outrider.serve.instructions import UNTRUSTED_RULE

FIND_TOOLS, CALL_TOOL = "find_tools", "call_tool"
EXAMPLES = {
    "web_search": '{"query"} searches the web',
    "web_fetch": '{"url"} reads a page or document; "query" returns only passages that answer it, "offset" reads on',
}


def build_lean_entries() -> list[Tool]:
    """Return the two entries of `tools/list`."""
    query = {"type": "string", "description": "What you want to do, or a tool's name; empty: all names"}
    name = {"type": "string", "description": "As find_tools shows it"}
    return [
        Tool(
            name=FIND_TOOLS,
            description="Find tools for a task, with their arguments.",
            input_schema={"type": "object", "properties": {"query": query}},
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            _meta={"anthropic/alwaysLoad": True},
        ),
        Tool(
            name=CALL_TOOL,
            description="Call a tool by its name.",
            input_schema={
                "type": "object",
                "properties": {"name": name, "arguments": {"type": "object"}},
                "required": ["name"],
            },
            annotations=ToolAnnotations(destructive_hint=True),  # as the strongest effect of an inner tool
            _meta={"anthropic/alwaysLoad": True},
        ),
    ]


def build_lean_instructions(toolbox: Toolbox) -> str:
    """Return the instructions of a server that lists two tools."""
    listed = toolbox.list_tools()
    names = {tool.name for tool in listed}
    toolsets = dict.fromkeys(tool.toolset for tool in listed)
    examples = [f"- {name} {text}." for name, text in EXAMPLES.items() if name in names]
    lines = [
        f"{len(names)} tools are behind {FIND_TOOLS} and {CALL_TOOL}: find one, then call it as often as needed.",
        *examples,
        "Read pages before you rely on them, and use a browser only to click, fill in or look.",
        f"Toolsets: {', '.join(toolsets)}.",
        UNTRUSTED_RULE,
    ]
    return "\n".join(lines)


async def unwrap_lean_call(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Turn `call_tool` into a call of the tool that it names (a middleware).

    All later steps, from the binding of consent to the call record, only see that tool.
    """
    params = ctx.params or {}
    arguments = params.get("arguments")
    if ctx.method == "tools/call" and params.get("name") == CALL_TOOL and isinstance(arguments, dict):
        inner = {"name": str(arguments.get("name") or ""), "arguments": arguments.get("arguments") or {}}
        ctx = replace(ctx, params={**params, **inner})
    return await call_next(ctx)


def get_called_name(params: dict[str, Any]) -> str:
    """Return the name of the tool that a call's parameters name, directly or through `call_tool`."""
    arguments = params.get("arguments")
    if params.get("name") != CALL_TOOL:
        return str(params.get("name", ""))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = None
    return str(arguments.get("name", "")) if isinstance(arguments, dict) else ""


def find_tools(toolbox: Toolbox, query: str) -> CallToolResult:
    """Return the tools that match a task best, and the names of further ones."""
    max_described, max_named = 5, 10
    ranked = _rank_tools(toolbox, query)
    described = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in ranked[:max_described]
    ]
    further = ", ".join(tool.name for tool in ranked[max_described:][:max_named])
    text = "\n\n".join(
        f"{each['name']}: {each['description']}\n{json.dumps(each['input_schema'], ensure_ascii=False)}"
        for each in described
    )
    if further:
        text += f"\n\nFurther: {further}"
    if not ranked:
        missed = f"No tool matches {query[:100]!r}. " if query.strip() else ""
        names = ", ".join(tool.name for tool in toolbox.list_tools())
        text = f"{missed}{FIND_TOOLS} shows the arguments of: {names}"
    return CallToolResult(content=[TextContent(text=text)], structured_content={"tools": described})


def _rank_tools(toolbox: Toolbox, query: str) -> list[OutriderTool]:
    """Return the tools that share words with the query, the best first; a tool of exactly that name comes first.

    A word counts by its position and by how few tools have it.
    """
    tools = toolbox.list_tools()
    usual_names = {tool: names for each in toolbox.toolsets.values() for tool, names in each.usual_names.items()}
    fields = {
        tool.name: (
            (3.0, _split_words(f"{tool.name} {usual_names.get(tool.name, '')}")),
            (2.0, _split_words(f"{tool.toolset} {tool.title}")),
            (1.0, _split_words(tool.description)),
        )
        for tool in tools
    }
    counts = Counter(word for weighted in fields.values() for word in set().union(*(words for _, words in weighted)))
    rarity = {word: math.log(1 + len(tools) / counts[word]) for word in _split_words(query) if word in counts}
    exact = query.strip().lower()
    scores = {
        name: sum(weight * rarity[word] for weight, words in weighted for word in words & rarity.keys())
        + (math.inf if name.lower() == exact else 0)
        for name, weighted in fields.items()
    }
    return sorted((tool for tool in tools if scores[tool.name]), key=lambda tool: -scores[tool.name])


def _split_words(text: str) -> set[str]:
    """Return the beginnings of a text's words, so that `read` and `reading` match."""
    stem_chars = 4
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()
    return {word[:stem_chars] for word in re.findall(r"[^\W_]+", spaced) if len(word) > 2}
