"""Cutting text to a budget without losing the way to read on, and counting its tokens."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

DEFAULT_CUT_CHARS = 12_000
MARKDOWN_HEADING = re.compile(r"#{1,6} ")
COMBINING_CATEGORIES = frozenset({"Mn", "Me", "Mc", "Sk"})  # Sk holds the skin tones of emoji


@dataclass(frozen=True)
class TextSlice:
    """A piece of a longer text.

    Attributes:
        text: The piece itself, without any marker.
        offset: Where it begins in the whole, in characters.
        total: The length of the whole, in characters.
    """

    text: str
    offset: int
    total: int

    @property
    def next_offset(self) -> int | None:
        """Where to read on; None at the end."""
        end = self.offset + len(self.text)
        return end if end < self.total else None

    @property
    def truncated(self) -> bool:
        return self.next_offset is not None

    def to_dict(self) -> dict[str, Any]:
        """What a program wants to know: truncated, total_chars, next_offset."""
        facts: dict[str, Any] = {"truncated": self.truncated, "total_chars": self.total}
        return facts | ({"next_offset": self.next_offset} if self.truncated else {})


def cut_text(text: str, limit: int = DEFAULT_CUT_CHARS, offset: int = 0) -> TextSlice:
    """At most `limit` characters from `offset` on, ended at a paragraph, line, sentence or word.

    A heading of Markdown is not left at the end. Consecutive pieces (each from the last one's
    `next_offset`) join to the whole text exactly. A combining mark is never parted from its letter.
    """
    offset = min(max(offset, 0), len(text))
    piece = text[offset : offset + max(limit, 1)]
    if offset + len(piece) < len(text):
        piece = piece[: _move_before_marks(text, offset, _find_end(piece))]
    return TextSlice(piece, offset, len(text))


def _find_end(piece: str) -> int:
    slack = 0.15  # how far back from the limit a boundary may lie, as a share of the budget
    boundaries = ("\n\n", "\n", ". ", "。", " ")  # where a cut hurts least, best first
    floor = int(len(piece) * (1 - slack))
    for boundary in boundaries:
        found = piece.rfind(boundary, floor)
        if found != -1:
            return _move_before_headings(piece, found + len(boundary), floor)
    return len(piece)


def _move_before_headings(piece: str, end: int, floor: int) -> int:
    """The end, moved back before headings of Markdown that would be parted from what they stand above."""
    while True:
        line = piece.rfind("\n", floor, len(piece[:end].rstrip("\n"))) + 1
        if not line or not MARKDOWN_HEADING.match(piece, line):
            return end
        end = line


def _move_before_marks(text: str, offset: int, end: int) -> int:
    """The end, moved back before a letter whose marks would be cut off, unless that leaves nothing."""
    max_marks = 8  # marks that stay with their letter; a hostile thousand of them is parted
    for back in range(min(end, max_marks + 1)):
        if unicodedata.category(text[offset + end - back]) not in COMBINING_CATEGORIES:
            return end - back
    return end


def count_tokens(text: str) -> int:
    """The text's length in tokens of the o200k vocabulary (gpt-4o), exactly.

    What looks like a special token counts as the text that it is; half of a surrogate pair, as the replacement
    character that is sent for it.
    """
    try:
        return _load_tokenizer().count(text)
    except UnicodeEncodeError:
        return _load_tokenizer().count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def cut_tokens(text: str, limit: int, offset: int = 0) -> TextSlice:
    """At most `limit` tokens from `offset` on, ended at a boundary.

    The first guess is the text's average density, as in contract web_search_browse; a denser
    beginning shrinks it until it holds. (One character is returned however many tokens it takes.)
    """
    offset = min(max(offset, 0), len(text))
    rest = text[offset:]
    tokens = count_tokens(rest)
    if tokens <= limit:
        return TextSlice(rest, offset, len(text))
    chars = limit * len(rest) // tokens
    piece = cut_text(text, chars, offset)
    while (used := count_tokens(piece.text)) > limit and chars > 1:
        chars = max(1, min(chars - 1, chars * limit // used))
        piece = cut_text(text, chars, offset)
    return piece


@lru_cache(maxsize=1)
def _load_tokenizer() -> Any:
    from rs_bpe.bpe import openai

    return openai.o200k_base()


# Marks that only accent a letter; the vowel signs of Indic scripts, Thai and kana are letters in all but name.
ACCENT_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\u00ad\u200d]+"
)
# Scripts whose words do not stand between spaces: Thai, Lao, Burmese, Khmer, kana, Han, and Hangul, where
# particles cling to the word. A pair of letters is their word.
UNSPACED_LETTERS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]+"
)


# What becomes of each sign of ASCII: letters become small, what is no part of a word a space.
ASCII_FOLD_TABLE = bytes(code if chr(code).isalnum() or code == 95 else 32 for code in range(128)).lower() + bytes(128)


def extract_terms(text: str) -> list[str]:
    """The words of a text for matching: case and accents folded, unspaced scripts as letter pairs."""
    lines = text.split("\n")
    return [term for line in lines for term in (_plain_terms(line) if line.isascii() else _extract_line_terms(line))]


def _plain_terms(line: str) -> list[str]:
    """The same of a line of ASCII, by a table: in a tenth of the time."""
    return line.encode().translate(ASCII_FOLD_TABLE).decode().split()


def _extract_line_terms(line: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", line).casefold())
    plain = unicodedata.normalize("NFC", ACCENT_MARKS.sub("", folded))
    return [term for word in _build_word_pattern().findall(plain) for term in _split_word(word)]


@lru_cache(maxsize=1)
def _build_word_pattern() -> re.Pattern[str]:
    """A letter or digit and what belongs to it; Python's own class of word letters lacks the Indic vowel signs."""
    # Where marks may be of which words are made: all from Devanagari on but Han and Hangul, which have none.
    marked_ranges = ((0x0900, 0x3100), (0xA640, 0xAC00), (0xFA00, 0x1_2000))
    mark_categories = frozenset({"Mn", "Mc"})
    marks = (
        each
        for low, high in marked_ranges
        for each in map(chr, range(low, high))
        if unicodedata.category(each) in mark_categories
    )
    return re.compile(rf"\w[\w{''.join(marks)}]*")


def _split_word(word: str) -> list[str]:
    if word.isascii():
        return [word]
    parts = UNSPACED_LETTERS.split(word)
    pairs = [pair for run in UNSPACED_LETTERS.findall(word) for pair in _pairs(run)]
    return [part for part in parts if part] + pairs


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
