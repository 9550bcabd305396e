"""The result of a waiting run: both forms have the same content and can be parsed."""

from dataclasses import replace
from typing import Any

import pytest

from outrider.core import approval_required
from outrider.core.questions import Question
from outrider.core.result import ResourceBlock, Result, TextBlock

SEND = Question(
    id="qst_1",
    run_id="run_1",
    root_run_id="run_0",
    call_id="c1",
    kind="approval",
    agent="clerk",
    toolset="mail",
    tool="send_mail",
    title="Send mail",
    message="Send it?",
    arguments={"to": "bob"},
    stake="high",
    created_at=1.5,
    conversation_id="cnv_1",
    message_id="msg_1",
)
LOGIN = replace(SEND, id="qst_2", kind="authentication", stake=None, details={"provider": "github", "scope": "repo"})
STATE = {"conversationId": "cnv_0", "userMessageId": "msg_0"}
MIME = "application/vnd.dust.tool-output.agent-pause-tool-output"
FORMS: list[approval_required.ApprovalFormat] = ["error_json", "resource"]


def encode_result(result: Result) -> dict[str, Any]:
    """Return the result in the form of the protocol layer."""
    items = [
        {"type": "text", "text": item.text}
        if isinstance(item, TextBlock)
        else {"type": "resource", "resource": {"mimeType": item.mime_type, "text": item.text, **item.fields}}
        for item in result.content
        if isinstance(item, TextBlock | ResourceBlock)
    ]
    return {"content": items, "isError": result.is_error}


@pytest.mark.parametrize("form", FORMS)
def test_a_blocked_result_survives_a_round_trip(form: approval_required.ApprovalFormat):
    result = approval_required.build_approval_result([SEND, LOGIN], STATE, result_format=form, mime_type=MIME)
    found = approval_required.parse_approval_result(encode_result(result))
    assert found is not None
    assert found.state == STATE
    assert [event["actionId"] for event in found.events] == ["qst_1", "qst_2"]
    assert result.is_error is (form == "error_json")


def test_an_approval_has_all_fields_of_the_wire_format():
    (event,) = approval_required.parse_approval_result(
        encode_result(
            approval_required.build_approval_result([SEND], STATE, result_format="error_json", mime_type=MIME)
        )
    ).events
    assert event == {
        "type": "tool_approve_execution",
        "created": 1500,
        "configurationId": "clerk",
        "conversationId": "cnv_1",
        "messageId": "msg_1",
        "actionId": "qst_1",
        "isLastBlockingEventForStep": True,
        "inputs": {"to": "bob"},
        "stake": "high",
        "metadata": {"mcpServerName": "mail", "toolName": "send_mail", "agentName": "clerk"},
    }


@pytest.mark.parametrize(("form", "kind"), [("error_json", "tool_error"), ("resource", "tool_personal_auth_required")])
def test_a_missing_login_names_provider_and_tool(form: approval_required.ApprovalFormat, kind: str):
    (event,) = approval_required.parse_approval_result(
        encode_result(approval_required.build_approval_result([LOGIN], STATE, result_format=form, mime_type=MIME))
    ).events
    assert event["type"] == kind
    assert event["error"]["code"] == "mcp_server_personal_authentication_required"
    assert event["authError"] == {
        "mcpServerId": "mail",
        "toolName": "send_mail",
        "message": "Send it?",
        "provider": "github",
        "scope": "repo",
    }


def test_the_last_question_of_each_run_is_marked():
    other = replace(SEND, id="qst_3", run_id="run_2")
    result = approval_required.build_approval_result(
        [SEND, other, LOGIN], STATE, result_format="error_json", mime_type=MIME
    )
    found = approval_required.parse_approval_result(encode_result(result))
    assert [event["isLastBlockingEventForStep"] for event in found.events] == [False, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{",
        f'{{"{approval_required.BLOCKED_RESULT_KEY}": 1}}',
        f'["{approval_required.BLOCKED_RESULT_KEY}"]',
        f'{{"{approval_required.BLOCKED_RESULT_KEY}": {{"state": []}}}}',
    ],
)
def test_any_other_result_is_not_a_blocked_result(text: str):
    assert (
        approval_required.parse_approval_result({"content": [{"type": "text", "text": text}, 1, {"type": "resource"}]})
        is None
    )
    assert approval_required.parse_approval_result({}) is None


@pytest.mark.parametrize("form", FORMS)
def test_each_question_links_to_its_dashboard_page_where_one_runs(form: approval_required.ApprovalFormat):
    place = "http://127.0.0.1:8765/dashboard/questions/"
    result = approval_required.build_approval_result(
        [SEND, LOGIN], STATE, result_format=form, mime_type=MIME, answer_url=place
    )
    found = approval_required.parse_approval_result(encode_result(result))
    assert found is not None
    assert [event["answerUrl"] for event in found.events] == [f"{place}qst_1", f"{place}qst_2"]
