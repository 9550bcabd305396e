"""Asking the person behind the client, in whichever way their protocol version and client know.

Since 2026-07-28 the questions are the result and the client repeats the call with the answers; before that the server
asks over the connection (elicitation). Both show one form. Clients that know neither get the blocked result that hosts
of agents exchange (`core/blocked.py`), or, where one call only wants consent, an error that says how to allow the tool.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import anyio
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from outrider.core.background import run_background
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, Refused
from outrider.core.questions import Decision, Question, QuestionAnswer, QuestionKind

INPUT_REQUIRED_VERSION: Final = "2026-07-28"
CONSENT_FORM: Final = "consent"  # the form of a call that asks for itself
DECISIONS_FORM: Final = "decisions"  # the form of what runs below wait for
REASON_SUFFIX: Final = "_reason"
CONSENT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call"}},
    "required": ["allow"],
}
CHOICE_LABELS: Final[Mapping[QuestionKind, Mapping[Decision, str]]] = {
    "approval": {"approved": "Allow", "rejected": "Refuse", "always_approved": "Allow from now on"},
    "authentication": {"approved": "I am signed in now", "rejected": "Go on without"},
    "question": {},
}


def can_ask(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client can show a form, by result or over the connection."""
    first_version: Final = "2025-06-18"
    knows = context.protocol_version >= first_version
    return knows and context.session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability()))


def can_return_questions(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether this protocol version takes questions as results."""
    return context.protocol_version >= INPUT_REQUIRED_VERSION


def resume_call(call: Call, params: CallToolRequestParams) -> tuple[Call, bool]:
    """The call with the answers that its repetition carries; and whether it carries a form, answered or not."""
    responses = params.input_responses or {}
    if params.request_state is None:
        return call, False
    if isinstance(consent := responses.get(CONSENT_FORM), ElicitResult):
        return replace(call, answer=_is_allowed(consent), state=params.request_state), True
    if not isinstance(form := responses.get(DECISIONS_FORM), ElicitResult):
        return replace(call, state=_unpack_state(params.request_state)[0]), False
    state, asked = _unpack_state(params.request_state)
    return replace(call, state=state, answers={**call.answers, **_parse_form_decisions(form, asked)}), True


def build_input_required(question: AnswerNeeded) -> InputRequiredResult:
    """The questions as the result of a call that the client will repeat."""
    name = DECISIONS_FORM if question.questions else CONSENT_FORM
    state = _pack_state(question) if question.questions else question.state
    form = ElicitRequestFormParams(message=_format_message(question), requested_schema=_build_form(question))
    return InputRequiredResult(input_requests={name: ElicitRequest(params=form)}, request_state=state)


async def ask_client(context: ServerRequestContext[Any, Any], call: Call, question: AnswerNeeded) -> Call:
    """Asks over the connection; the same call with what the person said, without answers where nobody could be asked.

    Raises Refused when a call wants consent for itself and the client cannot show a question.
    """
    max_reason_chars: Final = 200  # of a client's own words
    if not can_ask(context):
        raise _build_consent_error(question, "Your client cannot ask the user.")
    try:
        form = await _elicit_form(context, call, question)
    except MCPError as error:
        if question.questions:
            return replace(call, state=question.state, answers={})
        raise _build_consent_error(
            question, f"Your client could not ask the user: {error.message[:max_reason_chars]}"
        ) from None
    if not question.questions:
        return replace(call, answer=_is_allowed(form), state=question.state)
    asked = {each.id: each.kind for each in question.questions}
    return replace(call, state=question.state, answers=_parse_form_decisions(form, asked))


def _build_consent_error(question: AnswerNeeded, why: str) -> Refused:
    return Refused(
        f"{question.question} {why}",
        code="consent_needed",
        hint='the operator can allow it: OUTRIDER_TOOLS__STAKES={"<tool>": "never_ask"}',
    )


async def _elicit_form(context: ServerRequestContext[Any, Any], call: Call, question: AnswerNeeded) -> ElicitResult:
    """The answered form; the caller hears that the call is alive while the person thinks."""

    async def send_heartbeats() -> None:
        heartbeat_interval_s: Final = (
            15.0  # seconds between signs of life while a person thinks: clients cut silent calls at 60
        )
        while True:
            await anyio.sleep(heartbeat_interval_s)
            await call.heartbeat("waiting for a person")

    async with run_background(send_heartbeats):
        return await context.session.elicit_form(_format_message(question), _build_form(question), context.request_id)


def _is_allowed(answer: ElicitResult) -> bool:
    return answer.action == "accept" and bool((answer.content or {}).get("allow"))


def _format_message(question: AnswerNeeded) -> str:
    if len(question.questions) < 2:
        return question.questions[0].message if question.questions else question.question
    lines = [f"{number}. {each.agent}: {each.message}" for number, each in enumerate(question.questions, 1)]
    return "\n".join((f"{len(lines)} things wait for you; what you leave open can be answered later.", *lines))


def _build_form(question: AnswerNeeded) -> dict[str, Any]:
    """One form for all questions: a choice (or words) and a reason each, all of which may be left open."""
    if not question.questions:
        return CONSENT_SCHEMA
    several = len(question.questions) > 1
    fields = [
        _build_fields(each, f"{number}. " if several else "") for number, each in enumerate(question.questions, 1)
    ]
    properties = {name: field for each in fields for name, field in each.items()}
    return {"type": "object", "properties": properties, "required": [] if several else [question.questions[0].id]}


def _build_fields(question: Question, number: str) -> dict[str, Any]:
    title = f"{number}{question.title}"
    choices = CHOICE_LABELS[question.kind]
    if not choices:
        return {question.id: {"type": "string", "title": title, "description": question.message[:1_000]}}
    choice = {"type": "string", "title": title, "enum": list(choices), "enumNames": list(choices.values())}
    return {
        question.id: choice,
        question.id + REASON_SUFFIX: {"type": "string", "title": f"{number}Why (for the agent)"},
    }


def _parse_form_decisions(form: ElicitResult, asked: Mapping[str, QuestionKind]) -> dict[str, QuestionAnswer]:
    """What the form says: nothing when it was closed, no to everything when it was declined."""
    if form.action == "decline":
        return {name: QuestionAnswer("rejected") for name in asked}
    content = (form.content or {}) if form.action == "accept" else {}
    answers = {
        name: _parse_answer(kind, content.get(name), content.get(name + REASON_SUFFIX)) for name, kind in asked.items()
    }
    return {name: answer for name, answer in answers.items() if answer is not None}


def _parse_answer(kind: QuestionKind, given: object, reason: object) -> QuestionAnswer | None:
    if not isinstance(given, str) or not given:
        return None
    if kind == "question":
        return QuestionAnswer("answered", value=given)
    choice = next((each for each in CHOICE_LABELS[kind] if each == given), None)
    return QuestionAnswer(choice, str(reason or "")) if choice else None


def _pack_state(question: AnswerNeeded) -> str:
    """The state with what was asked: a form declined later says no to that, not to what came up meanwhile."""
    return json.dumps({"state": question.state, "asked": {each.id: each.kind for each in question.questions}})


def _unpack_state(sealed: str) -> tuple[str, dict[str, QuestionKind]]:
    try:
        body = json.loads(sealed)
        return str(body["state"]), dict(body["asked"])
    except (ValueError, KeyError, TypeError):  # the state of a call that asked for itself
        return sealed, {}


def parse_host_decisions(given: Sequence[Any]) -> dict[str, QuestionAnswer]:
    """Decisions as hosts send them with a repeated call, `[{actionId, decision, reason?, answer?}]`, by question id."""
    known = ("approved", "rejected", "always_approved", "answered")
    return {
        str(each["actionId"]): QuestionAnswer(each["decision"], str(each.get("reason") or ""), each.get("answer"))
        for each in given
        if isinstance(each, Mapping) and each.get("actionId") and each.get("decision") in known
    }
