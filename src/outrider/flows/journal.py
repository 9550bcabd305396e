"""Remember what a run has begun and done, so that it can go on after an interruption."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from outrider.flows.extraction import Value

StepState = Literal["begun", "done", "skipped"]


@dataclass(frozen=True)
class StepRecord:
    """What is known of one step of a run.

    Attributes:
        position: Its position in the run.
        state: `begun` is written before a step that may have an effect, the others after it.
        kind: The kind of step.
        summary: What it does.
        url: The page's address afterwards.
        was_met: Whether its `expect` held before it already, and so proves nothing.
        seconds: How long it took.
        notes: What had changed on the page and did not matter.
        rows: What was extracted.
    """

    position: str
    state: StepState
    kind: str = ""
    summary: str = ""
    url: str = ""
    was_met: bool = False
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    rows: tuple[dict[str, Value], ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether it need not be done any more."""
        return self.state != "begun"


class StepJournal:
    """The records of one run, in memory.

    Args:
        records: Those of an earlier part of the run.
    """

    def __init__(self, records: Iterable[StepRecord] = ()) -> None:
        self.records = {record.position: record for record in records}

    def find_record(self, position: str) -> StepRecord | None:
        """Return what is known of a step."""
        return self.records.get(position)

    async def write_record(self, record: StepRecord) -> None:
        """Remember a step."""
        self.records[record.position] = record
