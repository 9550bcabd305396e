"""Compare two versions of a text by lines, and format the difference."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

MAX_DIFFERENCE_CHARS = 8_000
IMAGE = re.compile(r"!\[[^\]]*\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
MARKS = re.compile(r"[*_`#>|\\~]+")
LOOSE_MARKS = re.compile(r"(?:^|\s)[\s.,;:·•()\[\]/–—-]+|[.,;:·•–—-]+(?=\s|$)")
SPACES = re.compile(r"\s+")
LIST_MARK = re.compile(r"^\s*(?:[-+*]|\d{1,3}[.)])\s+")
_YEAR = r"(?:19|20)\d\d"
_MONTH = r"[^\W\d_]{3,12}\.?"  # in any language: a word next to a day and a year
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
# Not after a currency sign: "$3 likes" is a price, "3 reviews" is a counter.
COUNTERS = re.compile(
    rf"(?<![$€£¥\d.,]){_COUNT}\s?{_COUNTED}\b|\b{_COUNTED}\s?[:(]\s?{_COUNT}\)?|\b{_COUNT} min(?:ute)?s? read\b",
    re.IGNORECASE,
)
# A line without a digit or one of these words contains neither a date nor a counter.
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


@dataclass(frozen=True)
class Difference:
    """The difference between two texts.

    Attributes:
        summary: The numbers of lines that were changed, added and removed.
        text: The lines under their headings; removed ones start with `-`, added ones with `+`.
    """

    summary: str
    text: str


@dataclass(frozen=True)
class _Line:
    text: str
    key: str
    heading: str


@dataclass(frozen=True)
class _Edit:
    heading: str
    removed: tuple[str, ...]
    added: tuple[str, ...]


def compare_texts(old: str, new: str, *, strict: bool = False) -> Difference | None:
    """Return the difference of two Markdown texts; None if they are equivalent.

    Args:
        old: The earlier text.
        new: The current text.
        strict: Whether dates, times, counters and the order of lines count.
    """
    # Keys are slow, so compute them only for the few lines that are not literally in both versions.
    common_lines = frozenset(old.splitlines()) & frozenset(new.splitlines())
    before, after = _read_lines(old, common_lines, strict=strict), _read_lines(new, common_lines, strict=strict)
    edits = list(_find_edits(before, after, strict=strict))
    if not edits:
        return None
    changed = sum(min(len(edit.removed), len(edit.added)) for edit in edits)
    added = sum(len(edit.added) for edit in edits) - changed
    removed = sum(len(edit.removed) for edit in edits) - changed
    counts = [(changed, "changed"), (added, "added"), (removed, "removed")]
    named = [(count, word) for count, word in counts if count]
    unit = "line" if named[0][0] == 1 else "lines"
    summary = ", ".join([f"{named[0][0]} {unit} {named[0][1]}", *(f"{count} {word}" for count, word in named[1:])])
    return Difference(summary, _render_edits(edits))


def _read_lines(text: str, common_lines: frozenset[str], *, strict: bool) -> list[_Line]:
    max_lines = 5_000
    lines: list[_Line] = []
    heading = ""
    for line in islice(filter(None, text.splitlines()), max_lines):
        stripped = line.strip()
        if stripped.startswith("#"):
            heading = stripped
        if key := (line if line in common_lines else build_line_key(stripped, strict=strict)):
            lines.append(_Line(stripped, key, "" if stripped == heading else heading))
    return lines


def _find_edits(before: list[_Line], after: list[_Line], *, strict: bool) -> Iterator[_Edit]:
    """Yield removed and added lines for each place; lines that only moved count only if `strict`."""
    # Lines that one version contains more often; all others have at most moved.
    removed_keys = Counter(line.key for line in before) - Counter(line.key for line in after)
    come = Counter(line.key for line in after) - Counter(line.key for line in before)
    matcher = SequenceMatcher(None, [line.key for line in before], [line.key for line in after])
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        removed, added = before[old_start:old_end], after[new_start:new_end]
        if not strict:
            removed, added = _take_counted(removed, removed_keys), _take_counted(added, come)
        if removed or added:
            heading = (added or removed)[0].heading
            yield _Edit(heading, tuple(line.text for line in removed), tuple(line.text for line in added))


def _take_counted(lines: list[_Line], counted: Counter[str]) -> list[_Line]:
    taken_lines = []
    for line in lines:
        if counted[line.key] > 0:
            counted[line.key] -= 1
            taken_lines.append(line)
    return taken_lines


def _render_edits(edits: list[_Edit]) -> str:
    lines: list[str] = []
    heading = ""
    for edit in edits:
        if edit.heading != heading:
            heading = edit.heading
            lines += [heading] if heading else []
        paired = len(edit.removed) == len(edit.added)
        for old, new in zip(edit.removed, edit.added, strict=True) if paired else ():
            lines += [f"{sign} {text}" for sign, text in zip("-+", _cut_shared_ends(old, new), strict=True)]
        if not paired:
            lines += [f"- {_shorten_line(text)}" for text in edit.removed] + [
                f"+ {_shorten_line(text)}" for text in edit.added
            ]
    size = 0
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > MAX_DIFFERENCE_CHARS:
            lines[number:] = [f"(and {len(lines) - number} more lines)"]
            break
    return "\n".join(lines)


def _cut_shared_ends(old: str, new: str) -> tuple[str, str]:
    """Return two versions of a line without long common beginnings and ends."""
    context = 80  # characters
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    cut_head, cut_tail = max(start - context, 0), max(end - context, 0)

    def cut_line(text: str) -> str:
        head = "…" if cut_head else ""
        tail = "…" if cut_tail else ""
        return _shorten_line(f"{head}{text[cut_head : len(text) - cut_tail]}{tail}")

    return cut_line(old), cut_line(new)


def _shorten_line(text: str) -> str:
    max_line_chars = 600
    return text if len(text) <= max_line_chars else text[: max_line_chars - 1] + "…"


def build_line_key(line: str, *, strict: bool) -> str:
    """Return the content of a line, equal for lines whose difference does not count.

    Link targets, pictures, emphasis and case never count; dates, times, counters (views, comments, likes) and advert
    labels count only if `strict`. The key of a line that contains nothing else is empty.
    """
    text = LINK.sub(r"\1", IMAGE.sub(" ", line))
    text = LIST_MARK.sub("", text)
    if not strict and NOISE_HINT.search(text):
        text = COUNTERS.sub(" ", DATES.sub(" ", text))
    text = SPACES.sub(" ", MARKS.sub(" ", text)).strip().casefold()
    if strict:
        return text
    words = LOOSE_MARKS.sub(" ", text).strip()  # a removed date leaves its comma
    return "" if words in ADVERT_LABELS or not any(map(str.isalnum, words)) else words
