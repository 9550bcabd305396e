"""Serve a model that costs almost nothing and records when it sent each word.

The calls come from the task, or are as many of `echo` as it has steps.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def format_chunk(**fields: Any) -> str:
    chunk_head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "bench"}
    return f"data: {json.dumps(chunk_head | fields)}\n\n"


def format_delta(finish: str | None = None, **fields: Any) -> str:
    return format_chunk(choices=[{"index": 0, "delta": {"role": "assistant", **fields}, "finish_reason": finish}])


async def stream_answer(body: dict[str, Any]) -> AsyncGenerator[str]:
    task = json.loads(next(each["content"] for each in body["messages"] if each["role"] == "user"))
    done = sum(each["role"] == "assistant" for each in body["messages"])
    calls = task.get("calls") or [("echo", {"text": f"step {step}"}) for step in range(task["steps"])]
    if done < len(calls):
        name, arguments = calls[done]
        function = {"name": name, "arguments": json.dumps(arguments)}
        yield format_delta(tool_calls=[{"index": 0, "id": f"call_{done}", "type": "function", "function": function}])
        yield format_delta("tool_calls")
    else:
        for _ in range(task["words"]):
            yield format_delta(content=f"{time.time():.4f} ")
            await asyncio.sleep(task["apart"])
        yield format_delta("stop")
    yield format_chunk(choices=[], usage=USAGE)
    yield "data: [DONE]\n\n"


async def complete_chat(request: Request) -> StreamingResponse:
    return StreamingResponse(stream_answer(await request.json()), media_type="text/event-stream")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/v1/chat/completions", complete_chat, methods=["POST"])])
    uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", lifespan="off", ws="none")
