"""The model as the loop sees it: one that counts, remembers, streams, and does not fail easily."""

import logging
import time
from dataclasses import replace
from typing import Any

import anyio
from opentelemetry.trace import SpanKind
from pydantic_ai.exceptions import ContentFilterError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from outrider.agents.limits import Stopped, Usage
from outrider.agents.models.access import Access
from outrider.agents.runtime.failure import BrokeOffError, Failure, failure
from outrider.agents.runtime.memory import SUMMARY_TASK, Memory
from outrider.agents.runtime.privacy import Privacy
from outrider.agents.runtime.usage import measure, usage_of
from outrider.agents.runtime.window import limit_of
from outrider.agents.runtime.work import Attempt
from outrider.core.tracing import kind_of, span

log = logging.getLogger(__name__)
TRIES = 3  # requests to one model before the next of the chain is asked
SUM_UP = (
    "(This was the last step: no tools any more. Answer now with what you have, and say briefly what is still open.)"
)


class Mind(WrapperModel):
    """The model, or the chain of them: each request is counted, made durable, streamed, and tried again if it fails."""

    def __init__(self, work: Attempt, models: list[Model]) -> None:
        super().__init__(models[0])
        self.number = 0
        self.summing_up = False
        self._work = work
        self._models = list(zip(work.chain, models, strict=True))
        self._ids: set[str] = set()
        self.privacy = Privacy(work.hands.toolbox.tools, work.sealing)
        self.memory = Memory(limit_of(work.chain, work.meter.budgets), work.run.query, work.hands.citations)

    @property
    def label(self) -> str:
        return self._models[0][0].label

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        if self._work.hands.handed_over:
            raise Stopped("done", self._work.hands.handed_over)
        self._work.meter.below = await self._work.count_below()
        messages, model_settings = self._limited(messages, model_settings)
        await self._fit(messages, model_request_parameters)
        self.number += 1
        number = self.number
        self._ids |= {
            call.tool_call_id for each in messages if isinstance(each, ModelResponse) for call in each.tool_calls
        }

        async def ask() -> dict[str, Any]:
            return await self._asked(number, messages, model_settings, model_request_parameters)

        kept = await self._work.remember(number, ask)
        if "limit" in kept:  # a request was too long; where this is another process, it has only heard of that
            self._shorten(messages, model_request_parameters, kept["limit"])
        if "stop" in kept:
            raise Stopped(*kept["stop"])
        return self._counted(number, kept)

    async def _fit(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> None:
        """Makes the request fit: old results go first, then the middle, last the length of what is left."""
        memory = self.memory
        if not memory.is_over(messages, parameters):
            return
        memory.prune(messages, parameters)
        end = memory.boundary(messages)
        if end and memory.is_over(messages, parameters):
            memory.summarise(messages, end, await self._summary(messages, end))
        if memory.is_over(messages, parameters):
            memory.squeeze(messages, parameters)

    def _shorten(self, messages: list[ModelMessage], parameters: ModelRequestParameters, limit: int) -> None:
        """The same under a new limit, without asking a model: the request is under way."""
        memory = self.memory
        memory.limit = limit
        memory.prune(messages, parameters)
        end = memory.boundary(messages)
        if end and memory.is_over(messages, parameters):
            memory.summarise(messages, end, memory.plain(self.privacy.without(messages), end))
        if memory.is_over(messages, parameters):
            memory.squeeze(messages, parameters)

    async def _summary(self, messages: list[ModelMessage], end: int) -> str:
        """The model's own summary; where it gives none, what was called and how the results begin."""

        async def write() -> dict[str, Any]:
            access, model = self._models[0]
            said = self.memory.transcript(self.privacy.without(messages), end)
            task = f"{SUMMARY_TASK}\n\nThe task: {self._work.run.query}\n\n{said}"
            try:
                response = await _read(model, [ModelRequest(parts=[UserPromptPart(task)])])
            except Exception as error:  # noqa: BLE001 - a run does not end because it could not be shortened well
                log.info("run %s: no summary: %s", self._work.run.id, failure(error, access).detail)
                return {"text": "", "usage": Usage().facts(), "model": access.label}
            return {"text": response.text or "", "usage": usage_of(response, access), "model": access.label}

        kept = await self._work.remember(self.number + 1, write, "summary")
        self._work.meter.own += Usage.of(kept["usage"])
        return kept["text"].strip() or self.memory.plain(self.privacy.without(messages), end)

    def _limited(
        self, messages: list[ModelMessage], settings: ModelSettings | None
    ) -> tuple[list[ModelMessage], ModelSettings | None]:
        """The request as it may be made; when the steps are used up, one more to sum up, without tools."""
        try:
            self._work.meter.check()
        except Stopped as stop:
            if stop.reason != "steps" or self.summing_up or self.number == 0:
                raise
            self.summing_up = True
            request = ModelRequest(parts=[UserPromptPart(SUM_UP)])
            return [*messages, request], ModelSettings(**(settings or {}), tool_choice="none")
        return messages, settings

    def _counted(self, number: int, kept: dict[str, Any]) -> ModelResponse:
        response = self.privacy.opened([kept["response"]])[0]
        assert isinstance(response, ModelResponse)
        self._work.meter.own += Usage.of(kept["usage"])
        self._work.said[number] = response.text or ""
        self._work.thought[number] = response.thinking or ""
        total = self._work.meter.own + self._work.meter.below
        self._work.pen.write("usage", {"run": self._work.meter.own.facts(), "tree": total.facts(), "step": number})
        return response

    async def _asked(
        self,
        number: int,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> dict[str, Any]:
        """The response of the first model of the chain that gives one, or what all of them failed of."""
        failures: list[str] = []
        shorter: dict[str, Any] = {}
        while True:
            access, model = self._models[0]
            for tried in range(TRIES):
                if tried or failures:
                    self._restart(number)
                shown = self.memory.view(messages)
                kept = await self._tried(number, access, model, (shown, settings, parameters))
                if not isinstance(kept, Failure):
                    return kept | shorter
                failures.append(f"{access.label}: {kept.detail}")
                log.info("run %s: %s", self._work.run.id, failures[-1])
                if kept.too_long and not shorter:
                    shorter = {"limit": self.memory.halved(messages, parameters)}
                    self._shorten(messages, parameters, shorter["limit"])
                    continue
                if not kept.passing or tried == TRIES - 1:
                    break
                await anyio.sleep(kept.wait(tried))
            if len(self._models) == 1:
                return {"stop": ["model_error", "; ".join(dict.fromkeys(failures))]} | shorter
            self._models.pop(0)
            self.wrapped = self._models[0][1]

    async def _tried(self, number: int, access: Access, model: Model, request: Any) -> "dict[str, Any] | Failure":
        """One request: what is kept of the response, or why there is none."""
        started = time.monotonic()
        try:
            with span(f"chat {access.model}", {"gen_ai.request.model": access.model}, kind=SpanKind.CLIENT):
                response = await self._streamed(number, model, *request)
        except ContentFilterError:
            return {"stop": ["refused", "the model's provider refused the content"]}
        except Exception as error:  # noqa: BLE001 - told apart there
            measure(access, time.monotonic() - started, {}, kind_of(error))
            return failure(error, access)
        seconds, usage = round(time.monotonic() - started, 3), usage_of(response, access)
        measure(access, seconds, usage)
        return {
            "response": self.privacy.sealed([response])[0],
            "usage": usage,
            "model": access.label,
            "seconds": seconds,
        }

    def _restart(self, number: int) -> None:
        self._work.said[number] = self._work.thought[number] = ""
        self._work.pen.write("status", {"status": "running", "restarted": number})

    async def _streamed(
        self,
        number: int,
        model: Model,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._work.said[number] = self._work.thought[number] = ""
        async with model.request_stream(messages, settings, parameters) as stream:
            async for event in stream:
                self._show(number, event)
        response = stream.get()
        if response.finish_reason is None and not _whole(response):
            raise BrokeOffError("it stopped in the middle of its answer")
        return replace(response, parts=[self._named(part) for part in response.parts])

    def _show(self, number: int, event: Any) -> None:
        text = thought = None
        if isinstance(event, PartStartEvent):
            text = event.part.content if isinstance(event.part, TextPart) else None
            thought = event.part.content if isinstance(event.part, ThinkingPart) else None
        elif isinstance(event, PartDeltaEvent):
            text = event.delta.content_delta if isinstance(event.delta, TextPartDelta) else None
            thought = event.delta.content_delta if isinstance(event.delta, ThinkingPartDelta) else None
        if text:
            self._work.said[number] += text
            self._work.pen.write("text", {"text": text, "step": number})
        if thought:
            self._work.thought[number] += thought
            self._work.pen.write("thinking", {"text": thought, "step": number})

    def _named(self, part: Any) -> Any:
        """Calls get ids of their own: some servers name every first call of a response the same."""
        if not isinstance(part, ToolCallPart):
            return part
        name, count = part.tool_call_id[:180], 2
        while name in self._ids:
            name, count = f"{part.tool_call_id[:180]}_{count}", count + 1
        self._ids.add(name)
        return part if name == part.tool_call_id else replace(part, tool_call_id=name)


async def _read(model: Model, messages: list[ModelMessage]) -> ModelResponse:
    """A whole answer without tools, that nobody watches."""
    async with model.request_stream(messages, ModelSettings(max_retries=0), ModelRequestParameters()) as stream:
        async for _ in stream:
            pass
    return stream.get()


def _whole(response: ModelResponse) -> bool:
    """Whether a response without a reason to finish is one all the same: text, or calls with whole arguments."""
    if any(not _is_object(call) for call in response.tool_calls):
        return False
    return bool(response.tool_calls or (response.text or "").strip())


def _is_object(call: ToolCallPart) -> bool:
    try:
        return isinstance(call.args_as_dict(raise_if_invalid=True), dict)
    except (ValueError, AssertionError):
        return False
