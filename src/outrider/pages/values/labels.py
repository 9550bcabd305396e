"""Compare the name of a property with the label of a value."""

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"[^\W\d_]+|\d+")
PLURAL = re.compile(r"(?<=\w{3})(?<!s)s$")
CAMEL_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
LABEL_NUMBER = re.compile(r"^\s*(?:\(\d{1,3}\)|\d{1,2}[.)])\s+")
NUMBER_SIGN = re.compile(r"\b(?:no|nr|num)\.(?!\w)|\bn[\u00ba\u00b0]|\u2116", re.IGNORECASE)
LABEL_UNIT = re.compile(r"\s*[(\[]([^()\[\]]{1,20})[)\]]\s*$|,?\s+in\s+(\S{1,6})$")
# Words that mean the same in schemas, in schema.org and on pages.
SAME_WORDS = (
    {"title", "name", "headline", "heading", "product", "product name"},
    {"name", "full name"},
    {"price", "cost", "amount", "preis", "prix", "precio"},
    {"currency", "price currency"},
    {"author", "byline", "writer", "creator", "autor"},
    {"date", "published", "date published", "publication date", "published time", "posted", "release date", "released"},
    {"modified", "updated", "date modified", "last updated", "modified time"},
    {"description", "summary", "abstract", "excerpt"},
    {"url", "link", "href", "address of page"},
    {"image", "picture", "photo", "thumbnail", "img"},
    {"rating", "rating value", "score", "stars"},
    {"reviews", "review count", "rating count", "number of reviews"},
    {"availability", "stock", "in stock", "available"},
    {"brand", "manufacturer", "maker", "vendor", "marke", "hersteller"},
    {"sku", "article number", "item number", "product number", "part number", "mpn", "item no", "article no"},
    {"phone", "telephone", "tel", "phone number", "telefon", "telefone", "telefono", "telephone number"},
    {"email", "e mail", "mail"},
    {"location", "place", "venue"},
    {"location", "city", "town"},
    {"salary", "pay", "base salary"},
    {"company", "employer", "organization", "hiring organization", "publisher"},
    {"license", "licence", "licensed"},
    {"position", "role", "job title", "function"},
    {"employees", "headcount", "staff"},
    {"revenue", "turnover"},
)
# With or without one of these, a label means another value.
CONTRARY_WORDS = frozenset({
    "old", "original", "previous", "former", "regular", "was", "min", "mini", "minimum", "max", "maximum", "low",
    "lowest", "high", "highest", "mean", "average", "estimated", "per", "total", "next", "first", "shipping",
    "delivery", "other", "related", "similar", "recommended", "net", "gross", "reduced", "extra", "without", "not",
    "no", "with", "excluding", "excl", "ohne", "mit", "sans", "avec", "senza", "zonder", "bez", "sin", "summer",
    "winter", "buy", "sell", "male", "female", "home", "away", "start", "end", "from", "until",
})  # fmt: skip
UNIT_WORDS = frozenset({
    "kg", "g", "mg", "t", "m", "km", "cm", "mm", "m2", "km2", "ha", "l", "ml", "h", "min", "s", "w", "kw", "kwh",
    "v", "a", "nm", "hp", "ps", "gb", "mb", "tb", "mah", "nmi", "kt", "eur", "usd", "gbp", "chf", "jpy", "percent",
    "c", "meter", "metre", "minute", "hour", "second", "day", "kilometre", "kilometer", "gram", "dollar", "euro",
    "mi", "ft", "in", "lb", "oz", "kmh", "mph", "ms", "kn",
})  # fmt: skip
# A name may say in one of these words only of what kind its value is.
KIND_WORDS = frozenset({
    "name", "number", "no", "id", "code", "date", "time", "at", "on", "url", "link", "value", "text", "amount",
    "count", "year", "phone", "email", "label", "title", "nome", "nom", "nombre", "titel", "titre", "titolo",
    "nazwa",
})  # fmt: skip
FILL_WORDS = frozenset({
    "of", "the", "a", "an", "in", "de", "du", "des", "la", "le", "les", "l", "d", "di", "del", "der", "die", "das",
    "do", "da", "for", "on", "by", "to", "is", "are", "whether", "this", "that", "its",
})  # fmt: skip


@lru_cache(maxsize=8192)
def normalize_label(label: str) -> str:
    """Return a label in lower-case words, without punctuation, accents and a plural's s."""
    label = NUMBER_SIGN.sub(" number ", CAMEL_BORDER.sub(" ", label[:200]))
    words = WORD.findall(fold_accents(label).casefold())
    return " ".join(PLURAL.sub("", word) for word in words)


def fold_accents(text: str) -> str:
    """Return a text without the accents of its letters."""
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


SYNONYMS: dict[str, set[int]] = {}
for _number, _group in enumerate(SAME_WORDS):
    for _word in _group:
        SYNONYMS.setdefault(normalize_label(_word), set()).add(_number)


@lru_cache(maxsize=16384)
def compare_labels(name: str, label: str) -> float:
    """Return how well a label fits a property's name, from 0 to 1."""
    if not (score := _compare_words(normalize_label(name), normalize_label(label))):
        short = normalize_label(label) if label[-1:] == "." else ""
        if (
            len(short) > 2
            and " " not in short
            and any(word.startswith(short) for word in normalize_label(name).split())
        ):
            return 0.75  # Ext. for extension
        label_words, given_unit = split_unit(LABEL_NUMBER.sub("", label[:200]))
        wanted_words, wanted_unit = split_unit(name[:200])
        is_other_unit = given_unit in UNIT_WORDS and wanted_unit in UNIT_WORDS and given_unit != wanted_unit
        if (wanted_words, label_words) != (name, label) and not is_other_unit:
            score = 0.97 * _compare_words(normalize_label(wanted_words), normalize_label(label_words))
    return score


@lru_cache(maxsize=8192)
def split_unit(label: str) -> tuple[str, str]:
    """Return a label without the unit in brackets or at its end, and that unit."""
    match = LABEL_UNIT.search(label)
    if match and CONTRARY_WORDS.isdisjoint(normalize_label(match[1] or match[2]).split()):
        return label[: match.start()], "".join(WORD.findall((match[1] or match[2]).casefold()))
    words = CAMEL_BORDER.sub(" ", label).replace("_", " ").split()
    unit = PLURAL.sub("", words[-1].lower()) if len(words) > 1 else ""
    return (" ".join(words[:-1]), unit) if unit in UNIT_WORDS else (label, "")


def has_other_unit(name: str, text: str) -> bool:
    """Return whether a number has another unit than the name of its property says."""
    kinds = (
        {"kg", "g", "mg", "t", "lb", "oz"}, {"km", "m", "cm", "mm", "mi", "ft", "in"}, {"l", "ml"}, {"s", "min", "h"},
        {"w", "kw", "hp", "ps"}, {"kmh", "mph", "ms", "kn", "kt"},
    )  # fmt: skip
    wanted_unit = split_unit(name[:200])[1]
    match = re.search(r"\d\s*([^\W\d_]{1,3}(?:/[sh])?)\b", text[:200])
    label_unit = match[1].replace("/", "").lower() if match else ""
    return label_unit != wanted_unit and any({wanted_unit, label_unit} <= kind for kind in kinds)


def select_measure(name: str, text: str) -> str:
    """Return the only part of a text that has the unit at the end of a property's name, else the text.

    Of `110 kW (150 hp)`, `power_hp` means the second part.
    """
    unit = split_unit(name[:200])[1]
    if unit not in UNIT_WORDS or len(text) > 200:
        return text
    parts = re.findall(rf"(?<![\w.,])[-+]?\d[\d.,]*\s?{unit}\b", text, re.IGNORECASE)
    return parts[0] if len(parts) == 1 else text


def _compare_words(requested: str, label_words: str) -> float:
    """Return how well the words of two normalized labels fit."""
    wanted_words, given_words = set(requested.split()), set(label_words.split())
    if not requested or not label_words:
        return 0.0
    difference = (wanted_words ^ given_words) - FILL_WORDS
    if wanted_words == given_words or requested.replace(" ", "") == label_words.replace(" ", ""):
        score = 1.0
    elif SYNONYMS.get(requested, set()) & SYNONYMS.get(label_words, set()):
        score = 0.85
    elif not difference and (wanted_words & given_words) - FILL_WORDS:
        score = 0.95
    elif not CONTRARY_WORDS.isdisjoint(difference):
        score = 0.0
    elif wanted_words < given_words and 0 < len(difference) <= 2 and wanted_words - KIND_WORDS:
        score = 0.8 if difference <= KIND_WORDS else 0.7
    elif given_words < wanted_words and len(difference) == 1 and given_words - KIND_WORDS:
        score = 0.75 if difference <= KIND_WORDS else 0.5
    else:
        score = 0.6 if label_words in ("title", "headline") and requested.endswith(" title") else 0.0
    return score
