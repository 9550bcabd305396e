"""Run evaluations of websites, by an agent or a script."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.approvals import Questions
from outrider.agents.assignment import Assignment
from outrider.agents.catalogue import Catalogue
from outrider.agents.conversations import Conversations
from outrider.agents.definition import Agent, Budgets
from outrider.agents.evaluations import Evaluation, EvaluationRecord, Evaluations
from outrider.agents.evaluations.robot_check import is_robot_check
from outrider.agents.models import ModelResolver
from outrider.agents.run import Run
from outrider.agents.runs import RunService
from outrider.browser.protocol.redact import clean_url
from outrider.browser.session.browsers import Browsers
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotConfigured, OutriderError, Refused, Unavailable
from outrider.core.pausable_timeout import limit_time
from outrider.core.result import Result
from outrider.core.toolbox import Toolbox
from outrider.flows.flow_store import FlowStore
from outrider.toolsets.browser.results import clean_line
from outrider.toolsets.flows.secret_parameters import find_secret_names
from outrider.toolsets.web_eval.agent import BROWSER_AGENT, configure_agent, list_allowed_tools
from outrider.toolsets.web_eval.done import check_schema
from outrider.toolsets.web_eval.heartbeat import run_heartbeat
from outrider.toolsets.web_eval.report import (
    EvaluationVerdict,
    FinalPage,
    build_answer,
    build_result,
    judge_run,
    judge_script,
)
from outrider.toolsets.web_eval.request import EvaluationRequest, build_query, parse_address
from outrider.toolsets.web_eval.script import EvaluationScript, StepOutcome

if TYPE_CHECKING:
    from outrider.toolsets.web_eval.recorder import EvaluationRecorder
MAX_EVALUATION_S = 3_600.0


class Evaluator:
    """Evaluates websites for hosts, people and other agents.

    Args:
        toolbox: Returns the app's tools, with calls of evaluations recorded.
    """

    def __init__(
        self,
        evaluations: Evaluations,
        artifacts: ArtifactStore,
        browsers: Browsers,
        models: ModelResolver,
        runs: RunService,
        catalogue: Catalogue,
        flows: FlowStore,
        *,
        toolbox: Callable[[], Toolbox],
    ) -> None:
        self.evaluations = evaluations
        self._artifacts = artifacts
        self._browsers = browsers
        self._models = models
        self._runs = runs
        self._catalogue = catalogue
        self._flows = flows
        self._toolbox = toolbox
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    @cached_property
    def recorder(self) -> "EvaluationRecorder":
        """Records evaluations of this process; loaded with the browser at the first of them."""
        from outrider.toolsets.web_eval.recorder import EvaluationRecorder

        return EvaluationRecorder(self.evaluations, self._browsers, self._artifacts, on_run=self._ensure_waiter)

    async def evaluate(self, request: EvaluationRequest, call: Call) -> Result:
        """Run an evaluation and return its answer, even if it failed.

        Raises:
            AnswerNeeded: An action waits for a person's consent; the same call with the answer continues.
            NotConfigured: There is neither a model nor steps (`no_model`), or the browser tools are disabled.
            InvalidInput, Refused, NotFound: The address, the schema or the saved sign-in is wrong, or the idempotency
                key came with another request.
        """
        if call.state:
            return await self._resume_evaluation(await self.evaluations.get(call.state, call), call)
        if request.output_schema is not None:
            check_schema(request.output_schema)
        toolbox = self._toolbox()
        allowed = list_allowed_tools(toolbox)
        agent = None if request.steps else await self._prepare_agent(request, call, allowed)
        evaluation, is_new = await self._create_evaluation(request, call)
        if not is_new:
            return await self._resume_evaluation(evaluation, call)
        await self.recorder.begin_recording(evaluation)
        started = time.monotonic()
        try:
            session_id = await self._open_session(toolbox, evaluation, request, call)
            seconds_left = request.budget_s and max(1.0, request.budget_s - (time.monotonic() - started))
            if agent is None:

                async def report_step(done: int, action: str) -> None:
                    await call.progress(done, len(request.steps) + 1, action)

                own_call = _build_own_call(call, evaluation)
                require_flow = partial(self._require_flow, call)
                script = EvaluationScript(
                    toolbox, allowed, session_id, evaluation.url, own_call, require_flow, report_step
                )
                return await self._run_script(evaluation, request, script, seconds_left, call)
            run = await self._start_run(agent, evaluation, request, call, session_id=session_id, seconds=seconds_left)
        except Unavailable as error:
            return await self._conclude_unreachable(evaluation, error)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await self._conclude_aborted(evaluation, error)
            raise
        return await self._follow_run(evaluation, run, call)

    async def find_evaluation(self, session_id: str | None, call: Call) -> Evaluation:
        """Return the evaluation of that id, or the caller's last. Raises NotFound.

        An evaluation whose process has died is concluded first.
        """
        grace_s = 120.0
        evaluation = await self.evaluations.get(session_id, call)
        if evaluation.status != "running" or evaluation.id in self._tasks:
            return evaluation
        run = await self._runs.get(evaluation.run_id) if evaluation.run_id else None
        budget_s = evaluation.limits.get("budget_s") or MAX_EVALUATION_S
        if run is not None and run.has_ended:
            await self._conclude_run(evaluation.id, run)
        elif run is None and time.time() > evaluation.created_at + budget_s + grace_s:
            await self._conclude_aborted(evaluation, Unavailable("the process ended before the evaluation did"))
        return await self.evaluations.find(evaluation.id) or evaluation

    async def aclose(self) -> None:
        """Stop waiting for runs; they continue, and are concluded when next read."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Starting

    async def _prepare_agent(self, request: EvaluationRequest, call: Call, allowed: frozenset[str]) -> Agent:
        """Load and configure the browser agent. Raises NotConfigured without a model."""
        agent = await self._catalogue.get(BROWSER_AGENT, call.workspace)
        try:
            chain = await self._models.resolve_chain(agent.model)
        except NotConfigured as error:
            error.hint = f"{error.hint}; or give `steps`, which need no model"
            raise
        sees_pictures = any(access.sees_pictures for access in chain) and "takeScreenshot" in self._toolbox().tools
        return configure_agent(agent, request, allowed, sees_pictures=sees_pictures)

    async def _create_evaluation(self, request: EvaluationRequest, call: Call) -> tuple[Evaluation, bool]:
        url, is_local = parse_address(request.url)
        return await self.evaluations.create(
            call,
            url=clean_url(url) or url,
            task=request.task,
            mode=request.mode or ("dev" if is_local else "compact"),
            limits={
                "budget_s": request.budget_s,
                "step_timeout_s": request.step_timeout_s,
                "max_steps": request.max_steps,
            },
            output_schema=request.output_schema,
            start_key=request.build_start_key(call),
        )

    async def _open_session(
        self, toolbox: Toolbox, evaluation: Evaluation, request: EvaluationRequest, call: Call
    ) -> str:
        """Open the evaluation's browser session at the address and return its id."""
        arguments: dict[str, Any] = {"url": parse_address(request.url)[0], "title": "web_eval_agent"}
        arguments |= {"headless": request.headless} if request.headless is not None else {}
        arguments |= {"stateId": request.state_id} if request.state_id else {}
        await call.progress(0, None, f"opening {evaluation.url}")
        # The consent to the evaluation includes its browser.
        own_call = replace(_build_own_call(call, evaluation), answer=True)
        return (await toolbox.call("createSession", arguments, own_call)).data["sessionId"]

    async def _start_run(
        self,
        agent: Agent,
        evaluation: Evaluation,
        request: EvaluationRequest,
        call: Call,
        *,
        session_id: str,
        seconds: float | None,
    ) -> Run:
        conversations: Conversations = self._runs.conversations
        own_call = replace(_build_own_call(call, evaluation), run=call.run)
        title = clean_line(request.task, 80)
        conversation = await conversations.create(own_call, agent.name, title=title, parent=call.run)
        budget = Budgets(seconds=seconds) if seconds else None
        assignment = Assignment(build_query(evaluation, session_id), budget=budget)
        run = await self._runs.start(agent, assignment, own_call, conversation)
        await self.evaluations.update(evaluation.id, run_id=run.id)
        return run

    # Running

    async def _follow_run(self, evaluation: Evaluation, run: Run, call: Call) -> Result:
        """Wait for the run and return the answer. A cancelled call cancels the run, a lost connection does not."""
        self._ensure_waiter(evaluation.id, run.id)
        task = self._tasks[evaluation.id]
        try:
            async with self._run_heartbeat(evaluation, call):
                async for event in self._runs.follow(run.id):
                    if event.kind == "tool_started":
                        await call.progress(event.seq, None, str(event.data.get("title") or event.data["tool"]))
                await asyncio.shield(task)
        except anyio.get_cancelled_exc_class():
            if call.is_cancelled():
                with anyio.CancelScope(shield=True):
                    await self._runs.cancel(run.id)
                    await asyncio.gather(task, return_exceptions=True)
            raise
        return await self._build_answer(evaluation.id)

    async def _require_flow(self, call: Call, name: str) -> None:
        """Refuse a flow that would show a secret, or that the caller may not run. Raises Refused, NotFound."""
        if call.run is not None:
            raise Refused("an agent's evaluation runs no flow", hint="call runFlow: it asks a person where it must")
        if call.grant is not None and not call.grant.can_use_tool(run_flow := self._toolbox().get_tool("runFlow")):
            raise Refused(f"you may not use {run_flow.name}", hint="the operator decides which tools are granted")
        program = await anyio.to_thread.run_sync(self._flows.load_program, call, name)
        if any(flow.secrets for flow in program.flows.values()) or find_secret_names(program.flow):
            # An evaluation stores pictures, logs and texts of pages, which could show the secret.
            hint = "use state_id for the sign-in, or runFlow"
            raise Refused(f"flow {name} types secrets, which an evaluation would record", hint=hint)

    def _run_heartbeat(self, evaluation: Evaluation, call: Call) -> AbstractAsyncContextManager[None]:
        def is_paused() -> bool:
            return any(session.control.paused for session in self._browsers.list_sessions(evaluation.id))

        return run_heartbeat(call, is_paused)

    def _ensure_waiter(self, evaluation_id: str, run_id: str) -> None:
        """Start a task that concludes the evaluation when its run ends, unless there is one."""

        async def wait_and_conclude() -> None:
            try:
                async for _ in self._runs.follow(run_id):
                    pass
                run = await self._runs.get(run_id)
                if run.has_ended:
                    await self._conclude_run(evaluation_id, run)
            finally:
                self._tasks.pop(evaluation_id, None)

        if evaluation_id not in self._tasks and not self._closed:
            self._tasks[evaluation_id] = asyncio.create_task(wait_and_conclude())

    async def _run_script(
        self,
        evaluation: Evaluation,
        request: EvaluationRequest,
        script: EvaluationScript,
        seconds: float | None,
        call: Call,
    ) -> Result:
        outcomes: list[StepOutcome] = []
        with limit_time(seconds) as time_left:
            async with self._run_heartbeat(evaluation, call):
                await script.run_steps(request.steps, outcomes)
        final_page = await self.recorder.finish_recording(evaluation)
        timed_out = time_left.scope.cancelled_caught
        verdict = judge_script(
            outcomes, len(request.steps), timed_out=timed_out, has_robot_check=_has_robot_check(final_page)
        )
        await self._write_conclusion(evaluation, verdict, final_page)
        return await self._build_answer(evaluation.id)

    async def _resume_evaluation(self, evaluation: Evaluation, call: Call) -> Result:
        """Apply the answers that came with the call, and continue the run."""
        if evaluation.run_id is None or evaluation.status != "running":
            return await self._build_answer(evaluation.id)
        run = await self._runs.get(evaluation.run_id)
        if call.run is None and call.answers:
            await self._questions.apply_answers(run.root_run_id, call.answers, by=call.identity or call.session)
        if run.status == "blocked":
            await self._raise_if_waiting(evaluation, run)
            root = await self._runs.get(run.root_run_id)
            await self._runs.resume(root.id if call.run is None and root.status == "blocked" else run.id)
        return await self._follow_run(evaluation, run, call)

    @property
    def _questions(self) -> Questions:
        return self._runs.questions

    async def _raise_if_waiting(self, evaluation: Evaluation, run: Run) -> None:
        pending = [
            question for question in await self._questions.list_pending(run.root_run_id) if question.run_id == run.id
        ]
        if pending:
            titles = ", ".join(dict.fromkeys(question.title for question in pending))
            details = {"session_id": evaluation.id, "runId": run.id, "conversationId": run.conversation_id}
            details["userMessageId"] = run.message_id
            raise AnswerNeeded(
                f"The evaluation waits for a person: {titles}", state=evaluation.id, details=details, questions=pending
            )

    # Concluding

    async def _conclude_run(self, evaluation_id: str, run: Run) -> None:
        evaluation = await self.evaluations.find(evaluation_id)
        if evaluation is not None:
            final_page = await self.recorder.finish_recording(evaluation)
            verdict = judge_run(run, evaluation.claim, has_robot_check=_has_robot_check(final_page))
            await self._write_conclusion(evaluation, verdict, final_page)

    async def _conclude_unreachable(self, evaluation: Evaluation, error: OutriderError) -> Result:
        """Conclude an evaluation whose site could not be opened."""
        verdict = EvaluationVerdict("failed", "error", warnings=[error.message], timed_out=error.code == "timeout")
        final_page = await self.recorder.finish_recording(evaluation)
        await self._write_conclusion(evaluation, verdict, final_page)
        return await self._build_answer(evaluation.id)

    async def _conclude_aborted(self, evaluation: Evaluation, error: BaseException) -> None:
        """Conclude an evaluation that could not start, or was cancelled before it had a run."""
        stop, warnings = ("error", [str(error)]) if isinstance(error, Exception) else ("cancelled", [])
        await self._write_conclusion(evaluation, EvaluationVerdict("failed", stop, warnings=warnings))

    async def _write_conclusion(
        self, evaluation: Evaluation, verdict: EvaluationVerdict, final_page: FinalPage | None = None
    ) -> None:
        """Store the answer, once, and close the browser session."""
        final_page = final_page or FinalPage()
        if verdict.stop_reason == "blocked_page" and _has_robot_check(final_page):
            url, summary = final_page.url, f"the page is a bot check (captcha): {final_page.title}"
            record = EvaluationRecord(evaluation.id, "agent", 0, summary, url, has_error=True, details={"url": url})
            await self.evaluations.save_records([record])
        failures = await self.evaluations.list_records(evaluation.id, ("agent", "console", "network"), has_error=True)
        steps = await self.evaluations.list_records(evaluation.id, ("agent",), has_error=False, limit=1)
        counts = await self.evaluations.count_records(evaluation.id)
        answer = build_answer(evaluation, verdict, final_page, [*failures, *steps], counts)
        await self.evaluations.finish(
            evaluation.id, status=verdict.status, stop_reason=verdict.stop_reason, answer=answer
        )
        self.recorder.forget_evaluation(evaluation.id)
        with suppress(OutriderError):
            await self._browsers.close_owner_sessions(evaluation.id)

    async def _build_answer(self, evaluation_id: str) -> Result:
        evaluation = await self.evaluations.find(evaluation_id)
        assert evaluation is not None
        if evaluation.answer is None and evaluation.run_id is not None:
            await self._raise_if_waiting(evaluation, await self._runs.get(evaluation.run_id))
        if evaluation.answer is None:
            raise Unavailable(
                f"the evaluation {evaluation.id} is still running",
                code="at_work",
                hint=f"get_run_events(session_id='{evaluation.id}') shows its status and, later, its result",
                details={"session_id": evaluation.id},
            )
        return build_result(evaluation.answer)


def _build_own_call(call: Call, evaluation: Evaluation) -> Call:
    """Build a call whose session is the evaluation's.

    The evaluation's browser session is then its own.
    """
    return Call(
        session=evaluation.id,
        assistant=call.assistant,
        thread=call.thread,
        workspace=call.workspace,
        identity=call.identity,
        # The caller needs no right to the browser toolset: the evaluation uses it, not the caller.
        grant=replace(call.grant, toolsets=None) if call.grant else None,
    )


def _has_robot_check(final_page: FinalPage) -> bool:
    return is_robot_check(final_page.title, final_page.text, final_page.frames)
