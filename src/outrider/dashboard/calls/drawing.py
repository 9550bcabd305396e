"""Numbers as places in a drawing: the templates draw, this measures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from outrider.core.figures import Span, Spread

LEFT, RIGHT = 2.0, 158.0  # of a line of a table, in units of the drawing
HEIGHT = 60.0  # of the columns over time
FASTEST = 0.001  # seconds at the left end


@dataclass(frozen=True)
class Column:
    """One column: `fine` below, `failed` on top; heights in units of the drawing."""

    span: Span
    x: float
    fine: float
    failed: float


def columns(spans: Sequence[Span], width: float) -> list[Column]:
    """The columns, as high as their share of the highest; what is not nothing can be seen."""
    highest = max((span.fine + span.failed for span in spans), default=0) or 1
    step = width / max(len(spans), 1)
    return [
        Column(span, round(at * step, 1), _height(span.fine, highest), _height(span.failed, highest))
        for at, span in enumerate(spans)
    ]


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale from `low` to `high`: waiting times differ by powers of ten."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Where a value is, between the left and the right end."""
        low, high = math.log10(self.low), math.log10(self.high)
        part = (math.log10(max(value, self.low)) - low) / (high - low)
        return round(LEFT + min(part, 1.0) * (RIGHT - LEFT), 1)


def of_seconds(spreads: Sequence[Spread]) -> Scale:
    """The scale of waiting times."""
    return _scale([each.high_seconds for each in spreads], FASTEST)


def of_sizes(spreads: Sequence[Spread]) -> Scale:
    """The scale of sizes."""
    return _scale([float(each.high_size) for each in spreads], 10.0)


def _scale(values: Sequence[float], low: float) -> Scale:
    return Scale(low, max([*values, low * 10]))


def _height(count: int, highest: int) -> float:
    return round(max(count / highest * HEIGHT, 1.5), 1) if count else 0.0
