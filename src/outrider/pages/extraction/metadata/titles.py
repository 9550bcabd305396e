"""The title of a page: its headline as readers see it, or what it declares without the name of its site."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from outrider.core.text import extract_terms

TITLE_SEPARATOR_PATTERN = re.compile(r"\s+[-–—·•»«:~⋅/∣⎟]{1,2}\s+|\s*[|｜»›·•]\s*|(?<=\w): ")
NON_WORD_PATTERN, WORD_PATTERN = re.compile(r"[\W_]+"), re.compile(r"\w+")
MAX_HEADLINE_CHARS = 250  # characters of a headline
MIN_SITE_NAME_CHARS = 3  # letters of names that other words hold by chance
MIN_TITLE_LINE_CHARS, MIN_TITLE_SHARE = (
    8,
    0.4,
)  # characters, and share of a declared title, of a line of the page that is its headline
GENERIC_HOST_PARTS = frozenset(
    "com org net edu gov mil int info co ac gob gouv govt or ne go www blog blogs shop store docs news app en".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class SiteNames:
    """What a site is called: its declared names and the parts of its host's, in letters and digits only."""

    names: tuple[str, ...] = ()

    def is_site_name(self, text: str) -> bool:
        """Whether a text is the site's name, or hardly more or less than it."""
        max_extra_chars = 14  # letters around a site's name by which it is still its name: "Doom9's Forum" of doom9.org
        told = normalize_name(text)
        return any(
            told == name
            or (len(name) > MIN_SITE_NAME_CHARS and name in told and len(told) < len(name) + max_extra_chars)
            or (len(told) > MIN_SITE_NAME_CHARS and told in name)
            for name in self.names
        )

    def strip_from_title(self, title: str) -> str:
        """A title without the site's name before or behind it, unless nothing else is there."""
        while marks := list(TITLE_SEPARATOR_PATTERN.finditer(title)):
            before, behind = title[: marks[-1].start()].strip(), title[marks[0].end() :].strip()
            if before and self.is_site_name(title[marks[-1].end() :]):
                title = before
            elif behind and self.is_site_name(title[: marks[0].start()]):
                title = behind
            else:
                break
        return title


def build_site_names(names: Iterable[str], address: str) -> SiteNames:
    """The site of an address, with the names that its page declares."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    parts = [
        part for part in host.split(".")[:-1] if len(part) >= MIN_SITE_NAME_CHARS and part not in GENERIC_HOST_PARTS
    ]
    return SiteNames(tuple(dict.fromkeys(filter(None, map(normalize_name, (*names, *parts))))))


def normalize_name(text: str) -> str:
    """The letters and digits of a text, small."""
    if text.isascii():
        return NON_WORD_PATTERN.sub("", text).lower()
    return NON_WORD_PATTERN.sub("", unicodedata.normalize("NFKC", text).casefold())


def _split_words(text: str) -> set[str]:
    return set(WORD_PATTERN.findall(text.lower())) if text.isascii() else set(extract_terms(text))


def find_headline(declared: list[str], headings: list[str], site: SiteNames) -> int:
    """Which of the headings of the first level is the page's headline; -1 if what is declared speaks for none."""
    min_common_share = 0.5  # of a headline's words that the page also declares; on 1,497 pages .3 to .6 did the same
    if not declared:
        return 0 if headings else -1
    if headings and headings[0] == declared[0]:
        return 0
    said = [_split_words(site.strip_from_title(title)) for title in dict.fromkeys(declared)]
    best, most = -1, 0.0
    for at, heading in enumerate(headings):
        words = (
            _split_words(heading)
            if len(heading) <= MAX_HEADLINE_CHARS and not _is_title_suffix(declared, heading)
            else set()
        )
        common = max(len(words & other) for other in said)
        if not words or common < min_common_share * len(words):
            continue
        weight = common * common / len(words) + any(title.startswith(heading) for title in declared) / 2
        if weight > most:
            best, most = at, weight
    return best


def find_chapter_heading(declared: list[str], headings: list[str]) -> int:
    """Which heading a declared title has before one that stands above it, as a chapter before its book; -1 if none."""
    for at, heading in enumerate(headings):
        above = {each.casefold() for each in headings[:at]}
        for title in declared:
            mark = TITLE_SEPARATOR_PATTERN.match(title, len(heading)) if heading and title.startswith(heading) else None
            if mark and title[mark.end() :].casefold() in above:
                return at
    return -1


def _is_title_suffix(declared: list[str], heading: str) -> bool:
    """Whether one declared title is another with this heading behind it, as a site's name is."""
    return any(
        longer.endswith(heading) and TITLE_SEPARATOR_PATTERN.fullmatch(longer, len(shorter), len(longer) - len(heading))
        for longer in declared
        for shorter in declared
        if longer.startswith(shorter) and len(longer) > len(shorter)
    )


def find_title_line(declared: list[str], lines: list[str]) -> int:
    """The number of the longest line that a declared title begins or ends with, beside a mark; -1 if there is none.

    So a headline is known that is no heading of the first level, whatever stands between it and the site's name.
    """
    max_lines = 600  # of a page that are looked at
    best, most = -1, MIN_TITLE_LINE_CHARS - 1
    for title in dict.fromkeys(each for each in declared if len(each) <= 2 * MAX_HEADLINE_CHARS):
        for at, line in enumerate(lines[:max_lines]):
            size = len(line)
            if max(most, MIN_TITLE_SHARE * len(title)) < size < len(title) and _is_title_part(title, line):
                best, most = at, size
    return best


def _is_title_part(title: str, line: str) -> bool:
    begins = title.startswith(line) and not title[len(line)].isalnum()
    return begins or (title.endswith(line) and not title[-len(line) - 1].isalnum())


def choose_title(declared: list[str], heading: str, site: SiteNames) -> str:
    """The title, of the headline and of what is declared, in the order in which it is trusted; either may be empty."""
    named = site.strip_from_title(declared[0]) if declared else ""
    if not heading:
        return named
    shown = site.strip_from_title(heading)
    return named if shown.isupper() and normalize_name(shown) == normalize_name(named) else shown
