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

RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff"
LEFTWARD = re.compile(f"[{RIGHT_TO_LEFT}]")
LETTER = re.compile(r"[^\W\d_]")
SPACE = 0.18  # of the type size: the least gap between words
WIDE = 1.0  # of the type size: a gap between cells, whose order is one of its own
SHARE = 0.4  # of the letters of a page that run to the left: so does what is undecided
BRACKETS = {a: b for pair in ("()", "[]", "{}", "«»", "‹›") for a, b in (pair, pair[::-1])}
OPENING = frozenset("([{«‹")
CLOSERS = frozenset(".,;:!?…%)]}»›\"'״׳")
# A number with its signs: what of it stands to the left stays there (UAX 9, W4 and W5); behind Arabic less of it (W2).
NUMBER = re.compile(r"[$€£₪%#°]*n(?:[.,:/+-]?n)*[$€£₪%#°]*")
ARABIC_NUMBER = re.compile(r"n(?:[.,:/]?n)*")
STRAY = tuple(".,;:!?")  # what stands left of all in a line that runs to the left ends it
PHRASE = re.compile(r"[$€£₪%#°]*[Ln](?:.*[Ln])?[$€£₪%#°]*")
BACKWARDS = re.compile(r"R(?:[^L]*R)?")  # in a line that runs to the right, what does not
FAMILIES = {"L": "L", "R": "R", "AL": "R", "EN": "n", "AN": "n"}
LAM, ALEFS = "\u0644", frozenset("\u0622\u0623\u0625\u0627")


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter with its marks, the index of the character, its edges, where it is set, and whether it runs right."""

    text: str
    at: int
    left: float
    right: float
    origin: float
    kept: bool = False

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    @property
    def family(self) -> str:
        """`L` and `R` for letters, `n` for digits; anything else stands for itself."""
        return FAMILIES.get(bidirectional(self.text[0]), self.text[0])


def is_leftward(text: str) -> bool:
    """Whether a page is one of a script that runs to the left."""
    return len(LEFTWARD.findall(text)) > SHARE * len(LETTER.findall(text))


def strays(text: str) -> bool:
    """Whether a line without any word that runs to the left begins with what ends one that does."""
    return text.lstrip()[:1] in STRAY


def read_order(letters: Sequence[Letter], size: float, *, page: bool) -> list[Letter]:
    """The letters of a line as they are read, with spaces between words.

    Args:
        letters: In any order; spaces among them count where they are as wide as one.
        size: Of their type.
        page: Whether the page is one that runs to the left.
    """
    parts = list(_parts(_seen(letters, size), size))
    whole = [each for part in parts for each in part]
    turned = _runs_left(whole, page=page)
    made: list[Letter] = []
    for part in reversed(parts) if turned else parts:
        if made:
            made.append(_space(made[-1]))
        made += _ordered(part, turned=turned)
    return made


def _seen(letters: Sequence[Letter], size: float) -> list[Letter]:
    """From the left to the right, marks with their letters, ligatures as one, and a space in each gap."""
    bases = [
        each
        for each in letters
        if not combining(each.text[0]) and not (each.text.isspace() and each.right - each.left < SPACE * size / 2)
    ]
    bases = _joined(sorted(bases, key=lambda each: each.middle))
    for mark in letters:
        if combining(mark.text[0]) and bases:
            at = min(range(len(bases)), key=lambda number: abs(bases[number].middle - mark.middle))
            bases[at] = replace(bases[at], text=bases[at].text + mark.text)
    made = bases[:1]
    for before, each in pairwise(bases):
        if each.left - before.right > SPACE * size and not (before.text.isspace() or each.text.isspace()):
            made.append(replace(_space(before), left=before.right, right=each.left))
        made.append(each)
    return made


def _joined(letters: list[Letter]) -> list[Letter]:
    """Lam and alef of one sign as such: whichever of them stands first in the file, lam is read first."""
    made: list[Letter] = []
    for each in letters:
        last = made[-1] if made else None
        if last and last.origin == each.origin and {last.text, each.text} & ALEFS and LAM in (last.text, each.text):
            alef = last.text if each.text == LAM else each.text
            made[-1] = replace(last, text=LAM + alef, left=min(last.left, each.left), right=max(last.right, each.right))
        else:
            made.append(each)
    return made


def _parts(letters: list[Letter], size: float) -> Iterator[list[Letter]]:
    """What stands between wide gaps."""
    part: list[Letter] = []
    for each in letters:
        if each.text.isspace() and each.right - each.left > WIDE * size:
            yield part
            part = []
        else:
            part.append(each)
    yield part


def _runs_left(letters: list[Letter], *, page: bool) -> bool:
    """Whether a line is read from the right: as its ends say, or most of it, or else the page."""
    strong = [each.family for each in letters if each.family in "LR"]
    if "R" not in strong:
        return page and bool(letters) and letters[0].text in STRAY
    if strong[0] == strong[-1]:
        return strong[0] == "R" or 2 * strong.count("R") > len(strong)
    return page


def _ordered(letters: list[Letter], *, turned: bool) -> list[Letter]:
    """Letters from the left to the right as they are read."""
    families = "".join(each.family for each in letters)
    number = ARABIC_NUMBER if any(bidirectional(each.text[0]) == "AL" for each in letters) else NUMBER
    made: list[Letter] = []
    at = 0
    for start, end in (
        _rightward(families, number) if turned else [found.span() for found in BACKWARDS.finditer(families)]
    ):
        run = letters[start:end]
        made = [*made, *letters[at:start], *([replace(each, kept=True) for each in run[::-1]] if turned else [])]
        made += [] if turned else _ordered(run, turned=True)
        at = end
    made += letters[at:]
    return _opened(made[::-1]) if turned else made


def _rightward(families: str, number: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where in a line that runs to the left words and numbers stand that do not."""
    for chunk in re.finditer(r"[^R]+", families):
        start, text = chunk.start(), chunk[0]
        if "L" not in text:
            yield from ((start + found.start(), start + found.end()) for found in number.finditer(text))
        elif found := PHRASE.search(text):
            end = found.end()
            opened = any(found[0].count(sign) > found[0].count(BRACKETS[sign]) for sign in "([")
            yield start + found.start(), start + end + (opened and text[end : end + 1] in (")", "]"))


def _opened(letters: list[Letter]) -> list[Letter]:
    """Brackets between words that run to the left as they are read: files have them as they look, or as they mean."""
    made = list(letters)
    for at, each in enumerate(letters):
        if each.kept or each.text not in BRACKETS:
            continue
        before = at == 0 or not (letters[at - 1].text[0].isalnum() or letters[at - 1].text in CLOSERS)
        after = at + 1 < len(letters) and not letters[at + 1].text.isspace()
        if (before and after) != (each.text in OPENING):
            made[at] = replace(each, text=BRACKETS[each.text])
    return made


def _space(letter: Letter) -> Letter:
    return replace(letter, text=" ")
