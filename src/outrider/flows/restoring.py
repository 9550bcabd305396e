"""Restore the page of an interrupted run without repeating an effect."""

from collections.abc import Sequence
from dataclasses import dataclass

from outrider.flows.flow import FlowStep
from outrider.flows.journal import StepRecord

# Kinds that change only the page, so a new page needs them again. With `submit`, a `fill` has an effect.
PAGE_KINDS = ("open", "fill", "select", "check", "uncheck", "hover", "scroll", "tab")
# Kinds that may be repeated, but do not affect the state of the page.
HARMLESS_KINDS = (*PAGE_KINDS, "wait", "extract", "back", "forward", "reload")


@dataclass(frozen=True)
class PassedStep:
    """A step that an earlier attempt has done.

    Attributes:
        step: The step with its values.
        record: Its record in the journal.
        secret: The value of its secret.
        origins: The sites of its flow.
        turns_page: Whether it went to the next page of a loop.
    """

    step: FlowStep
    record: StepRecord
    secret: str = ""
    origins: tuple[str, ...] = ()
    turns_page: bool = False

    def has_own_address(self, url_before: str) -> bool:
        """Return whether the address alone leads back to the page."""
        return self.step.kind in ("open", "back", "forward") or (self.turns_page and self.record.url != url_before)

    def to_open_step(self) -> "PassedStep":
        """Return a step that opens the address to which this one led."""
        step = self.step if self.step.kind == "open" else FlowStep(open=self.record.url)
        return PassedStep(step, self.record, origins=self.origins)


def is_harmless(step: FlowStep) -> bool:
    """Return whether a step may be repeated: it affects only the page, or has `repeat`."""
    return step.repeat or (step.kind in HARMLESS_KINDS and not step.submit)


def plan_restore(passed: Sequence[PassedStep]) -> list[PassedStep]:
    """Return the steps that bring a new browser to the state of the run.

    These are the first steps up to the last one with `repeat`, such as a sign-in, if none of them has an effect; then
    the address to which the last effect led, and the steps done on that page since.
    """
    done = [each for each in passed if each.record.state == "done"]
    effects = [index for index, each in enumerate(done) if not (is_harmless(each.step) or each.turns_page)]
    start = effects[-1] if effects else -1
    urls_before = ["", *(each.record.url for each in done)]
    opens = [index for index, each in enumerate(done) if index > start and each.has_own_address(urls_before[index])]
    # Steps before the last address do not affect the page.
    start = opens[-1] if opens else start
    repeats = [index for index, each in enumerate(done[: max(start, 0)]) if each.step.repeat]
    first_effect = effects[0] if effects else len(done)
    sign_in = [index for index in repeats if index < first_effect]
    prefix = _keep_page_steps(done[: sign_in[-1] + 1]) if sign_in else []
    if start < 0:
        return _keep_page_steps(done)
    return [*prefix, done[start].to_open_step(), *_keep_page_steps(done[start + 1 :])]


def _keep_page_steps(passed: Sequence[PassedStep]) -> list[PassedStep]:
    return [
        each
        for each in passed
        if each.turns_page or each.step.repeat or (each.step.kind in PAGE_KINDS and not each.step.submit)
    ]
