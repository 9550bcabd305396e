"""Messages are exact, byte for byte, in every protocol version that clients speak."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.processes import prefork
from support.timeouts import PROCESS_TIMEOUT_S

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"


def exchange_messages(folder: Path, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """Send messages to the echo server over stdio; return the answers to requests."""
    command = prefork.build_command("support.apps.echo_toolset", folder)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        answers = []
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.wait(timeout=PROCESS_TIMEOUT_S) == 0
    return answers


def build_handshake(version: str) -> list[dict[str, Any]]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    return [
        {"id": 1, "method": "initialize", "params": params},
        {"method": "notifications/initialized"},
    ]


def build_envelope() -> dict[str, Any]:
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"},
    }


@pytest.mark.parametrize("version", HANDSHAKES)
@pytest.mark.nightly
def test_a_resources_own_fields_are_next_to_its_text_in_older_versions(tmp_path: Path, version: str):
    call = {"id": 2, "method": "tools/call", "params": {"name": "show", "arguments": {}}}
    initialized, called = exchange_messages(tmp_path, *build_handshake(version), call)
    assert initialized["result"]["protocolVersion"] == version
    resource = next(item for item in called["result"]["content"] if item["type"] == "resource")["resource"]
    assert (resource["text"], resource["title"], resource["responseCode"]) == ("body", "T", "200")


def test_a_resources_own_fields_are_next_to_its_text_in_the_newest_version(tmp_path: Path):
    call = {"id": 2, "method": "tools/call", "params": {"name": "show", "arguments": {}, "_meta": build_envelope()}}
    (called,) = exchange_messages(tmp_path, call)
    resource = next(item for item in called["result"]["content"] if item["type"] == "resource")["resource"]
    assert (resource["text"], resource["title"], resource["responseCode"]) == ("body", "T", "200")


def test_progress_carries_its_data_under_the_callers_token(tmp_path: Path):
    command = prefork.build_command("support.apps.echo_toolset", tmp_path)
    call = {"name": "wait_for_it", "arguments": {"steps": 1}, "_meta": {"progressToken": "mine"}}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        for message in [*build_handshake("2025-11-25"), {"id": 2, "method": "tools/call", "params": call}]:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        process.stdin.flush()
        lines = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.stdin.close()
    notice = lines[1]["params"]
    assert (notice["progressToken"], notice["progress"], notice["total"]) == ("mine", 1, 1)
    assert notice["_meta"] == {"data": {"label": "x"}}


NOTHING = ("", "  ", None, {}, 5)
NO_OBJECTS = {
    '{"a": 1,': "the arguments are not valid JSON: Expecting property name",
    '{"raw": "{\\"a\\": 1 \\"b\\": 2}"}': "the arguments are not valid JSON: Expecting ',' delimiter: line 1 column 9",
    "[1, 2]": "the arguments are a JSON array",
    '{"raw": "{\\"a\\": 1}"}': "b: is required",
}


@pytest.mark.parametrize("version", [HANDSHAKES[-1], MODERN])
def test_arguments_may_be_json_text_and_others_are_refused_with_the_reason(tmp_path: Path, version: str):
    sums = [("add", {"a": 1, "b": 2}), ("add", '{"a": 1, "b": 2}')]
    wrong = [*NO_OBJECTS, [1, 2]]
    calls = [*sums, *(("lose", each) for each in NOTHING), *(("add", each) for each in wrong)]
    results = iter(call_echo(tmp_path, version, calls))
    assert [next(results)["structuredContent"] for _ in sums] == [{"total": 3}] * 2
    assert [next(results)["structuredContent"]["error"]["code"] for _ in NOTHING] == ["not_found"] * len(NOTHING)
    for said in [*NO_OBJECTS.values(), NO_OBJECTS["[1, 2]"]]:
        result = next(results)
        assert result["isError"]
        assert said in result["content"][0]["text"]


def call_echo(folder: Path, version: str, calls: Sequence[tuple[str, object]]) -> list[dict[str, Any]]:
    """Return the results of calls with these `arguments`, which may have any type."""
    modern = version == MODERN
    meta = {"_meta": build_envelope()} if modern else {}
    messages = [
        {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": given} | meta}
        for number, (tool, given) in enumerate(calls, 2)
    ]
    answers = exchange_messages(folder, *([] if modern else build_handshake(version)), *messages)
    return [each["result"] for each in answers if each["id"] > 1]


@pytest.mark.parametrize("text", ["\ud83d", "\ude00a", "\\ud83d\ud83d", "\ude00\ud83d", "😀\\ud800"])
def test_a_lone_surrogate_in_an_argument_is_answered(tmp_path: Path, text: str):
    result = call_echo(tmp_path, MODERN, [("say", {"text": text})])[0]
    assert text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") in result["content"][0]["text"]


def test_garbage_on_the_wire_does_not_end_the_server(tmp_path: Path):
    command = prefork.build_command("support.apps.echo_toolset", tmp_path)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"{not json\n\xff\xfe\n[]\n")
        for message in build_handshake("2025-11-25"):
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        process.stdin.flush()
        answers = (json.loads(line) for line in process.stdout)
        answer = next(each for each in answers if each.get("id") == 1)
        process.stdin.close()
    assert answer["result"]["serverInfo"]["name"] == "echo"


NO_IDS = (b"true", b"false", b"1.5", b"[1]", b"{}", b"null")
NO_MESSAGES = [
    (b"{not json", -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b"[]", -32600, None),
    (b'"ping"', -32600, None),
    (b'{"id": 7, "method": "ping"}', -32600, 7),
    (b'{"jsonrpc": "2.0", "id": "seven"}', -32600, "seven"),
    *[(b'{"jsonrpc": "2.0", "id": %s, "method": "ping"}' % each, -32600, None) for each in NO_IDS],
]


def test_an_invalid_line_is_answered_under_its_id_or_null(tmp_path: Path):
    heard = send_lines(tmp_path, b"\n".join(line for line, *_ in NO_MESSAGES))
    assert [(each["error"]["code"], each["id"]) for each in heard] == [tuple(wanted) for _, *wanted in NO_MESSAGES]


def test_unexpected_responses_and_empty_lines_are_ignored(tmp_path: Path):
    answers = b'{"jsonrpc": "2.0", "id": 1, "result": 5}\n\n  \n{"id": 2, "error": {}}'
    (heard,) = send_lines(tmp_path, answers + b'\n{"jsonrpc": "2.0", "id": 3}')
    assert heard["id"] == 3


def test_notifications_with_or_mentioning_an_id_are_not_answered(tmp_path: Path):
    notices = b"""
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"reason": "\\"id\\"", "id": true}}
        {"jsonrpc": "2.0", "method": "notifications/initialized", "id": null}
    """
    assert send_lines(tmp_path, notices) == []


def send_lines(folder: Path, lines: bytes) -> list[dict[str, Any]]:
    """Send lines unchanged, none of them a call, and return the answers."""
    command = prefork.build_command("support.apps.echo_toolset", folder)
    done = subprocess.run(command, input=lines + b"\n", capture_output=True, timeout=PROCESS_TIMEOUT_S, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
