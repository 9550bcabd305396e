"""Encode and decode the results of agents that wait for people.

Hosts without forms exchange them in two equivalent forms (docs/reference/protocol.md): JSON in an error's only text,
and a resource with its own MIME type. Both can be read; the operator chooses which one is written.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from outrider.core.questions import Question
from outrider.core.result import ResourceBlock, Result, TextBlock

ApprovalFormat = Literal["error_json", "resource"]
BLOCKED_RESULT_KEY: Final = "__dust_blocked_awaiting_input"
PAUSE_MIME_SUFFIX: Final = "agent-pause-tool-output"  # the MIME type begins with the host's own prefix


@dataclass(frozen=True)
class ApprovalRequired:
    """The open questions (`events`), and what the same call needs to resume afterwards (`state`)."""

    events: list[dict[str, Any]]
    state: dict[str, Any]


def build_approval_result(
    questions: Sequence[Question],
    state: Mapping[str, Any],
    *,
    result_format: ApprovalFormat,
    mime_type: str,
    answer_url: str = "",
) -> Result:
    """Return the result of a call that waits for these questions.

    Args:
        questions: The open questions.
        state: What the call needs to resume.
        result_format: The form to write.
        mime_type: Of the resource form.
        answer_url: Prefix of the addresses at which people answer; empty if there are none.
    """
    events = [_build_event(question, questions, as_resource=result_format == "resource") for question in questions]
    if answer_url:
        events = [event | {"answerUrl": f"{answer_url}{event['actionId']}"} for event in events]
    if result_format == "error_json":
        body = {BLOCKED_RESULT_KEY: {"blockingEvents": events, "state": dict(state)}}
        return Result((TextBlock(json.dumps(body, ensure_ascii=False)),), is_error=True)
    messages = "; ".join(question.message for question in questions)
    fields = {"type": "tool_blocked_awaiting_input", "blockingEvents": events, "state": dict(state)}
    answer_place = f" They can answer at {answer_url}" if answer_url else ""
    return Result((ResourceBlock("", mime_type, f"Waiting for a person: {messages}{answer_place}", fields),))


def parse_approval_result(result: Mapping[str, Any]) -> ApprovalRequired | None:
    """Decode a result in either form, given as on the wire; None for any other result."""
    for item in result.get("content") or []:
        body = _find_body(item) if isinstance(item, Mapping) else None
        if isinstance(body, Mapping) and isinstance(body.get("state"), Mapping):
            events = [dict(event) for event in body.get("blockingEvents") or [] if isinstance(event, Mapping)]
            return ApprovalRequired(events, dict(body["state"]))
    return None


def _find_body(item: Mapping[str, Any]) -> object:
    """Return an approval's body from JSON text or resource fields. None if it has none."""
    if item.get("type") != "text":
        resource = item.get("resource")
        if not isinstance(resource, Mapping) or not str(resource.get("mimeType", "")).endswith(PAUSE_MIME_SUFFIX):
            return None
        return {**((resource.get("_meta") or {}).get("outrider/fields") or {}), **resource}
    text = item.get("text")
    if not isinstance(text, str) or BLOCKED_RESULT_KEY not in text:
        return None
    try:
        body = json.loads(text)
    except ValueError:
        return None
    return body.get(BLOCKED_RESULT_KEY) if isinstance(body, dict) else None


def _build_event(question: Question, questions: Sequence[Question], *, as_resource: bool) -> dict[str, Any]:
    questions_of_run = [other for other in questions if other.run_id == question.run_id]
    event = {
        "created": round(question.created_at * 1000),
        "configurationId": question.agent,
        "conversationId": question.conversation_id,
        "messageId": question.message_id,
        "actionId": question.id,
        "isLastBlockingEventForStep": questions_of_run[-1] is question,  # hosts may rely on this mark
    }
    match question.kind:
        case "approval":
            metadata = {"mcpServerName": question.toolset, "toolName": question.tool, "agentName": question.agent}
            details = {"inputs": dict(question.arguments), "stake": question.stake, "metadata": metadata}
            return {"type": "tool_approve_execution"} | event | details
        case "authentication":
            kind = "tool_personal_auth_required" if as_resource else "tool_error"
            error = {"code": "mcp_server_personal_authentication_required", "message": question.message}
            auth_error = {"mcpServerId": question.toolset, "toolName": question.tool, "message": question.message}
            login = {
                name: question.details[name] for name in ("provider", "scope", "url") if question.details.get(name)
            }
            return {"type": kind} | event | {"error": error, "authError": auth_error | login}
        case "question":
            return {"type": "tool_user_answer_required", "question": question.message} | event
