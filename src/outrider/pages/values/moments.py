"""Read the date and the times of a short text such as `Tue, Jul 30 2024, 9 - 11am`."""

import re
from collections.abc import Iterator
from typing import Any

from outrider.pages.extraction.metadata.dates import match_dates
from outrider.pages.values.convert import expand_year
from outrider.pages.values.offered_value import OfferedValue
from outrider.pages.values.phrases import is_one_line

HOUR = r"(?:[01]?\d|2[0-4])"
HALF = r"\s?[ap]\.?\s?m\b\.?"
CLOCK = rf"{HOUR}(?:[:.h][0-5]\d(?::[0-5]\d)?(?:{HALF}|\s?(?:Uhr|h)\b)?|{HALF}|\s?(?:Uhr|h)\b)"
TIMES = re.compile(
    rf"(?P<all>(?P<start>{CLOCK})(?:\s?(?:[-\u2013\u2014]|to|until|till|bis|\u00e0)\s?(?P<end>{CLOCK}))?"
    rf"|(?P<short>{HOUR})\s?(?:[-\u2013]|to)\s?(?P<last>{HOUR}(?::[0-5]\d)?(?P<half>{HALF})))",
    re.IGNORECASE,
)
DATE_DIGITS = re.compile(r"\d{4}|\d[/-]\d{1,2}[/-]\d\d")
ANY_ORDER = "en-us"  # where a date is does not depend on the order of day and month
BEFORE_DATE = re.compile(r"(?:[^\W\d_]{2,12}\.?,?\s+){0,2}|(?:date|when)\s*:\s*", re.IGNORECASE)
BEFORE_TIME = re.compile(r"[\s,;@|\u00b7\u2022\u2013\u2014-]*(?:(?:at|from|um|von|\u00e0)\s+)?", re.IGNORECASE)
AFTER_TIME = re.compile(r"\s*\(?(?:[A-Z]{1,2}[SD]?T|local time)?\)?[.,;]?(?:\s.*)?")


def read_moment(node: Any, text: str, lead: str, context: str) -> Iterator[OfferedValue]:
    """Yield the date and the times of a text that begins with both, and of one that has nothing else."""
    max_chars = 120
    if len(text) > max_chars or not (DATE_DIGITS.search(text) and TIMES.search(text) and is_one_line(node)):
        return
    text = expand_year(text, ANY_ORDER)
    found = match_dates(text, ANY_ORDER)
    if len({day for _, _, day in found}) != 1 or not BEFORE_DATE.fullmatch(text[: found[0][0]]):
        return
    start, end, _ = found[0]
    lead_in = BEFORE_TIME.match(text, end)
    times = TIMES.match(text, lead_in.end()) if lead_in else None
    after = AFTER_TIME.fullmatch(text, times.end()) if times else None
    if times is None or after is None:
        return
    place = f"{lead}text {text[:80]!r}"
    yield OfferedValue(("date",), text[start:end], "time", place, 0.66, context)
    first, last = times["start"] or f"{times['short']}{times['half'].strip()}", times["end"] or times["last"]
    offers = [("time", times["all"]), ("start time", first), ("end time", last or "")]
    for label, value in offers:
        if value:
            yield OfferedValue((label,), value.strip(), "pair", place, 0.6, context)


def read_only_date(text: str, place: str) -> Iterator[OfferedValue]:
    """Yield the only date of a short row, which may stand in a title: `Minutes of 3 May 2026`."""
    max_chars, weight = 300, 0.4
    text = expand_year(text, ANY_ORDER) if len(text) <= max_chars and DATE_DIGITS.search(text) else ""
    found = match_dates(text, ANY_ORDER)
    if len({day for _, _, day in found}) == 1:
        yield OfferedValue(("date",), text[found[0][0] : found[0][1]], "time", f"{place}, text", weight)
