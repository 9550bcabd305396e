"""Describe a page's blocks and elements as arrays."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.character_classes import (
    CLASS_COUNT,
    CLAUSE_MARK,
    CURRENCY,
    DIGIT,
    IDEOGRAPH,
    LAST_WORD_CLASS,
    SENTENCE_END,
    classify_characters,
)
from outrider.pages.extraction.blocks.page_blocks import BLOCK_TAGS, PageBlocks

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
WINDOW_RADII = (2, 5, 12)  # blocks on each side
TAG_GROUPS = (
    ("p",), ("li",), ("h1",), ("h2",), ("h3",), ("h4", "h5", "h6"), ("td", "th", "tr", "table", "tbody"), ("pre",),
    ("blockquote",), ("div", "custom", "center"), ("dt", "dd", "dl"), ("figcaption", "caption", "figure"),
    ("label", "button", "legend", "form", "fieldset"), ("section", "article", "main"),
    ("nav", "header", "footer", "aside"), ("ul", "ol", "menu"), ("summary", "details"),
)  # fmt: skip
TAG_GROUP_MATRIX = np.array([[float(tag in tags) for tag in BLOCK_TAGS] for tags in TAG_GROUPS], np.float32)
HEADING_TAG_MASK = TAG_GROUP_MATRIX[2:6].sum(axis=0)


@dataclass(slots=True)
class BlockArrays:
    """A page's blocks and elements as arrays.

    Attributes:
        chars, words, linked, density: Per block. Density is the share of characters in links.
        tally: Per class of characters, the number of them in each block.
        first_kind, last_kind: Class of the first and last character of each block.
        counts: Six arrays: characters in links, links, images, breaks, marks, and whether all of it is in a link.
        inner: Category bits of inline elements.
        owner, parent, tag, bits, all_bits, signature, first, last: See `PageBlocks`.
        top: Per element, the outermost ancestor with the same blocks.
        block_signature: Per block, the signature of its element. Equal blocks look the same from the root down.
        heading, number, prose: Per block.
        tags: Per group of tags, whether each block belongs to it.
        padded_sums: Running sums of nine quantities, continued before the first and after the last block.
    """

    chars: Floats
    words: Floats
    tally: Floats
    first_kind: NDArray[np.uint8]
    last_kind: NDArray[np.uint8]
    counts: Floats
    inner: Numbers
    linked: Floats
    density: Floats
    owner: Numbers
    parent: Numbers
    tag: Numbers
    bits: Numbers
    all_bits: Numbers
    signature: Numbers
    first: Numbers
    last: Numbers
    top: Numbers
    block_signature: Numbers
    heading: Floats
    tags: Floats
    number: Floats
    prose: Floats
    padded_sums: Floats

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self.chars)

    @property
    def sums(self) -> Floats:
        """Running sums from zero, one more than there are blocks."""
        return self.padded_sums[:, max(WINDOW_RADII) : max(WINDOW_RADII) + 1 + self.count]


def build_block_arrays(page: PageBlocks) -> BlockArrays:
    """Build the arrays of a page."""
    min_prose_chars = 60
    count = len(page.texts)
    rows = _to_columns(page.rows, 8)
    elements = _to_columns(page.elements, 6)
    chars, words, tally, first_kind, last_kind = _count_characters(page.texts)
    counts = rows[1:7].astype(np.float32)
    linked = np.where(counts[5] > 0, chars, np.minimum(counts[0], chars))
    density = linked / chars
    owner, parent, tag = rows[0], elements[0], elements[1]
    first, last = elements[5], np.fromiter(page.last, np.int64, len(page.last))
    block_tags = tag.take(owner)
    tags, heading = TAG_GROUP_MATRIX.take(block_tags, 1), HEADING_TAG_MASK.take(block_tags)
    prose = chars * (1 - density) * (chars > min_prose_chars)
    punctuation, figures = tally[SENTENCE_END] + tally[CLAUSE_MARK], tally[CURRENCY] + tally[DIGIT]
    parts = np.array([chars, linked, words, prose, chars * tags[0], heading, punctuation, figures])
    number = np.arange(count, dtype=np.float32)
    top = np.maximum(parent, 0)  # becomes the outermost element with the same blocks
    others = ((first != first.take(top)) | (last != last.take(top)) | (parent < 0)).nonzero()[0]
    top[others] = others
    for _ in range(7):  # each round doubles the distance, so chains of up to 128 elements are followed
        top = top.take(top)
    return BlockArrays(
        chars, words, tally, first_kind, last_kind, counts, rows[7], linked, density, owner, parent, tag,
        elements[2], elements[3], elements[4], first, last, top,
        elements[4].take(owner), heading, tags, number, prose, _build_padded_sums(parts),
    )  # fmt: skip


def _build_padded_sums(parts: Floats) -> Floats:
    """Return running sums and the number of blocks, continued on both sides as far as windows reach."""
    pad, count = max(WINDOW_RADII), parts.shape[1]
    sums = np.zeros((len(parts) + 1, count + 1 + 2 * pad), np.float32)
    np.cumsum(parts, axis=1, out=sums[:-1, pad + 1 : pad + 1 + count])
    sums[-1, pad + 1 : pad + 1 + count] = np.arange(1, count + 1)
    sums[:, pad + 1 + count :] = sums[:, pad + count, None]
    return sums


def _to_columns(rows: list[tuple[int, ...]], width: int) -> Numbers:
    """Return rows of integers as an array of columns."""
    return np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * width).reshape(-1, width).T.copy()


def _count_characters(texts: list[str]) -> tuple[Floats, Floats, Floats, NDArray[np.uint8], NDArray[np.uint8]]:
    """Return each text's characters, words and character classes.

    The classes of its first and last character follow.
    """
    count = len(texts)
    lengths = np.fromiter(map(len, texts), np.int64, count)
    classes = classify_characters("".join(texts))
    block = np.arange(0, count * CLASS_COUNT, CLASS_COUNT).repeat(lengths)
    block += classes
    tally = np.bincount(block, minlength=count * CLASS_COUNT).reshape(count, CLASS_COUNT).T.astype(np.float32, "C")
    is_word_char = classes <= LAST_WORD_CLASS
    ends = lengths.cumsum()
    begins = ends - lengths
    starts = np.empty(len(classes), np.bool_)
    np.greater(is_word_char[1:], is_word_char[:-1], out=starts[1:])
    starts[begins] = is_word_char[begins]
    words = np.add.reduceat(starts, begins, dtype=np.int32) + tally[IDEOGRAPH] * np.float32(0.5)
    return lengths.astype(np.float32), words.astype(np.float32), tally, classes[begins], classes[ends - 1]
