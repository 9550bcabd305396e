"""Cut text to a budget, and extract its search terms.

Budgets are characters or tokens.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kitoken import Kitoken

DEFAULT_CUT_CHARS = 12_000
MARKDOWN_HEADING = re.compile(r"#{1,6} ")
COMBINING_CATEGORIES = frozenset({"Mn", "Me", "Mc", "Sk"})  # Sk holds the skin tones of emoji
QUESTION_WORD_WEIGHT = 0.15  # relative to another word of the same frequency
# In the most common languages, as `extract_terms` writes them. German `die` and `war` and Spanish `son` are left out,
# because they are separate words in English.
QUESTION_WORDS = frozenset(
    "a an the of to in on at by for with from and or is are was were be been do does did can could should would "  # noqa: SIM905
    "will how what which who whom whose when where why i you he she it we they my your its this that these those there "
    "if as not have has had any some about into than then so me us please tell find get use "
    "der das den dem des ein eine einen einem einer und oder ist sind wie was wer wo wann warum welche welcher "
    "welches kann ich es sich mit von zu zum zur im am auf fur "
    "le la les un une des du de et ou est sont comment que quoi qui quand pourquoi quel quelle dans sur pour avec par "
    "el los las una y o es como que cual quien cuando donde por para con en del al "
    "il lo gli uno e di che chi quando dove perche nel con per da os as um uma do da em no na".split()
)


@dataclass(frozen=True)
class TextSlice:
    """A piece of a longer text.

    Attributes:
        text: The piece itself, without any marker.
        offset: Where it begins in the whole text, in characters.
        total: Length of the whole text, in characters.
    """

    text: str
    offset: int
    total: int

    @property
    def next_offset(self) -> int | None:
        """Offset of the next piece, or None at the end."""
        end = self.offset + len(self.text)
        return end if end < self.total else None

    @property
    def truncated(self) -> bool:
        return self.next_offset is not None

    def to_dict(self) -> dict[str, Any]:
        """Return truncated, total_chars and, if there is more, next_offset."""
        facts: dict[str, Any] = {"truncated": self.truncated, "total_chars": self.total}
        return facts | ({"next_offset": self.next_offset} if self.truncated else {})


def cut_text(text: str, limit: int = DEFAULT_CUT_CHARS, offset: int = 0) -> TextSlice:
    """Return at most `limit` characters from `offset` on.

    The text ends at a paragraph, line, sentence or word.

    A Markdown heading is not left at the end. Consecutive pieces (each from the last one's
    `next_offset`) join to the whole text exactly. A combining mark is never separated from its letter.
    """
    offset = min(max(offset, 0), len(text))
    piece = text[offset : offset + max(limit, 1)]
    if offset + len(piece) < len(text):
        end = _find_boundary(piece)
        # Move back before a letter whose marks would be cut off, but not past a hostile run of them.
        for back in range(min(end, 9)):
            if unicodedata.category(text[offset + end - back]) not in COMBINING_CATEGORIES:
                end -= back
                break
        piece = piece[:end]
    return TextSlice(piece, offset, len(text))


def _find_boundary(piece: str) -> int:
    """Return the end of the last unit in the piece's last 15 %.

    Units are paragraphs, lines, sentences and words.
    """
    floor = int(len(piece) * 0.85)
    for boundary in ("\n\n", "\n", ". ", "。", " "):
        found = piece.rfind(boundary, floor)
        if found == -1:
            continue
        end = found + len(boundary)
        # Move back before Markdown headings, which belong to the text below them.
        while line := piece.rfind("\n", floor, len(piece[:end].rstrip("\n"))) + 1:
            if not MARKDOWN_HEADING.match(piece, line):
                break
            end = line
        return end
    return len(piece)


def format_count(count: int, one: str, many: str = "") -> str:
    """Format as `1 page`, `3 pages`; `many` is needed for irregular plurals."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def count_tokens(text: str) -> int:
    """Return the exact length in tokens of the o200k vocabulary (gpt-4o).

    Special tokens are counted as plain text, and lone surrogates as the replacement character that is sent for them.
    """
    try:
        return len(_load_tokenizer().encode(text))
    except UnicodeEncodeError:
        return len(_load_tokenizer().encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))


def cut_tokens(text: str, limit: int, offset: int = 0) -> TextSlice:
    """Return at most `limit` tokens from `offset` on, ending at a boundary.

    The first guess is the text's average density, as in contract web_search_browse; it shrinks
    for a denser beginning. (At least one character is returned however many tokens it takes.)
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
def _load_tokenizer() -> "Kitoken":
    """Load the vocabulary, which takes 80 ms; `release/token_vocabulary.py` writes it."""
    import gzip

    from kitoken import Kitoken

    return Kitoken(gzip.decompress((Path(__file__).parent / "o200k.kit.gz").read_bytes()))


# Marks that only accent a letter; the vowel signs of Indic scripts, Thai and kana act as letters.
ACCENT_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\u00ad\u200d]+"
)
# Scripts that do not separate words by spaces: Thai, Lao, Burmese, Khmer, kana, Han, and Hangul, where
# particles are attached to the word. Each pair of letters is a term.
UNSPACED_LETTERS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# Maps ASCII letters to lower case, and everything that is not part of a word to a space.
ASCII_FOLD_TABLE = bytes(code if chr(code).isalnum() or code == 95 else 32 for code in range(128)).lower() + bytes(128)


def extract_terms(text: str) -> list[str]:
    """Return the terms of a text for matching: case and accents folded, unspaced scripts as letter pairs."""
    terms: list[str] = []
    for line in text.split("\n"):
        if line.isascii():  # ten times faster than the general code below
            terms += line.encode().translate(ASCII_FOLD_TABLE).decode().split()
        else:
            terms += _extract_line_terms(line)
    return terms


def _extract_line_terms(line: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", line).casefold())
    plain = unicodedata.normalize("NFC", ACCENT_MARKS.sub("", folded))
    terms: list[str] = []
    for word in _build_word_pattern().findall(plain):
        if word.isascii():
            terms.append(word)
            continue
        terms += [part for part in UNSPACED_LETTERS.split(word) if part]
        for letters in UNSPACED_LETTERS.findall(word):
            terms += [letters] if len(letters) == 1 else [letters[i : i + 2] for i in range(len(letters) - 1)]
    return terms


@lru_cache(maxsize=1)
def _build_word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word.

    It includes the vowel signs of Indic scripts, which Python's word class lacks.
    """
    # Blocks whose marks are parts of words: all from Devanagari on, except Han and Hangul, which have none.
    marked_ranges = ((0x0900, 0x3100), (0xA640, 0xAC00), (0xFA00, 0x1_2000))
    letters = (letter for low, high in marked_ranges for letter in map(chr, range(low, high)))
    marks = "".join(letter for letter in letters if unicodedata.category(letter) in {"Mn", "Mc"})
    return re.compile(rf"\w[\w{marks}]*")
