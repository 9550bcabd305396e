"""The title of a page: its headline as readers see it, or what it declares without the name of its site."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from outrider.core.text import terms

BETWEEN = re.compile(r"\s+[-–—·•»«:~⋅/∣⎟]{1,2}\s+|\s*[|｜»›·•]\s*|(?<=\w): ")
ODD, WORD = re.compile(r"[\W_]+"), re.compile(r"\w+")
LONGEST = 250  # characters of a headline
SHARE = 0.5  # of a headline's words that the page also declares; on 1,497 pages .3 to .6 did the same
BESIDE = 14  # letters around a site's name by which it is still its name: "Doom9's Forum" of doom9.org
SHORT = 3  # letters of names that other words hold by chance
FEWEST, PART = 8, 0.4  # characters, and share of a declared title, of a line of the page that is its headline
LINES = 600  # of a page that are looked at
ENDINGS = frozenset(
    "com org net edu gov mil int info co ac gob gouv govt or ne go www blog blogs shop store docs news app en".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Site:
    """What a site is called: its declared names and the parts of its host's, in letters and digits only."""

    names: tuple[str, ...] = ()

    def is_named(self, text: str) -> bool:
        """Whether a text is the site's name, or hardly more or less than it."""
        told = squashed(text)
        return any(
            told == name
            or (len(name) > SHORT and name in told and len(told) < len(name) + BESIDE)
            or (len(told) > SHORT and told in name)
            for name in self.names
        )

    def removed_from(self, title: str) -> str:
        """A title without the site's name before or behind it, unless nothing else is there."""
        while marks := list(BETWEEN.finditer(title)):
            before, behind = title[: marks[-1].start()].strip(), title[marks[0].end() :].strip()
            if before and self.is_named(title[marks[-1].end() :]):
                title = before
            elif behind and self.is_named(title[: marks[0].start()]):
                title = behind
            else:
                break
        return title


def site_of(names: Iterable[str], address: str) -> Site:
    """The site of an address, with the names that its page declares."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    parts = [part for part in host.split(".")[:-1] if len(part) >= SHORT and part not in ENDINGS]
    return Site(tuple(dict.fromkeys(filter(None, map(squashed, (*names, *parts))))))


def squashed(text: str) -> str:
    """The letters and digits of a text, small."""
    if text.isascii():
        return ODD.sub("", text).lower()
    return ODD.sub("", unicodedata.normalize("NFKC", text).casefold())


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.lower())) if text.isascii() else set(terms(text))


def headline(declared: list[str], headings: list[str], site: Site) -> int:
    """Which of the headings of the first level is the page's headline; -1 if what is declared speaks for none."""
    if not declared:
        return 0 if headings else -1
    if headings and headings[0] == declared[0]:
        return 0
    said = [_words(site.removed_from(title)) for title in dict.fromkeys(declared)]
    best, most = -1, 0.0
    for at, heading in enumerate(headings):
        words = _words(heading) if len(heading) <= LONGEST and not _ends(declared, heading) else set()
        common = max(len(words & other) for other in said)
        if not words or common < SHARE * len(words):
            continue
        weight = common * common / len(words) + any(title.startswith(heading) for title in declared) / 2
        if weight > most:
            best, most = at, weight
    return best


def chapter(declared: list[str], headings: list[str]) -> int:
    """Which heading a declared title has before one that stands above it, as a chapter before its book; -1 if none."""
    for at, heading in enumerate(headings):
        above = {each.casefold() for each in headings[:at]}
        for title in declared:
            mark = BETWEEN.match(title, len(heading)) if heading and title.startswith(heading) else None
            if mark and title[mark.end() :].casefold() in above:
                return at
    return -1


def _ends(declared: list[str], heading: str) -> bool:
    """Whether one declared title is another with this heading behind it, as a site's name is."""
    return any(
        longer.endswith(heading) and BETWEEN.fullmatch(longer, len(shorter), len(longer) - len(heading))
        for longer in declared
        for shorter in declared
        if longer.startswith(shorter) and len(longer) > len(shorter)
    )


def line_of_title(declared: list[str], lines: list[str]) -> int:
    """The number of the longest line that a declared title begins or ends with, beside a mark; -1 if there is none.

    So a headline is known that is no heading of the first level, whatever stands between it and the site's name.
    """
    best, most = -1, FEWEST - 1
    for title in dict.fromkeys(each for each in declared if len(each) <= 2 * LONGEST):
        for at, line in enumerate(lines[:LINES]):
            size = len(line)
            if max(most, PART * len(title)) < size < len(title) and _is_part(title, line):
                best, most = at, size
    return best


def _is_part(title: str, line: str) -> bool:
    begins = title.startswith(line) and not title[len(line)].isalnum()
    return begins or (title.endswith(line) and not title[-len(line) - 1].isalnum())


def title_of(declared: list[str], heading: str, site: Site) -> str:
    """The title, of the headline and of what is declared, in the order in which it is trusted; either may be empty."""
    named = site.removed_from(declared[0]) if declared else ""
    if not heading:
        return named
    shown = site.removed_from(heading)
    return named if shown.isupper() and squashed(shown) == squashed(named) else shown
