"""Reduce a line of Markdown to what counts when two versions of a page are compared."""

import re

IMAGE = re.compile(r"!\[[^\]]*\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
MARKS = re.compile(r"[*_`#>|\\~]+")
LOOSE_MARKS = re.compile(r"(?:^|\s)[\s.,;:·•()\[\]/–—-]+|[.,;:·•–—-]+(?=\s|$)")
SPACES = re.compile(r"\s+")
LIST_MARK = re.compile(r"^\s*(?:[-+*]|\d{1,3}[.)])\s+")
_YEAR = r"(?:19|20)\d\d"
_MONTH = r"[^\W\d_]{3,12}\.?"  # in any language: a word beside a day and a year
DATES = re.compile(
    "|".join(
        (
            rf"\b{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?",
            rf"\b\d{{1,2}}[-/.]\d{{1,2}}[-/.](?:{_YEAR}|\d\d)\b",
            rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)?(?: de)? {_MONTH}(?: de|,)? {_YEAR}\b",
            rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? {_YEAR}\b",
            rf"{_YEAR}\s?[年년]\s?\d{{1,2}}\s?[月월](?:\s?\d{{1,2}}\s?[日일])?",
            r"\b\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\b\.?)?(?:\s(?:UTC|GMT|[A-Z]{2,4}T))?",
            r"\b(?:\d{1,4}|an?|one|few)\+? ?(?:sec|min|hr|[smhdwy]|second|minute|hour|day|week|month|year)s?\.? ago\b",
            r"\b(?:vor|hace|il y a|há|för|for) \d{1,4} \w+\b",
            r"\d{1,4}\s?(?:秒|分钟|分鐘|分|小时|小時|時間|天|日|周|週間|个月|か月|年)[前以][前]?",
            r"\b(?:today|yesterday|just now|heute|gestern|aujourd'hui|hier|hoy|ayer)\b",
        )
    ),
    re.IGNORECASE,
)
_COUNT = r"\d[\d.,  ]*\s?[kKmMbB]?\+?"
_COUNTED = (
    r"(?:page )?(?:views?|visits?|visitors?|reads?|hits|comments?|repl(?:y|ies)|answers?|likes?|shares?|retweets?"
    r"|reposts?|followers?|following|subscribers?|members?|users?|guests?|people|online|watching|watchers?|stars?|forks?"
    r"|votes?|upvotes?|points?|claps?|reactions?|downloads?|installs?|plays?|favou?rites?|bookmarks?|reviews?|ratings?"
    r"|aufrufe|kommentare?|antworten|vues?|commentaires?|visitas?|comentarios?)"
)
# Not at a currency: "$3 likes" is rare, "3 reviews" is everywhere.
COUNTERS = re.compile(
    rf"(?<![$€£¥\d.,]){_COUNT}\s?{_COUNTED}\b|\b{_COUNTED}\s?[:(]\s?{_COUNT}\)?|\b{_COUNT} min(?:ute)?s? read\b",
    re.IGNORECASE,
)
# Without a digit or one of these words, a line holds neither a date nor a counter.
NOISE_HINT = re.compile(r"\d|ago|today|yesterday|just now|heute|gestern|aujourd'hui|hier|hoy|ayer", re.IGNORECASE)
ADVERT_LABELS = frozenset(
    {
        "ad",
        "ads",
        "advert",
        "advertisement",
        "advertising",
        "sponsored",
        "promoted",
        "anzeige",
        "werbung",
        "publicité",
        "annonce",
        "publicidad",
        "anuncio",
        "pubblicità",
        "reklama",
        "reklame",
        "реклама",
        "広告",
        "广告",
        "廣告",
        "광고",
    }
)


def build_line_key(line: str, *, strict: bool) -> str:
    """Return what a line says, the same for lines whose difference does not count.

    Targets of links, pictures, emphasis and case never count; dates, times, counters (views, comments, likes) and
    labels of adverts only if `strict`. The key of a line that says nothing else is empty.
    """
    text = LINK.sub(r"\1", IMAGE.sub(" ", line))
    text = LIST_MARK.sub("", text)
    if not strict and NOISE_HINT.search(text):
        text = COUNTERS.sub(" ", DATES.sub(" ", text))
    text = SPACES.sub(" ", MARKS.sub(" ", text)).strip().casefold()
    if strict:
        return text
    words = LOOSE_MARKS.sub(" ", text).strip()  # a date leaves its comma behind
    return "" if words in ADVERT_LABELS or not any(map(str.isalnum, words)) else words
