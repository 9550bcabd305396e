"""Use the client's own model (MCP sampling), which has no tools."""

from collections.abc import AsyncIterator

from pydantic_ai.messages import ModelMessage, ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel

from outrider.core.context import ClientModel, MessageRole


def build_client_model(client_model: ClientModel) -> Model:
    """Return a model that sends its requests to the client."""

    async def request_client(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        max_tokens = 8_192  # the client's user pays for the answer
        turns: list[tuple[MessageRole, str]] = []
        for message in messages:
            parts = [part for part in message.parts if isinstance(part, UserPromptPart | TextPart)]
            if text := "\n\n".join(str(part.content) for part in parts if part.content):
                turns.append(("user" if isinstance(message, ModelRequest) else "assistant", text))
        answer, _ = await client_model(info.instructions or "", turns, max_tokens)
        yield answer

    return FunctionModel(stream_function=request_client, model_name="sampling")
