"""Questions become forms, and forms become decisions."""

from dataclasses import replace
from typing import Any

import pytest
from mcp.types import CallToolRequestParams, ElicitResult

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded
from outrider.core.questions import Question, QuestionAnswer
from outrider.serve.elicitation import build_input_required, parse_host_decisions, resume_call

SEND = Question(
    id="qst_send",
    run_id="run_1",
    root_run_id="run_0",
    call_id="c1",
    kind="approval",
    agent="clerk",
    toolset="mail",
    tool="send_mail",
    title="Send mail",
    message="Allow Send mail (send_mail) with {'to': 'bob'}?",
)
LOGIN = replace(SEND, id="qst_login", kind="authentication", title="GitHub", message="Sign in to GitHub first")
WHICH = replace(SEND, id="qst_which", kind="question", title="Which Bob?", message="There are two Bobs. Which one?")


def build_form(*questions: Question) -> tuple[Any, str]:
    """Return the form for these questions, and its state."""
    result = build_input_required(AnswerNeeded("waits", state="run_0", questions=questions))
    assert result.input_requests is not None
    (request,) = result.input_requests.values()
    return request.params, str(result.request_state)


def submit_form(state: str, answer: ElicitResult) -> tuple[dict[str, QuestionAnswer], str | None]:
    params = CallToolRequestParams(name="run_x", request_state=state, input_responses={"decisions": answer})
    call, shown = resume_call(Call(), params)
    assert shown
    return dict(call.answers), call.state


def test_a_single_question_is_asked_verbatim_and_is_required():
    asked, _ = build_form(SEND)
    assert asked.message == SEND.message
    assert asked.requested_schema["required"] == ["qst_send"]
    assert asked.requested_schema["properties"]["qst_send"]["enum"] == ["approved", "rejected", "always_approved"]


def test_several_questions_are_numbered_and_optional():
    asked, _ = build_form(SEND, LOGIN, WHICH)
    assert [line.split(" ")[0] for line in asked.message.splitlines()[1:]] == ["1.", "2.", "3."]
    assert asked.requested_schema["required"] == []
    fields = asked.requested_schema["properties"]
    assert fields["qst_login"]["enum"] == ["approved", "rejected"]
    assert "enum" not in fields["qst_which"]
    assert fields["qst_which"]["description"] == WHICH.message
    assert fields["qst_send_reason"]["title"] == "1. Why (for the agent)"


def test_filled_fields_are_decisions_and_empty_ones_stay_open():
    _, state = build_form(SEND, LOGIN, WHICH)
    content = {"qst_send": "rejected", "qst_send_reason": "too early", "qst_which": "Bob Miller", "qst_login": ""}
    answers, goes_on = submit_form(state, ElicitResult(action="accept", content=content))
    assert answers == {
        "qst_send": QuestionAnswer("rejected", "too early"),
        "qst_which": QuestionAnswer("answered", value="Bob Miller"),
    }
    assert goes_on == "run_0"


@pytest.mark.parametrize("said", ["yes", "answered", "APPROVED", True, 1, None, ["approved"]])
def test_values_that_the_form_did_not_offer_decide_nothing(said: Any):
    _, state = build_form(SEND)
    answer = ElicitResult.model_construct(action="accept", content={"qst_send": said})
    assert submit_form(state, answer)[0] == {}


def test_a_login_is_not_allowed_forever():
    _, state = build_form(LOGIN)
    assert submit_form(state, ElicitResult(action="accept", content={"qst_login": "always_approved"}))[0] == {}


def test_declining_rejects_all_questions_and_closing_decides_nothing():
    _, state = build_form(SEND, LOGIN)
    assert submit_form(state, ElicitResult(action="decline"))[0] == {
        "qst_send": QuestionAnswer("rejected"),
        "qst_login": QuestionAnswer("rejected"),
    }
    assert submit_form(state, ElicitResult(action="cancel"))[0] == {}


def test_answers_to_unknown_questions_are_ignored():
    _, state = build_form(SEND)
    assert submit_form(state, ElicitResult(action="accept", content={"qst_other": "approved"}))[0] == {}


def test_a_call_without_state_is_a_new_one():
    params = CallToolRequestParams(
        name="run_x", input_responses={"decisions": ElicitResult(action="accept", content={"qst_send": "approved"})}
    )
    assert resume_call(Call(session="s"), params) == (Call(session="s"), False)


def test_hosts_decisions_are_parsed_and_invalid_ones_ignored():
    given = [
        {"actionId": "a", "decision": "approved"},
        {"actionId": "b", "decision": "rejected", "reason": "no"},
        {"actionId": "c", "decision": "answered", "answer": {"x": 1}},
        {"actionId": "d", "decision": "perhaps"},
        {"decision": "approved"},
        "e",
    ]
    assert parse_host_decisions(given) == {
        "a": QuestionAnswer("approved"),
        "b": QuestionAnswer("rejected", "no"),
        "c": QuestionAnswer("answered", value={"x": 1}),
    }
