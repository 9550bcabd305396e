"""Schedules: intervals and cron lines in a time zone."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from functools import cached_property
from itertools import pairwise
from zoneinfo import ZoneInfo

from outrider.core.errors import InvalidInput

INTERVAL = re.compile(
    r"(?:every\s+)?(\d{1,6})?\s*"
    r"(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?|hourly|daily|weekly)"
)
MONTHS: list[str] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS: list[str] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
# Minute, hour, day of the month, month, day of the week: the range of each, and its names.
CRON_FIELDS: tuple[tuple[int, int, list[str]], ...] = (
    (0, 59, []),
    (0, 23, []),
    (1, 31, []),
    (1, 12, MONTHS),
    (0, 7, WEEKDAYS),
)
CRON_HINT = 'give minute, hour, day, month and weekday, like "0 9 * * mon-fri"'


@dataclass(frozen=True)
class CronLine:
    """The five fields of a cron line as sets of numbers (POSIX crontab; Sunday is 0)."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    is_any_day: bool
    is_any_weekday: bool

    def matches_day(self, day: date) -> bool:
        """Return whether the line matches a day: if both day fields are restricted, either one is enough."""
        by_day, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        is_either = not (self.is_any_day or self.is_any_weekday)
        return day.month in self.months and ((by_day or by_weekday) if is_either else (by_day and by_weekday))


@dataclass(frozen=True)
class Schedule:
    """A schedule as written by its author; `parse_schedule` checks it.

    Attributes:
        text: An interval (`6h`) or a cron line.
        zone: The time zone of a cron line.
        field: The name that errors give to the text.
    """

    text: str
    zone: tzinfo
    field: str = "every"

    @property
    def is_cron(self) -> bool:
        """Whether it is a cron line."""
        return len(self.text.split()) == 5

    @cached_property
    def interval_s(self) -> float:
        """The seconds between two times; for a cron line, the fewest between some of its times."""
        unit_seconds = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
        if self.is_cron:
            times = [self._find_next_time(0.0)]
            for _ in range(12):
                times.append(self._find_next_time(times[-1]))
            return min(later - earlier for earlier, later in pairwise(times))
        match = INTERVAL.fullmatch(self.text)
        assert match is not None
        return int(match[1] or 1) * unit_seconds[match[2][0]]

    def compute_next(self, now: float, jitter: float) -> float:
        """Return the next time, in seconds since the epoch.

        Args:
            now: The time of the last one.
            jitter: From 0 to 1. It spreads intervals by a tenth in both directions, and delays cron times by up to two
                minutes, so that watches added together are not all due together.
        """
        max_cron_delay_s = 120
        if self.is_cron:
            return self._find_next_time(now) + jitter * max_cron_delay_s
        return now + self.interval_s * (0.9 + jitter * 0.2)

    @cached_property
    def _cron(self) -> CronLine:
        return parse_cron(self.text, self.field)

    def _find_next_time(self, after: float) -> float:
        """Return the first time of the cron line after another; both in seconds since the epoch."""
        max_days = 366 * 8  # February 29 occurs at least that often
        start = datetime.fromtimestamp(after, self.zone)
        for offset in range(max_days):
            day = start.date() + timedelta(days=offset)
            if not self._cron.matches_day(day):
                continue
            for hour in sorted(self._cron.hours):
                for minute in sorted(self._cron.minutes):
                    found = datetime.combine(day, time(hour, minute), self.zone).timestamp()
                    if found > after:
                        return found
        raise InvalidInput(f"{self.field}: {self.text!r} matches no existing day", hint=CRON_HINT)


def parse_schedule(text: str, zone: tzinfo, min_interval_s: float) -> Schedule:
    """Return the schedule of a text. Raises InvalidInput."""
    hint = 'give an interval like "30m", "6h" or "1d", or a cron line like "0 9 * * mon-fri"'
    max_interval_s = 366 * 86_400.0  # a longer interval is a typing mistake
    schedule = Schedule(" ".join(text.lower().split()), zone)
    if not schedule.is_cron and not INTERVAL.fullmatch(schedule.text):
        raise InvalidInput(f"every: {text!r} is neither an interval nor a cron line", hint=hint)
    if schedule.interval_s < min_interval_s:
        raise InvalidInput(
            f"every: {text!r} is shorter than {min_interval_s:g} seconds, the limit of watches.min_interval_s",
            hint="give a longer interval",
        )
    if not schedule.is_cron and schedule.interval_s > max_interval_s:
        raise InvalidInput(f"every: {text!r} is longer than a year", hint=hint)
    return schedule


def parse_cron_schedule(text: str, zone: tzinfo, field: str) -> Schedule:
    """Return the schedule of a cron line, which names at least one time. Raises InvalidInput."""
    schedule = Schedule(" ".join(text.lower().split()), zone, field)
    if not schedule.is_cron:
        raise InvalidInput(f"{field}: {text[:100]!r} does not have five fields", hint=CRON_HINT)
    schedule.compute_next(0.0, 0.0)
    return schedule


def find_time_zone(name: str, field: str) -> ZoneInfo:
    """Return the time zone of a name such as Europe/Berlin. Raises InvalidInput."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # unknown names are KeyErrors
        hint = "give a name of the IANA database, such as Europe/Berlin or UTC"
        raise InvalidInput(f"{field}: {name[:100]!r} is not a known time zone", hint=hint) from None


def parse_cron(text: str, field: str = "every") -> CronLine:
    """Return the fields of a cron line. Raises InvalidInput."""
    words = text.split()
    sets = [_parse_field(word, limits, field) for word, limits in zip(words, CRON_FIELDS, strict=True)]
    weekdays = frozenset(number % 7 for number in sets[4])
    return CronLine(sets[0], sets[1], sets[2], sets[3], weekdays, words[2][0] == "*", words[4][0] == "*")


def _parse_field(word: str, limits: tuple[int, int, list[str]], field: str) -> frozenset[int]:
    low, high, names = limits
    numbers: set[int] = set()
    for part in word.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        begin = low if span == "*" else _parse_number(first, low, names)
        end = high if span == "*" or (slash and not dash) else (_parse_number(last, low, names) if dash else begin)
        stride = int(step) if step.isdecimal() and len(step) <= 4 else (0 if slash else 1)
        if not (low <= begin <= end <= high and stride):
            raise InvalidInput(f"{field}: {part[:100]!r} is not a field of a cron line", hint=CRON_HINT)
        numbers.update(range(begin, end + 1, stride))
    return frozenset(numbers)


def _parse_number(word: str, low: int, names: list[str]) -> int:
    """Return the number that a word means; -1 if none."""
    if word[:3] in names:
        return names.index(word[:3]) + (low if names is MONTHS else 0)
    return int(word) if word.isdecimal() and len(word) <= 2 else -1
