"""Compare the name of a property with the label of a value."""

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"[^\W\d_]+|\d+")
PLURAL = re.compile(r"(?<=\w{3})(?<!s)s$")
CAMEL_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
LABEL_NUMBER = re.compile(r"^\s*(?:\(\d{1,3}\)|\d{1,2}[.)])\s+")
NUMBER_SIGN = re.compile(r"#(?!\w)|\b(?:no|nr|num)\.(?!\w)|\bn[\u00ba\u00b0]|\u2116", re.IGNORECASE)
LABEL_UNIT = re.compile(r"\s*[(\[]([^()\[\]]{1,20})[)\]]\s*$|,?\s+in\s+(\S{1,6})$")
# Words that mean the same in schemas, in schema.org and on pages.
SAME_WORDS = (
    {"title", "name", "headline", "heading", "product", "product name", "item name", "product title", "item title"},
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
    {"old price", "original price", "list price", "was price", "was", "previous price", "compare at price", "rrp"},
    {"brand", "manufacturer", "maker", "vendor", "marke", "hersteller"},
    {"sku", "article number", "item number", "product number", "part number", "mpn", "item no", "article no"},
    {
        "phone",
        "telephone",
        "tel",
        "phone number",
        "telefon",
        "telefone",
        "telefono",
        "telephone number",
        "contact phone",
    },
    {"email", "e mail", "mail", "email address", "contact email"},
    {"location", "place", "venue", "where"},
    {"city", "town", "locality", "address locality"},
    {"state", "region", "address region"},
    {"country", "address country"},
    {"postal code", "postcode", "zip", "zip code"},
    {"start date", "when", "date"},
    {"deadline", "closing date", "application deadline", "valid through", "apply by", "apply before", "closes"},
    {"salary", "pay", "base salary", "compensation"},
    {"servings", "serves", "yield", "recipe yield", "portions"},
    {"opening hours", "office hours", "business hours", "hours of operation"},
    {"company", "employer", "organization", "organisation", "hiring organization", "publisher"},
    {"license", "licence", "licensed"},
    {"position", "role", "job title", "function"},
    {"employees", "headcount", "staff"},
    {"revenue", "turnover"},
    {"text", "body"},
    {"docket number", "case number", "docket", "docket no", "case no"},
    {"case name", "case title", "case caption", "case style"},
    {"start time", "time"},
    {"instructions", "directions", "method", "preparation", "steps"},
    {"cook time", "cooking time"},
    {"prep time", "preparation time"},
    {"wins", "won", "w"},
    {"losses", "lost", "l"},
)
# With or without one of these, a label means another value.
CONTRARY_WORDS = frozenset({
    "old", "original", "previous", "former", "regular", "was", "min", "mini", "minimum", "max", "maximum", "low",
    "lowest", "high", "highest", "mean", "average", "estimated", "per", "total", "next", "first", "shipping",
    "delivery", "other", "related", "similar", "recommended", "net", "gross", "reduced", "extra", "without", "not",
    "no", "with", "excluding", "excl", "ohne", "mit", "sans", "avec", "senza", "zonder", "bez", "sin", "summer",
    "winter", "buy", "sell", "male", "female", "home", "away", "start", "end", "from", "until", "currency",
    "region", "country", "locality", "analytic", "nav", "navbar", "navigation", "breadcrumb", "site", "logo",
})  # fmt: skip
# What a row or a page is about: the date of the event is its date, and the author's name is not its name.
ROW_WORDS = frozenset({"event", "meeting", "item", "match", "game", "recipe", "article", "post"})
UNIT_WORDS = frozenset({
    "kg", "g", "mg", "t", "m", "km", "cm", "mm", "m2", "km2", "ha", "l", "ml", "h", "min", "s", "w", "kw", "kwh",
    "v", "a", "nm", "hp", "ps", "gb", "mb", "tb", "mah", "nmi", "kt", "eur", "usd", "gbp", "chf", "jpy", "percent",
    "c", "meter", "metre", "minute", "hour", "second", "day", "kilometre", "kilometer", "gram", "dollar", "euro",
    "mi", "ft", "in", "lb", "oz", "kmh", "mph", "ms", "kn",
})  # fmt: skip
LIMIT_WORDS = {"minimum": "min", "low": "min", "lowest": "min", "maximum": "max", "high": "max", "highest": "max"}
DURATION = re.compile(r"P(?:(\d{1,3})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:0+S)?)?")
# The symbols and words around two numbers, and a letter that multiplies both: $50k - $70k a year.
NUMBER_RANGE = re.compile(
    r"([^\d]{0,20}?)(\d[\d.,\u00a0\u202f ]*)(\s?k\b)?\s*(?:[-\u2013\u2014]|\b(?:to|bis|\u00e0|and|und|et)\b)[^\d]{0,5}?"
    r"(\d[\d.,\u00a0\u202f ]*)([^\d]{0,25})",
    re.IGNORECASE,
)
# In a name, these words may only say of what kind the value is.
KIND_WORDS = frozenset({
    "name", "number", "no", "id", "code", "date", "time", "at", "on", "url", "link", "value", "text", "amount",
    "count", "year", "phone", "email", "label", "title", "base", "range", "nome", "nom", "nombre", "titel", "titre",
    "titolo", "nazwa",
})  # fmt: skip
# Words at the end of a label that do not change its meaning.
PLAIN_ENDS = frozenset({
    "detail", "current", "list", "content", "wrapper", "container", "info", "information", "now", "final", "sale",
    "specification", "main", "new", "full", "tag", "line", "field", "ul", "ol", "wrap", "box", "block", "section",
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
    return " ".join(LIMIT_WORDS.get(word) or PLURAL.sub("", word) for word in words)


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
    min_sure_score = 0.9
    score = _compare_words(normalize_label(name), normalize_label(label))
    if score >= min_sure_score:
        return score
    short = normalize_label(label) if label[-1:] == "." and not score else ""
    if len(short) > 2 and " " not in short and any(word.startswith(short) for word in normalize_label(name).split()):
        return 0.75  # Ext. for extension
    label_words, given_unit = split_unit(LABEL_NUMBER.sub("", label[:200]))
    wanted_words, wanted_unit = split_unit(name[:200])
    is_other_unit = given_unit in UNIT_WORDS and wanted_unit in UNIT_WORDS and given_unit != wanted_unit
    if (wanted_words, label_words) == (name, label) or is_other_unit:
        return score
    return max(score, 0.97 * _compare_words(normalize_label(wanted_words), normalize_label(label_words)))


@lru_cache(maxsize=16384)
def compare_names(name: str, label: str, is_address: bool) -> float:
    """Return how well a label fits a name, also without what the name says of its form or its row.

    `details_url` is the address under "Details", and `event_date` the "Date" of an event.
    """
    min_sure_score = 0.7
    score = compare_labels(name, label)
    if score >= min_sure_score:
        return score
    words = normalize_label(name).split()
    outer, _, rest = normalize_label(label).partition(" ")
    if rest and outer in ROW_WORDS and words == rest.split():
        return 0.9
    if len(words) > 1 and is_address and words[-1] in ("url", "link", "uri"):
        words = words[:-1]
    elif len(words) > 1 and words[0] in ROW_WORDS:
        words = words[1:]
    else:
        return score
    return max(score, 0.9 * compare_labels(" ".join(words), label))


@lru_cache(maxsize=8192)
def split_unit(label: str) -> tuple[str, str]:
    """Return a label without the unit in brackets or at its end, and that unit."""
    match = LABEL_UNIT.search(label)
    if match and CONTRARY_WORDS.isdisjoint(normalize_label(match[1] or match[2]).split()):
        return label[: match.start()], "".join(WORD.findall((match[1] or match[2]).casefold()))
    words = CAMEL_BORDER.sub(" ", label).replace("_", " ").split()
    unit = PLURAL.sub("", words[-1].lower()) if len(words) > 1 else ""
    is_minimum = unit == "min" and words[-2].lower() not in ("time", "duration")
    return (" ".join(words[:-1]), unit) if unit in UNIT_WORDS and not is_minimum else (label, "")


def has_other_unit(name: str, text: str) -> bool:
    """Return whether a number has another unit than the name of its property says."""
    kinds = (
        {"kg", "g", "mg", "t", "lb", "oz"}, {"km", "m", "cm", "mm", "mi", "ft", "in"}, {"l", "ml"}, {"s", "min", "h"},
        {"w", "kw", "hp", "ps"}, {"kmh", "mph", "ms", "kn", "kt"},
    )  # fmt: skip
    short = {"minute": "min", "mins": "min", "minutes": "min", "hour": "h", "hours": "h", "hr": "h", "hrs": "h"}
    wanted_unit = split_unit(name[:200])[1]
    match = re.search(r"\d\s*([^\W\d_]{1,7}(?:/[sh])?)\b", text[:200])
    label_unit = match[1].replace("/", "").lower() if match else ""
    wanted_unit, label_unit = short.get(wanted_unit, wanted_unit), short.get(label_unit, label_unit)
    return label_unit != wanted_unit and any({wanted_unit, label_unit} <= kind for kind in kinds)


def select_measure(name: str, text: str) -> str:
    """Return the only part with the unit that ends a property's name, else all.

    For `110 kW (150 hp)`, `power_hp` selects the second part, and for `PT1H20M`, `total_time_minutes` gives 80.
    """
    unit = split_unit(name[:200])[1]
    if (duration := DURATION.fullmatch(text)) and unit in ("min", "minute", "h", "hour"):
        days, hours, minutes = (int(part or 0) for part in duration.groups())
        return f"{((days * 24 + hours) * 60 + minutes) / (60 if unit in ('h', 'hour') else 1):g}"
    if unit not in UNIT_WORDS or len(text) > 200:
        return text
    number = r"(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d[\d.,]*)"
    parts = re.findall(rf"(?<![\w.,])[-+]?{number}\s?{unit}\b", text, re.IGNORECASE)
    return parts[0] if len(parts) == 1 else text


def split_range(text: str) -> tuple[str, str] | None:
    """Return both ends of a range of numbers, each with its surrounding text, or None."""
    max_chars = 100
    match = NUMBER_RANGE.fullmatch(text) if len(text) <= max_chars else None
    if match is None:
        return None
    before, first, scale, last, rest = match.groups("")
    return f"{before}{first}{scale or rest}", f"{before}{last}{rest}"


def select_range_end(name: str, text: str) -> str:
    """Return the end of a range of numbers that a property's name asks for, else the text."""
    words = normalize_label(name).split()
    is_min, is_max = "min" in words, "max" in words
    ends = split_range(text) if is_min != is_max else None
    return ends[is_max] if ends else text


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
        subject = [word for word in label_words.split() if word in wanted_words or word not in KIND_WORDS][-1]
        is_other_thing = subject not in wanted_words | PLAIN_ENDS
        # The header of the ingredients and the type of a location are not the product or the place.
        is_reference = not difference.isdisjoint({"id", "code", "url", "link"})
        score = (0.8 if difference <= KIND_WORDS and not is_reference else 0.7) * 0.6**is_other_thing
    elif given_words < wanted_words and len(difference) == 1 and given_words - KIND_WORDS:
        score = 0.75 if difference <= KIND_WORDS else 0.5
    else:
        score = 0.6 if label_words == "title" and requested.endswith(" title") else 0.0
    return score
