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
from outrider.agents.evaluations import Evaluation, Evaluations, Record
from outrider.agents.models import Models
from outrider.agents.run import Run
from outrider.agents.runs import Runs
from outrider.browser.browsers import Browsers
from outrider.core.artifacts import Artifacts
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotConfigured, OutriderError, Unavailable
from outrider.core.result import Result
from outrider.core.standstill import limit
from outrider.core.toolbox import Toolbox
from outrider.toolsets.browser_use import line
from outrider.toolsets.evaluating.script import Script, StepOutcome
from outrider.toolsets.evaluating.wish import Wish, address_of, query_of

if TYPE_CHECKING:
    from outrider.toolsets.evaluating.report import Verdict
    from outrider.toolsets.evaluating.watch import Sight, Watcher

LONGEST = 3_600.0  # seconds of an evaluation
GRACE = 120.0  # seconds after which an evaluation whose process has died is given up
NO_MODEL = "; or give web_eval_agent `steps`: those need no model"


class Evaluator:
    """Evaluates websites for hosts, people and other agents.

    Args:
        toolbox: All tools of the house, watched.
    """

    def __init__(
        self,
        evaluations: Evaluations,
        artifacts: Artifacts,
        browsers: Browsers,
        models: Models,
        runs: Runs,
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
    def watcher(self) -> "Watcher":
        """Sees what evaluations do in this process; loaded at the first."""
        from outrider.toolsets.evaluating.watch import Watcher

        return Watcher(self.evaluations, self._browsers, self._artifacts, mind=self._mind)

    async def evaluate(self, wish: Wish, call: Call) -> Result:
        """The answer, once the evaluation has ended; a failed one is an answer too.

        Raises:
            AnswerNeeded: An action waits for a person's consent; the same call with the answer goes on.
            NotConfigured: No model and no steps (`no_model`), or no browser.
            InvalidInput, Refused, NotFound: The address, the schema, the saved sign-in.
        """
        if call.state:
            return await self._again(await self.evaluations.get(call.state, call), call)
        if wish.output_schema is not None:
            from outrider.toolsets.evaluating.done import check_schema

            check_schema(wish.output_schema)
        from outrider.toolsets.evaluating.role import allowed_tools

        toolbox = self._toolbox()
        allowed = allowed_tools(toolbox)
        agent = None if wish.steps else await self._agent(wish, call, allowed)
        evaluation = await self._begun(wish, call)
        await self.watcher.begin(evaluation)
        started = time.monotonic()
        try:
            session_id = await self._opened(toolbox, evaluation, wish, call)
            left = wish.budget_s and max(1.0, wish.budget_s - (time.monotonic() - started))
            if agent is None:
                script = Script(toolbox, allowed, session_id, evaluation.url, _own(call, evaluation), _told(wish, call))
                return await self._scripted(evaluation, wish, script, left, call)
            run = await self._started(agent, evaluation, wish, call, session_id=session_id, seconds=left)
        except Unavailable as error:
            return await self._failed(evaluation, error)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await self._broken_off(evaluation, error)
            raise
        return await self._followed(evaluation, run, call)

    async def seen(self, session_id: str | None, call: Call) -> Evaluation:
        """The evaluation of that id, or the caller's last; one whose process has died is ended. Raises NotFound."""
        found = await self.evaluations.get(session_id, call)
        if found.status != "running" or found.id in self._tasks:
            return found
        run = await self._runs.get(found.run_id) if found.run_id else None
        late = time.time() > found.created_at + (found.limits.get("budget_s") or LONGEST) + GRACE
        if run is not None and run.ended:
            await self._ended(found.id, run)
        elif run is None and late:
            await self._broken_off(found, Unavailable("its process ended in the middle"))
        return await self.evaluations.find(found.id) or found

    async def aclose(self) -> None:
        """Stops waiting for runs; they stay as they are, and are concluded when somebody asks for them."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Beginning

    async def _agent(self, wish: Wish, call: Call, allowed: frozenset[str]) -> Agent:
        """The browser's agent as it works here. Raises NotConfigured where nothing can think."""
        from outrider.toolsets.evaluating.role import AGENT, engaged

        agent = await self._catalogue.get(AGENT, call.workspace)
        try:
            await self._models.chain(agent.model)
        except NotConfigured as error:
            error.hint = f"{error.hint}{NO_MODEL}"
            raise
        return engaged(agent, wish, allowed)

    async def _begun(self, wish: Wish, call: Call) -> Evaluation:
        from outrider.browser.redact import clean_url

        url, here = address_of(wish.url)
        return await self.evaluations.begin(
            call,
            url=clean_url(url) or url,
            task=wish.task,
            mode=wish.mode or ("dev" if here else "compact"),
            limits={
                "budget_s": wish.budget_s,
                "step_timeout_s": wish.step_timeout_s,
                "max_steps": wish.max_steps,
            },
            output_schema=wish.output_schema,
        )

    async def _opened(self, toolbox: Toolbox, evaluation: Evaluation, wish: Wish, call: Call) -> str:
        """The browser session of the evaluation, at the address."""
        given: dict[str, Any] = {"url": address_of(wish.url)[0], "title": "web_eval_agent"}
        given |= {"headless": wish.headless} if wish.headless is not None else {}
        given |= {"stateId": wish.state_id} if wish.state_id else {}
        await call.progress(0, None, f"opening {evaluation.url}")
        # Whoever allowed the evaluation has allowed its browser.
        opened = await toolbox.call("createSession", given, replace(_own(call, evaluation), answer=True))
        return opened.data["sessionId"]

    async def _started(
        self, agent: Agent, evaluation: Evaluation, wish: Wish, call: Call, *, session_id: str, seconds: float | None
    ) -> Run:
        conversations: Conversations = self._runs.conversations
        own = replace(_own(call, evaluation), run=call.run)
        conversation = await conversations.create(own, agent.name, title=line(wish.task, 80), parent=call.run)
        budget = Budgets(seconds=seconds) if seconds else None
        work = Assignment(query_of(evaluation, session_id), budget=budget)
        run = await self._runs.start(agent, work, own, conversation)
        await self.evaluations.change(evaluation.id, run_id=run.id)
        return run

    # At work

    async def _followed(self, evaluation: Evaluation, run: Run, call: Call) -> Result:
        """Waits for the run. A caller that gives up takes it along; one that vanishes does not."""
        self._mind(evaluation.id, run.id)
        task = self._tasks[evaluation.id]
        try:
            async with self._beating(evaluation, call):
                async for event in self._runs.follow(run.id):
                    if event.kind == "tool_started":
                        await call.progress(event.seq, None, str(event.data.get("title") or event.data["tool"]))
                await asyncio.shield(task)
        except anyio.get_cancelled_exc_class():
            if call.unwanted():
                with anyio.CancelScope(shield=True):
                    await self._runs.cancel(run.id)
                    await asyncio.gather(task, return_exceptions=True)
            raise
        return await self._answer(evaluation.id)

    def _beating(self, evaluation: Evaluation, call: Call) -> AbstractAsyncContextManager[None]:
        from outrider.toolsets.evaluating.beat import beating

        return beating(call, lambda: self._paused(evaluation))

    def _mind(self, evaluation_id: str, run_id: str) -> None:
        """Has somebody wait for a run's end, whichever process began it, and whoever resumed it."""
        if evaluation_id not in self._tasks and not self._closed:
            self._tasks[evaluation_id] = asyncio.create_task(self._minded(evaluation_id, run_id))

    async def _minded(self, evaluation_id: str, run_id: str) -> None:
        """Sees a run to its end, whoever waits for it, and concludes."""
        try:
            async for _ in self._runs.follow(run_id):
                pass
            run = await self._runs.get(run_id)
            if run.ended:
                await self._ended(evaluation_id, run)
        finally:
            self._tasks.pop(evaluation_id, None)

    async def _scripted(
        self, evaluation: Evaluation, wish: Wish, script: Script, seconds: float | None, call: Call
    ) -> Result:
        from outrider.toolsets.evaluating.report import of_script

        outcomes: list[StepOutcome] = []
        with limit(seconds) as time_left:
            async with self._beating(evaluation, call):
                await script.run(wish.steps, outcomes)
        sight = await self.watcher.end(evaluation)
        verdict = of_script(outcomes, len(wish.steps), late=time_left.scope.cancelled_caught, wall=_walled(sight))
        await self._concluded(evaluation, verdict, sight)
        return await self._answer(evaluation.id)

    async def _again(self, evaluation: Evaluation, call: Call) -> Result:
        """Goes on after a question; answers that came with the call are taken in."""
        if evaluation.run_id is None or evaluation.status != "running":
            return await self._answer(evaluation.id)
        run = await self._runs.get(evaluation.run_id)
        if call.run is None and call.answers:
            await self._questions.settle(run.root_run_id, call.answers, by=call.identity or call.session)
        if run.status == "blocked":
            await self._ask_if_open(evaluation, run)
            root = await self._runs.get(run.root_run_id)
            await self._runs.resume(root.id if call.run is None and root.status == "blocked" else run.id)
        return await self._followed(evaluation, run, call)

    def _paused(self, evaluation: Evaluation) -> bool:
        """Whether a person has paused its browser session."""
        return any(each.control.paused for each in self._browsers.list(evaluation.id))

    @property
    def _questions(self) -> Questions:
        return self._runs.questions

    async def _ask_if_open(self, evaluation: Evaluation, run: Run) -> None:
        still = [each for each in await self._questions.pending(run.root_run_id) if each.run_id == run.id]
        if still:
            waits = ", ".join(dict.fromkeys(each.title for each in still))
            details = {"session_id": evaluation.id, "runId": run.id, "conversationId": run.conversation_id}
            details["userMessageId"] = run.message_id
            raise AnswerNeeded(
                f"The evaluation waits for a person: {waits}", state=evaluation.id, details=details, questions=still
            )

    # Ending

    async def _ended(self, evaluation_id: str, run: Run) -> None:
        from outrider.toolsets.evaluating.report import of_run

        evaluation = await self.evaluations.find(evaluation_id)
        if evaluation is not None:
            sight = await self.watcher.end(evaluation)
            await self._concluded(evaluation, of_run(run, evaluation.claim, wall=_walled(sight)), sight)

    async def _failed(self, evaluation: Evaluation, error: OutriderError) -> Result:
        """The site could not even be opened."""
        from outrider.toolsets.evaluating.report import Verdict

        verdict = Verdict("failed", "error", warnings=[error.message], timed_out=error.code == "timeout")
        sight = await self.watcher.end(evaluation)
        await self._concluded(evaluation, verdict, sight)
        return await self._answer(evaluation.id)

    async def _broken_off(self, evaluation: Evaluation, error: BaseException) -> None:
        """It could not be begun, or was cancelled before there was a run."""
        from outrider.toolsets.evaluating.report import Verdict

        stop, warnings = ("error", [str(error)]) if isinstance(error, Exception) else ("cancelled", [])
        await self._concluded(evaluation, Verdict("failed", stop, warnings=warnings))

    async def _concluded(self, evaluation: Evaluation, verdict: "Verdict", sight: "Sight | None" = None) -> None:
        """Writes the report, once, and closes the browser session."""
        from outrider.toolsets.evaluating.report import answer
        from outrider.toolsets.evaluating.watch import Sight

        sight = sight or Sight()
        if verdict.stop == "blocked_page" and _walled(sight):
            await self.evaluations.record([_wall(evaluation, sight)])
        failures = await self.evaluations.records(evaluation.id, ("agent", "console", "network"), has_error=True)
        steps = await self.evaluations.records(evaluation.id, ("agent",), has_error=False, limit=1)
        counts = await self.evaluations.counts(evaluation.id)
        told = answer(evaluation, verdict, sight, [*failures, *steps], counts)
        await self.evaluations.conclude(evaluation.id, status=verdict.status, stop_reason=verdict.stop, answer=told)
        self.watcher.forget(evaluation.id)
        with suppress(OutriderError):
            await self._browsers.close_all(evaluation.id)

    async def _answer(self, evaluation_id: str) -> Result:
        from outrider.toolsets.evaluating.report import result

        evaluation = await self.evaluations.find(evaluation_id)
        assert evaluation is not None
        if evaluation.answer is None and evaluation.run_id is not None:
            await self._ask_if_open(evaluation, await self._runs.get(evaluation.run_id))
        if evaluation.answer is None:
            raise Unavailable(
                f"the evaluation {evaluation.id} is still at work",
                code="at_work",
                hint=f"get_run_events(session_id='{evaluation.id}') tells its status and, later, its result",
                details={"session_id": evaluation.id},
            )
        return result(evaluation.answer)


def _own(call: Call, evaluation: Evaluation) -> Call:
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


def _walled(sight: "Sight") -> bool:
    from outrider.agents.evaluations.wall import is_wall

    return is_wall(sight.title, sight.text, sight.frames)


def _wall(evaluation: Evaluation, sight: "Sight") -> Record:
    told = f"the page is a robot check (captcha): {sight.title}"
    return Record(evaluation.id, "agent", 0, told, sight.url, has_error=True, details={"url": sight.url})


def _told(wish: Wish, call: Call) -> Callable[[int, str], Any]:
    async def told(done: int, action: str) -> None:
        await call.progress(done, len(wish.steps) + 1, action)

    return told
