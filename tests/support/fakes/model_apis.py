"""Scripted models with the streamed APIs of OpenAI (both), Anthropic and Google, on loopback."""

import itertools
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

API_FORMATS = ("chat", "responses", "anthropic", "google")


@dataclass(frozen=True)
class ModelTurn:
    """One answer of a model.

    Attributes:
        text: Streamed in pieces of a few letters.
        thinking: The thinking before the text.
        calls: (tool, arguments), made together; arguments given as text are sent unchanged.
        wait_before: Awaited before the answer begins.
        wait_between: Awaited between the first piece and the rest.
        status: An HTTP error instead, with these headers, and this message if there is one.
        cut_off: The connection breaks off in the middle.
        garbage: A text that is not an answer.
        finish_reason: Another reason to stop than the usual.
        tokens: (read, written).
        cached: How many of Anthropic's tokens were read from its cache.
    """

    text: str = ""
    thinking: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    wait_before: anyio.Event | None = None
    wait_between: anyio.Event | None = None
    status: int = 200
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_off: bool = False
    garbage: bool = False
    finish_reason: str = ""
    tokens: tuple[int, int] = (100, 10)
    cached: int = 0


@dataclass
class ScriptedRequest:
    """A request in any format: the number of earlier model turns, its tools' results, the whole body."""

    turn_count: int
    results: list[str]
    tool_names: list[str]
    text: str
    headers: Mapping[str, str]
    body: dict[str, Any]


TurnScript = Callable[[ScriptedRequest], ModelTurn]


def play_turns(*turns: ModelTurn) -> TurnScript:
    """Return the turn after the conversation's earlier ones; the last one repeats."""
    return lambda asked: turns[min(asked.turn_count, len(turns) - 1)]


@dataclass
class ModelServer:
    """A server that speaks all four formats.

    Attributes:
        script: Chooses each answer.
        requests: Every request so far.
    """

    script: TurnScript
    requests: list[ScriptedRequest] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def build_app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._build_endpoint(_read_chat, _build_chat_events), methods=["POST"]),
                Route(
                    "/v1/responses", self._build_endpoint(_read_responses, _build_responses_events), methods=["POST"]
                ),
                Route("/v1/messages", self._build_endpoint(_read_anthropic, _build_anthropic_events), methods=["POST"]),
                Route(
                    "/v1beta/models/{model}", self._build_endpoint(_read_google, _build_google_events), methods=["POST"]
                ),
                Route("/v1/models", _list_models),
            ]
        )

    def _build_endpoint(
        self, read: Callable[[dict[str, Any]], tuple[int, list[str]]], speak: Callable[..., list[str]]
    ) -> Any:
        async def answer_request(request: Request) -> Response:
            body = await request.json()
            turns, results = read(body)
            text = json.dumps(body, ensure_ascii=False)
            asked = ScriptedRequest(turns, results, _list_tool_names(body), text, dict(request.headers), body)
            self.requests.append(asked)
            turn = self.script(asked)
            if turn.wait_before is not None:
                await turn.wait_before.wait()
            if turn.status != 200:
                message = turn.message or f"scripted: {request.headers.get('authorization', '')}"
                said = {"error": {"message": message, "type": "x"}}
                return JSONResponse(said, turn.status, headers=dict(turn.headers))
            if turn.garbage:
                return PlainTextResponse("<html>It works!</html>")
            events = speak(turn, next(self._numbers))
            if not body.get("stream") and speak is _build_chat_events:
                return JSONResponse(_join_chat_events(events))
            if not body.get("stream") and speak is _build_responses_events:
                return JSONResponse(json.loads(events[-1].partition("data: ")[2])["response"])
            return StreamingResponse(_stream_events(turn, events), media_type="text/event-stream")

        return answer_request


async def _list_models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "scripted-embed"}, {"id": "scripted-local"}]})


async def _stream_events(turn: ModelTurn, events: list[str]) -> AsyncGenerator[str]:
    events = events[: max(1, len(events) // 2)] if turn.cut_off else events
    for number, event in enumerate(events):
        yield event
        if turn.wait_between is not None and number == len(events) // 2:
            await turn.wait_between.wait()
    if turn.cut_off:
        raise ConnectionResetError("scripted")


def _split_text(text: str) -> list[str]:
    """Split a text into small pieces, or larger ones if it is long."""
    max_pieces = 200
    size = max(6, -(-len(text) // max_pieces))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _encode_arguments(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _list_tool_names(body: Mapping[str, Any]) -> list[str]:
    listed = [each.get("function", each) for each in body.get("tools", [])]
    google = [inner for each in listed for inner in each.get("functionDeclarations", [])]
    return [each["name"] for each in (*listed, *google) if "name" in each]


def _format_event(body: Mapping[str, Any], event: str = "") -> str:
    return (f"event: {event}\n" if event else "") + f"data: {json.dumps(body)}\n\n"


# The chat completions of OpenAI and compatible servers


def _join_chat_events(events: list[str]) -> dict[str, Any]:
    """Join the pieces for clients that did not request a stream."""
    chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-1]]
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    calls: list[dict[str, Any]] = []
    for piece in (piece for choice in choices for piece in choice["delta"].get("tool_calls", [])):
        if "id" in piece:
            calls.append(piece)
        else:
            calls[-1]["function"]["arguments"] += piece["function"]["arguments"]
    text = "".join(choice["delta"].get("content", "") for choice in choices)
    message = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    whole = {"index": 0, "message": message, "finish_reason": choices[-1]["finish_reason"]}
    return chunks[-1] | {"object": "chat.completion", "choices": [whole]}


def _read_chat(body: dict[str, Any]) -> tuple[int, list[str]]:
    roles = [each["role"] for each in body["messages"]]
    return roles.count("assistant"), [str(each["content"]) for each in body["messages"] if each["role"] == "tool"]


def _build_chat_events(turn: ModelTurn, number: int) -> list[str]:
    deltas: list[dict[str, Any]] = [{"reasoning_content": piece} for piece in _split_text(turn.thinking)]
    deltas += [{"content": piece} for piece in _split_text(turn.text)]
    for at, (name, arguments) in enumerate(turn.calls):
        call = {"index": at, "id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": ""}}
        deltas.append({"tool_calls": [call]})
        deltas += [
            {"tool_calls": [{"index": at, "function": {"arguments": piece}}]}
            for piece in _split_text(_encode_arguments(arguments))
        ]
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant"} | delta}]} for delta in deltas
    ]
    reason = turn.finish_reason or ("tool_calls" if turn.calls else "stop")
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    read, wrote = turn.tokens
    usage = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
    chunks.append({"choices": [], "usage": usage})
    return [*(_format_event(head | chunk) for chunk in chunks), "data: [DONE]\n\n"]


# The responses of OpenAI


def _read_responses(body: dict[str, Any]) -> tuple[int, list[str]]:
    items = body["input"] if isinstance(body["input"], list) else []
    ours = [each.get("role") == "assistant" or each.get("type") == "function_call" for each in items]
    turns = sum(here and not before for before, here in zip([False, *ours], ours, strict=False))
    return turns, [str(each["output"]) for each in items if each.get("type") == "function_call_output"]


def _build_responses_events(turn: ModelTurn, number: int) -> list[str]:
    events: list[dict[str, Any]] = []
    output: list[dict[str, Any]] = []
    if turn.thinking:
        _add_reasoning_events(turn, number, events, output)
    if turn.text:
        _add_message_events(turn, number, events, output)
    for at, (name, arguments) in enumerate(turn.calls):
        item_id, call_id = f"fc_{number}_{at}", f"call_{number}_{at}"
        _add_function_events(item_id, call_id, name, _encode_arguments(arguments), events, output)
    read, wrote = turn.tokens
    usage = {
        "input_tokens": read,
        "output_tokens": wrote,
        "total_tokens": read + wrote,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    whole: dict[str, Any] = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": "scripted",
        "tools": [],
    }
    whole |= {"parallel_tool_calls": True, "tool_choice": "auto", "output": [], "status": "in_progress"}
    done = whole | {"output": output, "status": "completed", "usage": usage}
    every: list[dict[str, Any]] = [
        {"type": "response.created", "response": whole},
        *events,
        {"type": "response.completed", "response": done},
    ]
    return [_format_event({"sequence_number": at} | event, event["type"]) for at, event in enumerate(every)]


def _add_reasoning_events(
    turn: ModelTurn, number: int, events: list[dict[str, Any]], output: list[dict[str, Any]]
) -> None:
    at = {"item_id": f"rs_{number}", "output_index": len(output), "summary_index": 0}
    item = {"id": f"rs_{number}", "type": "reasoning", "summary": []}
    events.append({"type": "response.output_item.added", "output_index": len(output), "item": item})
    part = {"type": "summary_text", "text": ""}
    events.append({"type": "response.reasoning_summary_part.added", "part": part} | at)
    pieces = _split_text(turn.thinking)
    events += [{"type": "response.reasoning_summary_text.delta", "delta": piece} | at for piece in pieces]
    done = item | {"summary": [{"type": "summary_text", "text": turn.thinking}]}
    events.append({"type": "response.output_item.done", "output_index": len(output), "item": done})
    output.append(done)


def _add_message_events(
    turn: ModelTurn, number: int, events: list[dict[str, Any]], output: list[dict[str, Any]]
) -> None:
    at = {"item_id": f"msg_{number}", "output_index": len(output), "content_index": 0}
    item = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    events.append({"type": "response.output_item.added", "output_index": len(output), "item": item})
    part = {"type": "output_text", "text": "", "annotations": []}
    events.append({"type": "response.content_part.added", "part": part} | at)
    events += [
        {"type": "response.output_text.delta", "delta": piece, "logprobs": []} | at for piece in _split_text(turn.text)
    ]
    events.append({"type": "response.output_text.done", "text": turn.text, "logprobs": []} | at)
    done = item | {"status": "completed", "content": [part | {"text": turn.text}]}
    events.append({"type": "response.output_item.done", "output_index": len(output), "item": done})
    output.append(done)


def _add_function_events(
    item_id: str, call_id: str, name: str, arguments: str, events: list[dict[str, Any]], output: list[dict[str, Any]]
) -> None:
    item = {"id": item_id, "type": "function_call", "call_id": call_id, "name": name, "arguments": ""}
    where = {"item_id": item_id, "output_index": len(output)}
    events.append({"type": "response.output_item.added", "output_index": len(output), "item": item})
    events += [
        {"type": "response.function_call_arguments.delta", "delta": each} | where for each in _split_text(arguments)
    ]
    done = {"type": "response.function_call_arguments.done", "arguments": arguments, "name": name}
    events.append(done | where)
    whole = item | {"arguments": arguments, "status": "completed"}
    events.append({"type": "response.output_item.done", "output_index": len(output), "item": whole})
    output.append(whole)


# The messages of Anthropic


def _read_anthropic(body: dict[str, Any]) -> tuple[int, list[str]]:
    blocks = [
        block
        for each in body["messages"]
        if isinstance(each["content"], list)
        for block in each["content"]
        if block["type"] == "tool_result"
    ]
    turns = sum(each["role"] == "assistant" for each in body["messages"])
    return turns, [json.dumps(block["content"]) for block in blocks]


def _build_anthropic_events(turn: ModelTurn, number: int) -> list[str]:
    read, wrote = turn.tokens
    message: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None}
    message["usage"] = {"input_tokens": read, "output_tokens": 1, "cache_read_input_tokens": turn.cached}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if turn.thinking:
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in _split_text(turn.thinking)]
        signed = [*thoughts, {"type": "signature_delta", "signature": "c2lnbmVk"}]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, signed))
    if turn.text:
        blocks.append(
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": each} for each in _split_text(turn.text)])
        )
    for at, (name, arguments) in enumerate(turn.calls):
        deltas = [
            {"type": "input_json_delta", "partial_json": each} for each in _split_text(_encode_arguments(arguments))
        ]
        blocks.append(({"type": "tool_use", "id": f"toolu_{number}_{at}", "name": name, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    reason = turn.finish_reason or ("tool_use" if turn.calls else "end_turn")
    ended = {"stop_reason": reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": wrote}})
    events.append({"type": "message_stop"})
    return [_format_event(event, event["type"]) for event in events]


# generateContent of Gemini


def _read_google(body: dict[str, Any]) -> tuple[int, list[str]]:
    parts = [part for each in body["contents"] for part in each["parts"]]
    turns = sum(each.get("role") == "model" for each in body["contents"])
    return turns, [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]


def _build_google_events(turn: ModelTurn, number: int) -> list[str]:
    parts: list[dict[str, Any]] = [{"text": piece, "thought": True} for piece in _split_text(turn.thinking)]
    parts += [{"text": piece} for piece in _split_text(turn.text)]
    parts += [
        {"functionCall": {"name": name, "args": arguments if not isinstance(arguments, str) else {}}}
        for name, arguments in turn.calls
    ]
    read, wrote = turn.tokens
    usage = {"promptTokenCount": read, "candidatesTokenCount": wrote, "totalTokenCount": read + wrote}
    head = {"responseId": f"r{number}", "modelVersion": "scripted"}
    chunks = [head | {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]} for part in parts]
    last = {"content": {"role": "model", "parts": []}, "finishReason": turn.finish_reason or "STOP", "index": 0}
    return [_format_event(chunk) for chunk in (*chunks, head | {"candidates": [last], "usageMetadata": usage})]
