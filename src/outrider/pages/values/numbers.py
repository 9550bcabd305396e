"""Read the number of a text, whichever signs and digits it is written with."""

import math
import re
import unicodedata

RATING = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:/|out of|of|von|sur|de)\s*(?:5|10|100)\b.{0,20}", re.IGNORECASE)
NUMBER = re.compile(r"(?<![A-Za-z\d.,])[-+\u2212]?\d[\d.,\u00a0\u202f\u2009' ]*\d|(?<![A-Za-z\d.,])[-+\u2212]?\d")
GROUPED_NUMBER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")  # 1,299 without decimals
# Where the sign follows, a dot separates thousands; but for the price of a litre.
GROUPED_PRICE = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}\s?(?:\u20ac|EUR\b)(?!\s?/)")
SPACED_DIGITS = re.compile(r"[-+]?\d{1,3}(?: \d{3})+(?:[.,]\d+)?|[^ ]*")
SCALE = re.compile(
    r"\s*(million|billion|thousand|mio|mrd|bn|mln|mld|\u4e07|\u4ebf|\u5104|\u842c)(?![^\W\d_])|([mk])(?![^\W\d_])",
    re.IGNORECASE,
)
MONEY_SIGN = re.compile(r"[$\u20ac\u00a3\u00a5\u20b9]")
SCALES = {"m": 1e6, "b": 1e9, "t": 1e3, "k": 1e3, "\u4e07": 1e4, "\u842c": 1e4, "\u4ebf": 1e8, "\u5104": 1e8}


def convert_number(text: str, *, is_integer: bool) -> float | int | None:
    """Return the only number of a text, whichever signs separate its thousands and decimals."""
    max_other_chars = 25  # of a currency, a unit, a label; a longer text is not a number
    text = write_ascii_digits(text)
    rating = RATING.fullmatch(text)
    matches = [*NUMBER.finditer(rating[1] if rating else text)]
    if len(matches) != 1 or len(text) - len(matches[0][0]) > max_other_chars:
        return None
    found = matches[0][0]
    if not SPACED_DIGITS.fullmatch(re.sub(r"[\u00a0\u202f\u2009]", " ", found).replace("\u2212", "-")):
        return None  # two numbers with a space between them
    is_price = GROUPED_PRICE.search(text) is not None
    scale = _get_scale(text, matches[0].end()) if not rating else 1.0
    return _read_digits(found, is_price=is_price, scale=scale, is_integer=is_integer)


def write_ascii_digits(text: str) -> str:
    """Return a text whose digits, separators and signs of other scripts are those of ASCII."""
    if text.isascii():
        return text
    plain = text.translate({0x066B: ".", 0x066C: ",", 0xFF0E: ".", 0xFF0C: ","})
    digits = (
        str(unicodedata.decimal(each, each)) if not each.isascii() and each.isdecimal() else each for each in plain
    )
    return "".join(digits)


def _get_scale(text: str, end: int) -> float:
    """Return what the word after a number multiplies it by; a letter does so only in sums of money."""
    match = SCALE.match(text, end)
    if match is None or (match[2] and not MONEY_SIGN.search(text)):
        return 1.0
    word = (match[1] or match[2]).lower()
    return SCALES["b"] if word.startswith(("mrd", "mld")) else SCALES[word[0]]


def _read_digits(found: str, *, is_price: bool, scale: float, is_integer: bool) -> float | int | None:
    digits = re.sub(r"[\u00a0\u202f\u2009' ]", "", found).replace("\u2212", "-")
    decimal = "," if digits.rfind(",") > digits.rfind(".") else "."
    is_grouped = digits.count(decimal) > 1 or GROUPED_NUMBER.fullmatch(digits) or is_price
    digits = digits.replace("." if decimal == "," else ",", "")
    digits = digits.replace(decimal, "" if is_grouped else ".")
    try:
        value = round(float(digits) * scale, 6) if scale != 1 else float(digits)
    except ValueError:
        return None
    if not math.isfinite(value):  # hundreds of digits
        return None
    if is_integer:
        return int(value) if value == int(value) else None
    return int(value) if value == int(value) and "." not in digits else value
