"""Restore the reading order of lines with right-to-left words.

The positions of the letters decide.

PDFium returns letters in the order in which programs wrote them, which differs from one to the next: words come out
reversed, names of several words in the wrong order. Only the visual order is certain, so Unicode's bidirectional
algorithm (UAX 9) is applied in reverse to it.
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
# A number with its separators and symbols keeps its order (UAX 9, W4 and W5); Arabic ones have fewer symbols (W2).
NUMBER_RUN = re.compile(r"[$€£₪%#°]*n(?:[.,:/+-]?n)*[$€£₪%#°]*")
ARABIC_NUMBER_RUN = re.compile(r"n(?:[.,:/]?n)*")
TRAILING_PUNCTUATION = tuple(".,;:!?")  # at the left end of a right-to-left line
LTR_PHRASE = re.compile(r"[$€£₪%#°]*[Ln](?:.*[Ln])?[$€£₪%#°]*")
RTL_RUN = re.compile(r"R(?:[^L]*R)?")  # right-to-left words in a left-to-right line
BIDI_FAMILIES = {"L": "L", "R": "R", "AL": "R", "EN": "n", "AN": "n"}
LAM, ALEFS = "\u0644", frozenset("\u0622\u0623\u0625\u0627")


@dataclass(frozen=True, slots=True)
class PlacedLetter:
    """A letter with its combining marks, and its position.

    Attributes:
        index: Its number among PDFium's characters.
        left, right: Its edges in points.
        origin: The x coordinate at which it is set.
        is_ltr: Whether it belongs to left-to-right text.
    """

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
        """`L` and `R` for letters, `n` for digits, else the character itself."""
        return BIDI_FAMILIES.get(bidirectional(self.text[0]), self.text[0])


def is_rtl_text(text: str) -> bool:
    """Return whether more than 40 % of the letters run from right to left."""
    return len(RTL_CHAR.findall(text)) > 0.4 * len(ANY_LETTER.findall(text))


def has_stray_punctuation(text: str) -> bool:
    """Return whether a line begins with punctuation that ends right-to-left lines."""
    return text.lstrip()[:1] in TRAILING_PUNCTUATION


def to_reading_order(letters: Sequence[PlacedLetter], size: float, *, page: bool) -> list[PlacedLetter]:
    """Return the letters of a line in reading order, with spaces between words.

    Args:
        letters: The letters in any order; spaces among them count only if they are wide enough.
        size: The type size in points.
        page: Whether the page is read from right to left.
    """
    min_cell_gap_em = 1.0
    cells: list[list[PlacedLetter]] = [[]]
    for letter in _normalize_letters(letters, size):
        if letter.text.isspace() and letter.right - letter.left > min_cell_gap_em * size:
            cells.append([])
        else:
            cells[-1].append(letter)
    ordinary = [letter for cell in cells for letter in cell]
    strong = [letter.bidi_family for letter in ordinary if letter.bidi_family in "LR"]
    is_rtl = page
    if "R" not in strong:
        is_rtl = page and bool(ordinary) and ordinary[0].text in TRAILING_PUNCTUATION
    elif strong[0] == strong[-1]:
        is_rtl = strong[0] == "R" or 2 * strong.count("R") > len(strong)
    ordered: list[PlacedLetter] = []
    for cell in reversed(cells) if is_rtl else cells:
        if ordered:
            ordered.append(replace(ordered[-1], text=" "))
        ordered += _order_letters(cell, is_rtl=is_rtl)
    return ordered


def _normalize_letters(letters: Sequence[PlacedLetter], size: float) -> list[PlacedLetter]:
    """Sort letters from left to right, join marks and ligatures, and add a space in each gap."""
    min_space_em = 0.18
    bases = [
        letter
        for letter in letters
        if not combining(letter.text[0])
        and not (letter.text.isspace() and letter.right - letter.left < min_space_em * size / 2)
    ]
    bases = _join_lam_alef(sorted(bases, key=lambda letter: letter.middle))
    for mark in letters:
        if combining(mark.text[0]) and bases:
            nearest = min(range(len(bases)), key=lambda number: abs(bases[number].middle - mark.middle))
            bases[nearest] = replace(bases[nearest], text=bases[nearest].text + mark.text)
    spaced = bases[:1]
    for previous, letter in pairwise(bases):
        has_space = previous.text.isspace() or letter.text.isspace()
        if letter.left - previous.right > min_space_em * size and not has_space:
            spaced.append(replace(previous, text=" ", left=previous.right, right=letter.left))
        spaced.append(letter)
    return spaced


def _join_lam_alef(letters: list[PlacedLetter]) -> list[PlacedLetter]:
    """Join lam and alef of one ligature; lam is read first in any order in the file."""
    joined: list[PlacedLetter] = []
    for letter in letters:
        last = joined[-1] if joined else None
        texts = {last.text, letter.text} if last else set()
        if last and last.origin == letter.origin and texts & ALEFS and LAM in texts:
            alef = last.text if letter.text == LAM else letter.text
            left, right = min(last.left, letter.left), max(last.right, letter.right)
            joined[-1] = replace(last, text=LAM + alef, left=left, right=right)
        else:
            joined.append(letter)
    return joined


def _order_letters(letters: list[PlacedLetter], *, is_rtl: bool) -> list[PlacedLetter]:
    """Return letters, given from left to right, in reading order."""
    families = "".join(letter.bidi_family for letter in letters)
    ordered: list[PlacedLetter] = []
    done = 0
    if not is_rtl:
        for run in RTL_RUN.finditer(families):
            ordered += letters[done : run.start()]
            ordered += _order_letters(letters[run.start() : run.end()], is_rtl=True)
            done = run.end()
        return ordered + letters[done:]
    is_arabic = any(bidirectional(letter.text[0]) == "AL" for letter in letters)
    for start, end in _iter_ltr_spans(families, ARABIC_NUMBER_RUN if is_arabic else NUMBER_RUN):
        ordered += letters[done:start]
        # Reversed here, and once more with the whole line.
        ordered += [replace(letter, is_ltr=True) for letter in reversed(letters[start:end])]
        done = end
    ordered += letters[done:]
    return _mirror_brackets(ordered[::-1])


def _iter_ltr_spans(families: str, number_run: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of left-to-right words and numbers in a right-to-left line."""
    for chunk in re.finditer(r"[^R]+", families):
        start, text = chunk.start(), chunk[0]
        if "L" not in text:
            yield from ((start + number.start(), start + number.end()) for number in number_run.finditer(text))
        elif phrase := LTR_PHRASE.search(text):
            end = phrase.end()
            is_open = any(phrase[0].count(sign) > phrase[0].count(BRACKET_PAIRS[sign]) for sign in "([")
            yield start + phrase.start(), start + end + (is_open and text[end : end + 1] in (")", "]"))


def _mirror_brackets(letters: list[PlacedLetter]) -> list[PlacedLetter]:
    """Mirror brackets in right-to-left text where their neighbors show that the file has them mirrored."""
    closing_chars = frozenset(".,;:!?…%)]}»›\"'״׳")
    opening_brackets = frozenset("([{«‹")
    mirrored = list(letters)
    for index, letter in enumerate(letters):
        if letter.is_ltr or letter.text not in BRACKET_PAIRS:
            continue
        previous = letters[index - 1].text if index else ""
        follows_text = bool(previous) and (previous[0].isalnum() or previous in closing_chars)
        precedes_text = index + 1 < len(letters) and not letters[index + 1].text.isspace()
        is_opening = not follows_text and precedes_text
        if is_opening != (letter.text in opening_brackets):
            mirrored[index] = replace(letter, text=BRACKET_PAIRS[letter.text])
    return mirrored
