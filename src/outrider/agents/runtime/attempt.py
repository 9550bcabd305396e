"""One attempt of a run, from the question to an answer or to the point where it must stop."""

import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from pydantic_ai import capture_run_messages
from pydantic_ai.exceptions import ContentFilterError, OutputTokenLimitExceeded, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.tools import DeferredToolRequests
from pydantic_ai.usage import UsageLimits

from outrider.agents.limits import RunStopped, StopReason
from outrider.agents.models.wire import open_model
from outrider.agents.outcome import AttemptOutcome
from outrider.agents.run import Run
from outrider.agents.runtime.agent_loop import MAX_MODEL_ERRORS, build_loop
from outrider.agents.runtime.attempt_context import AttemptContext
from outrider.agents.runtime.durable_model import DurableModel
from outrider.agents.runtime.history import truncate_to_calls
from outrider.core.metrics import RUN_COUNT
from outrider.core.pausable_timeout import limit_time
from outrider.core.tracing import restore_trace_context, start_span

log = logging.getLogger(__name__)


async def run_attempt(work: AttemptContext) -> AttemptOutcome:
    """Thinks until there is an answer, a question for a person, or a reason to stop. Never raises for what a model,
    a tool or a provider did; cancellation and Superseded come out.
    """
    outcome: AttemptOutcome | None = None
    facts = {"gen_ai.agent.name": work.run.agent, "outrider.run": work.run.id}
    with restore_trace_context(work.run.state.get("trace")), start_span(f"agent {work.run.agent}", facts) as made:
        with limit_time(work.meter.seconds_left) as own:
            work.meter.time_limit = own
            outcome = await _run_loop(work)
        outcome = outcome or _build_stopped_outcome(
            work, "time", f"the run has worked for {work.meter.budgets.seconds:g} seconds"
        )
        made.set_attribute("outcome", outcome.reason)
    RUN_COUNT.add(1, {"agent": work.run.agent, "outcome": outcome.reason})
    return outcome


async def _run_loop(work: AttemptContext) -> AttemptOutcome:
    client_model_note = "\n\n(Answered by your client's own model, because no model is configured for agents.)"
    async with AsyncExitStack() as stack:
        mind = DurableModel(work, [await open_model(each, work.guard, stack) for each in work.chain])
        earlier = mind.argument_encryption.decrypt_messages(work.run.history) if work.run.history else None
        mind.request_number = sum(isinstance(each, ModelResponse) for each in earlier or ())
        with capture_run_messages() as messages:
            try:
                result = await build_loop(work, mind).run(
                    _build_prompt(work.run, earlier),
                    message_history=earlier,
                    usage_limits=UsageLimits(request_limit=None),
                )
            except Exception as error:  # noqa: BLE001 - told apart there
                return _convert_error(work, mind, error, messages)
        if isinstance(result.output, DeferredToolRequests):
            return AttemptOutcome(
                "blocked",
                history=mind.argument_encryption.encrypt_messages(truncate_to_calls(result.all_messages())),
                model=mind.label,
            )
        reason: StopReason = "steps" if mind.is_final_step else "done"
        answer = (result.output.strip() or work.last_text) + (client_model_note if work.chain[0].client_model else "")
        history_now = mind.argument_encryption.serialize_redacted(mind.context.render_messages(result.all_messages()))
        return AttemptOutcome(reason, answer, work.thoughts, history=history_now, model=mind.label)


def _build_prompt(run: Run, history: list[ModelMessage] | None) -> str | None:
    """The question; None where the history ends in calls that are to be made now."""
    if history and isinstance(history[-1], ModelResponse) and history[-1].tool_calls:
        return None
    files = "\n".join(f"- {each.get('title') or each['id']} (id {each['id']})" for each in run.state.get("given", []))
    return f"{run.query}\n\nAttached files:\n{files}" if files else run.query


def _convert_error(
    work: AttemptContext, mind: DurableModel, error: Exception, messages: Sequence[ModelMessage]
) -> AttemptOutcome:
    """What ended the loop, as an outcome; what is nobody's fault here is raised again."""
    stopped = _find_cause(error, RunStopped)
    if stopped is not None and stopped.reason == "done":  # it has handed its conversation over
        return AttemptOutcome(
            "done",
            stopped.detail,
            work.thoughts,
            history=mind.argument_encryption.serialize_redacted(messages),
            model=mind.label,
        )
    if stopped is not None:
        return replace(_build_stopped_outcome(work, stopped.reason, stopped.detail), model=mind.label)
    if isinstance(error, ContentFilterError):
        return replace(
            _build_stopped_outcome(work, "refused", "the model's provider refused the content"), model=mind.label
        )
    if isinstance(error, OutputTokenLimitExceeded):
        return replace(
            _build_stopped_outcome(work, "length", "the model's answer was longer than it may be"), model=mind.label
        )
    if isinstance(error, UnexpectedModelBehavior):
        detail = f"the model made no sense {MAX_MODEL_ERRORS} times: {error}"
        return replace(_build_stopped_outcome(work, "nonsense", detail), model=mind.label)
    log.debug("run %s failed after %d messages", work.run.id, len(messages))
    raise error


def _find_cause(error: BaseException, kind: type[RunStopped]) -> RunStopped | None:
    """The error of that kind behind another, groups included."""
    if isinstance(error, kind):
        return error
    if isinstance(error, BaseExceptionGroup):
        found = (_find_cause(each, kind) for each in error.exceptions)
        return next((each for each in found if each), None)
    return _find_cause(error.__cause__, kind) if error.__cause__ else None


def _build_stopped_outcome(work: AttemptContext, reason: StopReason, detail: str) -> AttemptOutcome:
    error = {"code": reason, "message": detail}
    return AttemptOutcome(reason, work.last_text, work.thoughts, error=error)
