"""Convert a page's text to a value of a JSON schema."""

import re
import unicodedata
from typing import Any

from outrider.pages.extraction.metadata.dates import match_dates
from outrider.pages.urls import resolve_url
from outrider.pages.values.labels import normalize_label
from outrider.pages.values.numbers import convert_number, write_ascii_digits

ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
SCHEMA_ADDRESS = re.compile(r"^https?://schema\.org/(?=\w+$)")
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+")
TRUE_WORDS = frozenset({
    "yes", "true", "available", "included", "ja", "oui", "si", "sim", "tak", "da", "igen", "evet", "kylla", "nai",
    "instock", "\u2713", "\u2714", "\u2705", "\u2611", "\u0434\u0430", "\u306f\u3044", "\u662f", "\u6709",
    "\u3042\u308a", "\uc608", "\u05db\u05df", "\u0646\u0639\u0645",
}) | {"in stock", "auf lager", "en stock", "verf\u00fcgbar"}  # fmt: skip
FALSE_WORDS = frozenset({
    "no", "false", "unavailable", "nein", "non", "nie", "nao", "nej", "ne", "outofstock", "soldout", "\u2717",
    "\u2718", "\u274c", "\u2715", "\u2716", "\xd7", "\u043d\u0435\u0442", "\u3044\u3044\u3048", "\u5426", "\u65e0",
    "\u7121", "\u306a\u3057", "\uc544\ub2c8\uc694", "\u05dc\u05d0", "\u0644\u0627",
}) | {"out of stock", "sold out", "not included", "not available", "excluded", "ausverkauft"}  # fmt: skip
NO_VALUES = frozenset({
    "n/a", "n/d", "n.a.", "n.d.", "nd", "k.a.", "k. a.", "-", "--", "\u2013", "\u2014", "..", "...", "\u2026",
    "tba", "tbd", "tbc", "?", "/", "b.d.", "s/o",
}) | {"not available", "not applicable", "not specified", "not stated", "not known", "keine angabe"}  # fmt: skip
RANGE_START = re.compile(r"\d\.?\s*(?:[-\u2013\u2014/&+]|\b(?:to|and|bis|und|au|et|al|a|y|e|do|i))\s*$", re.IGNORECASE)
SHORT_YEAR = re.compile(r"(?<![\d/.-])(\d{1,2})([/-])(\d{1,2})\2(\d\d)(?![\d/-])")
JAPANESE_ERAS = {"\u4ee4\u548c": 2018, "\u5e73\u6210": 1988, "\u662d\u548c": 1925}
JAPANESE_YEAR = re.compile(r"(\u4ee4\u548c|\u5e73\u6210|\u662d\u548c)(\d{1,2}|\u5143)\u5e74")


def convert_value(text: str, schema: dict[str, Any], base_url: str = "", language: str = "") -> Any:
    """Return the value that a text means by a schema, if any.

    Args:
        text: As the page says it.
        schema: `type`, `format` and `enum` count.
        base_url: What relative addresses start from.
        language: The page's BCP 47 tag, which decides the order of day and month.
    """
    max_value_chars = 5_000
    text = " ".join(text.split())
    if not text or len(text) > max_value_chars or text.casefold() in NO_VALUES:
        return None
    schema_type = schema.get("type", "string")
    schema_type = (
        next((each for each in schema_type if each != "null"), "string")
        if isinstance(schema_type, list)
        else schema_type
    )
    if schema_type in ("number", "integer"):
        return convert_number(text, is_integer=schema_type == "integer", language=language.lower())
    if schema_type == "boolean":
        return _convert_boolean(text)
    value = _convert_format(text, str(schema.get("format", "")), base_url, language)
    if value is not None and isinstance(choices := schema.get("enum"), list):
        return next((each for each in choices if normalize_label(str(each)) == normalize_label(value)), None)
    return value


def _convert_boolean(text: str) -> bool | None:
    """Return the meaning of a text, or of its first word before a comma."""
    first_clause = re.split(
        r"\s*[,;(\u2013\u2014]\s*|\.\s", text.rpartition("/")[2].casefold().strip(" .!"), maxsplit=1
    )[0]
    plain = "".join(each for each in unicodedata.normalize("NFKD", first_clause) if not unicodedata.combining(each))
    if first_clause in FALSE_WORDS or plain in FALSE_WORDS:
        return False
    return True if first_clause in TRUE_WORDS or plain in TRUE_WORDS else None


def _convert_format(text: str, kind: str, base_url: str, language: str) -> str | None:
    if kind in ("uri", "url"):
        return resolve_url(text, base_url) or None if " " not in text else None
    if kind == "email":
        matches = set(EMAIL.findall(text))
        return matches.pop() if len(matches) == 1 else None
    if kind == "date-time":
        match = ISO_TIME.search(text)
        return match[0] if match else None
    return _convert_date(text, language) if kind == "date" else SCHEMA_ADDRESS.sub("", text)


def expand_year(text: str, language: str = "") -> str:
    """Return a text whose date such as 9/18/26 has the full year, if it cannot be read with the year first."""
    max_year_ahead, year_first_languages = 30, ("ja", "zh", "ko", "hu", "lt", "sv")

    def expand(match: re.Match[str]) -> str:
        is_clear = int(match[3]) > 12 or (language and not language.startswith(year_first_languages))
        is_recent = int(match[4]) <= max_year_ahead
        return f"{match[1]}{match[2]}{match[3]}{match[2]}20{match[4]}" if is_clear and is_recent else match[0]

    return SHORT_YEAR.sub(expand, text, count=2)


def _convert_date(text: str, language: str) -> str | None:
    """Return the only date of a short text."""
    max_date_chars, min_year = 80, 1000
    if len(text) > max_date_chars:
        return None
    plain = JAPANESE_YEAR.sub(
        lambda era: f"{JAPANESE_ERAS[era[1]] + (1 if era[2] == chr(0x5143) else int(era[2]))}\u5e74",
        write_ascii_digits(unicodedata.normalize("NFKC", text)),
    )
    plain = expand_year(plain, language)
    plain = re.sub(r"(?<=\d)([./-])\s+(?=\d)", r"\1", re.sub(r"(?<=\d)T(?=\d\d:)", " ", plain))
    found = match_dates(plain, language, min_year)
    if found and RANGE_START.search(plain[: found[0][0]]):
        return None
    days = {day for _, _, day in found}
    return days.pop() if len(days) == 1 else None
