"""What the cells of a workbook show: numbers, dates and percentages by their formats.

Formats: ISO/IEC 29500-1 section 18.8.30; serial dates: section 18.17.4.
"""

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from outrider.pages.readers.parsing.xml import XmlElement

QUOTED_FORMAT = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!(?:h|hh|m|mm|s|ss)\])[^\]]*\]', re.IGNORECASE)
DATE_FORMATS = frozenset({14, 15, 16, 17, *range(27, 32), 34, 35, 36, *range(50, 59)})
TIME_FORMATS = frozenset({18, 19, 20, 21, 32, 33, 45, 47})
ELAPSED_FORMATS = frozenset({46})
DATETIME_FORMATS = frozenset({22})
PERCENT_FORMATS = frozenset({9, 10})
CELL_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
CURRENCY_FORMAT = re.compile(r"\[\$([^\]\-]{1,5})(?:-[0-9A-Fa-f]{1,8})?\]|([$€£¥₹₽₩฿₺₪₫₴])")
ZERO_PADDING = re.compile(r"0{2,20}")  # numbers that are names: of places, of articles


class CellAddress(NamedTuple):
    """A cell's place, both counted from 1."""

    row: int
    column: int

    @property
    def name(self) -> str:
        """As sheets call it: `B2`."""
        letters, left = "", self.column
        while left > 0:
            left, letter = divmod(left - 1, 26)
            letters = chr(65 + letter) + letters
        return f"{letters}{self.row}"


def parse_address(reference: str) -> CellAddress | None:
    """The place that `B2` names; None if it names none."""
    found = CELL_REFERENCE.match(reference)
    if found is None:
        return None
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - 64
    return CellAddress(int(found[2]), column)


def parse_range(reference: str) -> tuple[CellAddress, CellAddress] | None:
    """The first and the last place of `A1:C3`."""
    first, _, last = reference.partition(":")
    start = parse_address(first)
    end = parse_address(last or first)
    return (start, end) if start and end and start.row <= end.row and start.column <= end.column else None


class NumberFormats:
    """How each style of a workbook shows numbers.

    Args:
        codes: The workbook's own formats by their numbers.
        styles: The number of each style's format.
        since_1904: Whether days are counted from 1904.

    That is `date`, `time`, `both`, `elapsed`, `percent`, `zeros 5` for so many digits at least, `before €` or
    `behind €` for amounts of money, or empty.
    """

    def __init__(self, codes: dict[str, str], styles: list[str], *, since_1904: bool) -> None:
        own = {number: _classify_format(code) for number, code in codes.items()}
        self._kinds = [_resolve_kind(number, own) for number in styles]
        self._epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)  # noqa: DTZ001 - no zone
        self._since_1904 = since_1904

    @classmethod
    def from_styles(cls, styles: XmlElement, *, since_1904: bool) -> "NumberFormats":
        """Those of a workbook's part of styles."""
        given, known = styles.find("s:numFmts") or XmlElement(""), styles.find("s:cellXfs") or XmlElement("")
        codes = {each.get("numFmtId"): each.get("formatCode") for each in given.iter_named("s:numFmt")}
        return cls(codes, [each.get("numFmtId") for each in known.iter_named("s:xf")], since_1904=since_1904)

    def format_number(self, number: str, style: str) -> str:
        """A number as its style shows it, dates in ISO 8601."""
        max_serial_date = 2_958_466  # 1 January 10000
        kind = self._kinds[int(style)] if style.isdigit() and len(style) < 6 and int(style) < len(self._kinds) else ""
        try:
            value = float(number)
        except ValueError:
            return number
        if kind == "percent":
            return f"{format_plain_number(value * 100)}%"
        if " " in kind:
            return _format_amount(value, *kind.split(" ", 1))
        return self._format_moment(value, kind) if kind and 0 <= value < max_serial_date else format_plain_number(value)

    def _format_moment(self, value: float, kind: str) -> str:
        first_correct_day = 60  # before 1 March 1900 the count is one off: it knows a 29 February that never was
        if kind == "elapsed":
            minutes, seconds = divmod(round(value * 86_400), 60)
            return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
        early = kind != "time" and value < first_correct_day and not self._since_1904
        moment = self._epoch + timedelta(days=int(value) + early, seconds=round((value % 1) * 86_400))
        if kind == "time" and value < 1:
            return moment.strftime("%H:%M:%S")
        return moment.date().isoformat() if kind == "date" and value % 1 == 0 else moment.isoformat(" ")


def _format_amount(value: float, kind: str, given: str) -> str:
    """A number with its leading zeros, or with its currency."""
    text = format_plain_number(abs(value))
    if kind == "zeros":
        text = text.zfill(int(given))
    elif kind == "before":
        text = f"{given} {text}" if given.isalpha() else f"{given}{text}"
    else:
        text = f"{text} {given}"
    return f"-{text}" if value < 0 else text


def format_plain_number(value: float) -> str:
    """A number without the dust of binary fractions."""
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - a number that is none
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"


def _resolve_kind(number: str, own: dict[str, str]) -> str:
    if number in own:
        return own[number]
    identity = int(number) if number.isdigit() and len(number) < 6 else 0
    groups = (
        (DATE_FORMATS, "date"),
        (TIME_FORMATS, "time"),
        (DATETIME_FORMATS, "both"),
        (PERCENT_FORMATS, "percent"),
        (ELAPSED_FORMATS, "elapsed"),
    )
    return next((kind for group, kind in groups if identity in group), "")


def _classify_format(code: str) -> str:
    """What a format code makes of numbers, told by the letters of its first section outside of quotes."""
    first = code[:500].split(";", maxsplit=1)[0]
    bare = QUOTED_FORMAT.sub("", first).lower()
    if "[" in bare:
        return "elapsed"
    if "general" in bare or bare.strip() in ("", "@"):
        return ""
    bare = bare.replace("am/pm", "h").replace("a/p", "h")
    timed = "h" in bare or "s" in bare
    dated = "y" in bare or "d" in bare or ("m" in bare and not timed)
    if dated and timed:
        return "both"
    return "date" if dated else "time" if timed else "percent" if "%" in bare else _classify_amount(first, bare.strip())


def _classify_amount(code: str, bare: str) -> str:
    """What a number that is no time wears: its zeros, or its currency and on which side."""
    if ZERO_PADDING.fullmatch(bare):
        return f"zeros {len(bare)}"
    found = CURRENCY_FORMAT.search(code)
    if found is None:
        return ""
    sign = (found[1] or found[2]).strip()
    before = not any(letter in code[: found.start()] for letter in "0#?")
    return f"{'before' if before else 'behind'} {sign}" if sign else ""
