"""Put the pictures of tool results into messages.

They stay within a budget and have the form that the model's API takes.

Anthropic, OpenAI's Responses and Gemini 3 take pictures inside a function's result; pydantic-ai writes these forms.
A tool message of chat completions is text only, so a user message with the pictures follows the results.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import BinaryContent, ModelMessage, ModelRequest, ToolReturnPart, UserContent, UserPromptPart

from outrider.agents.models.access import ModelAccess

MAX_PICTURES = 10  # in one request; when there are more, the oldest are dropped
PICTURE_TOKENS = 1_600  # about the maximum that providers count for a picture of usual size


def build_result_content(text: str, pictures: Sequence[Mapping[str, str]]) -> Any:
    """Return the content of a tool's result: its text, or a list of its text and its pictures."""
    if not pictures:
        return text
    images = [BinaryContent(base64.b64decode(each["data"]), media_type=each["mime_type"]) for each in pictures]
    return [text, *images]


def get_pictures(part: Any) -> list[BinaryContent]:
    """Return the pictures in a part of a message."""
    content = part.content if isinstance(part, ToolReturnPart) else None
    return [item for item in content if isinstance(item, BinaryContent)] if isinstance(content, list) else []


def drop_old_pictures(messages: Sequence[ModelMessage], limit: int = MAX_PICTURES) -> list[ModelMessage]:
    """Replace the oldest pictures by a note if there are too many."""
    # Drop several at once, so that the cached beginning of requests stays the same for a while.
    dropped_pictures = 5
    total = sum(len(get_pictures(part)) for message in messages for part in message.parts)
    excess = total - limit
    remaining = excess if limit < dropped_pictures else -(-excess // dropped_pictures) * dropped_pictures
    pruned: list[ModelMessage] = []
    for message in messages:
        if remaining > 0 and isinstance(message, ModelRequest):
            counts = [len(get_pictures(part)) for part in message.parts]
            budgets = [max(0, remaining - sum(counts[:index])) for index in range(len(counts))]
            remaining -= sum(counts)
            parts = [_drop_first(part, budget) for part, budget in zip(message.parts, budgets, strict=True)]
            pruned.append(replace(message, parts=parts))
        else:
            pruned.append(message)
    return pruned


def adapt_pictures(messages: Sequence[ModelMessage], access: ModelAccess) -> list[ModelMessage]:
    """Return the messages as a model takes them."""
    blind_note = "[picture not shown: this model does not see pictures]"
    if not access.sees_pictures:
        return [
            replace(
                message,
                parts=[_take_pictures(part, blind_note) if get_pictures(part) else part for part in message.parts],
            )
            if isinstance(message, ModelRequest)
            else message
            for message in messages
        ]
    return [_move_pictures(message) for message in messages] if access.api in ("", "chat") else list(messages)


def _drop_first(part: Any, count: int) -> Any:
    """Return a part without its first pictures."""
    dropped_note = "[an older picture was here: removed to save space; call the tool again if needed]"
    pictures = get_pictures(part)[:count]
    if not pictures:
        return part
    content = [dropped_note if any(item is each for each in pictures) else item for item in part.content]
    return replace(part, content="\n".join(content) if all(isinstance(item, str) for item in content) else content)


def _move_pictures(message: ModelMessage) -> ModelMessage:
    """Move pictures after the message's results, each below a line with its call."""
    if not isinstance(message, ModelRequest):
        return message
    parts: list[Any] = []
    moved: list[UserContent] = []
    for part in message.parts:
        pictures = get_pictures(part)
        if isinstance(part, ToolReturnPart) and pictures:
            moved += [f"Pictures of the result of {part.tool_name} ({part.tool_call_id}):", *pictures]
            part = _take_pictures(part, "")  # noqa: PLW2901
        parts.append(part)
    return replace(message, parts=[*parts, *([UserPromptPart(moved)] if moved else [])])


def _take_pictures(part: Any, note: str) -> ToolReturnPart:
    content = [note if isinstance(item, BinaryContent) else str(item) for item in part.content]
    return replace(part, content="\n".join(filter(None, content)))
