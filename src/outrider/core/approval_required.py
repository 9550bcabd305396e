"""The result of an agent that waits for people, as hosts without forms exchange it (docs/reference/protocol.md).

Two forms are in use and say the same: JSON in an error's only text, and a resource of its own mime type. Both can be
read; which one is written is the operator's choice.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from outrider.core.questions import Question
from outrider.core.result import ResourceBlock, Result, TextBlock

ApprovalFormat = Literal["error_json", "resource"]
BLOCKED_RESULT_KEY: Final = "__dust_blocked_awaiting_input"
PAUSE_MIME_SUFFIX: Final = "agent-pause-tool-output"  # last part of the resource's mime type


@dataclass(frozen=True)
class ApprovalRequired:
    """What is waited for (`events`), and what the same call needs to go on afterwards (`state`)."""

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
    """The result of a call that waits for these questions; `answer_url` is the address below which people answer them."""
    blocked_type: Final = "tool_blocked_awaiting_input"
    events = [
        _build_event(each, last=_is_last(each, questions), as_resource=result_format == "resource")
        for each in questions
    ]
    if answer_url:
        events = [event | {"answerUrl": f"{answer_url}{event['actionId']}"} for event in events]
    if result_format == "error_json":
        body = {BLOCKED_RESULT_KEY: {"blockingEvents": events, "state": dict(state)}}
        return Result((TextBlock(json.dumps(body, ensure_ascii=False)),), is_error=True)
    asked = "; ".join(each.message for each in questions)
    fields = {"type": blocked_type, "blockingEvents": events, "state": dict(state)}
    where = f" They can answer at {answer_url}" if answer_url else ""
    return Result((ResourceBlock("", mime_type, f"Waiting for a person: {asked}{where}", fields),))


def parse_approval_result(result: Mapping[str, Any]) -> ApprovalRequired | None:
    """What a result in either form waits for; None for any other result. `result` is as on the wire."""
    items = [item for item in result.get("content") or [] if isinstance(item, Mapping)]
    found = [_parse_text_item(item) if item.get("type") == "text" else _parse_resource_item(item) for item in items]
    return next((each for each in found if each is not None), None)


def _parse_text_item(item: Mapping[str, Any]) -> ApprovalRequired | None:
    text = item.get("text")
    if not isinstance(text, str) or BLOCKED_RESULT_KEY not in text:
        return None
    try:
        body = json.loads(text)
    except ValueError:
        return None
    return _parse_body(body.get(BLOCKED_RESULT_KEY)) if isinstance(body, dict) else None


def _parse_resource_item(item: Mapping[str, Any]) -> ApprovalRequired | None:
    resource = item.get("resource")
    if not isinstance(resource, Mapping) or not str(resource.get("mimeType", "")).endswith(PAUSE_MIME_SUFFIX):
        return None
    kept = (resource.get("_meta") or {}).get("outrider/fields") or {}
    return _parse_body({**kept, **resource})


def _parse_body(body: object) -> ApprovalRequired | None:
    if not isinstance(body, Mapping) or not isinstance(body.get("state"), Mapping):
        return None
    events = body.get("blockingEvents")
    return ApprovalRequired(
        [dict(each) for each in events if isinstance(each, Mapping)] if events else [], dict(body["state"])
    )


def _is_last(question: Question, questions: Sequence[Question]) -> bool:
    """Whether no further question of the same run follows: a host may wait for that mark."""
    return [each for each in questions if each.run_id == question.run_id][-1] is question


def _build_event(question: Question, *, last: bool, as_resource: bool) -> dict[str, Any]:
    shared = {
        "created": round(question.created_at * 1000),
        "configurationId": question.agent,
        "conversationId": question.conversation_id,
        "messageId": question.message_id,
        "actionId": question.id,
        "isLastBlockingEventForStep": last,
    }
    match question.kind:
        case "approval":
            return {"type": "tool_approve_execution"} | shared | _approval(question)
        case "authentication":
            return {"type": "tool_personal_auth_required" if as_resource else "tool_error"} | shared | _login(question)
        case "question":
            return {"type": "tool_user_answer_required", "question": question.message} | shared


def _approval(question: Question) -> dict[str, Any]:
    metadata = {"mcpServerName": question.toolset, "toolName": question.tool, "agentName": question.agent}
    return {"inputs": dict(question.arguments), "stake": question.stake, "metadata": metadata}


def _login(question: Question) -> dict[str, Any]:
    error_code: Final = "mcp_server_personal_authentication_required"
    given = {name: question.details[name] for name in ("provider", "scope", "url") if question.details.get(name)}
    error = {"mcpServerId": question.toolset, "toolName": question.tool, "message": question.message}
    return {"error": {"code": error_code, "message": question.message}, "authError": error | given}
