from dataclasses import FrozenInstanceError

import pytest

from outrider.core.context import Call


async def test_unrequested_progress_is_dropped():
    assert await Call().progress(1, 2, "half", {"page": 1}) is None


def test_an_anonymous_call_uses_the_default_session_and_has_no_identity():
    call = Call()
    assert call.session == "default"
    assert {call.assistant, call.thread, call.workspace, call.identity, call.message, call.citations} == {None}
    assert call.answer is None


def test_a_call_is_immutable():
    with pytest.raises(FrozenInstanceError):
        Call().session = "other"  # ty: ignore[invalid-assignment]


def test_two_calls_do_not_share_their_extras():
    assert Call().extra is not Call().extra
