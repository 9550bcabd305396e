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

from .scripted import TEXT_SCHEMA, RequestContext, build_form, get_accepted_content, request_input
from .tools import PIXEL_PNG

PIXEL_PNG_BASE64 = base64.b64encode(PIXEL_PNG).decode()
PROMPTS: dict[str, tuple[tuple[str, ...], Callable[[dict[str, str]], list[Any]]]] = {
    "test_simple_prompt": ((), lambda _: [TextContent(text="This is a simple prompt for testing.")]),
    "test_prompt_with_arguments": (
        ("arg1", "arg2"),
        lambda given: [TextContent(text=f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")],
    ),
    "test_prompt_with_embedded_resource": (
        ("resourceUri",),
        lambda given: [
            EmbeddedResource(resource=_build_text_resource(given["resourceUri"])),
            TextContent(text="Please process it."),
        ],
    ),
    "test_prompt_with_image": (
        (),
        lambda _: [
            ImageContent(data=PIXEL_PNG_BASE64, mime_type="image/png"),
            TextContent(text="Please analyze the image above."),
        ],
    ),
    "test_input_required_result_prompt": ((), lambda given: [TextContent(text=f"Context: {given}")]),
}
CONTEXT_FORM = {"user_context": build_form("What context should the prompt use?", context=TEXT_SCHEMA)}


def list_extra_prompts() -> list[Prompt]:
    """The prompts that are listed in addition to our own."""
    return [
        Prompt(name=name, description=name, arguments=[PromptArgument(name=each, required=True) for each in wanted])
        for name, (wanted, _) in PROMPTS.items()
    ]


async def get_prompt(_: RequestContext, params: GetPromptRequestParams) -> GetPromptResult | InputRequiredResult:
    given = dict(params.arguments or {})
    if params.name == "test_input_required_result_prompt":
        answer = get_accepted_content(params, "user_context")
        if answer is None:
            return request_input(CONTEXT_FORM)
        given |= {name: str(value) for name, value in answer.items()}
    contents = PROMPTS[params.name][1](given)
    return GetPromptResult(messages=[PromptMessage(role="user", content=each) for each in contents])


async def complete_argument(_: RequestContext, __: CompleteRequestParams) -> CompleteResult:
    return CompleteResult(completion=Completion(values=["paris", "park", "party"], total=3, has_more=False))


def _build_text_resource(uri: str) -> TextResourceContents:
    return TextResourceContents(uri=uri, mime_type="text/plain", text="Embedded resource content for testing.")
