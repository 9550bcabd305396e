"""Describe the run of a flow: its steps, what it found, and why it stopped."""

from dataclasses import dataclass, field
from typing import Any, Literal

# Why a flow stops. Each is told before anything is pressed, but for `check_failed`, `no_effect` and `failed`.
StopReason = Literal[
    "not_found",
    "ambiguous",
    "changed",
    "blocked",
    "check_failed",
    "origin_refused",
    "needs_person",
    "dialog_open",
    "no_effect",
    "failed",
]


@dataclass(frozen=True)
class StepReport:
    """A step that was done or left out.

    Attributes:
        number: Its number in the flow, from 1.
        summary: What it did.
        seconds: How long it took.
        notes: What had changed on the page and did not matter.
        is_skipped: Whether its condition did not hold.
    """

    number: int
    summary: str
    seconds: float
    notes: tuple[str, ...] = ()
    is_skipped: bool = False


@dataclass(frozen=True)
class Stop:
    """Why and where a run stopped.

    Attributes:
        reason: A word for programs.
        message: A sentence for people and models.
        step: The step at which it stopped; 0 for a check at the end.
        next_step: The step to go on with, once what is in the way is settled.
        outline: What the page shows.
        url: The page's address.
    """

    reason: StopReason
    message: str
    step: int
    next_step: int
    outline: str = ""
    url: str = ""


@dataclass
class FlowRun:
    """The outcome of a run; `stop` is None where it ended right."""

    steps: list[StepReport] = field(default_factory=list)
    stop: Stop | None = None
    seconds: float = 0.0

    @property
    def healed(self) -> list[tuple[int, str]]:
        """The step and the difference of each element that was recognised although it had changed."""
        return [(report.number, note) for report in self.steps for note in report.notes]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        data: dict[str, Any] = {
            "ok": self.stop is None,
            "steps": len(self.steps),
            "seconds": round(self.seconds, 2),
        }
        if self.healed:
            data["healed"] = [{"step": step, "difference": note} for step, note in self.healed]
        if skipped := [report.number for report in self.steps if report.is_skipped]:
            data["skipped"] = skipped
        if self.stop:
            stop = self.stop
            data |= {"reason": stop.reason, "message": stop.message, "step": stop.step, "fromStep": stop.next_step}
            data |= {"url": stop.url}
        return data
