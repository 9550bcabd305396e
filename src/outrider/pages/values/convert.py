"""Convert a page's text into a value of a JSON schema, or into none."""

import math
import re
from datetime import datetime
from typing import Any

from outrider.pages.urls import resolve_url

RATING = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:/|out of|of|von|sur|de)\s*(?:5|10|100)\b.{0,20}", re.IGNORECASE)
NUMBER = re.compile(r"(?<![A-Za-z\d.,])[-+\u2212]?\d[\d.,\u00a0\u202f' ]*\d|(?<![A-Za-z\d.,])[-+\u2212]?\d")
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+")
TRUE_WORDS = frozenset({"yes", "true", "in stock", "instock", "available", "ja", "oui", "si", "\u2713", "\u2714"})
FALSE_WORDS = frozenset({"no", "false", "out of stock", "outofstock", "sold out", "unavailable", "nein", "\u2717"})
GROUPED_NUMBER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")  # 1,299 without decimals
# Where the sign follows, a dot separates thousands; but for the price of a litre.
GROUPED_PRICE = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}\s?(?:\u20ac|EUR\b)(?!\s?/)")
DATE_FORMATS = (
    "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%d.%m.%Y", "%Y/%m/%d",
)  # fmt: skip


def convert_value(text: str, schema: dict[str, Any], base_url: str = "") -> Any:
    """Return the value that a text means by a schema, or None if it means none.

    Args:
        text: As the page says it.
        schema: `type`, `format` and `enum` count.
        base_url: What relative addresses start from.
    """
    max_value_chars = 5_000
    text = " ".join(text.split())
    if not text or len(text) > max_value_chars:
        return None
    wanted = schema.get("type", "string")
    wanted = next((each for each in wanted if each != "null"), "string") if isinstance(wanted, list) else wanted
    if wanted in ("number", "integer"):
        return _convert_number(text, is_integer=wanted == "integer")
    if wanted == "boolean":
        word = text.rpartition("/")[2].lower().strip(" .!")
        return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None
    value = _convert_format(text, str(schema.get("format", "")), base_url)
    if value is not None and isinstance(choices := schema.get("enum"), list):
        return next((each for each in choices if str(each).lower() == value.lower()), None)
    return value


def _convert_format(text: str, kind: str, base_url: str) -> str | None:
    if kind in ("uri", "url"):
        return resolve_url(text, base_url) or None if " " not in text else None
    if kind == "email":
        match = EMAIL.search(text)
        return match[0] if match else None
    if kind not in ("date", "date-time"):
        return text
    match = ISO_DATE.search(text)
    if match:
        return match[0] if kind == "date-time" else match[0][:10]
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", text).strip()
    for form in DATE_FORMATS:
        try:
            return datetime.strptime(plain, form).date().isoformat()  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    return None


def _convert_number(text: str, *, is_integer: bool) -> float | int | None:
    """Return the only number of a text, whichever signs separate its thousands and decimals."""
    max_other_chars = 25  # of a currency, a unit, a label; a longer text is not a number
    rating = RATING.fullmatch(text)
    numbers = NUMBER.findall(rating[1] if rating else text)
    if len(numbers) != 1 or len(text) - len(numbers[0]) > max_other_chars:
        return None
    digits = re.sub(r"[\u00a0\u202f' ]", "", numbers[0]).replace("\u2212", "-")
    last_comma, last_dot = digits.rfind(","), digits.rfind(".")
    decimal = "," if last_comma > last_dot else "."
    is_grouped = digits.count(decimal) > 1 or GROUPED_NUMBER.fullmatch(digits) or GROUPED_PRICE.search(text)
    other = "." if decimal == "," else ","
    digits = digits.replace(other, "")
    digits = digits.replace(decimal, "" if is_grouped else ".")
    try:
        value = float(digits)
    except ValueError:
        return None
    if not math.isfinite(value):  # hundreds of digits
        return None
    if is_integer:
        return int(value) if value == int(value) else None
    return int(value) if value == int(value) and "." not in digits else value
