"""Cutting text to a budget without losing the way to read on, and counting its tokens."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

DEFAULT_CHARS = 12_000
BOUNDARIES = ("\n\n", "\n", ". ", " ")  # where a cut hurts least, best first
SLACK = 0.15  # how far back from the limit a boundary may lie, as a share of the budget
MARKS = frozenset({"Mn", "Me", "Mc", "Sk"})


@dataclass(frozen=True)
class Cut:
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

    def facts(self) -> dict[str, Any]:
        """What a program wants to know: truncated, total_chars, next_offset."""
        facts: dict[str, Any] = {"truncated": self.truncated, "total_chars": self.total}
        return facts | ({"next_offset": self.next_offset} if self.truncated else {})


def cut(text: str, limit: int = DEFAULT_CHARS, offset: int = 0) -> Cut:
    """At most `limit` characters from `offset` on, ended at a paragraph, line, sentence or word.

    Consecutive pieces (each from the last one's `next_offset`) join to the whole text exactly. A
    combining mark is never parted from its letter.
    """
    offset = min(max(offset, 0), len(text))
    piece = text[offset : offset + max(limit, 1)]
    if offset + len(piece) < len(text):
        piece = piece[: _end(piece)]
        piece += _marks(text, offset + len(piece))
    return Cut(piece, offset, len(text))


def _end(piece: str) -> int:
    floor = int(len(piece) * (1 - SLACK))
    for boundary in BOUNDARIES:
        found = piece.rfind(boundary, floor)
        if found != -1:
            return found + len(boundary)
    return len(piece)


def _marks(text: str, start: int) -> str:
    """The few combining marks that follow a cut; a hostile thousand of them is cut all the same."""
    end = start
    while end < min(len(text), start + 8) and unicodedata.category(text[end]) in MARKS:
        end += 1
    return text[start:end]


def count_tokens(text: str) -> int:
    """The text's length in tokens of the o200k vocabulary (gpt-4o), exactly."""
    return _tokenizer().count(text)


def cut_tokens(text: str, limit: int, offset: int = 0) -> Cut:
    """At most `limit` tokens from `offset` on, ended at a boundary.

    The first guess is the text's average density, as in contract web_search_browse; a denser
    beginning shrinks it until it holds.
    """
    rest = text[offset:]
    tokens = count_tokens(rest)
    if tokens <= limit:
        return Cut(rest, offset, len(text))
    chars = limit * len(rest) // tokens
    piece = cut(text, chars, offset)
    while (used := count_tokens(piece.text)) > limit and chars > 1:
        chars = max(1, min(chars - 1, chars * limit // used))
        piece = cut(text, chars, offset)
    return piece


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from rs_bpe.bpe import openai

    return openai.o200k_base()


WORD = re.compile(r"\w+", re.UNICODE)
# Scripts written without spaces: kana, Han, Thai, Lao, Khmer, Burmese. A pair of letters is their word.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def terms(text: str) -> list[str]:
    """The words of a text for matching: case and accents folded, unspaced scripts as letter pairs."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in folded if not unicodedata.combining(letter) or letter > "\u0e00")
    return [term for word in WORD.findall(plain) for term in _split(word)]


def _split(word: str) -> list[str]:
    parts = UNSPACED.split(word)
    pairs = [pair for run in UNSPACED.findall(word) for pair in _pairs(run)]
    return [part for part in parts if part] + pairs


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
