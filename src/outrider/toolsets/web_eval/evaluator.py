"""From a call of `web_eval_agent` to its answer: the browser is opened, the agent or the script at work, all kept."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.approvals import Questions
from outrider.agents.assignment import Assignment
from outrider.agents.catalogue import Catalogue
from outrider.agents.conversations import Conversations
from outrider.agents.definition import Agent, Budgets
from outrider.agents.evaluations import Evaluation, EvaluationRecord, Evaluations
from outrider.agents.models import ModelResolver
from outrider.agents.run import Run
from outrider.agents.runs import RunService
from outrider.browser.session.browsers import Browsers
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotConfigured, OutriderError, Unavailable
from outrider.core.pausable_timeout import limit_time
from outrider.core.result import Result
from outrider.core.toolbox import Toolbox
from outrider.toolsets.browser.results import clean_line
from outrider.toolsets.web_eval.request import EvaluationRequest, build_query, parse_address
from outrider.toolsets.web_eval.script import EvaluationScript, StepOutcome

if TYPE_CHECKING:
    from outrider.toolsets.web_eval.recorder import EvaluationRecorder, FinalPage
    from outrider.toolsets.web_eval.report import EvaluationVerdict

MAX_EVALUATION_S = 3_600.0  # seconds of an evaluation


class Evaluator:
    """Evaluates websites for hosts, people and other agents.

    Args:
        toolbox: All tools of the house, watched.
    """

    def __init__(
        self,
        evaluations: Evaluations,
        artifacts: ArtifactStore,
        browsers: Browsers,
        models: ModelResolver,
        runs: RunService,
        catalogue: Catalogue,
        *,
        toolbox: Callable[[], Toolbox],
    ) -> None:
        self.evaluations = evaluations
        self._artifacts = artifacts
        self._browsers = browsers
        self._models = models
        self._runs = runs
        self._catalogue = catalogue
        self._toolbox = toolbox
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    @cached_property
    def recorder(self) -> "EvaluationRecorder":
        """Sees what evaluations do in this process; loaded at the first."""
        from outrider.toolsets.web_eval.recorder import EvaluationRecorder

        return EvaluationRecorder(self.evaluations, self._browsers, self._artifacts, on_run=self._ensure_waiter)

    async def evaluate(self, request: EvaluationRequest, call: Call) -> Result:
        """The answer, once the evaluation has ended; a failed one is an answer too.

        Raises:
            AnswerNeeded: An action waits for a person's consent; the same call with the answer goes on.
            NotConfigured: No model and no steps (`no_model`), or no browser.
            InvalidInput, Refused, NotFound: The address, the schema, the saved sign-in.
        """
        if call.state:
            return await self._resume_evaluation(await self.evaluations.get(call.state, call), call)
        if request.output_schema is not None:
            from outrider.toolsets.web_eval.done import check_schema

            check_schema(request.output_schema)
        from outrider.toolsets.web_eval.agent import list_allowed_tools

        toolbox = self._toolbox()
        allowed = list_allowed_tools(toolbox)
        agent = None if request.steps else await self._prepare_agent(request, call, allowed)
        evaluation = await self._begin_evaluation(request, call)
        await self.recorder.begin_recording(evaluation)
        started = time.monotonic()
        try:
            session_id = await self._open_session(toolbox, evaluation, request, call)
            left = request.budget_s and max(1.0, request.budget_s - (time.monotonic() - started))
            if agent is None:
                script = EvaluationScript(
                    toolbox,
                    allowed,
                    session_id,
                    evaluation.url,
                    _build_own_call(call, evaluation),
                    _build_step_reporter(request, call),
                )
                return await self._run_script(evaluation, request, script, left, call)
            run = await self._start_run(agent, evaluation, request, call, session_id=session_id, seconds=left)
        except Unavailable as error:
            return await self._conclude_failure(evaluation, error)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await self._conclude_aborted(evaluation, error)
            raise
        return await self._follow_run(evaluation, run, call)

    async def find_evaluation(self, session_id: str | None, call: Call) -> Evaluation:
        """The evaluation of that id, or the caller's last; one whose process has died is ended. Raises NotFound."""
        grace_s = 120.0  # seconds after which an evaluation whose process has died is given up
        found = await self.evaluations.get(session_id, call)
        if found.status != "running" or found.id in self._tasks:
            return found
        run = await self._runs.get(found.run_id) if found.run_id else None
        late = time.time() > found.created_at + (found.limits.get("budget_s") or MAX_EVALUATION_S) + grace_s
        if run is not None and run.has_ended:
            await self._conclude_run(found.id, run)
        elif run is None and late:
            await self._conclude_aborted(found, Unavailable("its process ended in the middle"))
        return await self.evaluations.find(found.id) or found

    async def aclose(self) -> None:
        """Stops waiting for runs; they stay as they are, and are concluded when somebody asks for them."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Beginning

    async def _prepare_agent(self, request: EvaluationRequest, call: Call, allowed: frozenset[str]) -> Agent:
        """The browser's agent as it works here. Raises NotConfigured where nothing can think."""
        no_model_hint = "; or give web_eval_agent `steps`: those need no model"
        from outrider.toolsets.web_eval.agent import BROWSER_AGENT, configure_agent

        agent = await self._catalogue.get(BROWSER_AGENT, call.workspace)
        try:
            await self._models.resolve_chain(agent.model)
        except NotConfigured as error:
            error.hint = f"{error.hint}{no_model_hint}"
            raise
        return configure_agent(agent, request, allowed)

    async def _begin_evaluation(self, request: EvaluationRequest, call: Call) -> Evaluation:
        from outrider.browser.protocol.redact import clean_url

        url, here = parse_address(request.url)
        return await self.evaluations.create(
            call,
            url=clean_url(url) or url,
            task=request.task,
            mode=request.mode or ("dev" if here else "compact"),
            limits={
                "budget_s": request.budget_s,
                "step_timeout_s": request.step_timeout_s,
                "max_steps": request.max_steps,
            },
            output_schema=request.output_schema,
        )

    async def _open_session(
        self, toolbox: Toolbox, evaluation: Evaluation, request: EvaluationRequest, call: Call
    ) -> str:
        """The browser session of the evaluation, at the address."""
        given: dict[str, Any] = {"url": parse_address(request.url)[0], "title": "web_eval_agent"}
        given |= {"headless": request.headless} if request.headless is not None else {}
        given |= {"stateId": request.state_id} if request.state_id else {}
        await call.progress(0, None, f"opening {evaluation.url}")
        # Whoever allowed the evaluation has allowed its browser.
        opened = await toolbox.call("createSession", given, replace(_build_own_call(call, evaluation), answer=True))
        return opened.data["sessionId"]

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
        own = replace(_build_own_call(call, evaluation), run=call.run)
        conversation = await conversations.create(own, agent.name, title=clean_line(request.task, 80), parent=call.run)
        budget = Budgets(seconds=seconds) if seconds else None
        work = Assignment(build_query(evaluation, session_id), budget=budget)
        run = await self._runs.start(agent, work, own, conversation)
        await self.evaluations.update(evaluation.id, run_id=run.id)
        return run

    # At work

    async def _follow_run(self, evaluation: Evaluation, run: Run, call: Call) -> Result:
        """Waits for the run. A caller that gives up takes it along; one that vanishes does not."""
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

    def _run_heartbeat(self, evaluation: Evaluation, call: Call) -> AbstractAsyncContextManager[None]:
        from outrider.toolsets.web_eval.heartbeat import run_heartbeat

        return run_heartbeat(call, lambda: self._paused(evaluation))

    def _ensure_waiter(self, evaluation_id: str, run_id: str) -> None:
        """Has somebody wait for a run's end, whichever process began it, and whoever resumed it."""
        if evaluation_id not in self._tasks and not self._closed:
            self._tasks[evaluation_id] = asyncio.create_task(self._wait_and_conclude(evaluation_id, run_id))

    async def _wait_and_conclude(self, evaluation_id: str, run_id: str) -> None:
        """Sees a run to its end, whoever waits for it, and concludes."""
        try:
            async for _ in self._runs.follow(run_id):
                pass
            run = await self._runs.get(run_id)
            if run.has_ended:
                await self._conclude_run(evaluation_id, run)
        finally:
            self._tasks.pop(evaluation_id, None)

    async def _run_script(
        self,
        evaluation: Evaluation,
        request: EvaluationRequest,
        script: EvaluationScript,
        seconds: float | None,
        call: Call,
    ) -> Result:
        from outrider.toolsets.web_eval.report import judge_script

        outcomes: list[StepOutcome] = []
        with limit_time(seconds) as time_left:
            async with self._run_heartbeat(evaluation, call):
                await script.run_steps(request.steps, outcomes)
        sight = await self.recorder.finish_recording(evaluation)
        verdict = judge_script(
            outcomes, len(request.steps), late=time_left.scope.cancelled_caught, has_robot_check=_has_robot_check(sight)
        )
        await self._write_conclusion(evaluation, verdict, sight)
        return await self._build_answer(evaluation.id)

    async def _resume_evaluation(self, evaluation: Evaluation, call: Call) -> Result:
        """Goes on after a question; answers that came with the call are taken in."""
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

    def _paused(self, evaluation: Evaluation) -> bool:
        """Whether a person has paused its browser session."""
        return any(each.control.paused for each in self._browsers.list_sessions(evaluation.id))

    @property
    def _questions(self) -> Questions:
        return self._runs.questions

    async def _raise_if_waiting(self, evaluation: Evaluation, run: Run) -> None:
        still = [each for each in await self._questions.list_pending(run.root_run_id) if each.run_id == run.id]
        if still:
            waits = ", ".join(dict.fromkeys(each.title for each in still))
            details = {"session_id": evaluation.id, "runId": run.id, "conversationId": run.conversation_id}
            details["userMessageId"] = run.message_id
            raise AnswerNeeded(
                f"The evaluation waits for a person: {waits}", state=evaluation.id, details=details, questions=still
            )

    # Ending

    async def _conclude_run(self, evaluation_id: str, run: Run) -> None:
        from outrider.toolsets.web_eval.report import judge_run

        evaluation = await self.evaluations.find(evaluation_id)
        if evaluation is not None:
            sight = await self.recorder.finish_recording(evaluation)
            await self._write_conclusion(
                evaluation, judge_run(run, evaluation.claim, has_robot_check=_has_robot_check(sight)), sight
            )

    async def _conclude_failure(self, evaluation: Evaluation, error: OutriderError) -> Result:
        """The site could not even be opened."""
        from outrider.toolsets.web_eval.report import EvaluationVerdict

        verdict = EvaluationVerdict("failed", "error", warnings=[error.message], timed_out=error.code == "timeout")
        sight = await self.recorder.finish_recording(evaluation)
        await self._write_conclusion(evaluation, verdict, sight)
        return await self._build_answer(evaluation.id)

    async def _conclude_aborted(self, evaluation: Evaluation, error: BaseException) -> None:
        """It could not be begun, or was cancelled before there was a run."""
        from outrider.toolsets.web_eval.report import EvaluationVerdict

        stop, warnings = ("error", [str(error)]) if isinstance(error, Exception) else ("cancelled", [])
        await self._write_conclusion(evaluation, EvaluationVerdict("failed", stop, warnings=warnings))

    async def _write_conclusion(
        self, evaluation: Evaluation, verdict: "EvaluationVerdict", sight: "FinalPage | None" = None
    ) -> None:
        """Writes the report, once, and closes the browser session."""
        from outrider.toolsets.web_eval.recorder import FinalPage
        from outrider.toolsets.web_eval.report import build_answer

        sight = sight or FinalPage()
        if verdict.stop_reason == "blocked_page" and _has_robot_check(sight):
            await self.evaluations.save_records([_build_robot_check_record(evaluation, sight)])
        failures = await self.evaluations.list_records(evaluation.id, ("agent", "console", "network"), has_error=True)
        steps = await self.evaluations.list_records(evaluation.id, ("agent",), has_error=False, limit=1)
        counts = await self.evaluations.count_records(evaluation.id)
        told = build_answer(evaluation, verdict, sight, [*failures, *steps], counts)
        await self.evaluations.finish(
            evaluation.id, status=verdict.status, stop_reason=verdict.stop_reason, answer=told
        )
        self.recorder.forget_evaluation(evaluation.id)
        with suppress(OutriderError):
            await self._browsers.close_owner_sessions(evaluation.id)

    async def _build_answer(self, evaluation_id: str) -> Result:
        from outrider.toolsets.web_eval.report import build_result

        evaluation = await self.evaluations.find(evaluation_id)
        assert evaluation is not None
        if evaluation.answer is None and evaluation.run_id is not None:
            await self._raise_if_waiting(evaluation, await self._runs.get(evaluation.run_id))
        if evaluation.answer is None:
            raise Unavailable(
                f"the evaluation {evaluation.id} is still at work",
                code="at_work",
                hint=f"get_run_events(session_id='{evaluation.id}') tells its status and, later, its result",
                details={"session_id": evaluation.id},
            )
        return build_result(evaluation.answer)


def _build_own_call(call: Call, evaluation: Evaluation) -> Call:
    """The call with which the evaluation works for its caller: its browser session belongs to it alone."""
    return Call(
        session=evaluation.id,
        assistant=call.assistant,
        thread=call.thread,
        workspace=call.workspace,
        identity=call.identity,
        # The browser is how the tool works, not something that its caller gets.
        grant=replace(call.grant, toolsets=None) if call.grant else None,
    )


def _has_robot_check(sight: "FinalPage") -> bool:
    from outrider.agents.evaluations.robot_check import is_robot_check

    return is_robot_check(sight.title, sight.text, sight.frames)


def _build_robot_check_record(evaluation: Evaluation, sight: "FinalPage") -> EvaluationRecord:
    told = f"the page is a robot check (captcha): {sight.title}"
    return EvaluationRecord(evaluation.id, "agent", 0, told, sight.url, has_error=True, details={"url": sight.url})


def _build_step_reporter(request: EvaluationRequest, call: Call) -> Callable[[int, str], Any]:
    async def report_step(done: int, action: str) -> None:
        await call.progress(done, len(request.steps) + 1, action)

    return report_step
