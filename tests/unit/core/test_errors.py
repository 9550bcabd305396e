import pytest

from outrider.core.errors import (
    AnswerNeeded,
    InvalidInput,
    NotConfigured,
    NotFound,
    OutriderError,
    Refused,
    Unavailable,
)

KINDS = [
    (InvalidInput, "invalid_input"),
    (NotFound, "not_found"),
    (Refused, "refused"),
    (NotConfigured, "not_configured"),
    (Unavailable, "unavailable"),
]


@pytest.mark.parametrize(("error", "code"), KINDS)
def test_an_error_has_the_code_of_its_kind(error: type[OutriderError], code: str):
    assert error("no tea").to_dict() == {
        "code": code,
        "kind": code,
        "message": "no tea",
        "retryable": error is Unavailable,
    }


def test_an_error_reports_every_given_field():
    error = Unavailable("busy", hint="wait", code="limit", details={"host": "a.example"}, retry_after=2.5)
    assert error.to_dict() == {
        "code": "limit",
        "kind": "unavailable",
        "message": "busy",
        "retryable": True,
        "hint": "wait",
        "details": {"host": "a.example"},
        "retry_after": 2.5,
    }


def test_a_retry_delay_of_zero_is_reported_too():
    assert Unavailable("busy", retry_after=0).to_dict()["retry_after"] == 0


def test_an_error_reads_as_its_message():
    assert str(NotFound("no page 'x'", hint="choose another")) == "no page 'x'"


def test_a_question_is_not_an_error():
    question = AnswerNeeded("Send it?", state="mail")
    assert not isinstance(question, OutriderError)
    assert (str(question), question.state) == ("Send it?", "mail")
