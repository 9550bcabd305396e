"""Blocks as numbers: what a classifier may know of each, independent of the page's language.

Every function here puts columns down in a fixed order, of which the model's file says which it takes. A page
costs about two hundred array operations whatever its size. What is the same for all blocks of a page, and the
categories of names, which few lines of ancestors share, are kept apart: see `Features`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.judging.naming import numbered
from outrider.pages.content.judging.signals import TYPES, Signals
from outrider.pages.content.judging.titled import titled
from outrider.pages.content.judging.view import GROUP, GROUPS, WINDOWS, Floats, Numbers, View
from outrider.pages.content.walking.blocks import NUMBER, TAGS, Blocks
from outrider.pages.content.walking.characters import CLAUSE, DIGIT, DIVIDER, IDEOGRAPH, MONEY, OTHER, STOP, UPPER
from outrider.pages.content.walking.words import WIDTH

LEVELS = 6  # ancestors that are described; chains of elements with the same blocks count as one
SHIFTS = (-3, -2, -1, 1, 2, 3)  # neighbours that are described
DENSEST = 5  # of the windows, the one by which the page's densest place is found
BRIEF = 12  # characters of a block that stand anywhere
PROBE = 40  # characters of a block that are looked for in what the page says about itself
SEARCHED = 1500  # characters of what the page says about itself that are searched at once
SHARED = (UPPER, DIGIT, STOP, CLAUSE, MONEY, DIVIDER, IDEOGRAPH, OTHER)  # classes of which shares are told
HELD = 12  # columns of what an ancestor holds
TITLED = 7  # columns of what is compared with the title, the last ones
TOLD_OF_OTHERS = (0, 2, 5, 22, 14, 23, 24, 21)  # of the columns of `_put_basic`, those that are told of neighbours
OWN = 247  # columns in which the blocks of a page differ, flags apart
GENERAL = 26 + len(TYPES) + 2 * WIDTH
FLAGS = 6 * WIDTH
TAGGED = 2 * len(GROUPS)  # columns of the tags of containers
FIRST = 23 + len(GROUPS)  # of the columns of containers, behind those of the block itself
# Columns that blocks of one container share: of those around it but the innermost. The others are each its own.
AROUND = np.r_[FIRST : FIRST + TAGGED, FIRST + TAGGED + HELD : FIRST + TAGGED + LEVELS * HELD]
ALONE = np.delete(np.arange(OWN), AROUND)
BY_TAG = GROUP.T.copy()


class Sheet:
    """Columns of floats, one value for each block; each column lies in one piece, since all work is by columns.

    Attributes:
        columns: All of them, a row each.
        steps: What distances between blocks count for, by their logarithm: of -count first, of count last.
    """

    def __init__(self, count: int) -> None:
        self.columns = np.empty((len(ALONE), count), np.float32)
        self.steps = _signed(np.arange(-count, count + 1, dtype=np.float32))
        self._count = count
        self._at = 0

    def next(self, columns: int) -> Floats:
        """So many columns, to be filled; there is no copy of them that way."""
        self._at += columns
        return self.columns[self._at - columns : self._at]

    def from_block(self, number: int) -> Floats:
        """How far each block is behind the one of this number: less than nothing for those before."""
        return self.steps[self._count - number : 2 * self._count - number]


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of the blocks of a page.

    Attributes:
        own: The columns in which all blocks differ, a row for each column.
        around: Those that blocks of one container share, a row for each such container.
        within: Of each block, which of these.
        general: What is the same for all of them.
        lines: The flags of each line of names that occurs, but those that none of them has.
        flags: Which flags these are.
        line: Of each block, which line of these.
    """

    own: Floats
    around: Floats
    within: Numbers
    general: Floats
    lines: Floats
    flags: Numbers
    line: Numbers

    @classmethod
    def of(cls, rows: Floats) -> "Features":
        """What `rows` gave, taken apart again."""
        behind = OWN + GENERAL
        each = np.arange(len(rows))
        own, around = rows[:, ALONE].T, rows[:, AROUND]
        return cls(own, around, each, rows[0, OWN:behind], rows[:, behind:], np.arange(FLAGS), each)

    def rows(self) -> Floats:
        """All columns, one row for each block."""
        count = len(self.line)
        general = np.broadcast_to(self.general[:, None], (GENERAL, count))
        flags = np.zeros((FLAGS, count), np.float32)
        flags[self.flags] = self.lines[self.line].T
        own = np.empty((OWN, count), np.float32)
        own[ALONE], own[AROUND] = self.own, self.around[self.within].T
        return np.concatenate([own, general, flags]).T


def describe(page: Blocks, signals: Signals, view: View) -> Features:
    """The features of a page's blocks."""
    sheet = Sheet(view.count)
    title = sheet.columns[-TITLED:]
    _put_basic(sheet, view)
    holder, around, within = _put_ancestors(sheet, view)
    _put_repeated(sheet, view)
    _put_neighbours(sheet, view)
    densest = _put_windows(sheet, view)
    _put_title(title, page, signals)
    _put_position(sheet, view, title, densest)
    _put_dominant(sheet, view)
    return Features(sheet.columns, around, within, _general(page, signals, view), *_flags(view, holder))


def _put_basic(sheet: Sheet, view: View) -> None:
    """The block itself."""
    chars, words = view.chars, np.maximum(view.words, 1)
    rows = sheet.next(23 + len(GROUPS))
    np.log1p(chars, out=rows[0])
    np.log1p(view.words, out=rows[1])
    rows[2] = view.density
    np.divide(view.tally.take(SHARED, 0), chars, out=rows[3:11])
    np.divide(view.tally[STOP : CLAUSE + 1], words, out=rows[11:13])
    np.divide(chars, words, out=rows[13])
    rows[14] = view.last_kind == STOP
    rows[15] = view.last_kind == CLAUSE
    rows[16] = view.first_kind == UPPER
    np.log1p(view.counts[1:5], out=rows[17:21])
    rows[21] = view.counts[5]
    rows[22] = view.heading
    rows[23:] = view.tags


def _put_ancestors(sheet: Sheet, view: View) -> tuple[Numbers, Floats, Numbers]:
    """The containers around the block: which they are, innermost first; what is told of all but the innermost, a row
    for each second one that occurs, and which is each block's.
    """
    up = view.top.take(np.maximum(view.parent, 0))
    holder = np.empty((LEVELS, view.count), np.int64)
    view.top.take(view.owner, out=holder[0], mode="clip")
    for level in range(1, LEVELS):
        up.take(holder[level - 1], out=holder[level], mode="clip")
    first = view.first.astype(np.float32)
    size = np.maximum(view.last - first, 1, dtype=np.float32)
    held = _containers(view, size)
    sheet.next(HELD)[:] = held.take(holder[0], 0).T
    places = np.subtract(view.number, first.take(holder), out=sheet.next(LEVELS))
    places /= size.take(holder)
    return holder, *_around(view, up, holder[1], held)


def _around(view: View, up: Numbers, holder: Numbers, held: Floats) -> tuple[Floats, Numbers]:
    """What is told of the containers from the second on, each once; which is each block's."""
    occurs = np.zeros(len(up), np.bool_)
    occurs[holder] = True
    (at,) = occurs.nonzero()
    found = np.empty((len(at), len(AROUND)), np.float32)
    for level in range(LEVELS - 1):
        if level < TAGGED // len(GROUPS):
            found[:, level * len(GROUPS) : (level + 1) * len(GROUPS)] = BY_TAG.take(view.tag.take(at), 0)
        found[:, TAGGED + level * HELD : TAGGED + (level + 1) * HELD] = held.take(at, 0)
        at = up.take(at)
    return found, (occurs.cumsum() - 1).take(holder)


def _containers(view: View, size: Floats) -> Floats:
    """What each element holds, as shares of the page and of itself, a row for each; of how many blocks is told."""
    sums = view.sums.T.copy()  # what is known of a block in one piece, since blocks are what is asked for
    whole = sums[-1]
    inside = sums.take(view.last, 0)
    inside -= sums.take(view.first, 0)
    inside = inside.T
    chars = np.maximum(inside[0], 1)
    rows = np.empty((len(size), HELD), np.float32)
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


def _put_repeated(sheet: Sheet, view: View) -> None:
    """All blocks whose elements look the same from the root down: how many, how much, how linked, how far apart."""
    mine = view.kind
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
    found = rows.take(mine, 1, out=sheet.next(5), mode="clip")
    np.subtract(last, found[4], out=found[4])
    found[4] /= view.count


def _put_neighbours(sheet: Sheet, view: View) -> None:
    """The blocks before and after."""
    count, pad = view.count, max(SHIFTS)
    near = np.full((9, count + 2 * pad), -1, np.float32)
    mine = near[:, pad : pad + count]
    mine[:8] = sheet.columns.take(TOLD_OF_OTHERS, 0)
    mine[8] = view.kind
    rows = sheet.next(9 * len(SHIFTS)).reshape(len(SHIFTS), 9, count)
    for at, shift in enumerate(SHIFTS):
        other = near[:, pad + shift : pad + shift + count]
        rows[at, :8] = other[:8]
        rows[at, 8] = other[8] == mine[8]


def _put_windows(sheet: Sheet, view: View) -> int:
    """The surroundings; the number of the block whose surroundings hold most prose."""
    densest, pad, count, sums = 0, max(WINDOWS), view.count, view.around
    for width in WINDOWS:
        inside = sums[:, pad + width + 1 : pad + width + 1 + count] - sums[:, pad - width : pad - width + count]
        rows = sheet.next(4)
        np.log1p(inside[3], out=rows[0])
        np.divide(inside[1], np.maximum(inside[0], 1), out=rows[1])
        np.divide(inside[5], inside[8], out=rows[2])
        np.divide(inside[6], np.maximum(inside[2], 1), out=rows[3])
        if width == DENSEST:
            densest = int(inside[3].argmax())
    return densest


def _put_position(sheet: Sheet, view: View, title: Floats, densest: int) -> None:
    """Where the block stands: in the page, and as seen from headline, title, densest place and last heading."""
    number, count, sums = view.number, view.count, view.sums
    headlines = view.tags[2].nonzero()[0]
    headline = int(headlines[0]) if len(headlines) else -1
    titled = int(title[2].argmax())
    titled = titled if title[2, titled] > 0 else -1
    running = np.maximum.accumulate(np.where(view.heading > 0, number, -1))
    rows = sheet.next(12)
    np.divide(number, count, out=rows[0])
    np.divide(sums[0, :-1], max(1.0, float(sums[0, -1])), out=rows[1])
    rows[2] = sheet.from_block(0)
    rows[3] = sheet.steps[: -count - 1 : -1]
    rows[4], rows[5] = sheet.from_block(headline), headline >= 0
    rows[6] = sheet.from_block(densest)
    rows[7], rows[8] = sheet.from_block(titled), titled >= 0
    np.log1p(number - running, out=rows[9])
    rows[10] = running >= 0
    np.divide(sums[3, :-1], max(1.0, float(sums[3, -1])), out=rows[11])


def _put_dominant(sheet: Sheet, view: View) -> None:
    """Whether the block stands in the element that holds most prose near its surface, or in one around it."""
    up = np.maximum(view.parent, 0)
    own = np.bincount(view.owner, view.prose, len(up))
    below = np.bincount(up, own, len(up))
    best = int((own * 0.5 + below + np.bincount(up, below, len(up)) * 0.5).argmax())
    rows = sheet.next(5)
    rows[:3] = 0
    for row, each in zip(rows, (best, up[best], up[up[best]]), strict=False):
        row[view.first[each] : view.last[each]] = 1
    rows[3] = sheet.from_block(int(view.first[best]))
    rows[4] = sheet.from_block(int(view.last[best]))


def _signed(distance: Floats) -> Floats:
    return np.sign(distance) * np.log1p(np.abs(distance))


def _put_title(found: Floats, page: Blocks, signals: Signals) -> None:
    """Of each block: share of its words in the title, of the title's in it, the product of both, whether the
    description or the JSON-LD begins so, how often the page says the same, and whether it did so before.
    """
    known, said = numbered(page.texts)
    texts = list(known)
    told = np.zeros((6, len(texts)), np.float32)
    told[0], told[1] = titled(signals.title, texts)
    np.multiply(told[0], told[1], out=told[2])
    _put_declared(told, texts, signals)
    told[5] = np.bincount(said)
    told.take(said, 1, out=found[:6], mode="clip")
    found[6, 0] = 0
    found[6, 1:] = said[1:] <= np.maximum.accumulate(said)[:-1]


def _put_declared(told: Floats, texts: list[str], signals: Signals) -> None:
    """The fourth and fifth of these."""
    description, linked = signals.description, signals.linked
    if not description and not linked:
        return
    for at in _quoted(texts, f"{description}\n{linked}"):
        told[3, at] = texts[at][:PROBE] in description
        told[4, at] = texts[at][:PROBE] in linked


def _quoted(texts: list[str], source: str) -> list[int]:
    """The texts of which a source holds how they begin.

    A long source is only searched for those of which it holds all words between spaces, but the first and the last.
    """
    if len(source) < SEARCHED:
        return [at for at, text in enumerate(texts) if len(text) > BRIEF and text[:PROBE] in source]
    words = {*source.split(" ")}
    return [
        at
        for at, text in enumerate(texts)
        if len(text) > BRIEF and words.issuperset(text[:PROBE].split(" ")[1:-1]) and text[:PROBE] in source
    ]


def _general(page: Blocks, signals: Signals, view: View) -> Floats:
    """What kind of page it is."""
    whole, chars = view.sums[:, -1].tolist(), np.sort(view.chars)
    total, middle = max(1.0, whole[0]), len(chars) // 2
    median = chars[middle] if len(chars) % 2 else (chars[middle - 1] + chars[middle]) / 2
    often = np.bincount(view.tag, minlength=len(TAGS)).tolist()
    texts, headlines = view.tags[1:3].sum(axis=1).tolist()
    logs = np.log1p([
        view.count, total, whole[5], chars[-1], median, view.tally[MONEY].sum(),
        often[NUMBER["article"]], often[NUMBER["tr"]], often[NUMBER["form"]], often[NUMBER["pre"]],
        texts, len(signals.description),
    ]).tolist()  # fmt: skip
    found = np.zeros(GENERAL, np.float32)
    found[:26] = [
        logs[0], logs[1], whole[1] / total, whole[3] / total, whole[4] / total, headlines, *logs[2:5],
        chars[chars > 100].sum() / total, whole[6] / max(1.0, whole[2]), logs[5], whole[7] / total, logs[6],
        often[NUMBER["main"]] > 0, *logs[7:11], signals.depth, signals.digits, signals.query, logs[11], signals.og == 1,
        signals.og == 2, signals.og == 3,
    ]  # fmt: skip
    bits = _bits(np.array([signals.kinds, signals.path, page.elements[0][2]]), WIDTH)
    found[26 : 26 + len(TYPES)] = bits[0, : len(TYPES)]
    found[26 + len(TYPES) :] = bits[1:].ravel()
    return found


def _flags(view: View, holder: Numbers) -> tuple[Floats, Numbers, Numbers]:
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
    bits = _bits(told, WIDTH).reshape(len(lines), -1)
    flags = np.flatnonzero(bits.any(axis=0))
    return bits.take(flags, 1).astype(np.float32), flags, np.fromiter(line, np.int64, len(line))


def _bits(numbers: Numbers, width: int) -> NDArray[np.uint8]:
    """So many bits of each number, the lowest first."""
    bytes_ = numbers.view(np.uint8).reshape(len(numbers), numbers.itemsize)
    return np.unpackbits(bytes_, axis=1, count=width, bitorder="little")
