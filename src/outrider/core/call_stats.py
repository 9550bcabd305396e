"""Aggregate statistics over tool calls, and group their failures."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from outrider.core.call_history import CallSample, FailedCall

N = TypeVar("N", int, float)
# Particulars that differ between two messages of the same failure: addresses, quoted names, ids, numbers.
MESSAGE_PLACEHOLDERS = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE), "‹address›"),
    (re.compile(r"'[^']{1,300}'|\"[^\"]{1,300}\""), "‹name›"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{8,}\b", re.IGNORECASE), "‹id›"),
    (re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.[a-z][\w-]*\b", re.IGNORECASE), "‹name›"),  # a host, a file
    (re.compile(r"\d+(?:[.,:]\d+)*"), "‹number›"),
)


@dataclass(frozen=True)
class CallSummary:
    """Statistics of some calls, by nearest rank.

    `middle` is the median and `high` the 95th percentile; sizes are in characters.
    """

    name: str
    count: int
    failed: int
    middle_seconds: float
    high_seconds: float
    middle_size: int
    high_size: int

    @property
    def failing(self) -> float:
        """The share of failed calls, 0 to 1."""
        return self.failed / self.count if self.count else 0.0


@dataclass(frozen=True)
class CallBucket:
    """Call counts of one interval; times are seconds since the epoch."""

    begin: float
    end: float
    fine: int
    failed: int


@dataclass(frozen=True)
class FailureGroup:
    """Failures with the same code whose messages differ only in particulars.

    Attributes:
        shape: The message with placeholders for the particulars.
        example: The newest message, unchanged.
    """

    outcome: str
    shape: str
    count: int
    first: float
    last: float
    tools: tuple[str, ...]
    example: str


def summarize_calls(name: str, calls: Sequence[CallSample]) -> CallSummary:
    """Return the statistics of these calls."""
    seconds = sorted(call.seconds for call in calls) or [0.0]
    sizes = sorted(call.size for call in calls) or [0]
    failed = sum(call.failed for call in calls)
    return CallSummary(
        name,
        len(calls),
        failed,
        _find_percentile(seconds, 0.5),
        _find_percentile(seconds, 0.95),
        _find_percentile(sizes, 0.5),
        _find_percentile(sizes, 0.95),
    )


def summarize_calls_by(calls: Iterable[CallSample], key: Callable[[CallSample], str | None]) -> list[CallSummary]:
    """Return statistics for each key, the most frequent first; calls without a key are left out."""
    calls_by_key: dict[str, list[CallSample]] = defaultdict(list)
    for call in calls:
        if name := key(call):
            calls_by_key[name].append(call)
    summaries = [summarize_calls(name, group) for name, group in calls_by_key.items()]
    return sorted(summaries, key=lambda summary: (-summary.count, summary.name))


def bucket_calls(calls: Iterable[CallSample], begin: float, end: float, count: int) -> list[CallBucket]:
    """Count the calls in `count` equal intervals from `begin` to `end`."""
    width = (end - begin) / count
    tallies = [[0, 0] for _ in range(count)]  # succeeded, failed
    for call in calls:
        index = int((call.at - begin) // width)
        if 0 <= index < count:
            tallies[index][call.failed] += 1
    return [
        CallBucket(begin + index * width, begin + (index + 1) * width, *tally) for index, tally in enumerate(tallies)
    ]


def group_failures(failures: Iterable[FailedCall]) -> list[FailureGroup]:
    """Group failures by code and by the shape of their message, the most frequent first.

    Args:
        failures: The newest first.
    """
    failures_by_shape: dict[tuple[str, str], list[FailedCall]] = defaultdict(list)
    for failure in failures:
        failures_by_shape[failure.outcome, normalize_message(failure.message)].append(failure)
    groups = []
    for (outcome, shape), members in failures_by_shape.items():
        newest, oldest = members[0], members[-1]
        tools = tuple(sorted({failure.tool for failure in members}))
        groups.append(FailureGroup(outcome, shape, len(members), oldest.at, newest.at, tools, newest.message))
    return sorted(groups, key=lambda group: (-group.count, -group.last))


def normalize_message(message: str) -> str:
    """Replace the particulars in the first 300 characters of a message by placeholders."""
    text = message[:300]
    for pattern, placeholder in MESSAGE_PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return " ".join(text.split())


def _find_percentile(values: Sequence[N], share: float) -> N:
    return values[min(len(values) - 1, int(len(values) * share))]
