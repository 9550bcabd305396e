"""Lines in which words run to the left, from the places of their letters to the order in which they are read.

PDFium orders letters by what programs write into a file, which differs from one to the next: words come out backwards,
names of several words in the wrong order. What is seen is certain, so it is undone from there: the rules of Unicode's
bidirectional algorithm (UAX 9) for what stands to the right of what, backwards.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from unicodedata import bidirectional, combining

RTL_RANGES = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff"
RTL_CHAR = re.compile(f"[{RTL_RANGES}]")
ANY_LETTER = re.compile(r"[^\W\d_]")
BRACKET_PAIRS = {a: b for pair in ("()", "[]", "{}", "«»", "‹›") for a, b in (pair, pair[::-1])}
# A number with its signs: what of it stands to the left stays there (UAX 9, W4 and W5); behind Arabic less of it (W2).
NUMBER_RUN = re.compile(r"[$€£₪%#°]*n(?:[.,:/+-]?n)*[$€£₪%#°]*")
ARABIC_NUMBER_RUN = re.compile(r"n(?:[.,:/]?n)*")
TRAILING_PUNCTUATION = tuple(".,;:!?")  # what stands left of all in a line that runs to the left ends it
LTR_PHRASE = re.compile(r"[$€£₪%#°]*[Ln](?:.*[Ln])?[$€£₪%#°]*")
RTL_RUN = re.compile(r"R(?:[^L]*R)?")  # in a line that runs to the right, what does not
BIDI_FAMILIES = {"L": "L", "R": "R", "AL": "R", "EN": "n", "AN": "n"}
LAM, ALEFS = "\u0644", frozenset("\u0622\u0623\u0625\u0627")


@dataclass(frozen=True, slots=True)
class PlacedLetter:
    """A letter with its marks, the index of the character, its edges, where it is set, and whether it runs right."""

    text: str
    index: int
    left: float
    right: float
    origin: float
    is_ltr: bool = False

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    @property
    def bidi_family(self) -> str:
        """`L` and `R` for letters, `n` for digits; anything else stands for itself."""
        return BIDI_FAMILIES.get(bidirectional(self.text[0]), self.text[0])


def is_rtl_text(text: str) -> bool:
    """Whether a page is one of a script that runs to the left."""
    min_rtl_share = 0.4  # of the letters of a page that run to the left: so does what is undecided
    return len(RTL_CHAR.findall(text)) > min_rtl_share * len(ANY_LETTER.findall(text))


def has_stray_punctuation(text: str) -> bool:
    """Whether a line without any word that runs to the left begins with what ends one that does."""
    return text.lstrip()[:1] in TRAILING_PUNCTUATION


def to_reading_order(letters: Sequence[PlacedLetter], size: float, *, page: bool) -> list[PlacedLetter]:
    """The letters of a line as they are read, with spaces between words.

    Args:
        letters: In any order; spaces among them count where they are as wide as one.
        size: Of their type.
        page: Whether the page is one that runs to the left.
    """
    parts = list(_split_by_gap(_normalize_letters(letters, size), size))
    whole = [each for part in parts for each in part]
    turned = _is_rtl_line(whole, page=page)
    made: list[PlacedLetter] = []
    for part in reversed(parts) if turned else parts:
        if made:
            made.append(_to_space(made[-1]))
        made += _order_letters(part, turned=turned)
    return made


def _normalize_letters(letters: Sequence[PlacedLetter], size: float) -> list[PlacedLetter]:
    """From the left to the right, marks with their letters, ligatures as one, and a space in each gap."""
    min_space_em = 0.18  # of the type size: the least gap between words
    bases = [
        each
        for each in letters
        if not combining(each.text[0])
        and not (each.text.isspace() and each.right - each.left < min_space_em * size / 2)
    ]
    bases = _join_lam_alef(sorted(bases, key=lambda each: each.middle))
    for mark in letters:
        if combining(mark.text[0]) and bases:
            at = min(range(len(bases)), key=lambda number: abs(bases[number].middle - mark.middle))
            bases[at] = replace(bases[at], text=bases[at].text + mark.text)
    made = bases[:1]
    for before, each in pairwise(bases):
        if each.left - before.right > min_space_em * size and not (before.text.isspace() or each.text.isspace()):
            made.append(replace(_to_space(before), left=before.right, right=each.left))
        made.append(each)
    return made


def _join_lam_alef(letters: list[PlacedLetter]) -> list[PlacedLetter]:
    """Lam and alef of one sign as such: whichever of them stands first in the file, lam is read first."""
    made: list[PlacedLetter] = []
    for each in letters:
        last = made[-1] if made else None
        if last and last.origin == each.origin and {last.text, each.text} & ALEFS and LAM in (last.text, each.text):
            alef = last.text if each.text == LAM else each.text
            made[-1] = replace(last, text=LAM + alef, left=min(last.left, each.left), right=max(last.right, each.right))
        else:
            made.append(each)
    return made


def _split_by_gap(letters: list[PlacedLetter], size: float) -> Iterator[list[PlacedLetter]]:
    """What stands between wide gaps."""
    min_cell_gap_em = 1.0  # of the type size: a gap between cells, whose order is one of its own
    part: list[PlacedLetter] = []
    for each in letters:
        if each.text.isspace() and each.right - each.left > min_cell_gap_em * size:
            yield part
            part = []
        else:
            part.append(each)
    yield part


def _is_rtl_line(letters: list[PlacedLetter], *, page: bool) -> bool:
    """Whether a line is read from the right: as its ends say, or most of it, or else the page."""
    strong = [each.bidi_family for each in letters if each.bidi_family in "LR"]
    if "R" not in strong:
        return page and bool(letters) and letters[0].text in TRAILING_PUNCTUATION
    if strong[0] == strong[-1]:
        return strong[0] == "R" or 2 * strong.count("R") > len(strong)
    return page


def _order_letters(letters: list[PlacedLetter], *, turned: bool) -> list[PlacedLetter]:
    """Letters from the left to the right as they are read."""
    families = "".join(each.bidi_family for each in letters)
    number = ARABIC_NUMBER_RUN if any(bidirectional(each.text[0]) == "AL" for each in letters) else NUMBER_RUN
    made: list[PlacedLetter] = []
    at = 0
    for start, end in (
        _iter_ltr_spans(families, number) if turned else [found.span() for found in RTL_RUN.finditer(families)]
    ):
        run = letters[start:end]
        made = [*made, *letters[at:start], *([replace(each, is_ltr=True) for each in run[::-1]] if turned else [])]
        made += [] if turned else _order_letters(run, turned=True)
        at = end
    made += letters[at:]
    return _mirror_brackets(made[::-1]) if turned else made


def _iter_ltr_spans(families: str, number: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where in a line that runs to the left words and numbers stand that do not."""
    for chunk in re.finditer(r"[^R]+", families):
        start, text = chunk.start(), chunk[0]
        if "L" not in text:
            yield from ((start + found.start(), start + found.end()) for found in number.finditer(text))
        elif found := LTR_PHRASE.search(text):
            end = found.end()
            opened = any(found[0].count(sign) > found[0].count(BRACKET_PAIRS[sign]) for sign in "([")
            yield start + found.start(), start + end + (opened and text[end : end + 1] in (")", "]"))


def _mirror_brackets(letters: list[PlacedLetter]) -> list[PlacedLetter]:
    """Brackets between words that run to the left as they are read: files have them as they look, or as they mean."""
    closing_chars = frozenset(".,;:!?…%)]}»›\"'״׳")
    opening_brackets = frozenset("([{«‹")
    made = list(letters)
    for at, each in enumerate(letters):
        if each.is_ltr or each.text not in BRACKET_PAIRS:
            continue
        before = at == 0 or not (letters[at - 1].text[0].isalnum() or letters[at - 1].text in closing_chars)
        after = at + 1 < len(letters) and not letters[at + 1].text.isspace()
        if (before and after) != (each.text in opening_brackets):
            made[at] = replace(each, text=BRACKET_PAIRS[each.text])
    return made


def _to_space(letter: PlacedLetter) -> PlacedLetter:
    return replace(letter, text=" ")
