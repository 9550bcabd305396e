"""Ask the person behind the client, if version and client allow.

Since 2026-07-28 the questions are the result, and the client repeats the call with the answers; before that the server
asks over the connection (elicitation). Both show one form. Other clients get the result of `core/approval_required.py`,
or, if the call only needs consent, an error that says how to allow the tool.
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
from outrider.core.questions import Decision, QuestionAnswer, QuestionKind

INPUT_REQUIRED_VERSION: Final = "2026-07-28"
CONSENT_FORM: Final = "consent"  # the form of a call that needs consent itself
DECISIONS_FORM: Final = "decisions"  # the form of questions of agent runs
REASON_SUFFIX: Final = "_reason"
LASTING_FIELD: Final = "always"  # in the form of consent: whether to allow this permanently
CONSENT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call"}},
    "required": ["allow"],
}
CHOICE_LABELS: Final[Mapping[QuestionKind, Mapping[Decision, str]]] = {
    "approval": {"approved": "Allow", "rejected": "Refuse", "always_approved": "Allow from now on"},
    "authentication": {"approved": "I am signed in now", "rejected": "Continue without"},
    "question": {},
}


def can_ask(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether the client can show a form, by result or over the connection."""
    has_elicitation = context.protocol_version >= "2025-06-18"
    capability = ClientCapabilities(elicitation=ElicitationCapability())
    return has_elicitation and context.session.check_client_capability(capability)


def can_return_questions(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether this protocol version accepts questions as results."""
    return context.protocol_version >= INPUT_REQUIRED_VERSION


def resume_call(call: Call, params: CallToolRequestParams) -> tuple[Call, bool]:
    """Return the repeated call with answers, and whether it has a form.

    The form may be unanswered.
    """
    responses = params.input_responses or {}
    if params.request_state is None:
        return call, False
    if isinstance(consent := responses.get(CONSENT_FORM), ElicitResult):
        return _apply_consent(replace(call, state=params.request_state), consent), True
    if not isinstance(form := responses.get(DECISIONS_FORM), ElicitResult):
        return replace(call, state=_unpack_state(params.request_state)[0]), False
    state, questions = _unpack_state(params.request_state)
    return replace(call, state=state, answers={**call.answers, **_parse_form_decisions(form, questions)}), True


def build_input_required(question: AnswerNeeded) -> InputRequiredResult:
    """Build the questions as the result of a call that the client will repeat."""
    name, state = CONSENT_FORM, question.state
    if question.questions:
        # A declined form rejects the questions that were asked, and none that were raised later.
        kinds_by_id = {item.id: item.kind for item in question.questions}
        name, state = DECISIONS_FORM, json.dumps({"state": question.state, "asked": kinds_by_id})
    form = ElicitRequestFormParams(message=_format_message(question), requested_schema=_build_form(question))
    return InputRequiredResult(input_requests={name: ElicitRequest(params=form)}, request_state=state)


async def ask_client(context: ServerRequestContext[Any, Any], call: Call, question: AnswerNeeded) -> Call:
    """Ask over the connection; return the call with the person's answers, or without if the client failed to ask.

    Raises Refused if the call needs consent and the client cannot ask for it, or closes the form.
    """

    async def send_heartbeats() -> None:
        interval_s: Final = 15.0  # some clients drop calls that are silent for 60 s
        while True:
            await anyio.sleep(interval_s)
            await call.heartbeat("waiting for a person")

    if not can_ask(context):
        raise build_consent_error(question, "Your client cannot ask the user.")
    message, fields = _format_message(question), _build_form(question)
    try:
        async with run_background(send_heartbeats):
            form = await context.session.elicit_form(message, fields, context.request_id)
    except MCPError as error:
        if question.questions:
            return replace(call, state=question.state, answers={})
        reason = f"Your client could not ask the user: {error.message[:200]}"
        raise build_consent_error(question, reason) from None
    if not question.questions:
        if form.action == "cancel":
            raise build_dismissed_error(question)
        return _apply_consent(replace(call, state=question.state), form)
    kinds = {item.id: item.kind for item in question.questions}
    return replace(call, state=question.state, answers=_parse_form_decisions(form, kinds))


def build_consent_error(question: AnswerNeeded, reason: str) -> Refused:
    """Build the error of a call that lacks a person's consent; `reason` is a sentence."""
    details = {name: value for name, value in question.details.items() if name != "hint"}
    hint = question.details.get("hint", "continue without it, or ask the user for a client that shows questions")
    return Refused(f"{question.question} {reason}", code="consent_needed", hint=hint, details=details)


def build_dismissed_error(question: AnswerNeeded) -> Refused:
    """Build the error of a call whose form was closed.

    A person closed it, or a client that shows no forms.
    """
    error = build_consent_error(question, "The question was closed without an answer.")
    hint = "nothing was done: ask the user, then repeat the call"
    if "hint" in question.details:
        hint += f"; where no one sees questions, {error.hint}"
    return Refused(error.message, code="not_answered", hint=hint, details=error.details)


def _apply_consent(call: Call, form: ElicitResult) -> Call:
    """Return the call with a person's answer: none if the form was closed, no if it was declined."""
    if form.action == "cancel":
        return call
    content = (form.content or {}) if form.action == "accept" else {}
    is_allowed = bool(content.get("allow"))
    return replace(call, answer=is_allowed, is_answer_lasting=is_allowed and content.get(LASTING_FIELD) is True)


def _format_message(question: AnswerNeeded) -> str:
    if len(question.questions) < 2:
        return question.questions[0].message if question.questions else question.question
    lines = [f"{number}. {item.agent}: {item.message}" for number, item in enumerate(question.questions, 1)]
    return "\n".join((f"{len(lines)} questions wait for you; you can answer the rest later.", *lines))


def _build_form(question: AnswerNeeded) -> dict[str, Any]:
    """Build one form for all questions, with a choice or a text, and a reason; of several, all are optional."""
    if not question.questions:
        lasting = {"type": "boolean", "title": "Do not ask again", "description": question.lasting, "default": False}
        properties = CONSENT_SCHEMA["properties"] | ({LASTING_FIELD: lasting} if question.lasting else {})
        return CONSENT_SCHEMA | {"properties": properties}
    several = len(question.questions) > 1
    properties = {}
    for count, item in enumerate(question.questions, 1):
        number = f"{count}. " if several else ""
        title, choices = f"{number}{item.title}", CHOICE_LABELS[item.kind]
        if choices:
            labels = {"enum": list(choices), "enumNames": list(choices.values())}
            properties[item.id] = {"type": "string", "title": title, **labels}
            properties[item.id + REASON_SUFFIX] = {"type": "string", "title": f"{number}Why (for the agent)"}
        else:
            properties[item.id] = {"type": "string", "title": title, "description": item.message[:1_000]}
    return {"type": "object", "properties": properties, "required": [] if several else [question.questions[0].id]}


def _parse_form_decisions(form: ElicitResult, questions: Mapping[str, QuestionKind]) -> dict[str, QuestionAnswer]:
    """Return the answers of a form: none if it was closed, all rejected if it was declined."""
    if form.action == "decline":
        return {question_id: QuestionAnswer("rejected") for question_id in questions}
    content = (form.content or {}) if form.action == "accept" else {}
    answers: dict[str, QuestionAnswer] = {}
    for question_id, kind in questions.items():
        value, reason = content.get(question_id), content.get(question_id + REASON_SUFFIX)
        if kind == "question":
            if isinstance(value, str) and value:
                answers[question_id] = QuestionAnswer("answered", value=value)
        elif decision := next((decision for decision in CHOICE_LABELS[kind] if decision == value), None):
            answers[question_id] = QuestionAnswer(decision, str(reason or ""))
    return answers


def _unpack_state(packed: str) -> tuple[str, dict[str, QuestionKind]]:
    try:
        body = json.loads(packed)
        return str(body["state"]), dict(body["asked"])
    except (ValueError, KeyError, TypeError):  # the state of a call that needed consent itself
        return packed, {}


def parse_host_decisions(items: Sequence[Any]) -> dict[str, QuestionAnswer]:
    """Parse the decisions that hosts send with a repeated call, `[{actionId, decision, reason?, answer?}]`."""
    decisions = ("approved", "rejected", "always_approved", "answered")
    return {
        str(item["actionId"]): QuestionAnswer(item["decision"], str(item.get("reason") or ""), item.get("answer"))
        for item in items
        if isinstance(item, Mapping) and item.get("actionId") and item.get("decision") in decisions
    }
