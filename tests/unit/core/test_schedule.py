"""A schedule computes its next time."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from outrider.core.errors import InvalidInput
from outrider.core.schedule import parse_schedule

VIENNA = ZoneInfo("Europe/Vienna")
NOON = datetime(2026, 3, 27, 12, 0, tzinfo=VIENNA)  # a Friday, two days before summer time begins


def test_intervals_are_read_from_words_and_jittered():
    for text, seconds in {
        "30m": 1_800,
        "every 2 hours": 7_200,
        "Daily": 86_400,
        "1 w": 604_800,
        "90 min": 5_400,
    }.items():
        schedule = parse_schedule(text, VIENNA, 60)
        assert schedule.interval_s == seconds
        times = [schedule.compute_next(NOON.timestamp(), jitter) - NOON.timestamp() for jitter in (0, 0.5, 1)]
        assert times == pytest.approx([seconds * 0.9, seconds, seconds * 1.1])


def test_cron_lines_are_read_in_the_time_zone():
    cases = {
        "0 9 * * mon-fri": "2026-03-30T09:00:00+02:00",
        "*/15 * * * *": "2026-03-27T12:15:00+01:00",
        "30 6,18 * * *": "2026-03-27T18:30:00+01:00",
        "0 0 1 jan *": "2027-01-01T00:00:00+01:00",
        "0 0 29 2 *": "2028-02-29T00:00:00+01:00",
        "0 8 1 * sun": "2026-03-29T08:00:00+02:00",  # either of the two
        "5 0 * * 7": "2026-03-29T00:05:00+01:00",
    }
    for text, expected in cases.items():
        found = parse_schedule(text, VIENNA, 60).compute_next(NOON.timestamp(), 0.0)
        assert datetime.fromtimestamp(found, VIENNA).isoformat() == expected, text


def test_an_invalid_or_too_frequent_schedule_is_refused():
    for text in (
        "",
        "soon",
        "60 * * * *",
        "0 0 31 2 *",
        "*/0 * * * *",
        "1-a * * * *",
        "* * *",
        "5-1 * * * *",
        "1m",
        "* * * * *",
        "999999w",
    ):
        with pytest.raises(InvalidInput, match=r"^every: "):
            parse_schedule(text, VIENNA, 300)
