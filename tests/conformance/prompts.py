"""The prompts that the suite asks for by name, and completion, which Outrider does not offer."""

import base64
from collections.abc import Callable
from typing import Any

from mcp_types import (
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmbeddedResource,
    GetPromptRequestParams,
    GetPromptResult,
    ImageContent,
    InputRequiredResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
    TextResourceContents,
)

from .house import PIXEL
from .scripted import TEXT, Context, accepted, asked, form

PNG = base64.b64encode(PIXEL).decode()
PROMPTS: dict[str, tuple[tuple[str, ...], Callable[[dict[str, str]], list[Any]]]] = {
    "test_simple_prompt": ((), lambda _: [TextContent(text="This is a simple prompt for testing.")]),
    "test_prompt_with_arguments": (
        ("arg1", "arg2"),
        lambda given: [TextContent(text=f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")],
    ),
    "test_prompt_with_embedded_resource": (
        ("resourceUri",),
        lambda given: [EmbeddedResource(resource=_plain(given["resourceUri"])), TextContent(text="Please process it.")],
    ),
    "test_prompt_with_image": (
        (),
        lambda _: [ImageContent(data=PNG, mime_type="image/png"), TextContent(text="Please analyze the image above.")],
    ),
    "test_input_required_result_prompt": ((), lambda given: [TextContent(text=f"Context: {given}")]),
}
CONTEXT = {"user_context": form("What context should the prompt use?", context=TEXT)}


def prompts() -> list[Prompt]:
    """What is listed beside our own."""
    return [
        Prompt(name=name, description=name, arguments=[PromptArgument(name=each, required=True) for each in wanted])
        for name, (wanted, _) in PROMPTS.items()
    ]


async def get_prompt(_: Context, params: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult:
    given = dict(params.arguments or {})
    if params.name == "test_input_required_result_prompt":
        answer = accepted(params, "user_context")
        if answer is None:
            return asked(CONTEXT)
        given |= {name: str(value) for name, value in answer.items()}
    contents = PROMPTS[params.name][1](given)
    return GetPromptResult(messages=[PromptMessage(role="user", content=each) for each in contents])


async def complete(_: Context, __: CompleteRequestParams) -> CompleteResult:
    return CompleteResult(completion=Completion(values=["paris", "park", "party"], total=3, has_more=False))


def _plain(uri: str) -> TextResourceContents:
    return TextResourceContents(uri=uri, mime_type="text/plain", text="Embedded resource content for testing.")
