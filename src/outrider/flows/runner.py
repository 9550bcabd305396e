"""Run a flow without a model: find each element by its evidence, act, check, and stop rather than guess."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

import anyio

from outrider.core.errors import OutriderError
from outrider.flows.conditions import PageView, find_unmet
from outrider.flows.evidence import ElementCandidate
from outrider.flows.flow import Flow, FlowCondition, FlowStep, Target
from outrider.flows.matching import Match, match_target
from outrider.flows.run import FlowRun, StepReport, Stop, StopReason
from outrider.flows.values import fill_part, fill_step

POLL_INTERVAL_S = 0.1
# How errors of the browser are told; others are `failed`.
STOP_REASONS: Mapping[str, StopReason] = {
    "not_found": "not_found",
    "ambiguous": "ambiguous",
    "changed": "changed",
    "dialog_open": "dialog_open",
    "no_effect": "no_effect",
    "covered": "blocked",
    "hidden": "blocked",
    "disabled": "blocked",
    "pointer_events_none": "blocked",
    "off_screen": "blocked",
    "zero_size": "blocked",
    "read_only": "blocked",
    "no_focus": "blocked",
}


class FlowPage(Protocol):
    """The page on which a flow acts."""

    async def read_view(self) -> PageView:
        """Return address, title and text."""
        ...

    async def list_candidates(self, target: Target) -> Sequence[ElementCandidate]:
        """Return the elements of all frames that may be the target."""
        ...

    async def perform_step(self, step: FlowStep, ref: str, to_ref: str, secret: str) -> None:
        """Do a step, on the elements of these references. Raises OutriderError."""
        ...

    async def read_outline(self) -> str:
        """Return what the page shows, as a model reads it."""
        ...


class ConsentNeeded(Exception):
    """A person must allow a step first."""

    def __init__(self, number: int, step: FlowStep, run: FlowRun) -> None:
        super().__init__(str(step))
        self.number, self.step, self.run = number, step, run


class Stopped(Exception):
    """A step cannot be done."""

    def __init__(self, reason: StopReason, message: str, *, is_done: bool = False) -> None:
        super().__init__(message)
        self.reason: StopReason = reason
        self.message, self.is_done = message, is_done


class FlowRunner:
    """Runs one flow on one page.

    Args:
        flow: The flow.
        page: The page.
        values: The values of its parameters.
        secrets: The values of its secrets.
        needs_consent: Returns whether a person must be asked before a step.
        patience_s: How long to wait for an element.
    """

    def __init__(
        self,
        flow: Flow,
        page: FlowPage,
        values: Mapping[str, str],
        secrets: Mapping[str, str],
        *,
        needs_consent: Callable[[FlowStep], bool] = lambda step: step.ask,
        patience_s: float = 10.0,
    ) -> None:
        self._flow, self._page, self._values, self._secrets = flow, page, values, secrets
        self._needs_consent, self._patience_s = needs_consent, patience_s
        self._known_url = ""  # of the page on which an element was found last

    async def run_steps(self, from_step: int = 1, *, approved_step: int = 0) -> FlowRun:
        """Do the steps from that one on, and check the end.

        Args:
            from_step: The first step to do.
            approved_step: The step that a person has just allowed.

        Raises:
            ConsentNeeded: A person must be asked before a step; those before it are done.
        """
        run, started = FlowRun(), time.monotonic()
        for number, step in enumerate(self._flow.steps, 1):
            if number < from_step:
                continue
            filled = fill_step(step, self._values)
            try:
                run.steps.append(await self._run_step(number, filled, run, is_approved=number == approved_step))
            except Stopped as stopped:
                run.stop = await self._build_stop(stopped, number)
                break
        else:
            run.stop = await self._check_end()
        run.seconds = time.monotonic() - started
        return run

    async def _run_step(self, number: int, step: FlowStep, run: FlowRun, *, is_approved: bool) -> StepReport:
        started = time.monotonic()
        if step.when and await self._wait_for(step.when, seconds=min(step.when.seconds, 1.0)):
            return StepReport(number, str(step), 0.0, is_skipped=True)
        await self._require_origin(step)
        refs, notes = ["", ""], []
        for index, target in enumerate((step.target, step.to)):
            if target is not None:
                match = await self._find(target, step.kind)
                assert match.candidate is not None
                refs[index] = match.candidate.ref
                notes += match.healed
                self._require_safe_address(step, match.candidate)
        if self._needs_consent(step) and not is_approved:
            raise ConsentNeeded(number, step, run)
        await self._act(step, *refs)
        await self._require_origin(None)
        if step.expect and (unmet := await self._wait_for(step.expect)):
            view = await self._page.read_view()
            is_sign_in = view.needs_person and view.url != self._known_url
            reason: StopReason = "needs_person" if is_sign_in else "check_failed"
            raise Stopped(reason, f"after it, {unmet}", is_done=True)
        return StepReport(number, str(step), time.monotonic() - started, tuple(notes))

    async def _act(self, step: FlowStep, ref: str, to_ref: str) -> None:
        """Do a step; conditions are waited for here, everything else is done by the page."""
        if step.wait:
            if unmet := await self._wait_for(step.wait):
                raise Stopped("check_failed", unmet)
            return
        try:
            await self._page.perform_step(step, ref, to_ref, self._secrets.get(step.secret or "", ""))
        except OutriderError as error:
            reason = STOP_REASONS.get(error.code, "failed")
            raise Stopped(reason, error.message, is_done=reason in ("no_effect", "failed")) from None

    async def _find(self, target: Target, kind: str) -> Match:
        """Find the one element that is certain; wait for it as long as the page may still be loading."""
        settled_s = 2.0  # after which an uncertain page is not waited for any more
        deadline = time.monotonic() + self._patience_s
        last, since = "", time.monotonic()
        while True:
            match = match_target(target, await self._page.list_candidates(target), kind)
            now = time.monotonic()
            if match.message != last:
                last, since = match.message, now
            is_settled = match.reason != "not_found" and now - since >= min(settled_s, self._patience_s)
            is_over = now >= deadline or is_settled
            # A page that is still loading may enable it.
            if match.candidate is not None and (is_over or not match.candidate.disabled):
                self._known_url = (await self._page.read_view()).url
                return match
            if is_over:
                break
            await anyio.sleep(POLL_INTERVAL_S)
        view = await self._page.read_view()
        # A sign-in in the place of a page is a matter for a person, a field for a password beside its fields is not.
        if match.reason == "not_found" and view.needs_person and view.url != self._known_url:
            raise Stopped("needs_person", f"{match.message}; the page asks for a sign-in or a proof of being human")
        assert match.reason != "found"
        raise Stopped(match.reason, match.message)

    async def _require_origin(self, step: FlowStep | None) -> None:
        """Stop on a site that the flow does not name: before a step, and after it."""
        url = step.open if step and step.open else (await self._page.read_view()).url
        is_leaving = step is not None and step.kind in ("open", "tab", "back", "forward")
        is_start = url == "about:blank" and (step is None or is_leaving)
        if is_start or is_named_origin(url, self._flow.origins) or (is_leaving and not (step and step.open)):
            return
        message = f"{read_origin(url) or url[:100]} is not among the flow's origins ({', '.join(self._flow.origins)})"
        raise Stopped("origin_refused", message, is_done=step is None)

    def _require_safe_address(self, step: FlowStep, candidate: ElementCandidate) -> None:
        """Stop before a press that would lead to another site."""
        sends = step.kind in ("click", "press") or step.submit
        if sends and candidate.address and not is_named_origin(candidate.address, self._flow.origins):
            message = f"{candidate.title} leads to {read_origin(candidate.address)}, which the flow does not name"
            raise Stopped("origin_refused", message)

    async def _check_end(self) -> Stop | None:
        for condition in self._flow.check:
            if unmet := await self._wait_for(fill_part(condition, self._values)):
                last = len(self._flow.steps)
                stopped = Stopped("check_failed", f"at the end, {unmet}")
                return await self._build_stop(stopped, 0, next_step=last + 1)
        return None

    async def _wait_for(self, condition: FlowCondition, seconds: float | None = None) -> str:
        """Wait for a condition; return what does not hold, or an empty text."""
        deadline = time.monotonic() + (condition.seconds if seconds is None else seconds)
        while unmet := find_unmet(condition, await self._page.read_view()):
            if time.monotonic() >= deadline:
                return unmet
            await anyio.sleep(POLL_INTERVAL_S)
        return ""

    async def _build_stop(self, stopped: Stopped, number: int, next_step: int | None = None) -> Stop:
        """Describe the stop with what the page shows."""
        try:
            outline, url = await self._page.read_outline(), (await self._page.read_view()).url
        except OutriderError as error:
            outline, url = f"the page does not answer: {error.message}", ""
        onward = next_step or (number + 1 if stopped.is_done else number)
        message = stopped.message if number == 0 else f"step {number}: {stopped.message}"
        return Stop(stopped.reason, message, number, onward, outline, url)


def read_origin(url: str) -> str:
    """Return scheme, host and port of an address; empty if it has none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower() if parts.netloc else ""


def is_named_origin(url: str, origins: Sequence[str]) -> bool:
    """Return whether an address is on one of the sites."""
    origin = read_origin(url)
    return bool(origin) and origin in {read_origin(each) or each.rstrip("/").lower() for each in origins}
