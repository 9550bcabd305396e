"""Compute language-independent features of blocks for the classifier.

Every function writes columns in a fixed order, which the model's file refers to by number. A page costs about two
hundred array operations whatever its size. Columns that all blocks of a page share, and category flags, which few lines
of ancestors have, are stored once: see `BlockFeatures`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.character_classes import (
    CLAUSE_MARK,
    CURRENCY,
    DIGIT,
    IDEOGRAPH,
    OTHER_CHARACTER,
    SENTENCE_END,
    SEPARATOR,
    UPPER,
)
from outrider.pages.extraction.blocks.class_words import CATEGORY_COUNT
from outrider.pages.extraction.blocks.page_blocks import BLOCK_TAGS, TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.attribute_words import number_texts
from outrider.pages.extraction.classify.block_arrays import (
    TAG_GROUP_MATRIX,
    TAG_GROUPS,
    WINDOW_RADII,
    BlockArrays,
    Floats,
    Numbers,
)
from outrider.pages.extraction.classify.signals import SCHEMA_TYPE_GROUPS, PageSignals
from outrider.pages.extraction.classify.title_overlap import measure_title_overlap

ANCESTOR_LEVELS = 6  # chains of elements with the same blocks are treated as one element
NEIGHBOR_SHIFTS = (-3, -2, -1, 1, 2, 3)
QUOTE_PROBE_CHARS = 40  # of the beginning of a block
SHARE_CLASSES = (UPPER, DIGIT, SENTENCE_END, CLAUSE_MARK, CURRENCY, SEPARATOR, IDEOGRAPH, OTHER_CHARACTER)
CONTAINER_COLUMNS = 12
BLOCK_COLUMNS = 247  # without flags
PAGE_COLUMNS = 26 + len(SCHEMA_TYPE_GROUPS) + 2 * CATEGORY_COUNT
FLAG_COLUMNS = 6 * CATEGORY_COUNT
CONTAINER_TAG_COLUMNS = 2 * len(TAG_GROUPS)
FIRST_CONTAINER_COLUMN = 23 + len(TAG_GROUPS)  # after the columns of the block itself
# Blocks of one container share the columns of all containers but the innermost.
SHARED_COLUMN_INDEX = np.r_[
    FIRST_CONTAINER_COLUMN : FIRST_CONTAINER_COLUMN + CONTAINER_TAG_COLUMNS,
    FIRST_CONTAINER_COLUMN + CONTAINER_TAG_COLUMNS + CONTAINER_COLUMNS : FIRST_CONTAINER_COLUMN
    + CONTAINER_TAG_COLUMNS
    + ANCESTOR_LEVELS * CONTAINER_COLUMNS,
]
OWN_COLUMN_INDEX = np.delete(np.arange(BLOCK_COLUMNS), SHARED_COLUMN_INDEX)
TAG_GROUP_ROWS = TAG_GROUP_MATRIX.T.copy()


class FeatureSheet:
    """Columns of floats, one value for each block. Each column is contiguous, because all work is by columns.

    Attributes:
        columns: One row for each column.
        log_distances: Signed logarithms of the distances from -count to count.
    """

    def __init__(self, count: int) -> None:
        self.columns = np.empty((len(OWN_COLUMN_INDEX), count), np.float32)
        distances = np.arange(-count, count + 1, dtype=np.float32)
        self.log_distances = np.sign(distances) * np.log1p(np.abs(distances))
        self._count = count
        self._position = 0

    def take_columns(self, columns: int) -> Floats:
        """Return the next columns to fill, without a copy."""
        self._position += columns
        return self.columns[self._position - columns : self._position]

    def get_log_distance(self, number: int) -> Floats:
        """Return the signed distance of each block from this one, negative before it."""
        return self.log_distances[self._count - number : 2 * self._count - number]


@dataclass(frozen=True, slots=True)
class BlockFeatures:
    """The features of a page's blocks.

    Attributes:
        own: Columns in which all blocks differ, one row each.
        shared: Columns that the blocks of a container share, one row for each container.
        container: Per block, the number of its container.
        page: Columns that all blocks share.
        lines: The flags of each distinct line of ancestors, without those that are never set.
        flags: Numbers of these flags.
        line: Per block, the number of its line.
    """

    own: Floats
    shared: Floats
    container: Numbers
    page: Floats
    lines: Floats
    flags: Numbers
    line: Numbers

    @classmethod
    def from_rows(cls, rows: Floats) -> "BlockFeatures":
        """Restore features from the result of `to_rows`."""
        page_end = BLOCK_COLUMNS + PAGE_COLUMNS
        numbers = np.arange(len(rows))
        own, shared = rows[:, OWN_COLUMN_INDEX].T, rows[:, SHARED_COLUMN_INDEX]
        return cls(
            own, shared, numbers, rows[0, BLOCK_COLUMNS:page_end], rows[:, page_end:], np.arange(FLAG_COLUMNS), numbers
        )

    def to_rows(self) -> Floats:
        """Return all columns, one row for each block."""
        count = len(self.line)
        general = np.broadcast_to(self.page[:, None], (PAGE_COLUMNS, count))
        flags = np.zeros((FLAG_COLUMNS, count), np.float32)
        flags[self.flags] = self.lines[self.line].T
        own = np.empty((BLOCK_COLUMNS, count), np.float32)
        own[OWN_COLUMN_INDEX], own[SHARED_COLUMN_INDEX] = self.own, self.shared[self.container].T
        return np.concatenate([own, general, flags]).T


def build_features(page: PageBlocks, signals: PageSignals, view: BlockArrays) -> BlockFeatures:
    """Build the features of a page's blocks."""
    sheet = FeatureSheet(view.count)
    title = sheet.columns[-7:]
    _write_basic(sheet, view)
    holder, around, within = _write_ancestors(sheet, view)
    _write_repeated(sheet, view)
    _write_neighbors(sheet, view)
    densest = _write_windows(sheet, view)
    _write_title(title, page, signals)
    _write_position(sheet, view, title, densest)
    _write_dominant(sheet, view)
    return BlockFeatures(
        sheet.columns, around, within, _build_page_features(page, signals, view), *_build_flags(view, holder)
    )


def _write_basic(sheet: FeatureSheet, view: BlockArrays) -> None:
    """Write the columns of the block itself."""
    chars, words = view.chars, np.maximum(view.words, 1)
    rows = sheet.take_columns(23 + len(TAG_GROUPS))
    np.log1p(chars, out=rows[0])
    np.log1p(view.words, out=rows[1])
    rows[2] = view.density
    np.divide(view.tally.take(SHARE_CLASSES, 0), chars, out=rows[3:11])
    np.divide(view.tally[SENTENCE_END : CLAUSE_MARK + 1], words, out=rows[11:13])
    np.divide(chars, words, out=rows[13])
    rows[14] = view.last_kind == SENTENCE_END
    rows[15] = view.last_kind == CLAUSE_MARK
    rows[16] = view.first_kind == UPPER
    np.log1p(view.counts[1:5], out=rows[17:21])
    rows[21] = view.counts[5]
    rows[22] = view.heading
    rows[23:] = view.tags


def _write_ancestors(sheet: FeatureSheet, view: BlockArrays) -> tuple[Numbers, Floats, Numbers]:
    """Write the columns of the containers around each block.

    Returns:
        The containers of each block, innermost first, the shared columns of those that occur, and each block's row.
    """
    up = view.top.take(np.maximum(view.parent, 0))
    holder = np.empty((ANCESTOR_LEVELS, view.count), np.int64)
    view.top.take(view.owner, out=holder[0], mode="clip")
    for level in range(1, ANCESTOR_LEVELS):
        up.take(holder[level - 1], out=holder[level], mode="clip")
    first = view.first.astype(np.float32)
    size = np.maximum(view.last - first, 1, dtype=np.float32)
    container_rows = _build_container_rows(view, size)
    sheet.take_columns(CONTAINER_COLUMNS)[:] = container_rows.take(holder[0], 0).T
    places = np.subtract(view.number, first.take(holder), out=sheet.take_columns(ANCESTOR_LEVELS))
    places /= size.take(holder)
    return holder, *_describe_containers(view, up, holder[1], container_rows)


def _describe_containers(
    view: BlockArrays, up: Numbers, holder: Numbers, container_values: Floats
) -> tuple[Floats, Numbers]:
    """Return the distinct columns of all containers but the first.

    The row of each block follows.
    """
    occurs = np.zeros(len(up), np.bool_)
    occurs[holder] = True
    (at,) = occurs.nonzero()
    found = np.empty((len(at), len(SHARED_COLUMN_INDEX)), np.float32)
    for level in range(ANCESTOR_LEVELS - 1):
        if level < CONTAINER_TAG_COLUMNS // len(TAG_GROUPS):
            found[:, level * len(TAG_GROUPS) : (level + 1) * len(TAG_GROUPS)] = TAG_GROUP_ROWS.take(
                view.tag.take(at), 0
            )
        found[
            :,
            CONTAINER_TAG_COLUMNS + level * CONTAINER_COLUMNS : CONTAINER_TAG_COLUMNS + (level + 1) * CONTAINER_COLUMNS,
        ] = container_values.take(at, 0)
        at = up.take(at)
    return found, (occurs.cumsum() - 1).take(holder)


def _build_container_rows(view: BlockArrays, size: Floats) -> Floats:
    """Describe the content of each element as shares of the page and of itself, one row each."""
    sums = view.sums.T.copy()  # contiguous by block, because blocks are looked up
    totals = sums[-1]
    inside = sums.take(view.last, 0)
    inside -= sums.take(view.first, 0)
    inside = inside.T
    chars = np.maximum(inside[0], 1)
    rows = np.empty((len(size), CONTAINER_COLUMNS), np.float32)
    columns = rows.T
    np.divide(inside[0], max(1.0, float(totals[0])), out=columns[0])
    np.log1p(inside[0], out=columns[1])
    np.divide(inside[1], chars, out=columns[2])
    np.log1p(size, out=columns[3])
    np.divide(chars, size, out=columns[4])
    np.divide(inside[3:5], chars, out=columns[5:7])
    np.divide(inside[5], size, out=columns[7])
    np.divide(inside[6], np.maximum(inside[2], 1), out=columns[8])
    np.divide(inside[7], chars, out=columns[9])
    np.divide(inside[3], max(1.0, float(totals[3])), out=columns[10])
    np.log1p(np.bincount(view.signature).astype(np.float32)).take(view.signature, out=columns[11], mode="clip")
    return rows


def _write_repeated(sheet: FeatureSheet, view: BlockArrays) -> None:
    """Write the columns of all blocks with the same markup: number, size, share in links, distance."""
    signatures = view.block_signature
    counts = np.bincount(signatures)
    chars = np.bincount(signatures, view.chars)
    rows = np.empty((5, len(counts)), np.float32)
    np.log1p(counts, out=rows[0])
    np.divide(chars, max(1.0, float(view.sums[0, -1])), out=rows[1])
    np.log1p(chars / np.maximum(counts, 1), out=rows[2])
    np.divide(np.bincount(signatures, view.linked), np.maximum(chars, 1), out=rows[3])
    rows[4, signatures] = view.number  # of several, the one that is written last stays
    last = rows[4].take(signatures)
    rows[4, signatures[::-1]] = view.number[::-1]
    columns = rows.take(signatures, 1, out=sheet.take_columns(5), mode="clip")
    np.subtract(last, columns[4], out=columns[4])
    columns[4] /= view.count


def _write_neighbors(sheet: FeatureSheet, view: BlockArrays) -> None:
    """Write the columns of the blocks before and after."""
    neighbor_columns = (0, 2, 5, 22, 14, 23, 24, 21)  # of the columns of `_write_basic`
    count, pad = view.count, max(NEIGHBOR_SHIFTS)
    neighbor_values = np.full((9, count + 2 * pad), -1, np.float32)
    own_values = neighbor_values[:, pad : pad + count]
    own_values[:8] = sheet.columns.take(neighbor_columns, 0)
    own_values[8] = view.block_signature
    rows = sheet.take_columns(9 * len(NEIGHBOR_SHIFTS)).reshape(len(NEIGHBOR_SHIFTS), 9, count)
    for at, shift in enumerate(NEIGHBOR_SHIFTS):
        other = neighbor_values[:, pad + shift : pad + shift + count]
        rows[at, :8] = other[:8]
        rows[at, 8] = other[8] == own_values[8]


def _write_windows(sheet: FeatureSheet, view: BlockArrays) -> int:
    """Write the columns of the surroundings, and return the block whose surroundings hold most prose."""
    density_window = 5  # of the windows, the one by which the page's densest place is found
    densest, pad, count, sums = 0, max(WINDOW_RADII), view.count, view.padded_sums
    for width in WINDOW_RADII:
        inside = sums[:, pad + width + 1 : pad + width + 1 + count] - sums[:, pad - width : pad - width + count]
        rows = sheet.take_columns(4)
        np.log1p(inside[3], out=rows[0])
        np.divide(inside[1], np.maximum(inside[0], 1), out=rows[1])
        np.divide(inside[5], inside[8], out=rows[2])
        np.divide(inside[6], np.maximum(inside[2], 1), out=rows[3])
        if width == density_window:
            densest = int(inside[3].argmax())
    return densest


def _write_position(sheet: FeatureSheet, view: BlockArrays, title: Floats, densest: int) -> None:
    """Write the distances from the page's borders, headline, title, densest place and last heading."""
    number, count, sums = view.number, view.count, view.sums
    headlines = view.tags[2].nonzero()[0]
    headline = int(headlines[0]) if len(headlines) else -1
    titled = int(title[2].argmax())
    titled = titled if title[2, titled] > 0 else -1
    running = np.maximum.accumulate(np.where(view.heading > 0, number, -1))
    rows = sheet.take_columns(12)
    np.divide(number, count, out=rows[0])
    np.divide(sums[0, :-1], max(1.0, float(sums[0, -1])), out=rows[1])
    rows[2] = sheet.get_log_distance(0)
    rows[3] = sheet.log_distances[: -count - 1 : -1]
    rows[4], rows[5] = sheet.get_log_distance(headline), headline >= 0
    rows[6] = sheet.get_log_distance(densest)
    rows[7], rows[8] = sheet.get_log_distance(titled), titled >= 0
    np.log1p(number - running, out=rows[9])
    rows[10] = running >= 0
    np.divide(sums[3, :-1], max(1.0, float(sums[3, -1])), out=rows[11])


def _write_dominant(sheet: FeatureSheet, view: BlockArrays) -> None:
    """Write whether the block is in the element with most direct prose, or in one around it."""
    up = np.maximum(view.parent, 0)
    own = np.bincount(view.owner, view.prose, len(up))
    below = np.bincount(up, own, len(up))
    best = int(np.argmax(own * 0.5 + below + np.bincount(up, below, len(up)) * 0.5))
    rows = sheet.take_columns(5)
    rows[:3] = 0
    for row, each in enumerate((best, up[best], up[up[best]])):
        rows[row, view.first[each] : view.last[each]] = 1
    rows[3] = sheet.get_log_distance(int(view.first[best]))
    rows[4] = sheet.get_log_distance(int(view.last[best]))


def _write_title(columns: Floats, page: PageBlocks, signals: PageSignals) -> None:
    """Write the overlap with title, description and JSON-LD, and the repetitions of each block."""
    known, numbers = number_texts(page.texts)
    texts = list(known)
    overlap = np.zeros((6, len(texts)), np.float32)
    overlap[0], overlap[1] = measure_title_overlap(signals.title, texts)
    np.multiply(overlap[0], overlap[1], out=overlap[2])
    description, json_ld = signals.description, signals.json_ld
    if description or json_ld:
        for at in _find_quoted_texts(texts, f"{description}\n{json_ld}"):
            overlap[3, at] = texts[at][:QUOTE_PROBE_CHARS] in description
            overlap[4, at] = texts[at][:QUOTE_PROBE_CHARS] in json_ld
    overlap[5] = np.bincount(numbers)
    overlap.take(numbers, 1, out=columns[:6], mode="clip")
    columns[6, 0] = 0
    columns[6, 1:] = numbers[1:] <= np.maximum.accumulate(numbers)[:-1]


def _find_quoted_texts(texts: list[str], source: str) -> list[int]:
    """Return the texts whose beginning occurs in a source.

    In a long source, only texts whose inner words all occur are searched for, because words are faster to look up.
    """
    max_direct_search_chars = 1_500
    min_quoted_chars = 12  # shorter texts occur by chance
    if len(source) < max_direct_search_chars:
        return [
            at for at, text in enumerate(texts) if len(text) > min_quoted_chars and text[:QUOTE_PROBE_CHARS] in source
        ]
    words = {*source.split(" ")}
    return [
        at
        for at, text in enumerate(texts)
        if len(text) > min_quoted_chars
        and words.issuperset(text[:QUOTE_PROBE_CHARS].split(" ")[1:-1])
        and text[:QUOTE_PROBE_CHARS] in source
    ]


def _build_page_features(page: PageBlocks, signals: PageSignals, view: BlockArrays) -> Floats:
    """Build the columns that all blocks of a page share."""
    totals, chars = view.sums[:, -1].tolist(), np.sort(view.chars)
    total, middle = max(1.0, totals[0]), len(chars) // 2
    median = chars[middle] if len(chars) % 2 else (chars[middle - 1] + chars[middle]) / 2
    tag_counts = np.bincount(view.tag, minlength=len(BLOCK_TAGS)).tolist()
    list_items, headlines = view.tags[1:3].sum(axis=1).tolist()
    logs = np.log1p([
        view.count, total, totals[5], chars[-1], median, view.tally[CURRENCY].sum(),
        tag_counts[TAG_NUMBERS["article"]], tag_counts[TAG_NUMBERS["tr"]], tag_counts[TAG_NUMBERS["form"]],
        tag_counts[TAG_NUMBERS["pre"]], list_items, len(signals.description),
    ]).tolist()  # fmt: skip
    columns = np.zeros(PAGE_COLUMNS, np.float32)
    columns[:26] = [
        logs[0], logs[1], totals[1] / total, totals[3] / total, totals[4] / total, headlines, *logs[2:5],
        chars[chars > 100].sum() / total, totals[6] / max(1.0, totals[2]), logs[5], totals[7] / total, logs[6],
        tag_counts[TAG_NUMBERS["main"]] > 0, *logs[7:11], signals.depth, signals.has_long_number,
        signals.has_query, logs[11], signals.og_type == 1, signals.og_type == 2, signals.og_type == 3,
    ]  # fmt: skip
    bits = _unpack_bits(np.array([signals.schema_bits, signals.path_bits, page.elements[0][2]]), CATEGORY_COUNT)
    columns[26 : 26 + len(SCHEMA_TYPE_GROUPS)] = bits[0, : len(SCHEMA_TYPE_GROUPS)]
    columns[26 + len(SCHEMA_TYPE_GROUPS) :] = bits[1:].ravel()
    return columns


def _build_flags(view: BlockArrays, holder: Numbers) -> tuple[Floats, Numbers, Numbers]:
    """Return the category flags of each distinct line of ancestors.

    The numbers of the ancestors and the line of each block follow.
    """
    together = np.zeros(len(view.parent), np.int64)
    np.bitwise_or.at(together, view.top, view.bits)
    words = np.empty((view.count, 6), np.int64)
    words[:, 0] = view.inner
    words[:, 1] = view.bits.take(view.owner)
    words[:, 2:5] = together.take(holder[:3]).T
    words[:, 5] = view.all_bits.take(view.owner)
    lines: dict[bytes, int] = {}
    packed, size = words.tobytes(), words.itemsize * 6
    line = [lines.setdefault(packed[at : at + size], len(lines)) for at in range(0, len(packed), size)]
    distinct = np.frombuffer(b"".join(lines), np.int64)
    bits = _unpack_bits(distinct, CATEGORY_COUNT).reshape(len(lines), -1)
    flags = np.flatnonzero(bits.any(axis=0))
    return bits.take(flags, 1).astype(np.float32), flags, np.fromiter(line, np.int64, len(line))


def _unpack_bits(numbers: Numbers, width: int) -> NDArray[np.uint8]:
    """Return the lowest bits of each number, the lowest first."""
    bytes_ = numbers.view(np.uint8).reshape(len(numbers), numbers.itemsize)
    return np.unpackbits(bytes_, axis=1, count=width, bitorder="little")
