"""The outcome of a flow's run: its steps, its results, and why it stopped."""

from dataclasses import dataclass, field
from typing import Any, Literal

from outrider.flows.extraction import Value
from outrider.flows.positions import to_number

MAX_PICTURE_BYTES = 300_000
# Why a flow stops: always before the step acts, except for `check_failed`, `no_effect`, `failed`, and `unknown_effect`,
# whose step was interrupted.
StopReason = Literal[
    "not_found",
    "ambiguous",
    "changed",
    "blocked",
    "check_failed",
    "origin_refused",
    "needs_person",
    "dialog_open",
    "unexpected_dialog",
    "no_effect",
    "data_mismatch",
    "unknown_effect",
    "failed",
]


@dataclass(frozen=True)
class StepReport:
    """A step that was done or skipped.

    Attributes:
        position: Its position in the run, such as `3`, or `3.2.1` in a loop.
        summary: A description of the step.
        seconds: How long it took.
        notes: Changes on the page that did not matter.
        is_skipped: Whether its condition did not hold.
    """

    position: str
    summary: str
    seconds: float
    notes: tuple[str, ...] = ()
    is_skipped: bool = False


@dataclass(frozen=True)
class Stop:
    """Why and where a run stopped.

    Attributes:
        reason: A code for programs.
        message: A sentence for people and models.
        step: The position at which it stopped; 0 for a check at the end.
        next_step: The position to continue from, once the obstacle is removed.
        after_step: The position to continue from if a person has done the step by hand.
        outline: The snapshot of the page.
        url: The page's address.
        flow: The flow in whose file the step is.
        place: The step's place in that file, such as `3.1`; empty for a check at the end.
    """

    reason: StopReason
    message: str
    step: str
    next_step: str
    after_step: str
    outline: str = ""
    url: str = ""
    flow: str = ""
    place: str = ""


@dataclass(frozen=True)
class RunPicture:
    """A picture of a page, of at most `MAX_PICTURE_BYTES`."""

    data: bytes
    mime_type: str


@dataclass
class FlowRun:
    """The outcome of a run.

    Attributes:
        steps: The steps that were done or skipped, in order.
        stop: Why it stopped; None if it succeeded.
        results: The rows of each extraction, by its name.
        files: The name of the result for each file.
        notes: Remarks for people.
    """

    steps: list[StepReport] = field(default_factory=list)
    stop: Stop | None = None
    results: dict[str, list[dict[str, Value]]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def healed(self) -> list[tuple[str, str]]:
        """The step and the difference of each changed element that was recognized."""
        return [(report.position, note) for report in self.steps for note in report.notes]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        data: dict[str, Any] = {
            "ok": self.stop is None,
            "steps": len(self.steps),
            "seconds": round(self.seconds, 2),
        }
        if self.healed:
            data["healed"] = [{"step": to_number(step), "difference": note} for step, note in self.healed]
        if skipped := [to_number(report.position) for report in self.steps if report.is_skipped]:
            data["skipped"] = skipped
        if self.stop:
            stop = self.stop
            data |= {"reason": stop.reason, "message": stop.message, "url": stop.url}
            data |= {"step": to_number(stop.step), "fromStep": to_number(stop.next_step)}
        return data
