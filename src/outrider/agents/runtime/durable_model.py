"""Wrap a model with metering, durability, streaming and retries."""

import logging
import time
from collections.abc import Mapping, Sequence
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
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from outrider.agents.definition import Budgets
from outrider.agents.limits import RunStopped, RunUsage
from outrider.agents.models.access import ModelAccess
from outrider.agents.runtime.argument_encryption import ArgumentEncryption
from outrider.agents.runtime.attempt_context import AttemptContext
from outrider.agents.runtime.context_window import SUMMARY_PROMPT, ContextWindow
from outrider.agents.runtime.model_failure import ModelFailure, StreamInterruptedError, classify_failure
from outrider.agents.runtime.picture_messages import adapt_pictures
from outrider.core.errors import NotFound
from outrider.core.metrics import MODEL_COST, MODEL_SECONDS, MODEL_TOKENS
from outrider.core.tracing import get_error_type, start_span

log = logging.getLogger(__name__)


class DurableModel(WrapperModel):
    """A chain of models whose requests are metered, saved, streamed and retried.

    Attributes:
        request_number: The number of the last request, from 1.
        is_final_step: Whether the steps are used up and the model was asked to answer without tools.
    """

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
        """The current model as `provider:model`."""
        return self._models[0][0].label

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return the saved or new response to a request. Raises RunStopped."""
        if self._attempt.executor.handed_over:
            raise RunStopped("done", self._attempt.executor.handed_over)
        self._attempt.meter.descendant_usage = await self._attempt.sum_descendant_usage()
        self._name_nearest_tools(messages)
        messages, model_settings = self._check_limits(messages, model_settings)
        await self._fit_context(messages, model_request_parameters)
        self.request_number += 1
        number = self.request_number
        responses = [message for message in messages if isinstance(message, ModelResponse)]
        self._call_ids |= {call.tool_call_id for response in responses for call in response.tool_calls}

        async def request_model() -> dict[str, Any]:
            return await self._request_with_fallback(number, messages, model_settings, model_request_parameters)

        saved = await self._attempt.request_once(number, request_model)
        if "limit" in saved:  # the request was too long: apply the new limit in processes that only replay it, too
            self._shorten_context(messages, model_request_parameters, saved["limit"])
        if "stop" in saved:
            raise RunStopped(*saved["stop"])
        response = self.argument_encryption.decrypt_messages([saved["response"]])[0]
        assert isinstance(response, ModelResponse)
        meter = self._attempt.meter
        meter.own_usage += RunUsage.from_dict(saved["usage"])
        self._attempt.texts[number] = response.text or ""
        self._attempt.thinking[number] = response.thinking or ""
        tree_usage = meter.own_usage + meter.descendant_usage
        usage = {"run": meter.own_usage.to_dict(), "tree": tree_usage.to_dict(), "step": number}
        self._attempt.event_writer.write("usage", usage)
        return response

    def _name_nearest_tools(self, messages: list[ModelMessage]) -> None:
        """Answer calls of unknown tools with the nearest ones; pydantic-ai lists all of them."""
        for message in messages:
            for part in message.parts:
                if not isinstance(part, ToolReturnPart) or part.retry is None or part.retry.cause != "unknown_tool":
                    continue
                try:
                    self._attempt.executor.toolbox.get_tool(part.tool_name)
                except NotFound as error:
                    part.content = f"{error.message}; {error.hint}"

    async def _fit_context(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> None:
        """Make the request fit: remove old results, then summarize the middle, then cut the remaining results."""
        context = self.context
        if not context.is_over_limit(messages, parameters):
            return
        context.prune_results(messages, parameters)
        end = context.find_boundary(messages)
        if end and context.is_over_limit(messages, parameters):
            context.apply_summary(messages, end, await self._write_summary(messages, end))
        if context.is_over_limit(messages, parameters):
            context.truncate_results(messages, parameters)

    def _shorten_context(self, messages: list[ModelMessage], parameters: ModelRequestParameters, limit: int) -> None:
        """Make the request fit a new limit without asking a model.

        A model cannot be asked because this request is already running.
        """
        context = self.context
        context.max_tokens = limit
        context.prune_results(messages, parameters)
        end = context.find_boundary(messages)
        if end and context.is_over_limit(messages, parameters):
            redacted = self.argument_encryption.redact_messages(messages)
            context.apply_summary(messages, end, context.summarize_calls(redacted, end))
        if context.is_over_limit(messages, parameters):
            context.truncate_results(messages, parameters)

    async def _write_summary(self, messages: list[ModelMessage], end: int) -> str:
        """Return the model's summary of the first messages.

        If the model fails, return a list of calls.
        """
        redacted = self.argument_encryption.redact_messages(messages)

        async def request_summary() -> dict[str, Any]:
            access, model = self._models[0]
            transcript = self.context.build_transcript(redacted, end)
            prompt = f"{SUMMARY_PROMPT}\n\nThe task: {self._attempt.run.query}\n\n{transcript}"
            request: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(prompt)])]
            try:
                async with model.request_stream(
                    request, ModelSettings(max_retries=0), ModelRequestParameters()
                ) as stream:
                    async for _ in stream:
                        pass
                response = stream.get()
            except Exception as error:  # noqa: BLE001 - the run continues with a simpler summary
                log.info("run %s: no summary: %s", self._attempt.run.id, classify_failure(error, access).detail)
                return {"text": "", "usage": RunUsage().to_dict(), "model": access.label}
            return {"text": response.text or "", "usage": build_usage(response, access), "model": access.label}

        saved = await self._attempt.request_once(self.request_number + 1, request_summary, "summary")
        self._attempt.meter.own_usage += RunUsage.from_dict(saved["usage"])
        return saved["text"].strip() or self.context.summarize_calls(redacted, end)

    def _check_limits(
        self, messages: list[ModelMessage], settings: ModelSettings | None
    ) -> tuple[list[ModelMessage], ModelSettings | None]:
        """Check the budgets; when the steps are used up, add a final request for an answer without tools."""
        final_prompt = (
            "(This was the last step; no more tools are available. Answer now with what you have, "
            "and say briefly what is still open.)"
        )
        try:
            self._attempt.meter.check_limits()
        except RunStopped as stop:
            if stop.reason != "steps" or self.is_final_step or self.request_number == 0:
                raise
            self.is_final_step = True
            request = ModelRequest(parts=[UserPromptPart(final_prompt)])
            return [*messages, request], ModelSettings(**(settings or {}), tool_choice="none")
        return messages, settings

    async def _request_with_fallback(
        self,
        number: int,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> dict[str, Any]:
        """Return the response of the first model that answers.

        If none does, `stop` holds the failures of all.

        If a request was too long, the result also has the new `limit` of tokens.
        """
        max_tries = 3  # per model
        failures: list[str] = []
        new_limit: dict[str, Any] = {}
        while True:
            access, model = self._models[0]
            for failed_tries in range(max_tries):
                if failures:  # drop the text of the failed request
                    self._attempt.texts[number] = self._attempt.thinking[number] = ""
                    self._attempt.event_writer.write("status", {"status": "running", "restarted": number})
                rendered = adapt_pictures(self.context.render_messages(messages), access)
                result = await self._request_once(number, access, model, (rendered, settings, parameters))
                if not isinstance(result, ModelFailure):
                    return result | new_limit
                failures.append(f"{access.label}: {result.detail}")
                log.info("run %s: %s", self._attempt.run.id, failures[-1])
                if result.is_too_long and not new_limit:
                    new_limit = {"limit": self.context.halve_limit(messages, parameters)}
                    self._shorten_context(messages, parameters, new_limit["limit"])
                    continue
                if not result.is_transient or failed_tries == max_tries - 1:
                    break
                await anyio.sleep(result.compute_delay(failed_tries))
            if len(self._models) == 1:
                return {"stop": ["model_error", "; ".join(dict.fromkeys(failures))]} | new_limit
            self._models.pop(0)
            self.wrapped = self._models[0][1]

    async def _request_once(
        self, number: int, access: ModelAccess, model: Model, request: Any
    ) -> "dict[str, Any] | ModelFailure":
        """Make one request; return the response in the form in which it is saved, or the failure."""
        started = time.monotonic()
        try:
            with start_span(f"chat {access.model}", {"gen_ai.request.model": access.model}, kind=SpanKind.CLIENT):
                response = await self._stream_response(number, model, *request)
        except ContentFilterError:
            return {"stop": ["refused", "the model's provider refused the content"]}
        except Exception as error:  # noqa: BLE001 - becomes a failure
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
            raise StreamInterruptedError("the stream ended in the middle of the answer")
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
        """Give a call an id that is unique in the run; some servers repeat the same id in every response."""
        if not isinstance(part, ToolCallPart):
            return part
        original_id = part.tool_call_id[:180]
        call_id, suffix = original_id, 2
        while call_id in self._call_ids:
            call_id, suffix = f"{original_id}_{suffix}", suffix + 1
        self._call_ids.add(call_id)
        return part if call_id == part.tool_call_id else replace(part, tool_call_id=call_id)


def _is_complete(response: ModelResponse) -> bool:
    """Return whether a response without a finish reason has text, or calls with valid arguments."""
    for call in response.tool_calls:
        try:
            if not isinstance(call.args_as_dict(raise_if_invalid=True), dict):
                return False
        except (ValueError, AssertionError):
            return False
    return bool(response.tool_calls or (response.text or "").strip())


def compute_request_limit(chain: Sequence[ModelAccess], budgets: Budgets) -> int:
    """Return the tokens that a request may have: the budget, or a share of the smallest context window."""
    # The answer needs space as well, and tokens are only estimated.
    request_share = 0.75
    return budgets.context or int(min(find_context_window(access) for access in chain) * request_share)


def find_context_window(access: ModelAccess) -> int:
    """Return a model's context window in tokens, from its profile, from genai-prices or by default."""
    local_tokens = 32_000  # servers on this machine rarely load a larger window by default
    default_tokens = 128_000
    if access.context_tokens:
        return access.context_tokens
    from genai_prices.data_snapshot import get_snapshot

    try:
        tokens = get_snapshot().find_provider_model(access.model, None, access.provider, None)[1].context_window
    except LookupError:
        tokens = None
    is_local = access.price is not None and access.price.input == access.price.output == 0
    return tokens or (local_tokens if is_local else default_tokens)


def build_usage(response: ModelResponse, access: ModelAccess) -> dict[str, Any]:
    """Return the usage of one response as `RunUsage.to_dict` does."""
    usage = response.usage
    cost = _compute_cost(response, access)
    return RunUsage(
        requests=1,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
        tools=len(response.tool_calls),
        cost=cost,
        unpriced=int(cost is None),
    ).to_dict()


def record_metrics(access: ModelAccess, seconds: float, usage: Mapping[str, Any], outcome: str = "ok") -> None:
    """Record duration, tokens and cost of a model request as metrics."""
    attributes = {"gen_ai.request.model": access.model, "gen_ai.provider.name": access.provider}
    MODEL_SECONDS.record(seconds, attributes | {"outcome": outcome})
    for kind in ("input", "output"):
        if tokens := usage.get(f"{kind}_tokens"):
            MODEL_TOKENS.record(tokens, attributes | {"gen_ai.token.type": kind})
    if cost := usage.get("cost"):
        MODEL_COST.add(cost, attributes)


def _compute_cost(response: ModelResponse, access: ModelAccess) -> float | None:
    """Return the cost in US dollars, from the profile's price or genai-prices; None if both lack the model."""
    usage = response.usage
    if access.price is not None:
        return (usage.input_tokens * access.price.input + usage.output_tokens * access.price.output) / 1_000_000
    if usage.cost is not None:
        return float(usage.cost)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
