"""Serve contexts of toolsets as resources (`context://<server>`) and prompts."""

from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    PromptMessage,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
)
from mcp_types import Prompt as McpPrompt
from mcp_types import PromptArgument as McpArgument

from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.core.prompts import ToolsetContext
from outrider.core.tool import Toolset
from outrider.core.toolbox import Toolbox

CONTEXT_SCHEME = "context://"
CONTEXT_PROMPT_PREFIX = "context_"
STATE_META_KEY = "outrider/structuredState"


def list_context_resources(toolbox: Toolbox) -> list[Resource]:
    """Return the context resource of each served toolset."""
    return [
        Resource(uri=CONTEXT_SCHEME + toolset.name, name=_format_title(toolset), mime_type="text/markdown")
        for toolset in toolbox.list_toolsets()
    ]


async def read_context(toolbox: Toolbox, server: str, uri: str, call: Call) -> ReadResourceResult:
    """Return the text of a toolset's context, with its data in `_meta`. Raises NotFound."""
    context = await toolbox.describe_context(server, call)
    contents = TextResourceContents(
        uri=uri, mime_type="text/markdown", text=context.prompt, _meta={STATE_META_KEY: context.state}
    )  # fmt: skip
    return ReadResourceResult(contents=[contents])


async def list_prompts(toolbox: Toolbox, call: Call) -> ListPromptsResult:
    """Return the context prompts and those that toolsets have for the caller."""
    context_prompts = [
        McpPrompt(
            name=CONTEXT_PROMPT_PREFIX + toolset.name,
            title=_format_title(toolset),
            description=_describe_context(toolset),
        )
        for toolset in toolbox.list_toolsets()
    ]
    toolset_prompts = [
        McpPrompt(
            name=prompt.name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                McpArgument(name=each.name, description=each.description or None, required=each.required)
                for each in prompt.arguments
            ],
        )
        for prompt in await toolbox.list_prompts(call)
    ]
    return ListPromptsResult(prompts=[*context_prompts, *toolset_prompts])


async def get_prompt(toolbox: Toolbox, name: str, arguments: Mapping[str, str], call: Call) -> GetPromptResult:
    """Return a prompt with its arguments filled in. Raises MCPError if it is unknown, or an argument is missing."""
    for toolset in toolbox.list_toolsets():
        if name == CONTEXT_PROMPT_PREFIX + toolset.name:
            context = await toolbox.describe_context(toolset.name, call)
            return _build_prompt_result(_describe_context(toolset), context.prompt, context)
    for prompt in await toolbox.list_prompts(call):
        if prompt.name == name:
            required = [argument.name for argument in prompt.arguments if argument.required]
            missing = [argument for argument in required if not arguments.get(argument)]
            if missing:
                raise MCPError(code=INVALID_PARAMS, message=f"{name} needs {', '.join(missing)}")
            return _build_prompt_result(prompt.description, prompt.render(arguments))
    raise MCPError(code=INVALID_PARAMS, message=f"no prompt {name[:100]!r}; prompts/list shows all")


def _build_prompt_result(description: str, text: str, context: ToolsetContext | None = None) -> GetPromptResult:
    message = PromptMessage(role="user", content=TextContent(text=text))
    meta: dict[str, Any] | None = {STATE_META_KEY: context.state} if context else None
    return GetPromptResult(description=description, messages=[message], _meta=meta)


def _format_title(toolset: Toolset) -> str:
    return f"{toolset.display_name or toolset.name}: current state"


def _describe_context(toolset: Toolset) -> str:
    return f"Current state of {toolset.display_name or toolset.name} for this session"


def to_mcp_error(error: OutriderError, uri: str = "") -> MCPError:
    """Convert an error for requests whose results cannot report one."""
    message = f"{error.message}; {error.hint}" if error.hint else error.message
    return MCPError(code=INVALID_PARAMS, message=message, data={"uri": uri} if uri else None)
