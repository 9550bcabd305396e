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

from outrider.agents.limits import Stopped, StopReason
from outrider.agents.models.wire import open_model
from outrider.agents.outcome import Outcome
from outrider.agents.run import Run
from outrider.agents.runtime.history import until_calls
from outrider.agents.runtime.loop import NONSENSE, loop_of
from outrider.agents.runtime.mind import Mind
from outrider.agents.runtime.work import Attempt
from outrider.core.meters import RUNS
from outrider.core.standstill import limit
from outrider.core.tracing import carried, span

log = logging.getLogger(__name__)
LENT = "\n\n(Answered by your client's own model, because no model is configured for agents.)"


async def attempt(work: Attempt) -> Outcome:
    """Thinks until there is an answer, a question for a person, or a reason to stop. Never raises for what a model,
    a tool or a provider did; cancellation and Superseded come out.
    """
    outcome: Outcome | None = None
    facts = {"gen_ai.agent.name": work.run.agent, "outrider.run": work.run.id}
    with carried(work.run.state.get("trace")), span(f"agent {work.run.agent}", facts) as made:
        with limit(work.meter.seconds_left) as own:
            work.meter.limit = own
            outcome = await _thought(work)
        outcome = outcome or _stopped(work, "time", f"the run has worked for {work.meter.budgets.seconds:g} seconds")
        made.set_attribute("outcome", outcome.reason)
    RUNS.add(1, {"agent": work.run.agent, "outcome": outcome.reason})
    return outcome


async def _thought(work: Attempt) -> Outcome:
    async with AsyncExitStack() as stack:
        mind = Mind(work, [await open_model(each, work.guard, stack) for each in work.chain])
        earlier = mind.privacy.opened(work.run.history) if work.run.history else None
        mind.number = sum(isinstance(each, ModelResponse) for each in earlier or ())
        with capture_run_messages() as messages:
            try:
                result = await loop_of(work, mind).run(
                    _prompt(work.run, earlier), message_history=earlier, usage_limits=UsageLimits(request_limit=None)
                )
            except Exception as error:  # noqa: BLE001 - told apart there
                return _failed(work, mind, error, messages)
        if isinstance(result.output, DeferredToolRequests):
            return Outcome("blocked", history=mind.privacy.sealed(until_calls(result.all_messages())), model=mind.label)
        reason: StopReason = "steps" if mind.summing_up else "done"
        answer = (result.output.strip() or work.partial) + (LENT if work.chain[0].lender else "")
        history_now = mind.privacy.forgotten(mind.memory.view(result.all_messages()))
        return Outcome(reason, answer, work.thoughts, history=history_now, model=mind.label)


def _prompt(run: Run, history: list[ModelMessage] | None) -> str | None:
    """The question; None where the history ends in calls that are to be made now."""
    if history and isinstance(history[-1], ModelResponse) and history[-1].tool_calls:
        return None
    files = "\n".join(f"- {each.get('title') or each['id']} (id {each['id']})" for each in run.state.get("given", []))
    return f"{run.query}\n\nAttached files:\n{files}" if files else run.query


def _failed(work: Attempt, mind: Mind, error: Exception, messages: Sequence[ModelMessage]) -> Outcome:
    """What ended the loop, as an outcome; what is nobody's fault here is raised again."""
    stopped = _cause(error, Stopped)
    if stopped is not None and stopped.reason == "done":  # it has handed its conversation over
        return Outcome(
            "done", stopped.detail, work.thoughts, history=mind.privacy.forgotten(messages), model=mind.label
        )
    if stopped is not None:
        return replace(_stopped(work, stopped.reason, stopped.detail), model=mind.label)
    if isinstance(error, ContentFilterError):
        return replace(_stopped(work, "refused", "the model's provider refused the content"), model=mind.label)
    if isinstance(error, OutputTokenLimitExceeded):
        return replace(_stopped(work, "length", "the model's answer was longer than it may be"), model=mind.label)
    if isinstance(error, UnexpectedModelBehavior):
        detail = f"the model made no sense {NONSENSE} times: {error}"
        return replace(_stopped(work, "nonsense", detail), model=mind.label)
    log.debug("run %s failed after %d messages", work.run.id, len(messages))
    raise error


def _cause(error: BaseException, kind: type[Stopped]) -> Stopped | None:
    """The error of that kind behind another, groups included."""
    if isinstance(error, kind):
        return error
    if isinstance(error, BaseExceptionGroup):
        found = (_cause(each, kind) for each in error.exceptions)
        return next((each for each in found if each), None)
    return _cause(error.__cause__, kind) if error.__cause__ else None


def _stopped(work: Attempt, reason: StopReason, detail: str) -> Outcome:
    error = {"code": reason, "message": detail}
    return Outcome(reason, work.partial, work.thoughts, error=error)
