"""The client's own model as the loop sees it: text in, text out, no tools."""

from collections.abc import AsyncIterator, Iterator

from pydantic_ai.messages import ModelMessage, ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from outrider.core.context import Lender, Role

MOST_TOKENS = 8_192  # of an answer; what clients lend is not ours to use up


def lent_model(lender: Lender) -> Model:
    """A model that asks the client."""

    async def asked(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        text, _ = await lender(info.instructions or "", list(_said(messages)), MOST_TOKENS)
        yield text

    return FunctionModel(stream_function=asked, model_name="sampling")


def _said(messages: list[ModelMessage]) -> Iterator[tuple[Role, str]]:
    """What was said so far, in turns."""
    for message in messages:
        parts = [part for part in message.parts if isinstance(part, UserPromptPart | TextPart)]
        text = "\n\n".join(str(part.content) for part in parts if part.content)
        if text:
            yield ("user" if isinstance(message, ModelRequest) else "assistant"), text
