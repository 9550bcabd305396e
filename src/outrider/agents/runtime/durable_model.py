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

from outrider.agents.limits import RunStopped, RunUsage
from outrider.agents.models.access import ModelAccess
from outrider.agents.runtime.argument_encryption import ArgumentEncryption
from outrider.agents.runtime.attempt_context import AttemptContext
from outrider.agents.runtime.context_window import SUMMARY_PROMPT, ContextWindow
from outrider.agents.runtime.model_failure import ModelFailure, StreamInterruptedError, classify_failure
from outrider.agents.runtime.model_limits import compute_request_limit
from outrider.agents.runtime.usage import build_usage, record_metrics
from outrider.core.tracing import get_error_type, start_span

log = logging.getLogger(__name__)


class DurableModel(WrapperModel):
    """The model, or the chain of them: each request is counted, made durable, streamed, and tried again if it fails."""

    def __init__(self, attempt: AttemptContext, models: list[Model]) -> None:
        super().__init__(models[0])
        self.request_number = 0
        self.is_final_step = False
        self._attempt = attempt
        self._models = list(zip(attempt.chain, models, strict=True))
        self._call_ids: set[str] = set()
        self.argument_encryption = ArgumentEncryption(attempt.executor.toolbox.tools, attempt.state_cipher)
        self.context = ContextWindow(
            compute_request_limit(attempt.chain, attempt.meter.budgets), attempt.run.query, attempt.executor.citations
        )

    @property
    def label(self) -> str:
        return self._models[0][0].label

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        if self._attempt.executor.handed_over:
            raise RunStopped("done", self._attempt.executor.handed_over)
        self._attempt.meter.descendant_usage = await self._attempt.sum_descendant_usage()
        messages, model_settings = self._check_limits(messages, model_settings)
        await self._fit_context(messages, model_request_parameters)
        self.request_number += 1
        number = self.request_number
        self._call_ids |= {
            call.tool_call_id for each in messages if isinstance(each, ModelResponse) for call in each.tool_calls
        }

        async def request_model() -> dict[str, Any]:
            return await self._request_with_fallback(number, messages, model_settings, model_request_parameters)

        kept = await self._attempt.request_once(number, request_model)
        if "limit" in kept:  # a request was too long; where this is another process, it has only heard of that
            self._shorten_context(messages, model_request_parameters, kept["limit"])
        if "stop" in kept:
            raise RunStopped(*kept["stop"])
        return self._record_response(number, kept)

    async def _fit_context(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> None:
        """Makes the request fit: old results go first, then the middle, last the length of what is left."""
        memory = self.context
        if not memory.is_over_limit(messages, parameters):
            return
        memory.prune_results(messages, parameters)
        end = memory.find_boundary(messages)
        if end and memory.is_over_limit(messages, parameters):
            memory.apply_summary(messages, end, await self._write_summary(messages, end))
        if memory.is_over_limit(messages, parameters):
            memory.truncate_results(messages, parameters)

    def _shorten_context(self, messages: list[ModelMessage], parameters: ModelRequestParameters, limit: int) -> None:
        """The same under a new limit, without asking a model: the request is under way."""
        memory = self.context
        memory.max_tokens = limit
        memory.prune_results(messages, parameters)
        end = memory.find_boundary(messages)
        if end and memory.is_over_limit(messages, parameters):
            memory.apply_summary(
                messages, end, memory.summarize_calls(self.argument_encryption.redact_messages(messages), end)
            )
        if memory.is_over_limit(messages, parameters):
            memory.truncate_results(messages, parameters)

    async def _write_summary(self, messages: list[ModelMessage], end: int) -> str:
        """The model's own summary; where it gives none, what was called and how the results begin."""

        async def request_summary() -> dict[str, Any]:
            access, model = self._models[0]
            said = self.context.build_transcript(self.argument_encryption.redact_messages(messages), end)
            task = f"{SUMMARY_PROMPT}\n\nThe task: {self._attempt.run.query}\n\n{said}"
            try:
                response = await _read_stream(model, [ModelRequest(parts=[UserPromptPart(task)])])
            except Exception as error:  # noqa: BLE001 - a run does not end because it could not be shortened well
                log.info("run %s: no summary: %s", self._attempt.run.id, classify_failure(error, access).detail)
                return {"text": "", "usage": RunUsage().to_dict(), "model": access.label}
            return {"text": response.text or "", "usage": build_usage(response, access), "model": access.label}

        kept = await self._attempt.request_once(self.request_number + 1, request_summary, "summary")
        self._attempt.meter.own_usage += RunUsage.from_dict(kept["usage"])
        return kept["text"].strip() or self.context.summarize_calls(
            self.argument_encryption.redact_messages(messages), end
        )

    def _check_limits(
        self, messages: list[ModelMessage], settings: ModelSettings | None
    ) -> tuple[list[ModelMessage], ModelSettings | None]:
        """The request as it may be made; when the steps are used up, one more to sum up, without tools."""
        final_prompt = "(This was the last step: no tools any more. Answer now with what you have, and say briefly what is still open.)"
        try:
            self._attempt.meter.check_limits()
        except RunStopped as stop:
            if stop.reason != "steps" or self.is_final_step or self.request_number == 0:
                raise
            self.is_final_step = True
            request = ModelRequest(parts=[UserPromptPart(final_prompt)])
            return [*messages, request], ModelSettings(**(settings or {}), tool_choice="none")
        return messages, settings

    def _record_response(self, number: int, kept: dict[str, Any]) -> ModelResponse:
        response = self.argument_encryption.decrypt_messages([kept["response"]])[0]
        assert isinstance(response, ModelResponse)
        self._attempt.meter.own_usage += RunUsage.from_dict(kept["usage"])
        self._attempt.texts[number] = response.text or ""
        self._attempt.thinking[number] = response.thinking or ""
        total = self._attempt.meter.own_usage + self._attempt.meter.descendant_usage
        self._attempt.event_writer.write(
            "usage", {"run": self._attempt.meter.own_usage.to_dict(), "tree": total.to_dict(), "step": number}
        )
        return response

    async def _request_with_fallback(
        self,
        number: int,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> dict[str, Any]:
        """The response of the first model of the chain that gives one, or what all of them failed of."""
        max_tries = 3  # requests to one model before the next of the chain is asked
        failures: list[str] = []
        shorter: dict[str, Any] = {}
        while True:
            access, model = self._models[0]
            for tried in range(max_tries):
                if tried or failures:
                    self._restart(number)
                shown = self.context.render_messages(messages)
                kept = await self._request_once(number, access, model, (shown, settings, parameters))
                if not isinstance(kept, ModelFailure):
                    return kept | shorter
                failures.append(f"{access.label}: {kept.detail}")
                log.info("run %s: %s", self._attempt.run.id, failures[-1])
                if kept.is_too_long and not shorter:
                    shorter = {"limit": self.context.halve_limit(messages, parameters)}
                    self._shorten_context(messages, parameters, shorter["limit"])
                    continue
                if not kept.is_transient or tried == max_tries - 1:
                    break
                await anyio.sleep(kept.compute_delay(tried))
            if len(self._models) == 1:
                return {"stop": ["model_error", "; ".join(dict.fromkeys(failures))]} | shorter
            self._models.pop(0)
            self.wrapped = self._models[0][1]

    async def _request_once(
        self, number: int, access: ModelAccess, model: Model, request: Any
    ) -> "dict[str, Any] | ModelFailure":
        """One request: what is kept of the response, or why there is none."""
        started = time.monotonic()
        try:
            with start_span(f"chat {access.model}", {"gen_ai.request.model": access.model}, kind=SpanKind.CLIENT):
                response = await self._stream_response(number, model, *request)
        except ContentFilterError:
            return {"stop": ["refused", "the model's provider refused the content"]}
        except Exception as error:  # noqa: BLE001 - told apart there
            record_metrics(access, time.monotonic() - started, {}, get_error_type(error))
            return classify_failure(error, access)
        seconds, usage = round(time.monotonic() - started, 3), build_usage(response, access)
        record_metrics(access, seconds, usage)
        return {
            "response": self.argument_encryption.encrypt_messages([response])[0],
            "usage": usage,
            "model": access.label,
            "seconds": seconds,
        }

    def _restart(self, number: int) -> None:
        self._attempt.texts[number] = self._attempt.thinking[number] = ""
        self._attempt.event_writer.write("status", {"status": "running", "restarted": number})

    async def _stream_response(
        self,
        number: int,
        model: Model,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._attempt.texts[number] = self._attempt.thinking[number] = ""
        async with model.request_stream(messages, settings, parameters) as stream:
            async for event in stream:
                self._publish_delta(number, event)
        response = stream.get()
        if response.finish_reason is None and not _is_complete(response):
            raise StreamInterruptedError("it stopped in the middle of its answer")
        return replace(response, parts=[self._ensure_unique_id(part) for part in response.parts])

    def _publish_delta(self, number: int, event: Any) -> None:
        text = thought = None
        if isinstance(event, PartStartEvent):
            text = event.part.content if isinstance(event.part, TextPart) else None
            thought = event.part.content if isinstance(event.part, ThinkingPart) else None
        elif isinstance(event, PartDeltaEvent):
            text = event.delta.content_delta if isinstance(event.delta, TextPartDelta) else None
            thought = event.delta.content_delta if isinstance(event.delta, ThinkingPartDelta) else None
        if text:
            self._attempt.texts[number] += text
            self._attempt.event_writer.write("text", {"text": text, "step": number})
        if thought:
            self._attempt.thinking[number] += thought
            self._attempt.event_writer.write("thinking", {"text": thought, "step": number})

    def _ensure_unique_id(self, part: Any) -> Any:
        """Calls get ids of their own: some servers name every first call of a response the same."""
        if not isinstance(part, ToolCallPart):
            return part
        name, count = part.tool_call_id[:180], 2
        while name in self._call_ids:
            name, count = f"{part.tool_call_id[:180]}_{count}", count + 1
        self._call_ids.add(name)
        return part if name == part.tool_call_id else replace(part, tool_call_id=name)


async def _read_stream(model: Model, messages: list[ModelMessage]) -> ModelResponse:
    """A whole answer without tools, that nobody watches."""
    async with model.request_stream(messages, ModelSettings(max_retries=0), ModelRequestParameters()) as stream:
        async for _ in stream:
            pass
    return stream.get()


def _is_complete(response: ModelResponse) -> bool:
    """Whether a response without a reason to finish is one all the same: text, or calls with whole arguments."""
    if any(not _has_object_arguments(call) for call in response.tool_calls):
        return False
    return bool(response.tool_calls or (response.text or "").strip())


def _has_object_arguments(call: ToolCallPart) -> bool:
    try:
        return isinstance(call.args_as_dict(raise_if_invalid=True), dict)
    except (ValueError, AssertionError):
        return False
