"""Ask a model one question, without tools, conversation or run."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

from outrider.agents.models.access import ModelAccess
from outrider.agents.models.wire import open_model
from outrider.agents.runtime.model_failure import classify_failure
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import Unavailable


@dataclass(frozen=True)
class ModelAnswer:
    """A model's answer, and its cost.

    Attributes:
        text: The answer.
        model: `provider:model`.
        read_tokens, written_tokens: As the provider counts them.
    """

    text: str
    model: str
    read_tokens: int
    written_tokens: int


async def ask_model(
    chain: list[ModelAccess], guard: EgressGuard, instructions: str, question: str, *, max_tokens: int
) -> ModelAnswer:
    """Return the answer of the first model that gives one. Raises Unavailable, code `model_error`."""
    message = ModelRequest(parts=[SystemPromptPart(instructions), UserPromptPart(question)])
    failures: list[str] = []
    for access in chain:
        async with AsyncExitStack() as stack:
            model = await open_model(access, guard, stack)
            try:
                response = await model_request(
                    model, [message], model_settings={"max_tokens": max_tokens, "temperature": 0.0}
                )
            except Exception as error:  # noqa: BLE001 - vendors' libraries raise errors of their own
                failures.append(f"{access.label}: {classify_failure(error, access).detail}")
                continue
            usage = response.usage
            return ModelAnswer(response.text or "", access.label, usage.input_tokens, usage.output_tokens)
    raise Unavailable(f"no model has answered: {'; '.join(failures)}", code="model_error", hint="try again later")
