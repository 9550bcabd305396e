"""How often each tag stands in a source, counted by passes over whole arrays: regular expressions take three times it.

Behind each `<` eight bytes are looked at as one number. Names that fill them are few, and read one by one.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

TagOffsets = NDArray[np.int64]
NameCodes = NDArray[np.uint64]
LONG_NAME_PATTERN = re.compile(rb"[a-zA-Z][a-zA-Z0-9-]{0,30}")
RAW_TEXT_TAGS = b"script style textarea title xmp iframe noembed noframes".split()
RAW_TEXT_START_PATTERN = re.compile(
    rb"<(?=[!stxinSTXIN])(?:!--|(" + b"|".join(RAW_TEXT_TAGS) + rb")(?=[\s/>]))", re.IGNORECASE
)
RAW_TEXT_END_PATTERNS = {name: re.compile(rb"</(" + name + rb")[\s/>]", re.IGNORECASE) for name in RAW_TEXT_TAGS}
COMMENT_END_PATTERN = re.compile(rb"--!?>")
LESS_THAN_BYTE, SLASH_BYTE, FIRST_LETTER_BYTE = b"</a"
LOW_BITS, HIGH_BITS, BYTE_MASK = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0xFF)
COMMENT_MASK, COMMENT_CODE = np.uint64(0xFFFFFF), np.uint64(int.from_bytes(b"!--", "little"))
CLOSING_SHIFT, LONG_NAME_CODE = np.uint64(56), np.uint64(1 << 56)
RAW_TEXT_CODES = [np.uint64(int.from_bytes(name, "little")) for name in RAW_TEXT_TAGS]
FORMATTING_TAGS = tuple(
    b"b big code em font i nobr s small strike strong tt u".split()
)  # what the standard opens again
FORMATTING_CODES = [np.uint64(int.from_bytes(name, "little")) for name in FORMATTING_TAGS]
LINK_CODE = np.uint64(FIRST_LETTER_BYTE)
NOSCRIPT_CODE = np.uint64(int.from_bytes(b"noscript", "little"))
# What names are made of, in small letters; anything else is zero.
LOWERCASE_TABLE = np.zeros(256, np.uint8)
for _byte in b"abcdefghijklmnopqrstuvwxyz0123456789-":
    LOWERCASE_TABLE[_byte] = LOWERCASE_TABLE[ord(chr(_byte).upper())] = _byte


@dataclass(slots=True)
class TagCounts:
    """What was counted.

    Attributes:
        names: How often each name is opened and, behind a slash, closed; in small letters.
        openings: How many `<` there are.
        formatting_offsets: Where marks are opened, also in comments and scripts.
        link_offsets: Where links are, in the same way.
        has_open_iframe: Whether a frame that closes itself stands right before the end of a noscript.
    """

    names: Counter[bytes] = field(default_factory=Counter)
    openings: int = 0
    formatting_offsets: list[int] = field(default_factory=list)
    link_offsets: list[int] = field(default_factory=list)
    has_open_iframe: bool = False


def count_tags(source: bytes, *, include_raw_text: bool = False) -> TagCounts:
    """The tags of a source; those in comments and scripts only with `include_raw_text`: an end tag in these ends nothing."""
    padding = bytes(16)  # so that there are eight bytes behind the last sign
    chunk_bytes = 400_000  # bytes that are looked at together
    tags, padded, raw = TagCounts(), source + padding, RawTextTracker(source)
    codes = np.frombuffer(padded, np.uint8)
    places: NameCodes = np.ndarray((len(source) + 8,), "<u8", padded, strides=(1,))  # wherever a name may begin
    for start in range(0, len(source), chunk_bytes):
        begins = np.flatnonzero(codes[start : min(len(source), start + chunk_bytes)] == LESS_THAN_BYTE) + start
        closing = codes[begins + 1] == SLASH_BYTE
        found = places[begins + 1 + closing]
        words = _normalize_names(found)
        tags.openings += len(begins)
        tags.has_open_iframe = tags.has_open_iframe or _ends_in_iframe(
            source, begins[closing & (words == NOSCRIPT_CODE)]
        )
        tags.formatting_offsets += begins[_matches_any_name(words, FORMATTING_CODES) & ~closing].tolist()
        tags.link_offsets += begins[(words == LINK_CODE) & ~closing].tolist()
        kept = words & BYTE_MASK >= FIRST_LETTER_BYTE
        if not include_raw_text:
            kept &= _outside(begins, raw.find_edges(begins[_is_quiet(found, words)].tolist()))
        _add_name_counts(tags.names, source, begins[kept], closing[kept], words[kept])
    return tags


class RawTextTracker:
    """Follows a source through its comments and scripts, piece by piece."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._until = 0
        self._end: re.Pattern[bytes] | None = None  # of the script that is open

    def find_edges(self, places: list[int]) -> list[int]:
        """Where comments and scripts begin and end, in turn, up to the end of the piece.

        Args:
            places: Where any of them may begin or end in the piece.
        """
        edges = [0] if self._end else [0, self._until]
        for at in places:
            if at >= self._until and (found := (self._end or RAW_TEXT_START_PATTERN).match(self._source, at)):
                edges += self._advance_state(found, at)
        return [*edges, len(self._source)] if self._end else edges

    def _advance_state(self, found: re.Match[bytes], at: int) -> list[int]:
        """What begins or ends where a comment or a script begins, or the script ends."""
        before = [] if self._end else [at]
        self._end = RAW_TEXT_END_PATTERNS[found[1].lower()] if not self._end and found[1] else None
        if self._end:
            return before
        closed = COMMENT_END_PATTERN.search(self._source, found.end()) if before else found
        self._until = closed.end() if closed else len(self._source)
        return [*before, self._until]


def _normalize_names(found: NameCodes) -> NameCodes:
    """The bytes up to the first that belongs to no name, in small letters."""
    small = LOWERCASE_TABLE.take(found.view(np.uint8)).view("<u8")
    ends = (small - LOW_BITS) & ~small & HIGH_BITS  # the lowest bit of it is that of the first byte of zero
    return small & ((ends & (~ends + np.uint64(1))) - np.uint64(1))


def _ends_in_iframe(source: bytes, ends: TagOffsets) -> bool:
    max_frame_bytes = 2_050  # bytes of a frame's tag, and of the white space behind it
    for end in ends.tolist():
        before = source[max(0, end - max_frame_bytes) : end].rstrip()
        if before.endswith(b"/>") and before[before.rfind(b"<") :][:7].lower() == b"<iframe":
            return True
    return False


def _is_quiet(found: NameCodes, words: NameCodes) -> NDArray[np.bool_]:
    """Where a comment may begin, or an element that holds no tags."""
    return (found & COMMENT_MASK == COMMENT_CODE) | _matches_any_name(words, RAW_TEXT_CODES)


def _matches_any_name(words: NameCodes, names: list[np.uint64]) -> NDArray[np.bool_]:
    """Where one of the names is."""
    found = words == names[0]
    for name in names[1:]:
        found |= words == name
    return found


def _outside(begins: TagOffsets, edges: list[int]) -> NDArray[np.bool_]:
    """Which signs stand in none of the ranges, which are in order: behind an even number of edges."""
    return np.searchsorted(edges, begins, side="right") % 2 == 0


def _add_name_counts(
    names: Counter[bytes], source: bytes, begins: TagOffsets, closing: NDArray[np.bool_], words: NameCodes
) -> None:
    full = words >= LONG_NAME_CODE
    short = ~full
    found, counts = np.unique(words[short] | closing[short].astype(np.uint64) << CLOSING_SHIFT, return_counts=True)
    names.update(dict(zip(map(_decode_name, found.tolist()), counts.tolist(), strict=True)))
    for at in (begins[full] + 1).tolist():
        slash = source[at] == SLASH_BYTE
        if long := LONG_NAME_PATTERN.match(source, at + slash):
            names[b"/" * slash + long[0].lower()] += 1


@lru_cache(maxsize=1_000)
def _decode_name(word: int) -> bytes:
    """A name of seven letters at most, behind a slash if the eighth byte says that it is closed."""
    slash, name = divmod(word, 1 << 56)
    return b"/" * slash + name.to_bytes(7, "little").rstrip(b"\0")
