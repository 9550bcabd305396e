"""Figures and the tables that they are shown in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Values = Sequence[float]


@dataclass(frozen=True)
class Measured:
    """One measure of several contenders: by name the value of each turn.

    Attributes:
        what: The measure with its unit.
        yardstick: The contender that the ratios are relative to.
        values: Contender to its values; contenders were measured in turns.
        digits: Digits after the point.
    """

    what: str
    yardstick: str
    values: Mapping[str, Values]
    digits: int = 3

    def ratio(self, name: str, of: Callable[[Values], float] = median) -> float:
        """The median, or another figure, against the yardstick's."""
        return of(self.values[name]) / of(self.values[self.yardstick])

    def table(self) -> str:
        """Markdown: contender, least, median, and the ratio of each."""
        turns = len(next(iter(self.values.values())))
        if turns == 1:
            return self._counted()
        lines = [f"| {self.what}, {turns} turns | least | median | ratio of least | ratio of median |"]
        lines.append("|---|---:|---:|---:|---:|")
        for name, values in self.values.items():
            least, middle = (f"{value:,.{self.digits}f}" for value in (min(values), median(values)))
            lines.append(f"| {name} | {least} | {middle} | {self.ratio(name, min):.2f} | {self.ratio(name):.2f} |")
        return "\n".join(lines)

    def _counted(self) -> str:
        """The same for what was counted and not timed."""
        lines = [f"| {self.what} | | ratio |", "|---|---:|---:|"]
        lines += [
            f"| {name} | {value:,.{self.digits}f} | {self.ratio(name):.2f} |" for name, [value] in self.values.items()
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Part:
    """What one part of the benchmarks found: a title, what was done, and its tables."""

    title: str
    method: str
    tables: Sequence[Measured]
    remarks: str = ""

    def text(self) -> str:
        """Markdown."""
        parts = [f"## {self.title}", self.method, *(table.table() for table in self.tables), self.remarks]
        return "\n\n".join(part for part in parts if part)
