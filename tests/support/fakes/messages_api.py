"""A scripted model with the streaming Messages API on loopback."""

import json
from collections.abc import Callable
from typing import Any

ContentBlocks = list[dict[str, Any]]


def build_messages_app(script: Callable[[list[dict[str, Any]], list[str]], ContentBlocks]) -> Any:
    """Build an ASGI application; `script` takes the conversation and the tools' names, and returns content blocks."""

    async def answer_request(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        asked = await _read_json_body(receive)
        if scope["path"].endswith("/v1/messages") and asked:
            tools = [tool.get("name", "") for tool in asked.get("tools", [])]
            events = _build_events(script(asked["messages"], tools), asked.get("model", "scripted"))
            await _send_response(send, "text/event-stream", "".join(events).encode())
        else:
            await _send_response(send, "application/json", b'{"input_tokens": 1}')

    return answer_request


async def _read_json_body(receive: Any) -> dict[str, Any]:
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return json.loads(body) if body else {}


def _build_events(blocks: ContentBlocks, model: str) -> list[str]:
    uses = any(block["type"] == "tool_use" for block in blocks)
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
    }
    usage = {"input_tokens": 1, "output_tokens": 1}
    events = [_format_event("message_start", message=message | {"stop_sequence": None, "usage": usage})]
    for index, block in enumerate(blocks):
        events += _build_block_events(index, block)
    reason = {"stop_reason": "tool_use" if uses else "end_turn", "stop_sequence": None}
    return [*events, _format_event("message_delta", delta=reason, usage=usage), _format_event("message_stop")]


def _build_block_events(index: int, block: dict[str, Any]) -> list[str]:
    if block["type"] == "tool_use":
        empty = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        empty = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    return [
        _format_event("content_block_start", index=index, content_block=empty),
        _format_event("content_block_delta", index=index, delta=delta),
        _format_event("content_block_stop", index=index),
    ]


def _format_event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | fields)}\n\n"


async def _send_response(send: Any, kind: str, body: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]})
    await send({"type": "http.response.body", "body": body})
