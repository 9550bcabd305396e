"""PDF lines of right-to-left scripts are read correctly in any storage order."""

import random
from collections.abc import Iterator

import pytest

from outrider.pages.readers.pdf_layout.bidi import PlacedLetter, is_rtl_text, to_reading_order
from support.documents.office_files import read_document
from support.documents.pdf_files import build_unicode_pdf

# In logical order, and in visual order from left to right (UAX 9), one sign per letter.
BIDI_LINES = {
    "a name of several words": ("המגדלור Wend Harbour נבנה", "הנבנ Wend Harbour רולדגמה"),
    "a number and a comma": ("במרץ 2026, והיא", "איהו ,2026 ץרמב"),
    "a number behind a hyphen": ("ב-14 במרץ", "ץרמב 14-ב"),
    "an amount": ("המחיר $1,250.50 או", "וא $1,250.50 ריחמה"),
    "a time and the end of a sentence": ("עד 18:45.", ".18:45 דע"),
    "an address": ("האתר https://wend.example/?id=7 נבנה", "הנבנ https://wend.example/?id=7 רתאה"),
    "brackets": ("מגדלור (ישן) כאן", "ןאכ (ןשי) רולדגמ"),
    "brackets around a name": ("הסכום (כולל VAT), כאן", "ןאכ ,(VAT ללוכ) םוכסה"),
    "brackets in a name": ("הגוף Web (W3C) קבע", "עבק Web (W3C) ףוגה"),
    "a list of names": ("ובהם HTML, CSS ועוד", "דועו HTML, CSS םהבו"),
    "an Arabic amount": ("السعر $50 مع 15% خصم", "مصخ %15 عم 50$ رعسلا"),
    "a word among Latin ones": ("The word מגדלור ישן is old", "The word ןשי רולדגמ is old"),
}


def place_letters(text: str) -> list[PlacedLetter]:
    """Place letters side by side, five points each, with the given spaces."""
    return [PlacedLetter(letter, at, at * 5.0, at * 5.0 + 5, at * 5.0) for at, letter in enumerate(text)]


@pytest.mark.parametrize("name", BIDI_LINES)
def test_a_line_is_read_in_the_order_of_its_words(name: str):
    written, shown = BIDI_LINES[name]
    letters = place_letters(shown)
    random.Random(1).shuffle(letters)  # the order in a file says nothing
    assert "".join(each.text for each in to_reading_order(letters, 10, page=is_rtl_text(written))) == written


def test_words_without_spaces_are_separated_by_gaps():
    letters = [
        PlacedLetter(letter, at, left, left + 5, left)
        for at, (letter, left) in enumerate(zip("גבא", (0, 8, 13), strict=True))
    ]
    assert "".join(each.text for each in to_reading_order(letters, 10, page=True)) == "אב ג"


def test_vowel_points_follow_their_letters_and_lam_precedes_alef():
    pointed = [
        PlacedLetter("ב", 0, 0, 5, 0),
        PlacedLetter("\u05b8", 1, 2, 3, 2),
        PlacedLetter("א", 2, 5, 10, 5),
        PlacedLetter("\u05b7", 3, 7, 8, 7),
    ]
    assert "".join(each.text for each in to_reading_order(pointed, 10, page=True)) == "א\u05b7ב\u05b8"
    joined = [PlacedLetter("ا", 0, 0, 3, 0), PlacedLetter("ل", 1, 3, 6, 0), PlacedLetter("ب", 2, 6, 10, 6)]
    assert "".join(each.text for each in to_reading_order(joined, 10, page=True)) == "بلا"


def place_rows(*shown: str) -> Iterator[tuple[float, float, str]]:
    """Build lines that end at the right edge, word by word from the left."""
    for number, line in enumerate(shown):
        left = 500 - 5.0 * len(line)
        for word in line.split(" "):
            yield left, 700 - 14 * number, word
            left += 5 * len(word) + 5


def test_a_right_to_left_page_is_read_correctly_in_any_storage_order():
    pieces = [*place_rows("הנבנ Wend Harbour ןשיה רולדגמה", "םיצברו תונשב Ida Marsh ידי לע", ".1871")]
    random.Random(2).shuffle(pieces)
    document = read_document(build_unicode_pdf(sorted(pieces, key=lambda piece: -piece[1])))
    assert " ".join(document.text.split("\n\n", 1)[1].split()) == (
        "המגדלור הישן Wend Harbour נבנה על ידי Ida Marsh בשנות ורבצים 1871."
    )
