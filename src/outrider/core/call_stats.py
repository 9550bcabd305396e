"""What many calls say together: how often, how fast, how large, and what went wrong in which way."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from outrider.core.call_history import CallSample, FailedCall

N = TypeVar("N", int, float)
# What differs between two messages of the same failure: addresses, quoted names, ids, numbers.
MESSAGE_PLACEHOLDERS = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE), "‹address›"),
    (re.compile(r"'[^']{1,300}'|\"[^\"]{1,300}\""), "‹name›"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{8,}\b", re.IGNORECASE), "‹id›"),
    (re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.[a-z][\w-]*\b", re.IGNORECASE), "‹name›"),  # a host, a file
    (re.compile(r"\d+(?:[.,:]\d+)*"), "‹number›"),
)


@dataclass(frozen=True)
class CallSummary:
    """Some calls: seconds and characters by nearest rank (the smallest value that so many are not above)."""

    name: str
    count: int
    failed: int
    middle_seconds: float
    high_seconds: float
    middle_size: int
    high_size: int

    @property
    def failing(self) -> float:
        """The part that failed, 0 to 1."""
        return self.failed / self.count if self.count else 0.0


@dataclass(frozen=True)
class CallBucket:
    """The calls of a stretch of time; times are seconds since the epoch."""

    begin: float
    end: float
    fine: int
    failed: int


@dataclass(frozen=True)
class FailureGroup:
    """Failures that are one failure: the same code, and messages that differ in particulars alone.

    `example` is the newest message as it was.
    """

    outcome: str
    shape: str
    count: int
    first: float
    last: float
    tools: tuple[str, ...]
    example: str


def summarize_calls(name: str, calls: Sequence[CallSample]) -> CallSummary:
    """What these calls say together."""
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
    """One for each key, the most frequent first; calls of no key are left out."""
    found: dict[str, list[CallSample]] = defaultdict(list)
    for call in calls:
        if name := key(call):
            found[name].append(call)
    return sorted(
        (summarize_calls(name, each) for name, each in found.items()), key=lambda each: (-each.count, each.name)
    )


def bucket_calls(calls: Iterable[CallSample], begin: float, end: float, count: int) -> list[CallBucket]:
    """The stretch from `begin` to `end` in `count` equal parts."""
    width = (end - begin) / count
    tally = [[0, 0] for _ in range(count)]
    for call in calls:
        at = int((call.at - begin) // width)
        if 0 <= at < count:
            tally[at][call.failed] += 1
    return [CallBucket(begin + at * width, begin + (at + 1) * width, *pair) for at, pair in enumerate(tally)]


def group_failures(failures: Iterable[FailedCall]) -> list[FailureGroup]:
    """The failures by code and by the shape of their message, the most frequent first.

    Args:
        failures: The newest first.
    """
    found: dict[tuple[str, str], list[FailedCall]] = defaultdict(list)
    for each in failures:
        found[each.outcome, normalize_message(each.message)].append(each)
    made = [_group(outcome, words, each) for (outcome, words), each in found.items()]
    return sorted(made, key=lambda each: (-each.count, -each.last))


def normalize_message(message: str) -> str:
    """A message without its particulars."""
    max_chars = 300  # characters of a message that count
    words = message[:max_chars]
    for pattern, stand_in in MESSAGE_PLACEHOLDERS:
        words = pattern.sub(stand_in, words)
    return " ".join(words.split())


def _group(outcome: str, words: str, each: Sequence[FailedCall]) -> FailureGroup:
    tools = tuple(sorted({one.tool for one in each}))
    return FailureGroup(outcome, words, len(each), each[-1].at, each[0].at, tools, each[0].message)


def _find_percentile(values: Sequence[N], part: float) -> N:
    return values[min(len(values) - 1, int(len(values) * part))]
