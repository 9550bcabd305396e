"""Choose a page's title: its visible headline, or the declared title without the site's name."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from outrider.core.text import extract_terms

TITLE_SEPARATOR_PATTERN = re.compile(r"\s+[-–—·•»«:~⋅/∣⎟]{1,2}\s+|\s*[|｜»›·•]\s*|(?<=\w): ")
NON_WORD_PATTERN, WORD_PATTERN = re.compile(r"[\W_]+"), re.compile(r"\w+")
MAX_HEADLINE_CHARS = 250
MIN_SITE_NAME_CHARS = 3  # shorter names occur in other words by chance
GENERIC_HOST_PARTS = frozenset(
    "com org net edu gov mil int info co ac gob gouv govt or ne go www blog blogs shop store docs news app en".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class SiteNames:
    """The names of a site: declared names and parts of its host, as letters and digits only."""

    names: tuple[str, ...] = ()

    def is_site_name(self, text: str) -> bool:
        """Return whether a text is the site's name, or hardly more or less than it."""
        max_extra_chars = 14  # "Doom9's Forum" is a name of doom9.org
        text = normalize_name(text)
        return any(
            text == name
            or (len(name) > MIN_SITE_NAME_CHARS and name in text and len(text) < len(name) + max_extra_chars)
            or (len(text) > MIN_SITE_NAME_CHARS and text in name)
            for name in self.names
        )

    def strip_from_title(self, title: str) -> str:
        """Remove the site's name before or after a title, unless nothing else remains."""
        while marks := list(TITLE_SEPARATOR_PATTERN.finditer(title)):
            before, after = title[: marks[-1].start()].strip(), title[marks[0].end() :].strip()
            if before and self.is_site_name(title[marks[-1].end() :]):
                title = before
            elif after and self.is_site_name(title[: marks[0].start()]):
                title = after
            else:
                break
        return title


def build_site_names(names: Iterable[str], address: str) -> SiteNames:
    """Build the names of an address's site, with those that its page declares."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    parts = [
        part for part in host.split(".")[:-1] if len(part) >= MIN_SITE_NAME_CHARS and part not in GENERIC_HOST_PARTS
    ]
    return SiteNames(tuple(dict.fromkeys(filter(None, map(normalize_name, (*names, *parts))))))


def normalize_name(text: str) -> str:
    """Return the lower-case letters and digits of a text."""
    if text.isascii():
        return NON_WORD_PATTERN.sub("", text).lower()
    return NON_WORD_PATTERN.sub("", unicodedata.normalize("NFKC", text).casefold())


def _split_words(text: str) -> set[str]:
    return set(WORD_PATTERN.findall(text.lower())) if text.isascii() else set(extract_terms(text))


def find_headline(declared: list[str], headings: list[str], site: SiteNames) -> int:
    """Return the index of the headline among the level-1 headings.

    It is -1 if the declared titles support none.
    """
    min_common_share = 0.5  # of the headline's words
    if not declared:
        return 0 if headings else -1
    if headings and headings[0] == declared[0]:
        return 0
    title_words = [_split_words(site.strip_from_title(title)) for title in dict.fromkeys(declared)]
    best, best_score = -1, 0.0
    for number, heading in enumerate(headings):
        if len(heading) > MAX_HEADLINE_CHARS or _is_title_suffix(declared, heading):
            continue
        words = _split_words(heading)
        common = max(len(words & other) for other in title_words)
        if not words or common < min_common_share * len(words):
            continue
        score = common * common / len(words) + any(title.startswith(heading) for title in declared) / 2
        if score > best_score:
            best, best_score = number, score
    return best


def find_chapter_heading(declared: list[str], headings: list[str]) -> int:
    """Return the heading that the declared title puts before another.

    For instance a chapter before its book; -1 if there is none.

    "Appendix E: Editions" is the chapter of "E - Editions - The Book", too.
    """
    folded = [heading.casefold() for heading in headings]
    chapters: dict[str, set[str]] = {}
    for title in declared:
        for mark in TITLE_SEPARATOR_PATTERN.finditer(title):
            if (book := title[mark.end() :].casefold()) in folded:
                chapters.setdefault(book, set()).add(normalize_name(title[: mark.start()]))
    for number, heading in enumerate(headings):
        name = normalize_name(heading)
        for book, names in chapters.items():
            is_chapter = name in names or any(len(each) > MIN_SITE_NAME_CHARS and name.endswith(each) for each in names)
            if name and is_chapter and book in folded[:number]:
                return number
    return -1


def _is_title_suffix(declared: list[str], heading: str) -> bool:
    """Return whether one declared title is another one followed by this heading, as by a site's name."""
    return any(
        longer.endswith(heading) and TITLE_SEPARATOR_PATTERN.fullmatch(longer, len(shorter), len(longer) - len(heading))
        for longer in declared
        for shorter in declared
        if longer.startswith(shorter) and len(longer) > len(shorter)
    )


def find_title_line(declared: list[str], lines: list[str]) -> int:
    """Return the number of the line that matches a declared title.

    It is the longest line that begins or ends one, or -1.

    This finds headlines that are not level-1 headings, with any separator before the site's name.
    """
    max_lines = 600
    min_line_chars, min_share = 8, 0.4  # of the declared title
    best, best_chars = -1, min_line_chars - 1
    for title in dict.fromkeys(title for title in declared if len(title) <= 2 * MAX_HEADLINE_CHARS):
        for number, line in enumerate(lines[:max_lines]):
            chars = len(line)
            if not max(best_chars, min_share * len(title)) < chars < len(title):
                continue
            is_start = title.startswith(line) and not title[chars].isalnum()
            if is_start or (title.endswith(line) and not title[-chars - 1].isalnum()):
                best, best_chars = number, chars
    return best


def choose_title(declared: list[str], heading: str, site: SiteNames) -> str:
    """Choose between the headline and the declared titles, the most trusted first. Either may be empty."""
    title = site.strip_from_title(declared[0]) if declared else ""
    if not heading:
        return title
    headline = site.strip_from_title(heading)
    # A headline in capitals is better read as the declared title writes it.
    return title if headline.isupper() and normalize_name(headline) == normalize_name(title) else headline
