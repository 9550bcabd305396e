"""Asking the person behind the client, in whichever way their protocol version knows.

Since 2026-07-28 the question is the result and the client repeats the call with the answer; before
that the server asks over the connection (elicitation). Clients that know neither get an error that
says how to allow the tool.
"""

from dataclasses import replace
from typing import Any

from mcp.server import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, Refused

QUESTIONS_AS_RESULTS = "2026-07-28"
ID = "consent"
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call"}},
    "required": ["allow"],
}


def resumed(call: Call, params: CallToolRequestParams) -> Call:
    """The call with the answer that its repetition carries, if it does."""
    answer = (params.input_responses or {}).get(ID)
    if not isinstance(answer, ElicitResult) or params.request_state is None:
        return call
    return replace(call, answer=_allowed(answer), state=params.request_state)


def as_result(question: AnswerNeeded) -> InputRequiredResult:
    """The question as the result of a call that the client will repeat."""
    form = ElicitRequestFormParams(message=question.question, requested_schema=FORM)
    return InputRequiredResult(input_requests={ID: ElicitRequest(params=form)}, request_state=question.state)


async def ask(context: ServerRequestContext[Any, Any], question: AnswerNeeded) -> bool:
    """Asks over the connection. Raises Refused when this client cannot show a question."""
    if not context.session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability())):
        raise Refused(
            f"{question.question} Your client cannot ask the user.",
            code="consent_needed",
            hint='the operator can allow it: OUTRIDER_TOOLS__STAKES={"<tool>": "never_ask"}',
        )
    return _allowed(await context.session.elicit_form(question.question, FORM, context.request_id))


def _allowed(answer: ElicitResult) -> bool:
    return answer.action == "accept" and bool((answer.content or {}).get("allow"))
