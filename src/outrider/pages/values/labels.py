"""Compare the name of a property with the label of a value."""

import re
from functools import lru_cache

WORD = re.compile(r"[^\W\d_]+|\d+")
PLURAL = re.compile(r"(?<=\w{3})(?<!s)s$")
CAMEL_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Words that mean the same in schemas, in schema.org and on pages.
SAME_WORDS = (
    {"title", "name", "headline", "heading", "product"},
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
    {"sku", "article number", "item number", "product number", "part number", "mpn"},
    {"phone", "telephone", "tel", "phone number"},
    {"email", "e mail", "mail"},
    {"location", "place", "venue", "city"},
    {"salary", "pay", "base salary"},
    {"company", "employer", "organization", "hiring organization", "publisher"},
    {"license", "licence", "licensed"},
)
# With or without one of these, a label means another value.
FORMER_WORDS = frozenset({"old", "original", "previous", "former", "regular", "was"})


@lru_cache(maxsize=4096)
def normalize_label(label: str) -> str:
    """Return a label in lower-case words, without punctuation and without a plural's s."""
    words = WORD.findall(CAMEL_BORDER.sub(" ", label[:200]).lower())
    return " ".join(PLURAL.sub("", word) for word in words)


SYNONYMS: dict[str, set[int]] = {}
for _number, _group in enumerate(SAME_WORDS):
    for _word in _group:
        SYNONYMS.setdefault(normalize_label(_word), set()).add(_number)


def compare_labels(name: str, label: str) -> float:
    """Return how well a label fits a property's name, from 0 to 1."""
    wanted, given = normalize_label(name), normalize_label(label)
    wanted_words, given_words = set(wanted.split()), set(given.split())
    if not wanted or not given:
        return 0.0
    if wanted_words == given_words or wanted.replace(" ", "") == given.replace(" ", ""):
        return 1.0
    if SYNONYMS.get(wanted, set()) & SYNONYMS.get(given, set()):
        return 0.85
    if not FORMER_WORDS.isdisjoint(wanted_words ^ given_words):
        return 0.0
    if wanted_words < given_words and len(given_words) - len(wanted_words) <= 2:
        return 0.7
    is_shorter = given_words < wanted_words and len(wanted_words) - len(given_words) == 1
    return 0.6 if is_shorter else 0.0
