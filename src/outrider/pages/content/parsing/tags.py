"""How often each tag stands in a source, counted by passes over whole arrays: regular expressions take three times it.

Behind each `<` eight bytes are looked at as one number. Names that fill them are few, and read one by one.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Words = NDArray[np.uint64]
NAME = re.compile(rb"[a-zA-Z][a-zA-Z0-9-]{0,30}")
SILENT = b"script style textarea title xmp iframe noembed noframes".split()
RAW = re.compile(rb"<(?=[!stxinSTXIN])(?:!--|(" + b"|".join(SILENT) + rb")(?=[\s/>]))", re.IGNORECASE)
ENDS = {name: re.compile(rb"</(" + name + rb")[\s/>]", re.IGNORECASE) for name in SILENT}
END_OF_COMMENT = re.compile(rb"--!?>")
BEGIN, SLASH, FIRST = b"</a"
PIECE = 400_000  # bytes that are looked at together
PADDING = bytes(16)  # so that there are eight bytes behind the last sign
ONES, TOPS, BYTE = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0xFF)
OF_COMMENT, COMMENT = np.uint64(0xFFFFFF), np.uint64(int.from_bytes(b"!--", "little"))
WIDEST = 2_050  # bytes of a frame's tag, and of the white space behind it
CLOSING, FULL = np.uint64(56), np.uint64(1 << 56)
QUIET = [np.uint64(int.from_bytes(name, "little")) for name in SILENT]
MARKS = tuple(b"b big code em font i nobr s small strike strong tt u".split())  # what the standard opens again
OF_MARKS = [np.uint64(int.from_bytes(name, "little")) for name in MARKS]
OF_LINK = np.uint64(FIRST)
NOSCRIPT = np.uint64(int.from_bytes(b"noscript", "little"))
# What names are made of, in small letters; anything else is zero.
SMALL = np.zeros(256, np.uint8)
for _byte in b"abcdefghijklmnopqrstuvwxyz0123456789-":
    SMALL[_byte] = SMALL[ord(chr(_byte).upper())] = _byte


@dataclass(slots=True)
class Tags:
    """What was counted.

    Attributes:
        names: How often each name is opened and, behind a slash, closed; in small letters.
        begun: How many `<` there are.
        marks: Where marks are opened, also in comments and scripts.
        links: Where links are, in the same way.
        framed: Whether a frame that closes itself stands right before the end of a noscript.
    """

    names: Counter[bytes] = field(default_factory=Counter)
    begun: int = 0
    marks: list[int] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    framed: bool = False


def tags_of(source: bytes, *, silent: bool = False) -> Tags:
    """The tags of a source; those in comments and scripts only with `silent`: an end tag in these ends nothing."""
    tags, padded, raw = Tags(), source + PADDING, Raw(source)
    codes = np.frombuffer(padded, np.uint8)
    places: Words = np.ndarray((len(source) + 8,), "<u8", padded, strides=(1,))  # wherever a name may begin
    for start in range(0, len(source), PIECE):
        begins = np.flatnonzero(codes[start : min(len(source), start + PIECE)] == BEGIN) + start
        closing = codes[begins + 1] == SLASH
        found = places[begins + 1 + closing]
        words = _names(found)
        tags.begun += len(begins)
        tags.framed = tags.framed or _is_framed(source, begins[closing & (words == NOSCRIPT)])
        tags.marks += begins[_is_any(words, OF_MARKS) & ~closing].tolist()
        tags.links += begins[(words == OF_LINK) & ~closing].tolist()
        kept = words & BYTE >= FIRST
        if not silent:
            kept &= _outside(begins, raw.ranges(begins[_is_quiet(found, words)].tolist()))
        _count(tags.names, source, begins[kept], closing[kept], words[kept])
    return tags


class Raw:
    """Follows a source through its comments and scripts, piece by piece."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._until = 0
        self._end: re.Pattern[bytes] | None = None  # of the script that is open

    def ranges(self, places: list[int]) -> list[int]:
        """Where comments and scripts begin and end, in turn, up to the end of the piece.

        Args:
            places: Where any of them may begin or end in the piece.
        """
        edges = [0] if self._end else [0, self._until]
        for at in places:
            if at >= self._until and (found := (self._end or RAW).match(self._source, at)):
                edges += self._met(found, at)
        return [*edges, len(self._source)] if self._end else edges

    def _met(self, found: re.Match[bytes], at: int) -> list[int]:
        """What begins or ends where a comment or a script begins, or the script ends."""
        before = [] if self._end else [at]
        self._end = ENDS[found[1].lower()] if not self._end and found[1] else None
        if self._end:
            return before
        closed = END_OF_COMMENT.search(self._source, found.end()) if before else found
        self._until = closed.end() if closed else len(self._source)
        return [*before, self._until]


def _names(found: Words) -> Words:
    """The bytes up to the first that belongs to no name, in small letters."""
    small = SMALL.take(found.view(np.uint8)).view("<u8")
    ends = (small - ONES) & ~small & TOPS  # the lowest bit of it is that of the first byte of zero
    return small & ((ends & (~ends + np.uint64(1))) - np.uint64(1))


def _is_framed(source: bytes, ends: Places) -> bool:
    for end in ends.tolist():
        before = source[max(0, end - WIDEST) : end].rstrip()
        if before.endswith(b"/>") and before[before.rfind(b"<") :][:7].lower() == b"<iframe":
            return True
    return False


def _is_quiet(found: Words, words: Words) -> NDArray[np.bool_]:
    """Where a comment may begin, or an element that holds no tags."""
    return (found & OF_COMMENT == COMMENT) | _is_any(words, QUIET)


def _is_any(words: Words, names: list[np.uint64]) -> NDArray[np.bool_]:
    """Where one of the names is."""
    found = words == names[0]
    for name in names[1:]:
        found |= words == name
    return found


def _outside(begins: Places, edges: list[int]) -> NDArray[np.bool_]:
    """Which signs stand in none of the ranges, which are in order: behind an even number of edges."""
    return np.searchsorted(edges, begins, side="right") % 2 == 0


def _count(names: Counter[bytes], source: bytes, begins: Places, closing: NDArray[np.bool_], words: Words) -> None:
    full = words >= FULL
    short = ~full
    found, counts = np.unique(words[short] | closing[short].astype(np.uint64) << CLOSING, return_counts=True)
    names.update(dict(zip(map(_name, found.tolist()), counts.tolist(), strict=True)))
    for at in (begins[full] + 1).tolist():
        slash = source[at] == SLASH
        if long := NAME.match(source, at + slash):
            names[b"/" * slash + long[0].lower()] += 1


@lru_cache(maxsize=1_000)
def _name(word: int) -> bytes:
    """A name of seven letters at most, behind a slash if the eighth byte says that it is closed."""
    slash, name = divmod(word, 1 << 56)
    return b"/" * slash + name.to_bytes(7, "little").rstrip(b"\0")
