"""Read the number of a text, with any separators and digits."""

import math
import re
import unicodedata

RATING = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:/|out of|of|von|sur|de)\s*(?:5|10|100)\b.{0,20}", re.IGNORECASE)
NUMBER = re.compile(r"(?<![A-Za-z\d.,])[-+\u2212]?\d[\d.,\u00a0\u202f\u2009' ]*\d|(?<![A-Za-z\d.,])[-+\u2212]?\d")
NUMBER_REMARK = re.compile(r"(?<=\S)\s*[(;]")
GROUPED_NUMBER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")  # 1,299 without decimals
# If the currency follows, a dot separates thousands, except in prices per litre.
GROUPED_PRICE = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}\s?(?:\u20ac|EUR\b)(?!\s?/)")
SPACED_DIGITS = re.compile(r"[-+]?\d{1,3}(?: \d{3})+(?:[.,]\d+)?|[^ ]*")
SEVERAL_GROUPS = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+,?\d*|[-+]?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?")
DOT_GROUPS = re.compile(r"[-+\u2212]?[1-9]\d{0,2}\.\d{3}")
# A fraction, an exponent, a hexadecimal number.
NO_NUMBER_END = re.compile(r"\s?[\u00bc-\u00be\u2150-\u215e]|[eE][-+]?\d|[xX][0-9a-fA-F]|[\u00b2\u00b3\u2070-\u2079]")
COMMA_LANGUAGES = frozenset({
    "bg", "ca", "cs", "da", "de", "el", "es", "eu", "fi", "fr", "gl", "hr", "hu", "id", "it", "nb", "nl", "nn", "no",
    "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "tr", "uk", "vi",
})  # fmt: skip
SCALE = re.compile(
    r"\s*(?:(million|billion|thousand|mio|mrd|bn|mln|mld)(?![^\W\d_])|([\u4e07\u4ebf\u5104\u842c]))|([mk])(?![^\W\d_])",
    re.IGNORECASE,
)


def convert_number(text: str, *, is_integer: bool, language: str = "") -> float | int | None:
    """Return the only number of a text, with any separators of thousands and decimals.

    Args:
        text: A short text.
        is_integer: Whether only a whole number counts.
        language: The page's BCP 47 tag, which decides what 1.299 means.
    """
    max_other_chars = 25  # of a currency, a unit, a label; a longer text is not a number
    dot_regions = ("de-ch", "de-li", "it-ch", "es-mx", "es-us", "es-pr", "es-gt", "es-hn", "es-ni", "es-pa", "es-pe")
    text = write_ascii_digits(text)
    rating = RATING.fullmatch(text) if not (is_integer and "/" in text) else None  # 4/5 doors
    matches = [*NUMBER.finditer(rating[1] if rating else text)]
    head = NUMBER_REMARK.split(text, maxsplit=1)[0]
    if len(matches) > 1 and head != text:  # 12,400 (2025)
        return convert_number(head, is_integer=is_integer, language=language)
    if len(matches) != 1 or len(text) - len(matches[0][0]) > max_other_chars:
        return None
    found = matches[0][0]
    if not SPACED_DIGITS.fullmatch(re.sub(r"[\u00a0\u202f\u2009]", " ", found).replace("\u2212", "-")):
        return None  # two numbers with a space between them
    if NO_NUMBER_END.match(text, matches[0].end()) or text[: matches[0].start()].casefold().endswith("minus "):
        return None
    has_comma = language.partition("-")[0] in COMMA_LANGUAGES and language not in dot_regions and "$" not in text
    is_dot_grouped = GROUPED_PRICE.search(text) is not None or (has_comma and DOT_GROUPS.fullmatch(found) is not None)
    if has_comma and GROUPED_NUMBER.fullmatch(found):
        is_dot_grouped = True  # so that the comma separates decimals
    scale = _get_scale(text, matches[0].end()) if not rating else 1.0
    return _read_digits(found, is_dot_grouped=is_dot_grouped, scale=scale, is_integer=is_integer)


def write_ascii_digits(text: str) -> str:
    """Return a text with digits, separators and symbols of other scripts converted to ASCII."""
    if text.isascii():
        return text
    plain = text.translate({0x066B: ".", 0x066C: ",", 0xFF0E: ".", 0xFF0C: ","})
    digits = (
        str(unicodedata.decimal(each, each)) if not each.isascii() and each.isdecimal() else each for each in plain
    )
    return "".join(digits)


def _get_scale(text: str, end: int) -> float:
    """Return the factor named by the word after a number; a single letter only counts in sums of money."""
    scales = {"m": 1e6, "b": 1e9, "t": 1e3, "k": 1e3, "\u4e07": 1e4, "\u842c": 1e4, "\u4ebf": 1e8, "\u5104": 1e8}
    match = SCALE.match(text, end)
    if match is None or (match[3] and not any(sign in text for sign in "$\u20ac\u00a3\u00a5\u20b9")):
        return 1.0
    word = (match[1] or match[2] or match[3]).lower()
    return scales["b"] if word.startswith(("mrd", "mld")) else scales[word[0]]


def _read_digits(found: str, *, is_dot_grouped: bool, scale: float, is_integer: bool) -> float | int | None:
    """Return the value of digits; the last separator is that of decimals, unless it separates thousands."""
    digits = re.sub(r"[\u00a0\u202f\u2009' ]", "", found).replace("\u2212", "-")
    decimal = "," if digits.rfind(",") > digits.rfind(".") else "."
    if digits.count(decimal) > 1 and not SEVERAL_GROUPS.fullmatch(digits):
        return None  # a version, an address
    is_group = is_dot_grouped if decimal == "." else GROUPED_NUMBER.fullmatch(digits) and not is_dot_grouped
    is_group = is_group or digits.count(decimal) > 1
    digits = digits.replace("." if decimal == "," else ",", "")
    digits = digits.replace(decimal, "" if is_group else ".")
    try:
        value = round(float(digits) * scale, 6) if scale != 1 else float(digits)
    except ValueError:
        return None
    if not math.isfinite(value):  # hundreds of digits
        return None
    if is_integer:
        return int(value) if value == int(value) else None
    return int(value) if value == int(value) and "." not in digits else value
