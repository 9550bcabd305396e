"""Run a flow without a model: step by step, and stop rather than guess."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from outrider.flows.extraction import Value
from outrider.flows.flow import Flow, FlowStep, Target
from outrider.flows.journal import StepJournal, StepRecord
from outrider.flows.positions import Position, format_position
from outrider.flows.program import FlowProgram
from outrider.flows.restoring import PassedStep, is_harmless, plan_restore
from outrider.flows.run import FlowRun, StepReport, Stop
from outrider.flows.step_runner import FlowPage, FoundElements, StepRunner, Stopped
from outrider.flows.values import FlowValues, fill_part, fill_placeholders, fill_step, resolve_parameters


class ConsentNeeded(Exception):
    """A person must allow the next step."""

    def __init__(self, position: str, step: FlowStep) -> None:
        super().__init__(str(step))
        self.position, self.step = position, step


@dataclass(frozen=True)
class StepContext:
    """The place of a run.

    Attributes:
        flow: The flow whose step it is.
        values: The values of its parameters, and of its loop's current row.
        rows: The rows of its parameters.
        position: The step's position in the run.
        place: The step's place in the flow's file.
        loop: The place of the loop over pages that it is in.
    """

    flow: Flow
    values: Mapping[str, str]
    rows: Mapping[str, list[dict[str, str]]]
    position: Position = ()
    place: str = ""
    loop: str = ""

    def enter(self, number: int) -> "StepContext":
        """Return the context of a step inside."""
        place = f"{self.place}.{number}" if self.place else str(number)
        return replace(self, position=(*self.position, number), place=place)

    def enter_round(self, number: int) -> "StepContext":
        """Return the context of a round of a loop."""
        return replace(self, position=(*self.position, number))


class FlowRunner:
    """Runs one flow on one page.

    Args:
        program: The flow, and those that it runs.
        page: The page.
        values: The values of its parameters.
        secrets: The values of the secrets of each flow, by the flow's name.
        journal: The records of the run's steps, including earlier attempts.
        is_new_page: Whether the page must first be restored to the state of the earlier attempt.
        needs_consent: Returns whether a person must be asked before a step.
        patience_s: How long to wait for an element.
    """

    def __init__(
        self,
        program: FlowProgram,
        page: FlowPage,
        values: FlowValues,
        secrets: Mapping[str, Mapping[str, str]],
        *,
        journal: StepJournal | None = None,
        is_new_page: bool = False,
        needs_consent: Callable[[FlowStep], bool] = lambda step: step.ask,
        patience_s: float = 10.0,
    ) -> None:
        self._program, self._values, self._secrets = program, values, secrets
        self._steps = StepRunner(page, patience_s, values.hidden, (step for _, step in program.iterate_steps()))
        self._journal = journal or StepJournal()
        self._needs_consent = needs_consent
        self._must_restore = is_new_page
        self._passed: list[PassedStep] = []
        self._page_rows: dict[str, list[dict[str, Value]]] = {}  # of the previous page, by place
        self._from: Position = ()
        self._approved = ""
        self._run = FlowRun()
        self._here = StepContext(program.flow, {}, {})

    async def run_steps(self, from_step: Position = (), *, approved_step: str = "") -> FlowRun:
        """Do the remaining steps, and check the end.

        Args:
            from_step: The first step to do.
            approved_step: The step that a person has just approved.

        Raises:
            ConsentNeeded: A person must be asked before a step; the steps before it are done.
        """
        started = time.monotonic()
        self._from, self._approved = from_step, approved_step
        flow = self._program.flow
        context = StepContext(flow, self._values.texts, self._values.rows)
        try:
            await self._run_block(flow.steps, context)
            self._here = replace(context, position=(len(flow.steps) + 1,))
            await self._check_end(context)
        except Stopped as stopped:
            self._run.stop = await self._build_stop(stopped, self._here)
        self._run.seconds = time.monotonic() - started
        return self._run

    async def _run_block(self, steps: list[FlowStep], context: StepContext) -> None:
        for number, step in enumerate(steps, 1):
            inner = context.enter(number)
            if step.tool is not None:
                await self._run_tool(step, step.tool, inner)
            elif step.kind not in ("each", "pages", "flow", "steps"):
                await self._run_leaf(step, inner)
            elif await self._is_entered(step, inner):
                await self._run_nested(step, inner)

    async def _run_tool(self, step: FlowStep, tool: str, context: StepContext) -> None:
        """Call a tool of the page; if it is not offered, do the steps that replace it."""
        record = self._journal.find_record(format_position(context.position))
        depth = len(context.position)
        is_inside = self._from[:depth] == context.position and len(self._from) > depth
        is_call = record is not None and record.kind != "block"
        if not (record or is_inside) and step.steps and context.position >= self._from:
            self._here = context
            await self._restore_page()
            name = fill_placeholders(tool, context.values)
            is_call = await self._steps.find_tool(name, context.flow.origins) is not None
            position = format_position(context.position)
            if not is_call and self._needs_consent(step) and self._approved != position:
                raise ConsentNeeded(position, fill_step(step, context.values))
        if is_call or not step.steps:
            await self._run_leaf(step, context)
        elif await self._is_entered(step, context):
            self._run.notes.append(f"step {format_position(context.position)}: the page offers no tool {tool}")
            await self._run_block(step.steps, context)
            self._here = context
            await self._steps.require_effect(fill_step(step, context.values))

    async def _run_nested(self, step: FlowStep, context: StepContext) -> None:
        if step.each is not None:
            rows = context.rows.get(step.each)
            source = self._run.results.get(step.each, []) if rows is None else rows
            for number, row in enumerate(list(source), 1):
                texts = {f"row.{name}": "" if value is None else str(value) for name, value in row.items()}
                round_context = replace(context.enter_round(number), values={**context.values, **texts})
                await self._run_block(step.steps or [], round_context)
        elif step.pages is not None:
            await self._run_pages(step, context)
        elif step.flow is not None:
            await self._run_flow(step, context)
        else:
            await self._run_block(step.steps or [], context)

    async def _is_entered(self, step: FlowStep, context: StepContext) -> bool:
        """Decide once per run whether to do the steps inside a step."""
        position = format_position(context.position)
        if self._from[: len(context.position)] == context.position and len(self._from) > len(context.position):
            return True
        if record := self._journal.find_record(position):
            return record.state == "done"
        if context.position < self._from:
            return False
        self._here = context
        await self._restore_page()
        when = fill_part(step.when, context.values) if step.when else None
        is_entered = not (when and await self._steps.wait_for(when, seconds=min(when.seconds, 1.0)))
        state = "done" if is_entered else "skipped"
        await self._journal.write_record(StepRecord(position, state, "block", str(step)))
        if not is_entered:
            self._run.steps.append(StepReport(position, str(step), 0.0, is_skipped=True))
        return is_entered

    async def _run_pages(self, step: FlowStep, context: StepContext) -> None:
        assert step.pages is not None
        steps = step.steps or []
        for number in range(1, step.max_pages + 1):
            inner = replace(context.enter_round(number), loop=context.place)
            await self._run_block(steps, inner)
            turn = inner.enter(len(steps) + 1)
            turn = replace(turn, place=context.place)
            if not await self._turn_page(fill_part(step.pages, context.values), turn, is_last=number == step.max_pages):
                break
        for place in [place for place in self._page_rows if place.startswith(f"{context.place}.")]:
            del self._page_rows[place]

    async def _turn_page(self, target: Target, context: StepContext, *, is_last: bool) -> bool:
        """Go to the next page; return whether there is one."""
        position, press = format_position(context.position), FlowStep(click=target)
        record = self._journal.find_record(position)
        if record and record.is_over:
            self._passed.append(PassedStep(press, record, origins=tuple(context.flow.origins), turns_page=True))
            return record.state == "done"
        if context.position < self._from:
            return True
        self._here = context
        await self._restore_page()
        started = time.monotonic()
        found = await self._steps.find_next_page(press, context.flow.origins)
        if found and is_last:
            self._run.notes.append(f"step {context.place}: there are more pages than max_pages")
        if found and not is_last and self._needs_consent(press) and self._approved != position:
            raise ConsentNeeded(position, press)
        if not found or is_last or not await self._steps.turn_page(press, found.refs):
            await self._journal.write_record(StepRecord(position, "skipped", "pages", str(press)))
            return False
        await self._steps.require_origin(None, context.flow.origins)
        await self._finish(press, context, started, found)
        self._passed[-1] = replace(self._passed[-1], turns_page=True)
        return True

    async def _run_flow(self, step: FlowStep, context: StepContext) -> None:
        assert step.flow is not None
        flow = self._program.flows[step.flow]
        given = {name: fill_placeholders(value, context.values) for name, value in step.parameters.items()}
        values = resolve_parameters(flow, given)
        inner = StepContext(flow, values.texts, values.rows, context.position)
        await self._run_block(flow.steps, inner)
        self._here = context
        await self._check_end(inner)

    async def _run_leaf(self, step: FlowStep, context: StepContext) -> None:
        """Do a step without inner steps, unless it is done already."""
        position, filled = format_position(context.position), fill_step(step, context.values)
        record = self._journal.find_record(position)
        if record and record.is_over:
            self._pass_over(filled, record, context)
            return
        if context.position < self._from:
            return
        self._here = context
        if await self._restore_page() and filled.kind == "dialog" and not record:
            raise Stopped("unknown_effect", "the run was interrupted, and the dialog that the step answers was lost")
        if record and await self._settle_unknown(filled, record, context):
            return
        started = time.monotonic()
        if filled.when and await self._steps.wait_for(filled.when, seconds=min(filled.when.seconds, 1.0)):
            await self._journal.write_record(StepRecord(position, "skipped", step.kind, str(filled)))
            self._run.steps.append(StepReport(position, str(filled), 0.0, is_skipped=True))
            return
        found, rows = await self._do_step(filled, context)
        await self._finish(filled, context, started, found, rows)

    async def _do_step(self, step: FlowStep, context: StepContext) -> tuple[FoundElements, list[dict[str, Value]]]:
        """Do a step and check it; return its elements and the extracted rows."""
        origins = context.flow.origins
        await self._steps.require_origin(step, origins)
        self._steps.require_no_dialog()
        if step.extract:
            rows = await self._steps.extract_rows(step.extract, self._page_rows.get(context.place, ()))
            return FoundElements(("", "")), rows
        secret = context.flow.secrets.get(step.secret or "")
        if secret and secret.origins:
            await self._steps.require_origin(step, secret.origins)
        found = await self._steps.find_elements(step, secret.origins if secret and secret.origins else origins)
        position = format_position(context.position)
        asking = step.model_copy(update={"ask": True}) if found.is_consequential else step
        if self._needs_consent(asking) and self._approved != position:
            raise ConsentNeeded(position, step)
        if not is_harmless(step):
            was_met = bool(step.expect) and not await self._steps.wait_for(step.expect, seconds=0)
            begun = StepRecord(position, "begun", step.kind, str(step), was_met=was_met)
            await self._journal.write_record(begun)
        try:
            await self._steps.perform(step, found.refs, self._secrets[context.flow.name].get(step.secret or "", ""))
            await self._steps.require_origin(None, origins)
            await self._steps.require_effect(step)
        except Stopped as stopped:
            if not (stopped.is_done or is_harmless(step)):
                await self._journal.write_record(StepRecord(position, "undone", step.kind, str(step)))
            raise
        return found, []

    async def _finish(
        self,
        step: FlowStep,
        context: StepContext,
        started: float,
        found: FoundElements,
        rows: list[dict[str, Value]] | None = None,
    ) -> None:
        """Record that a step is done, with its evidence."""
        url = (await self._steps.page.read_view()).url
        seconds = time.monotonic() - started
        position = format_position(context.position)
        record = StepRecord(position, "done", step.kind, str(step), url, seconds=seconds, rows=tuple(rows or ()))
        record = replace(record, notes=found.notes, matched=found.matched)
        await self._journal.write_record(record)
        self._pass_over(step, record, context)

    def _pass_over(self, step: FlowStep, record: StepRecord, context: StepContext) -> None:
        """Reuse the results of a step that is done."""
        secret = self._secrets[context.flow.name].get(step.secret or "", "")
        self._passed.append(PassedStep(step, record, secret, tuple(context.flow.origins)))
        is_skipped = record.state == "skipped"
        report = StepReport(record.position, record.summary, record.seconds, record.notes, is_skipped=is_skipped)
        self._run.steps.append(report)
        if step.extract and not is_skipped:
            self._run.results.setdefault(step.extract.into, []).extend(record.rows)
            if step.extract.file:
                self._run.files[step.extract.file] = step.extract.into
            if context.loop:
                self._page_rows[context.place] = list(record.rows)

    async def _settle_unknown(self, step: FlowStep, record: StepRecord, context: StepContext) -> bool:
        """Return whether an interrupted step was done. Raises Stopped if that stays unknown."""
        if is_harmless(step) or record.state == "undone":
            return False
        started = time.monotonic()
        if step.proof:
            await self._steps.require_origin(FlowStep(open=step.proof.open), context.flow.origins)
            await self._steps.perform(FlowStep(open=step.proof.open), ("", ""))
            if await self._steps.wait_for(step.proof):
                self._must_restore = True
                await self._restore_page()
                return False
        elif not step.expect or record.was_met or await self._steps.wait_for(step.expect):
            message = "the run was interrupted during this step, and nothing shows whether it was done"
            raise Stopped("unknown_effect", message)
        await self._finish(step, context, started, FoundElements(("", ""), ("it was done before an interruption",)))
        return True

    async def _restore_page(self) -> bool:
        """Restore a new page to the state of the run; return whether it was new. Raises Stopped."""
        if not self._must_restore:
            return False
        self._must_restore = False
        for passed in plan_restore(self._passed):
            try:
                await self._repeat_step(passed)
            except Stopped as stopped:
                message = f"the previous page cannot be restored: step {passed.record.position}: {stopped.message}"
                raise Stopped(stopped.reason, message) from None
        return True

    async def _repeat_step(self, passed: PassedStep) -> None:
        """Repeat a step that has no effect outside the page. Raises Stopped."""
        step = passed.step
        await self._steps.require_origin(step, passed.origins)
        refs = (await self._steps.find_elements(step, passed.origins)).refs
        if passed.turns_page:
            await self._steps.turn_page(step, refs)
        else:
            await self._steps.perform(step, refs, passed.secret)
        await self._steps.require_origin(None, passed.origins)
        if step.expect and step.repeat and (unmet := await self._steps.wait_for(step.expect)):
            raise Stopped("check_failed", unmet)

    async def _check_end(self, context: StepContext) -> None:
        for condition in context.flow.check:
            if unmet := await self._steps.wait_for(fill_part(condition, context.values)):
                self._steps.require_no_dialog(is_open=True)
                raise Stopped("check_failed", f"at the end, {unmet}")

    async def _build_stop(self, stopped: Stopped, context: StepContext) -> Stop:
        """Describe the stop, with a snapshot of the page."""
        outline, url = await self._steps.describe_page()
        position = format_position(context.position)
        after = format_position((*context.position[:-1], context.position[-1] + 1))
        if not context.place:  # at the end of the flow
            return Stop(stopped.reason, stopped.message, "0", position, position, outline, url, context.flow.name)
        onward = after if stopped.is_done else position
        message = f"step {position}: {stopped.message}"
        return Stop(stopped.reason, message, position, onward, after, outline, url, context.flow.name, context.place)
