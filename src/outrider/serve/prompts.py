"""Service contexts and prompts as the protocol has them: `context://<server>`, and a prompt for each."""

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
from outrider.core.prompts import Prompt, ToolsetContext
from outrider.core.tool import Toolset
from outrider.core.toolbox import Toolbox

CONTEXT_SCHEME = "context://"
CONTEXT_PROMPT_PREFIX = "context_"  # how prompts begin that say how things stand in a toolset
STATE_META_KEY = "outrider/structuredState"


def list_context_resources(toolbox: Toolbox) -> list[Resource]:
    """The context of each toolset that is served."""
    return [
        Resource(uri=CONTEXT_SCHEME + each.name, name=_format_title(each), mime_type="text/markdown")
        for each in toolbox.list_toolsets()
    ]


async def read_context(toolbox: Toolbox, server: str, uri: str, call: Call) -> ReadResourceResult:
    """The text of a toolset's context, with its data in `_meta`. Raises NotFound."""
    found = await toolbox.describe_context(server, call)
    contents = TextResourceContents(
        uri=uri, mime_type="text/markdown", text=found.prompt, _meta={STATE_META_KEY: found.state}
    )  # fmt: skip
    return ReadResourceResult(contents=[contents])


async def list_prompts(toolbox: Toolbox, call: Call) -> ListPromptsResult:
    """The contexts first, then what toolsets keep for the caller."""
    own = [
        McpPrompt(
            name=CONTEXT_PROMPT_PREFIX + each.name, title=_format_title(each), description=_describe_context(each)
        )
        for each in toolbox.list_toolsets()
    ]
    return ListPromptsResult(prompts=[*own, *map(_to_mcp_prompt, await toolbox.list_prompts(call))])


async def get_prompt(toolbox: Toolbox, name: str, arguments: Mapping[str, str], call: Call) -> GetPromptResult:
    """A prompt with its arguments filled in. Raises MCPError for one that is unknown, or lacks something."""
    for each in toolbox.list_toolsets():
        if name == CONTEXT_PROMPT_PREFIX + each.name:
            found = await toolbox.describe_context(each.name, call)
            return _build_prompt_result(_describe_context(each), found.prompt, found)
    for prompt in await toolbox.list_prompts(call):
        if prompt.name == name:
            missing = [each.name for each in prompt.arguments if each.required and not arguments.get(each.name)]
            if missing:
                raise MCPError(code=INVALID_PARAMS, message=f"{name} needs {', '.join(missing)}")
            return _build_prompt_result(prompt.description, prompt.render(arguments))
    raise MCPError(code=INVALID_PARAMS, message=f"no prompt {name[:100]!r}; prompts/list shows those there are")


def _to_mcp_prompt(prompt: Prompt) -> McpPrompt:
    arguments = [
        McpArgument(name=each.name, description=each.description or None, required=each.required)
        for each in prompt.arguments
    ]
    return McpPrompt(name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments)


def _build_prompt_result(description: str, text: str, context: ToolsetContext | None = None) -> GetPromptResult:
    message = PromptMessage(role="user", content=TextContent(text=text))
    meta: dict[str, Any] | None = {STATE_META_KEY: context.state} if context else None
    return GetPromptResult(description=description, messages=[message], _meta=meta)


def _format_title(toolset: Toolset) -> str:
    return f"{toolset.display_name or toolset.name}: how things stand"


def _describe_context(toolset: Toolset) -> str:
    return f"What {toolset.display_name or toolset.name} holds for this session now"


def to_mcp_error(error: OutriderError, uri: str = "") -> MCPError:
    """An error of the house where the protocol has no results that say so."""
    message = f"{error.message}; {error.hint}" if error.hint else error.message
    return MCPError(code=INVALID_PARAMS, message=message, data={"uri": uri} if uri else None)
