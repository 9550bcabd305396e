"""Tables of measurements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

Turns = Sequence[float]


@dataclass(frozen=True)
class Comparison:
    """A measure of several contenders: the value of each turn by name.

    Attributes:
        what: The measure with its unit.
        baseline: The contender that the ratios are relative to.
        values: Contender to its values; contenders were measured in turns.
        digits: Digits after the point.
    """

    what: str
    baseline: str
    values: Mapping[str, Turns]
    digits: int = 3

    def compute_ratio(self, name: str, of: Callable[[Turns], float] = median) -> float:
        """Divide the median, or another statistic, by that of the baseline."""
        return of(self.values[name]) / of(self.values[self.baseline])

    def render_table(self) -> str:
        """Render the least and the median value of each contender, with ratios, as Markdown."""
        turns = len(next(iter(self.values.values())))
        if turns == 1:
            return self._render_counts()
        lines = [f"| {self.what}, {turns} turns | least | median | ratio of least | ratio of median |"]
        lines.append("|---|---:|---:|---:|---:|")
        for name, values in self.values.items():
            least, middle = (f"{value:,.{self.digits}f}" for value in (min(values), median(values)))
            ratio_of_least = self.compute_ratio(name, min)
            lines.append(f"| {name} | {least} | {middle} | {ratio_of_least:.2f} | {self.compute_ratio(name):.2f} |")
        return "\n".join(lines)

    def _render_counts(self) -> str:
        """Render values that were counted and not timed."""
        lines = [f"| {self.what} | | ratio |", "|---|---:|---:|"]
        lines += [
            f"| {name} | {value:,.{self.digits}f} | {self.compute_ratio(name):.2f} |"
            for name, [value] in self.values.items()
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Part:
    """A part of the benchmarks: its title, its method and its tables."""

    title: str
    method: str
    tables: Sequence[Comparison]
    remarks: str = ""

    def render_markdown(self) -> str:
        """Render the part as Markdown."""
        parts = [f"## {self.title}", self.method, *(table.render_table() for table in self.tables), self.remarks]
        return "\n\n".join(part for part in parts if part)
