"""Convert numbers to chart coordinates for the templates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from outrider.core.call_stats import CallBucket, CallSummary

LEFT_X, RIGHT_X = 2.0, 158.0  # of a line in a table, in drawing units


@dataclass(frozen=True)
class ChartColumn:
    """One column: `fine` below, `failed` on top; heights in drawing units."""

    span: CallBucket
    x: float
    fine: float
    failed: float


def build_columns(spans: Sequence[CallBucket], width: float) -> list[ChartColumn]:
    """Scale the columns to the highest; values above zero stay visible."""
    highest = max((span.fine + span.failed for span in spans), default=0) or 1
    step = width / max(len(spans), 1)
    return [
        ChartColumn(span, round(at * step, 1), _scale_height(span.fine, highest), _scale_height(span.failed, highest))
        for at, span in enumerate(spans)
    ]


@dataclass(frozen=True)
class LogScale:
    """A logarithmic scale from `low` to `high`, for values that differ by powers of ten."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return the position of a value between both ends."""
        low, high = math.log10(self.low), math.log10(self.high)
        part = (math.log10(max(value, self.low)) - low) / (high - low)
        return round(LEFT_X + min(part, 1.0) * (RIGHT_X - LEFT_X), 1)


def build_time_scale(spreads: Sequence[CallSummary]) -> LogScale:
    """Build the scale of durations."""
    min_seconds = 0.001  # seconds at the left end
    return _build_scale([each.high_seconds for each in spreads], min_seconds)


def build_size_scale(spreads: Sequence[CallSummary]) -> LogScale:
    """Build the scale of sizes."""
    return _build_scale([float(each.high_size) for each in spreads], 10.0)


def _build_scale(values: Sequence[float], low: float) -> LogScale:
    return LogScale(low, max([*values, low * 10]))


def _scale_height(count: int, highest: int) -> float:
    max_height = 60.0  # of the columns of a time chart
    return round(max(count / highest * max_height, 1.5), 1) if count else 0.0
