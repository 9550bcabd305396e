"""A client's own language model, where it lends it: sampling, in the protocol versions that still have it."""

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
    """The model of a client that can lend one; None where its version of the protocol has no way to ask for it."""
    first_version_without = (
        INPUT_REQUIRED_VERSION  # the first version in which a server asks its client for nothing while a call runs
    )
    if context.protocol_version >= first_version_without:
        return None

    async def ask_client_model(
        instructions: str, messages: Sequence[tuple[MessageRole, str]], max_tokens: int
    ) -> tuple[str, str]:
        sampling_messages = [SamplingMessage(role=role, content=TextContent(text=text)) for role, text in messages]
        with warnings.catch_warnings():  # deprecated (SEP-2577), and all that clients of these versions have
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            asked = context.session.create_message(  # ty: ignore[deprecated]
                sampling_messages,
                max_tokens=max_tokens,
                system_prompt=instructions,
                related_request_id=context.request_id,
            )
        try:
            answer = await asked
        except MCPError as error:
            raise Unavailable(f"the client's model did not answer: {error.message[:300]}", code="sampling") from None
        if not isinstance(answer.content, TextContent):
            raise Unavailable("the client's model answered with something else than text", code="sampling")
        return answer.content.text, answer.model

    return ask_client_model
