"""A client's own language model, where it lends it: sampling, in the protocol versions that still have it."""

import warnings
from collections.abc import Sequence
from typing import Any

from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import SamplingMessage, TextContent

from outrider.core.context import Lender, Role
from outrider.core.errors import Unavailable
from outrider.serve.questions import QUESTIONS_AS_RESULTS

WITHOUT = QUESTIONS_AS_RESULTS  # the first version in which a server asks its client for nothing while a call runs


def lender_of(context: ServerRequestContext[Any, Any]) -> Lender | None:
    """The model of a client that can lend one; None where its version of the protocol has no way to ask for it."""
    if context.protocol_version >= WITHOUT:
        return None

    async def ask(instructions: str, said: Sequence[tuple[Role, str]], max_tokens: int) -> tuple[str, str]:
        messages = [SamplingMessage(role=role, content=TextContent(text=text)) for role, text in said]
        with warnings.catch_warnings():  # deprecated (SEP-2577), and all that clients of these versions have
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            asked = context.session.create_message(  # ty: ignore[deprecated]
                messages, max_tokens=max_tokens, system_prompt=instructions, related_request_id=context.request_id
            )
        try:
            answer = await asked
        except MCPError as error:
            raise Unavailable(f"the client's model did not answer: {error.message[:300]}", code="sampling") from None
        if not isinstance(answer.content, TextContent):
            raise Unavailable("the client's model answered with something else than text", code="sampling")
        return answer.content.text, answer.model

    return ask
