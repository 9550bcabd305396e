"""Format cell values of workbooks: numbers, dates, percentages and amounts.

Formats: ISO/IEC 29500-1 section 18.8.30; serial dates: section 18.17.4.
"""

import re
from datetime import datetime, timedelta
from math import isfinite
from typing import NamedTuple

from outrider.pages.readers.parsing.xml import XmlElement

QUOTED_FORMAT = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!(?:h|hh|m|mm|s|ss)\])[^\]]*\]', re.IGNORECASE)
GENERAL_FORMAT = re.compile(r"general", re.IGNORECASE)
BUILTIN_FORMATS = {
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), 34, 35, 36, *range(50, 59)), "date"),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 45, 47), "time"),
    **dict.fromkeys((9, 10), "percent"),
    22: "datetime",
    46: "elapsed",
}
CELL_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
CURRENCY_FORMAT = re.compile(r"\[\$([^\]\-]{1,5})(?:-[0-9A-Fa-f]{1,8})?\]|([$€£¥₹₽₩฿₺₪₫₴])")
UNIT_FORMAT = re.compile(r'"([^"]*[^\W\d_][^"]*)"()')
SCALING_COMMAS = re.compile(r"[0#?],+(?![0#?,])")
ZERO_PADDING = re.compile(r"0{2,20}")  # numbers that are names, such as postal codes


class CellAddress(NamedTuple):
    """Row and column of a cell, both counted from 1."""

    row: int
    column: int

    @property
    def name(self) -> str:
        """Return the address as sheets show it: `B2`."""
        letters, remaining = "", self.column
        while remaining > 0:
            remaining, letter = divmod(remaining - 1, 26)
            letters = chr(65 + letter) + letters
        return f"{letters}{self.row}"


def parse_address(reference: str) -> CellAddress | None:
    """Return the address that `B2` names; None if it names none."""
    reference_parts = CELL_REFERENCE.match(reference)
    if reference_parts is None:
        return None
    column = 0
    for letter in reference_parts[1]:
        column = column * 26 + ord(letter) - 64
    return CellAddress(int(reference_parts[2]), column)


def parse_range(reference: str) -> tuple[CellAddress, CellAddress] | None:
    """Return the first and the last cell of `A1:C3`; None if it is not a range."""
    first, _, last = reference.partition(":")
    start = parse_address(first)
    end = parse_address(last or first)
    return (start, end) if start and end and start.row <= end.row and start.column <= end.column else None


class NumberFormats:
    """Format numbers as the styles of a workbook show them.

    A style's kind is `date`, `time`, `datetime`, `elapsed`, `percent`, `zeros 5` for that many digits at least,
    `before €` or `after kg` for a currency or a unit, or empty.

    Args:
        codes: The workbook's own format codes by their numbers.
        styles: The format number of each style.
        since_1904: Whether days are counted from 1904.
    """

    def __init__(self, codes: dict[str, str], styles: list[str], *, since_1904: bool) -> None:
        builtin = {str(number): kind for number, kind in BUILTIN_FORMATS.items()}
        kinds = builtin | {number: _classify_format(code) for number, code in codes.items()}
        self._kinds = [kinds.get(number, "") for number in styles]
        self._epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)  # noqa: DTZ001 - no zone
        self._since_1904 = since_1904

    @classmethod
    def from_styles(cls, styles: XmlElement, *, since_1904: bool) -> "NumberFormats":
        """Load the formats from a workbook's styles part."""
        formats, cells = styles.find("s:numFmts") or XmlElement(""), styles.find("s:cellXfs") or XmlElement("")
        codes = {code.get("numFmtId"): code.get("formatCode") for code in formats.iter_named("s:numFmt")}
        return cls(codes, [style.get("numFmtId") for style in cells.iter_named("s:xf")], since_1904=since_1904)

    def format_number(self, number: str, style: str) -> str:
        """Return a number as its style shows it, dates in ISO 8601."""
        max_serial_date = 2_958_466  # 1 January 10000
        kind = self._kinds[int(style)] if style.isdigit() and len(style) < 6 and int(style) < len(self._kinds) else ""
        try:
            value = float(number)
        except ValueError:
            return number
        if kind == "percent":
            return f"{format_plain_number(value * 100)}%"
        if " " not in kind:
            is_moment = kind and 0 <= value < max_serial_date
            return self._format_moment(value, kind) if is_moment else format_plain_number(value)
        layout, detail = kind.split(" ", 1)  # the detail is the number of digits, or a currency
        text = format_plain_number(abs(value))
        if layout == "zeros":
            text = text.zfill(int(detail))
        elif layout == "before":
            text = f"{detail} {text}" if detail.isalpha() else f"{detail}{text}"
        else:
            text = f"{text} {detail}"
        return f"-{text}" if value < 0 else text

    def _format_moment(self, value: float, kind: str) -> str:
        first_correct_day = 60  # 1 March 1900; Excel counts a 29 February 1900, which did not exist
        if kind == "elapsed":
            minutes, seconds = divmod(round(value * 86_400), 60)
            return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
        early = kind != "time" and value < first_correct_day and not self._since_1904
        moment = self._epoch + timedelta(days=int(value) + early, seconds=round((value % 1) * 86_400))
        if kind == "time" and value < 1:
            return moment.strftime("%H:%M:%S")
        return moment.date().isoformat() if kind == "date" and value % 1 == 0 else moment.isoformat(" ")


def format_plain_number(value: float) -> str:
    """Return a number with at most 15 significant digits, which hides binary rounding errors.

    Whole numbers are shown with all digits, because they may be names.
    """
    max_exact = 2**53
    if not isfinite(value):
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) <= max_exact else f"{value:.15g}"


def _classify_format(code: str) -> str:
    """Return the kind of a format code.

    It depends on the letters of its first section outside quotes.
    """
    first = GENERAL_FORMAT.sub("0", code[:500].split(";", maxsplit=1)[0])
    bare = QUOTED_FORMAT.sub("", first).lower()
    if "[" in bare:
        return "elapsed"
    if bare.strip() in ("", "@"):
        return ""
    bare = bare.replace("am/pm", "h").replace("a/p", "h")
    timed = "h" in bare or "s" in bare
    dated = "y" in bare or "d" in bare or ("m" in bare and not timed)
    if dated and timed:
        return "datetime"
    return "date" if dated else "time" if timed else "percent" if "%" in bare else _classify_amount(first, bare.strip())


def _classify_amount(code: str, bare: str) -> str:
    """Return the kind of a number's format: leading zeros, or a currency or a unit and its side."""
    if ZERO_PADDING.fullmatch(bare):
        return f"zeros {len(bare)}"
    # Commas after the digits show thousands or millions: their unit is not that of the whole number.
    has_unit = any(placeholder in bare for placeholder in "0#?") and not SCALING_COMMAS.search(bare)
    currency = CURRENCY_FORMAT.search(code) or (UNIT_FORMAT.search(code) if has_unit else None)
    if currency is None:
        return ""
    sign = (currency[1] or currency[2] or "").strip()
    is_before = not any(placeholder in code[: currency.start()] for placeholder in "0#?")
    return f"{'before' if is_before else 'after'} {sign}" if sign else ""
