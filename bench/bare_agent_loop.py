"""Run the baseline: pydantic-ai's own loop with one function as its tool."""

import asyncio
import json
import sys
import time

from pydantic_ai import Agent
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits


def echo(text: str, times: int = 1) -> str:
    """Repeat a text."""
    return text * times


def read_text_delta(event):
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""


async def main(url: str) -> None:
    model = OpenAIChatModel("bench", provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, instructions="Do it.")
    agent.tool_plain(echo)
    while line := await asyncio.to_thread(sys.stdin.readline):
        arguments = json.loads(line)
        late: list[float] = []

        async def record_delays(_context, events, late=late):
            async for event in events:
                late += [time.time() - float(word) for word in read_text_delta(event).split()]

        task, unlimited = json.dumps(arguments["task"]), UsageLimits(request_limit=None)
        started = time.perf_counter()
        runs = [
            agent.run(task, event_stream_handler=record_delays, usage_limits=unlimited)
            for _ in range(arguments["runs"])
        ]
        await asyncio.gather(*runs)
        print(json.dumps({"wall": time.perf_counter() - started, "late": late}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
