"""The client's own model as the loop sees it: text in, text out, no tools."""

from collections.abc import AsyncIterator, Iterator

from pydantic_ai.messages import ModelMessage, ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from outrider.core.context import ClientModel, MessageRole


def build_client_model(lender: ClientModel) -> Model:
    """A model that asks the client."""

    async def request_client(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        max_tokens = 8_192  # of an answer; what clients lend is not ours to use up
        text, _ = await lender(info.instructions or "", list(_iter_turns(messages)), max_tokens)
        yield text

    return FunctionModel(stream_function=request_client, model_name="sampling")


def _iter_turns(messages: list[ModelMessage]) -> Iterator[tuple[MessageRole, str]]:
    """What was said so far, in turns."""
    for message in messages:
        parts = [part for part in message.parts if isinstance(part, UserPromptPart | TextPart)]
        text = "\n\n".join(str(part.content) for part in parts if part.content)
        if text:
            yield ("user" if isinstance(message, ModelRequest) else "assistant"), text
