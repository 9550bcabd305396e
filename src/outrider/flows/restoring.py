"""Put a page back in the state in which an interrupted run left it, without repeating an effect."""

from collections.abc import Sequence
from dataclasses import dataclass

from outrider.flows.flow import FlowStep
from outrider.flows.journal import StepRecord

# What changes only the page, so that a new page needs it again. `submit` makes an effect of a `fill`.
PAGE_KINDS = ("open", "fill", "select", "check", "uncheck", "hover", "scroll", "tab")
# What may be done again, but need not for the page to be as it was.
HARMLESS_KINDS = (*PAGE_KINDS, "wait", "extract", "back", "forward", "reload")


@dataclass(frozen=True)
class PassedStep:
    """A step that an earlier part of the run has done.

    Attributes:
        step: The step with its values.
        record: What is known of it.
        secret: The value of its secret.
        origins: The sites of its flow.
        turns_page: Whether it is the press to the next page.
    """

    step: FlowStep
    record: StepRecord
    secret: str = ""
    origins: tuple[str, ...] = ()
    turns_page: bool = False

    def has_own_address(self, url_before: str) -> bool:
        """Return whether its address is enough to come back to its page."""
        return self.step.kind in ("open", "back", "forward") or (self.turns_page and self.record.url != url_before)

    def to_open_step(self) -> "PassedStep":
        """Return the step that opens the address to which it led."""
        step = self.step if self.step.kind == "open" else FlowStep(open=self.record.url)
        return PassedStep(step, self.record, origins=self.origins)


def is_harmless(step: FlowStep) -> bool:
    """Return whether a step may be done twice: it has no effect outside the page, or the flow says so."""
    return step.repeat or (step.kind in HARMLESS_KINDS and not step.submit)


def plan_restore(passed: Sequence[PassedStep]) -> list[PassedStep]:
    """Return the steps that bring a new browser to where the run was.

    These are the first ones up to the last that says `repeat`, as a sign-in does, where no effect is among them; then
    the address to which the last effect led, and what was done on that page since.
    """
    done = [each for each in passed if each.record.state == "done"]
    effects = [index for index, each in enumerate(done) if not (is_harmless(each.step) or each.turns_page)]
    start = effects[-1] if effects else -1
    urls_before = ["", *(each.record.url for each in done)]
    opens = [index for index, each in enumerate(done) if index > start and each.has_own_address(urls_before[index])]
    # Nothing before the last address matters for the page.
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
