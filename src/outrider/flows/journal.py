"""Record begun and finished steps, so that runs can be resumed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from outrider.flows.extraction import Value

StepState = Literal["begun", "done", "skipped", "undone"]


@dataclass(frozen=True)
class StepRecord:
    """The record of one step of a run.

    Attributes:
        position: Its position in the run.
        state: `begun` is written before a step that may have an effect, the others after it; `undone` means that a
            person has said that an interrupted step had no effect.
        kind: The kind of step.
        summary: A description of the step.
        url: The page's address afterwards.
        was_met: Whether its `expect` already held before the step, and so proves nothing.
        seconds: How long it took.
        notes: Changes on the page that did not matter.
        rows: The extracted rows.
        matched: The elements that were found on the page.
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
    matched: str = ""

    @classmethod
    def from_row(cls, row: Mapping[Any, Any]) -> "StepRecord":
        """Read it from a row of the database."""
        names = ("position", "state", "kind", "summary", "url", "was_met", "seconds", "matched")
        return cls(**{name: row[name] for name in names}, notes=tuple(row["notes"]), rows=tuple(row["rows"]))

    @property
    def is_over(self) -> bool:
        """Whether the step needs no further work."""
        return self.state in ("done", "skipped")


class StepJournal:
    """The records of one run, in memory.

    Args:
        records: Those of an earlier part of the run.
    """

    def __init__(self, records: Iterable[StepRecord] = ()) -> None:
        self.records = {record.position: record for record in records}

    def find_record(self, position: str) -> StepRecord | None:
        """Return the record of a step, if any."""
        return self.records.get(position)

    async def settle_begun(self, *, is_done: bool) -> None:
        """Record what a person has found out about the interrupted step."""
        for record in [each for each in self.records.values() if each.state == "begun"]:
            await self.write_record(replace(record, state="done" if is_done else "undone"))

    async def write_record(self, record: StepRecord) -> None:
        """Record a step."""
        self.records[record.position] = record
