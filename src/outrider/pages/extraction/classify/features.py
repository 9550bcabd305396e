"""Blocks as numbers: what a classifier may know of each, independent of the page's language.

Every function here puts columns down in a fixed order, of which the model's file says which it takes. A page
costs about two hundred array operations whatever its size. What is the same for all blocks of a page, and the
categories of names, which few lines of ancestors share, are kept apart: see `Features`.
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

ANCESTOR_LEVELS = 6  # ancestors that are described; chains of elements with the same blocks count as one
NEIGHBOR_SHIFTS = (-3, -2, -1, 1, 2, 3)  # neighbours that are described
MIN_QUOTED_CHARS = 12  # characters of a block that stand anywhere
QUOTE_PROBE_CHARS = 40  # characters of a block that are looked for in what the page says about itself
MAX_DIRECT_SEARCH_CHARS = 1500  # characters of what the page says about itself that are searched at once
SHARE_CLASSES = (
    UPPER,
    DIGIT,
    SENTENCE_END,
    CLAUSE_MARK,
    CURRENCY,
    SEPARATOR,
    IDEOGRAPH,
    OTHER_CHARACTER,
)  # classes of which shares are told
CONTAINER_COLUMNS = 12  # columns of what an ancestor holds
TITLE_COLUMNS = 7  # columns of what is compared with the title, the last ones
NEIGHBOR_COLUMNS = (0, 2, 5, 22, 14, 23, 24, 21)  # of the columns of `_put_basic`, those that are told of neighbours
BLOCK_COLUMNS = 247  # columns in which the blocks of a page differ, flags apart
PAGE_COLUMNS = 26 + len(SCHEMA_TYPE_GROUPS) + 2 * CATEGORY_COUNT
FLAG_COLUMNS = 6 * CATEGORY_COUNT
CONTAINER_TAG_COLUMNS = 2 * len(TAG_GROUPS)  # columns of the tags of containers
FIRST_CONTAINER_COLUMN = 23 + len(TAG_GROUPS)  # of the columns of containers, behind those of the block itself
# Columns that blocks of one container share: of those around it but the innermost. The others are each its own.
SHARED_COLUMN_INDEX = np.r_[
    FIRST_CONTAINER_COLUMN : FIRST_CONTAINER_COLUMN + CONTAINER_TAG_COLUMNS,
    FIRST_CONTAINER_COLUMN + CONTAINER_TAG_COLUMNS + CONTAINER_COLUMNS : FIRST_CONTAINER_COLUMN
    + CONTAINER_TAG_COLUMNS
    + ANCESTOR_LEVELS * CONTAINER_COLUMNS,
]
OWN_COLUMN_INDEX = np.delete(np.arange(BLOCK_COLUMNS), SHARED_COLUMN_INDEX)
TAG_GROUP_ROWS = TAG_GROUP_MATRIX.T.copy()


class FeatureSheet:
    """Columns of floats, one value for each block; each column lies in one piece, since all work is by columns.

    Attributes:
        columns: All of them, a row each.
        log_distances: What distances between blocks count for, by their logarithm: of -count first, of count last.
    """

    def __init__(self, count: int) -> None:
        self.columns = np.empty((len(OWN_COLUMN_INDEX), count), np.float32)
        self.log_distances = _signed(np.arange(-count, count + 1, dtype=np.float32))
        self._count = count
        self._position = 0

    def take_columns(self, columns: int) -> Floats:
        """So many columns, to be filled; there is no copy of them that way."""
        self._position += columns
        return self.columns[self._position - columns : self._position]

    def get_log_distance(self, number: int) -> Floats:
        """How far each block is behind the one of this number: less than nothing for those before."""
        return self.log_distances[self._count - number : 2 * self._count - number]


@dataclass(frozen=True, slots=True)
class BlockFeatures:
    """What is known of the blocks of a page.

    Attributes:
        own: The columns in which all blocks differ, a row for each column.
        shared: Those that blocks of one container share, a row for each such container.
        container: Of each block, which of these.
        page: What is the same for all of them.
        lines: The flags of each line of names that occurs, but those that none of them has.
        flags: Which flags these are.
        line: Of each block, which line of these.
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
        """What `rows` gave, taken apart again."""
        behind = BLOCK_COLUMNS + PAGE_COLUMNS
        each = np.arange(len(rows))
        own, around = rows[:, OWN_COLUMN_INDEX].T, rows[:, SHARED_COLUMN_INDEX]
        return cls(own, around, each, rows[0, BLOCK_COLUMNS:behind], rows[:, behind:], np.arange(FLAG_COLUMNS), each)

    def to_rows(self) -> Floats:
        """All columns, one row for each block."""
        count = len(self.line)
        general = np.broadcast_to(self.page[:, None], (PAGE_COLUMNS, count))
        flags = np.zeros((FLAG_COLUMNS, count), np.float32)
        flags[self.flags] = self.lines[self.line].T
        own = np.empty((BLOCK_COLUMNS, count), np.float32)
        own[OWN_COLUMN_INDEX], own[SHARED_COLUMN_INDEX] = self.own, self.shared[self.container].T
        return np.concatenate([own, general, flags]).T


def build_features(page: PageBlocks, signals: PageSignals, view: BlockArrays) -> BlockFeatures:
    """The features of a page's blocks."""
    sheet = FeatureSheet(view.count)
    title = sheet.columns[-TITLE_COLUMNS:]
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
    """The block itself."""
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
    """The containers around the block: which they are, innermost first; what is told of all but the innermost, a row
    for each second one that occurs, and which is each block's.
    """
    up = view.top.take(np.maximum(view.parent, 0))
    holder = np.empty((ANCESTOR_LEVELS, view.count), np.int64)
    view.top.take(view.owner, out=holder[0], mode="clip")
    for level in range(1, ANCESTOR_LEVELS):
        up.take(holder[level - 1], out=holder[level], mode="clip")
    first = view.first.astype(np.float32)
    size = np.maximum(view.last - first, 1, dtype=np.float32)
    held = _build_container_rows(view, size)
    sheet.take_columns(CONTAINER_COLUMNS)[:] = held.take(holder[0], 0).T
    places = np.subtract(view.number, first.take(holder), out=sheet.take_columns(ANCESTOR_LEVELS))
    places /= size.take(holder)
    return holder, *_describe_containers(view, up, holder[1], held)


def _describe_containers(view: BlockArrays, up: Numbers, holder: Numbers, held: Floats) -> tuple[Floats, Numbers]:
    """What is told of the containers from the second on, each once; which is each block's."""
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
        ] = held.take(at, 0)
        at = up.take(at)
    return found, (occurs.cumsum() - 1).take(holder)


def _build_container_rows(view: BlockArrays, size: Floats) -> Floats:
    """What each element holds, as shares of the page and of itself, a row for each; of how many blocks is told."""
    sums = view.sums.T.copy()  # what is known of a block in one piece, since blocks are what is asked for
    whole = sums[-1]
    inside = sums.take(view.last, 0)
    inside -= sums.take(view.first, 0)
    inside = inside.T
    chars = np.maximum(inside[0], 1)
    rows = np.empty((len(size), CONTAINER_COLUMNS), np.float32)
    found = rows.T
    np.divide(inside[0], max(1.0, float(whole[0])), out=found[0])
    np.log1p(inside[0], out=found[1])
    np.divide(inside[1], chars, out=found[2])
    np.log1p(size, out=found[3])
    np.divide(chars, size, out=found[4])
    np.divide(inside[3:5], chars, out=found[5:7])
    np.divide(inside[5], size, out=found[7])
    np.divide(inside[6], np.maximum(inside[2], 1), out=found[8])
    np.divide(inside[7], chars, out=found[9])
    np.divide(inside[3], max(1.0, float(whole[3])), out=found[10])
    np.log1p(np.bincount(view.signature).astype(np.float32)).take(view.signature, out=found[11], mode="clip")
    return rows


def _write_repeated(sheet: FeatureSheet, view: BlockArrays) -> None:
    """All blocks whose elements look the same from the root down: how many, how much, how linked, how far apart."""
    mine = view.block_signature
    often = np.bincount(mine)
    mass = np.bincount(mine, view.chars)
    rows = np.empty((5, len(often)), np.float32)
    np.log1p(often, out=rows[0])
    np.divide(mass, max(1.0, float(view.sums[0, -1])), out=rows[1])
    np.log1p(mass / np.maximum(often, 1), out=rows[2])
    np.divide(np.bincount(mine, view.linked), np.maximum(mass, 1), out=rows[3])
    rows[4, mine] = view.number  # of several, the one that is written last stays
    last = rows[4].take(mine)
    rows[4, mine[::-1]] = view.number[::-1]
    found = rows.take(mine, 1, out=sheet.take_columns(5), mode="clip")
    np.subtract(last, found[4], out=found[4])
    found[4] /= view.count


def _write_neighbors(sheet: FeatureSheet, view: BlockArrays) -> None:
    """The blocks before and after."""
    count, pad = view.count, max(NEIGHBOR_SHIFTS)
    near = np.full((9, count + 2 * pad), -1, np.float32)
    mine = near[:, pad : pad + count]
    mine[:8] = sheet.columns.take(NEIGHBOR_COLUMNS, 0)
    mine[8] = view.block_signature
    rows = sheet.take_columns(9 * len(NEIGHBOR_SHIFTS)).reshape(len(NEIGHBOR_SHIFTS), 9, count)
    for at, shift in enumerate(NEIGHBOR_SHIFTS):
        other = near[:, pad + shift : pad + shift + count]
        rows[at, :8] = other[:8]
        rows[at, 8] = other[8] == mine[8]


def _write_windows(sheet: FeatureSheet, view: BlockArrays) -> int:
    """The surroundings; the number of the block whose surroundings hold most prose."""
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
    """Where the block stands: in the page, and as seen from headline, title, densest place and last heading."""
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
    """Whether the block stands in the element that holds most prose near its surface, or in one around it."""
    up = np.maximum(view.parent, 0)
    own = np.bincount(view.owner, view.prose, len(up))
    below = np.bincount(up, own, len(up))
    best = int((own * 0.5 + below + np.bincount(up, below, len(up)) * 0.5).argmax())
    rows = sheet.take_columns(5)
    rows[:3] = 0
    for row, each in zip(rows, (best, up[best], up[up[best]]), strict=False):
        row[view.first[each] : view.last[each]] = 1
    rows[3] = sheet.get_log_distance(int(view.first[best]))
    rows[4] = sheet.get_log_distance(int(view.last[best]))


def _signed(distance: Floats) -> Floats:
    return np.sign(distance) * np.log1p(np.abs(distance))


def _write_title(found: Floats, page: PageBlocks, signals: PageSignals) -> None:
    """Of each block: share of its words in the title, of the title's in it, the product of both, whether the
    description or the JSON-LD begins so, how often the page says the same, and whether it did so before.
    """
    known, said = number_texts(page.texts)
    texts = list(known)
    told = np.zeros((6, len(texts)), np.float32)
    told[0], told[1] = measure_title_overlap(signals.title, texts)
    np.multiply(told[0], told[1], out=told[2])
    _write_declared(told, texts, signals)
    told[5] = np.bincount(said)
    told.take(said, 1, out=found[:6], mode="clip")
    found[6, 0] = 0
    found[6, 1:] = said[1:] <= np.maximum.accumulate(said)[:-1]


def _write_declared(told: Floats, texts: list[str], signals: PageSignals) -> None:
    """The fourth and fifth of these."""
    description, linked = signals.description, signals.json_ld
    if not description and not linked:
        return
    for at in _find_quoted_texts(texts, f"{description}\n{linked}"):
        told[3, at] = texts[at][:QUOTE_PROBE_CHARS] in description
        told[4, at] = texts[at][:QUOTE_PROBE_CHARS] in linked


def _find_quoted_texts(texts: list[str], source: str) -> list[int]:
    """The texts of which a source holds how they begin.

    A long source is only searched for those of which it holds all words between spaces, but the first and the last.
    """
    if len(source) < MAX_DIRECT_SEARCH_CHARS:
        return [
            at for at, text in enumerate(texts) if len(text) > MIN_QUOTED_CHARS and text[:QUOTE_PROBE_CHARS] in source
        ]
    words = {*source.split(" ")}
    return [
        at
        for at, text in enumerate(texts)
        if len(text) > MIN_QUOTED_CHARS
        and words.issuperset(text[:QUOTE_PROBE_CHARS].split(" ")[1:-1])
        and text[:QUOTE_PROBE_CHARS] in source
    ]


def _build_page_features(page: PageBlocks, signals: PageSignals, view: BlockArrays) -> Floats:
    """What kind of page it is."""
    whole, chars = view.sums[:, -1].tolist(), np.sort(view.chars)
    total, middle = max(1.0, whole[0]), len(chars) // 2
    median = chars[middle] if len(chars) % 2 else (chars[middle - 1] + chars[middle]) / 2
    often = np.bincount(view.tag, minlength=len(BLOCK_TAGS)).tolist()
    texts, headlines = view.tags[1:3].sum(axis=1).tolist()
    logs = np.log1p([
        view.count, total, whole[5], chars[-1], median, view.tally[CURRENCY].sum(),
        often[TAG_NUMBERS["article"]], often[TAG_NUMBERS["tr"]], often[TAG_NUMBERS["form"]], often[TAG_NUMBERS["pre"]],
        texts, len(signals.description),
    ]).tolist()  # fmt: skip
    found = np.zeros(PAGE_COLUMNS, np.float32)
    found[:26] = [
        logs[0], logs[1], whole[1] / total, whole[3] / total, whole[4] / total, headlines, *logs[2:5],
        chars[chars > 100].sum() / total, whole[6] / max(1.0, whole[2]), logs[5], whole[7] / total, logs[6],
        often[TAG_NUMBERS["main"]] > 0, *logs[7:11], signals.depth, signals.has_long_number, signals.has_query, logs[11], signals.og_type == 1,
        signals.og_type == 2, signals.og_type == 3,
    ]  # fmt: skip
    bits = _unpack_bits(np.array([signals.schema_bits, signals.path_bits, page.elements[0][2]]), CATEGORY_COUNT)
    found[26 : 26 + len(SCHEMA_TYPE_GROUPS)] = bits[0, : len(SCHEMA_TYPE_GROUPS)]
    found[26 + len(SCHEMA_TYPE_GROUPS) :] = bits[1:].ravel()
    return found


def _build_flags(view: BlockArrays, holder: Numbers) -> tuple[Floats, Numbers, Numbers]:
    """Category bits of the block's inline elements, its owner, its containers, and all of its ancestors: each line
    that occurs once, which of the bits these have, and which line is each block's.
    """
    together = np.zeros(len(view.parent), np.int64)
    np.bitwise_or.at(together, view.top, view.bits)
    words = np.empty((view.count, 6), np.int64)
    words[:, 0] = view.inner
    words[:, 1] = view.bits.take(view.owner)
    words[:, 2:5] = together.take(holder[:3]).T
    words[:, 5] = view.all_bits.take(view.owner)
    lines: dict[bytes, int] = {}
    whole, size = words.tobytes(), words.itemsize * 6
    line = [lines.setdefault(whole[at : at + size], len(lines)) for at in range(0, len(whole), size)]
    told = np.frombuffer(b"".join(lines), np.int64)
    bits = _unpack_bits(told, CATEGORY_COUNT).reshape(len(lines), -1)
    flags = np.flatnonzero(bits.any(axis=0))
    return bits.take(flags, 1).astype(np.float32), flags, np.fromiter(line, np.int64, len(line))


def _unpack_bits(numbers: Numbers, width: int) -> NDArray[np.uint8]:
    """So many bits of each number, the lowest first."""
    bytes_ = numbers.view(np.uint8).reshape(len(numbers), numbers.itemsize)
    return np.unpackbits(bytes_, axis=1, count=width, bitorder="little")
