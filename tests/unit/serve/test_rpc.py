"""Requests between replicas are accepted once, by their target, in time, and only from replicas."""

from pathlib import Path

from outrider.core.call_codec import parse_call, parse_result, serialize_call, serialize_result
from outrider.core.context import Call, RunContext
from outrider.core.grant import Grant
from outrider.core.questions import QuestionAnswer
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, TextBlock
from outrider.serve.rpc import REQUEST_MAX_AGE_S, RpcCipher, RpcEndpoint, build_rpc_request

KEY = "a key that all replicas share, longer than 32 characters"
NOW_S = 1_000_000.0


async def do_nothing(tool: str, arguments: dict, call: Call) -> dict:
    return {}


def build_endpoint(folder: Path, *, replica: str = "p_1", key: str = KEY, now: float = NOW_S) -> RpcEndpoint:
    return RpcEndpoint(RpcCipher(key, folder), replica, lambda: now, do_nothing)


def build_token(folder: Path, to: str = "p_1", at: float = NOW_S) -> str:
    return build_rpc_request(RpcCipher(KEY, folder), to, at, tool="click", arguments={"sessionId": "s"}, call=Call())[0]


def test_a_request_is_accepted_once(tmp_path: Path):
    endpoint, token = build_endpoint(tmp_path), build_token(tmp_path)
    accepted = endpoint.accept_request(token)
    assert accepted
    assert (accepted["tool"], accepted["arguments"]) == ("click", {"sessionId": "s"})
    assert endpoint.accept_request(token) is None


def test_a_request_is_refused_by_another_replica_and_at_another_time(tmp_path: Path):
    token = build_token(tmp_path)
    assert build_endpoint(tmp_path, replica="p_2").accept_request(token) is None
    assert build_endpoint(tmp_path, now=NOW_S + REQUEST_MAX_AGE_S + 1).accept_request(token) is None
    assert build_endpoint(tmp_path, now=NOW_S - REQUEST_MAX_AGE_S - 1).accept_request(token) is None
    assert build_endpoint(tmp_path, now=NOW_S + REQUEST_MAX_AGE_S - 1).accept_request(token)


def test_a_request_is_refused_under_another_key_or_when_changed_or_forged(tmp_path: Path):
    token = build_token(tmp_path)
    assert (
        build_endpoint(tmp_path, key="another key, which is just as long as the right one").accept_request(token)
        is None
    )
    assert build_endpoint(tmp_path).accept_request(f"{token[:-4]}AAAA") is None
    assert build_endpoint(tmp_path).accept_request("") is None
    assert build_endpoint(tmp_path).accept_request('{"to": "p_1"}') is None


def test_the_caller_and_its_rights_arrive_unchanged_and_encrypted(tmp_path: Path):
    grant = Grant("tok_1", role="viewer", toolsets=("browser",), remedy="ask ann", address="10.0.0.9")
    run = RunContext("run_1", "run_0", "cnv_1", "clerk", 2, ("boss",), "call_7")
    call = Call(
        session="s", workspace="acme", identity="ann@acme.example", citations=(3, 4), answer=True, state="x",
        answers={"qst_1": QuestionAnswer("approved", "yes")}, run=run, grant=grant,
    )  # fmt: skip
    assert serialize_call(parse_call(serialize_call(call))) == serialize_call(call)
    assert parse_call(serialize_call(call)).scope == call.scope
    token, _ = build_rpc_request(RpcCipher(KEY, tmp_path), "p_1", NOW_S, tool="click", arguments={}, call=call)
    assert "ann" not in token
    assert "acme" not in token


def test_every_kind_of_result_arrives_as_it_was():
    content = (
        TextBlock("read", {"a": 1}),
        ImageBlock(b"\x00\xff", "image/jpeg"),
        ResourceBlock("u:1", "text/plain", "t", {"title": "T"}),
        LinkBlock("u:2", "file", "text/csv", 7),
    )
    result = Result(content, data={"x": [1]}, meta={"outrider/y": 2}, is_error=True)
    assert parse_result(serialize_result(result)) == result
