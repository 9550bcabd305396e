"""Use the client's language model by sampling.

Only some protocol versions have it.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import SamplingMessage, TextContent

from outrider.core.context import ClientModel, MessageRole
from outrider.core.errors import Unavailable
from outrider.serve.elicitation import INPUT_REQUIRED_VERSION


def find_client_model(context: ServerRequestContext[Any, Any]) -> ClientModel | None:
    """Return a function that asks the client's model; None if its protocol version has no sampling."""
    # Since this version servers send no requests to clients during a call.
    if context.protocol_version >= INPUT_REQUIRED_VERSION:
        return None

    async def ask_client_model(
        instructions: str, messages: Sequence[tuple[MessageRole, str]], max_tokens: int
    ) -> tuple[str, str]:
        sampling_messages = [SamplingMessage(role=role, content=TextContent(text=text)) for role, text in messages]
        with warnings.catch_warnings():  # deprecated (SEP-2577), but clients of these versions have nothing else
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            request = context.session.create_message(  # ty: ignore[deprecated]
                sampling_messages,
                max_tokens=max_tokens,
                system_prompt=instructions,
                related_request_id=context.request_id,
            )
        try:
            answer = await request
        except MCPError as error:
            raise Unavailable(f"the client's model did not answer: {error.message[:300]}", code="sampling") from None
        if not isinstance(answer.content, TextContent):
            raise Unavailable("the client's model did not answer with text", code="sampling")
        return answer.content.text, answer.model

    return ask_client_model
