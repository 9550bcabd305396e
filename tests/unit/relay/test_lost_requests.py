"""Lines go to the right process during a change, and lost requests are answered."""

import json

import pytest

from outrider.relay.relay import build_error_reply, route_line


@pytest.mark.parametrize(
    ("message", "places"),
    [
        ({"id": 1, "method": "tools/call"}, (False, True)),
        ({"method": "notifications/initialized"}, (False, True)),
        ({"method": "notifications/cancelled", "params": {"requestId": 1}}, (True, True)),
        ({"id": 1, "result": {"action": "accept"}}, (True, False)),
    ],
)
def test_requests_go_to_the_new_process_and_answers_to_the_one_that_asked(message: dict, places: tuple):
    assert route_line(json.dumps({"jsonrpc": "2.0"} | message).encode()) == places


def test_a_permanently_lost_request_gets_an_error_with_a_remedy():
    answer = json.loads(build_error_reply(b'{"jsonrpc": "2.0", "id": "a", "method": "tools/call"}', "it died"))
    assert answer["id"] == "a"
    assert "it died; restart the server" in answer["error"]["message"]


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"method": "notifications/x"}', b'{"id": 1, "result": {}}'])
def test_a_lost_line_that_is_not_a_request_gets_no_answer(line: bytes):
    assert build_error_reply(line, "it died") == b""
