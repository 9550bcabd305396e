from dataclasses import FrozenInstanceError

import pytest

from outrider.core.context import Call


async def test_progress_that_nobody_asked_for_goes_nowhere():
    assert await Call().progress(1, 2, "half", {"page": 1}) is None


def test_an_anonymous_call_belongs_to_the_default_session_and_to_nobody():
    call = Call()
    assert call.session == "default"
    assert {call.assistant, call.thread, call.workspace, call.identity, call.message, call.citations} == {None}
    assert call.answer is None


def test_a_call_cannot_be_changed_on_its_way():
    with pytest.raises(FrozenInstanceError):
        Call().session = "other"  # ty: ignore[invalid-assignment]


def test_two_calls_share_nothing():
    assert Call().extra is not Call().extra
