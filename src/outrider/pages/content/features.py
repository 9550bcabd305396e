"""Blocks as numbers: what a classifier may know of each, independent of the page's language.

Every function here puts columns down in a fixed order, of which the model's file says which it takes. A page
costs about two hundred array operations whatever its size. What is the same for all blocks of a page, and the
categories of names, which few lines of ancestors share, are kept apart: see `Features`.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import NUMBER, TAGS, Blocks
from outrider.pages.content.characters import CLAUSE, DIGIT, DIVIDER, IDEOGRAPH, MONEY, OTHER, STOP, UPPER
from outrider.pages.content.signals import TYPES, Signals
from outrider.pages.content.view import GROUP, WINDOWS, Floats, Numbers, View
from outrider.pages.content.words import WIDTH

LEVELS = 6  # ancestors that are described; chains of elements with the same blocks count as one
SHIFTS = (-3, -2, -1, 1, 2, 3)  # neighbours that are described
DENSEST = 5  # of the windows, the one by which the page's densest place is found
TITLE_LIMIT = 300  # characters of a block that is compared with the title
BRIEF = 12  # characters of a block that stand anywhere
PROBE = 40  # characters of a block that are looked for in what the page says about itself
WORD = re.compile(r"\w+")
PLAIN = bytes(code if chr(code).isalnum() or code in b"_\n" else 32 for code in range(128)).lower() + bytes(128)
OWN = 247  # columns in which the blocks of a page differ, flags apart
GENERAL = 26 + len(TYPES) + 2 * WIDTH
FLAGS = 6 * WIDTH


class Sheet:
    """Columns of floats, one value for each block; each column lies in one piece, since all work is by columns."""

    def __init__(self, count: int) -> None:
        self.columns = np.empty((OWN, count), np.float32)
        self._at = 0

    def put(self, *columns: NDArray) -> None:
        """Appends columns; an array of two dimensions holds several."""
        for column in columns:
            end = self._at + (1 if column.ndim < 2 else len(column))
            self.columns[self._at : end] = column
            self._at = end


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of the blocks of a page.

    Attributes:
        own: The columns in which blocks differ, a row for each column.
        general: What is the same for all of them.
        lines: The flags of each line of names that occurs.
        line: Of each block, which line of these.
    """

    own: Floats
    general: Floats
    lines: Floats
    line: Numbers

    @classmethod
    def of(cls, rows: Floats) -> "Features":
        """What `rows` gave, taken apart again."""
        behind = OWN + GENERAL
        return cls(rows[:, :OWN].T, rows[0, OWN:behind], rows[:, behind:], np.arange(len(rows)))

    def rows(self) -> Floats:
        """All columns, one row for each block."""
        count = len(self.line)
        general = np.broadcast_to(self.general[:, None], (GENERAL, count))
        return np.concatenate([self.own, general, self.lines[self.line].T]).T


def describe(page: Blocks, signals: Signals, view: View) -> Features:
    """The features of a page's blocks."""
    sheet = Sheet(view.count)
    _put_basic(sheet, view)
    holder = _put_ancestors(sheet, view)
    _put_repeated(sheet, view)
    _put_neighbours(sheet, view)
    densest = _put_windows(sheet, view)
    title = _title(page, signals)
    _put_position(sheet, view, title, densest)
    _put_dominant(sheet, view)
    sheet.put(title)
    return Features(sheet.columns, _general(page, signals, view), *_flags(view, holder))


def _put_basic(sheet: Sheet, view: View) -> None:
    """The block itself."""
    chars, words = view.chars, np.maximum(view.words, 1)
    shares = view.tally[[UPPER, DIGIT, STOP, CLAUSE, MONEY, DIVIDER, IDEOGRAPH, OTHER]]
    sheet.put(np.log1p(chars), np.log1p(view.words), view.density, shares / chars, shares[2:4] / words)
    sheet.put(chars / words, view.last_kind == STOP, view.last_kind == CLAUSE, view.first_kind == UPPER)
    sheet.put(np.log1p(view.counts[1:5]), view.counts[5], view.heading, view.tags)


def _put_ancestors(sheet: Sheet, view: View) -> Numbers:
    """The containers around the block; which they are, innermost first."""
    up = view.top[np.maximum(view.parent, 0)]
    holder = np.empty((LEVELS, view.count), np.int64)
    holder[0] = view.top[view.owner]
    for level in range(1, LEVELS):
        up.take(holder[level - 1], out=holder[level], mode="clip")
    size = np.maximum(view.last - view.first, 1).astype(np.float32)
    sheet.put(*[GROUP.take(tag, 1) for tag in view.tag[holder[1:3]]])
    sheet.put(_containers(view, size).take(holder.T, 0).reshape(view.count, -1).T)
    sheet.put((view.number - view.first[holder]) / size[holder])
    return holder


def _containers(view: View, size: Floats) -> Floats:
    """What each element holds, as shares of the page and of itself, a row for each; of how many blocks is told."""
    sums = view.sums
    inside, whole = sums.take(view.last, 1), sums[:, -1]
    inside -= sums.take(view.first, 1)
    chars = np.maximum(inside[0], 1)
    often = np.bincount(view.signature)[view.signature].astype(np.float32)
    return np.array([
        inside[0] / max(1.0, float(whole[0])), np.log1p(inside[0]), inside[1] / chars, np.log1p(size),
        chars / size, inside[3] / chars, inside[4] / chars, inside[5] / size,
        inside[6] / np.maximum(inside[2], 1), inside[7] / chars, inside[3] / max(1.0, float(whole[3])),
        np.log1p(often),
    ], np.float32).T.copy()  # fmt: skip


def _put_repeated(sheet: Sheet, view: View) -> None:
    """All blocks whose elements look the same from the root down: how many, how much, how linked, how far apart."""
    mine = view.kind
    often = np.bincount(mine)
    mass, linked = np.bincount(mine, view.chars), np.bincount(mine, view.linked)
    first, last = np.full(len(often), np.float32(view.count)), np.zeros(len(often), np.float32)
    first[mine[::-1]] = view.number[::-1]  # of several, the one that is written last stays
    last[mine] = view.number
    mean, density = np.log1p(mass / np.maximum(often, 1)), linked / np.maximum(mass, 1)
    share = mass / max(1.0, float(view.chars.sum()))
    sheet.put(np.array([np.log1p(often), share, mean, density, (last - first) / view.count], np.float32).take(mine, 1))


def _put_neighbours(sheet: Sheet, view: View) -> None:
    """The blocks before and after."""
    count, pad = view.count, max(SHIFTS)
    near = np.full((9, count + 2 * pad), -1, np.float32)
    mine = near[:, pad : pad + count]
    mine[:] = [
        np.log1p(view.chars), view.density, view.tally[STOP] / view.chars, view.heading, view.last_kind == STOP,
        view.tags[0], view.tags[1], view.counts[5], view.kind,
    ]  # fmt: skip
    for shift in SHIFTS:
        other = near[:, pad + shift : pad + shift + count]
        sheet.put(other[:8], other[8] == mine[8])


def _put_windows(sheet: Sheet, view: View) -> int:
    """The surroundings; the number of the block whose surroundings hold most prose."""
    densest, pad, count, sums = 0, max(WINDOWS), view.count, view.around
    for width in WINDOWS:
        inside = sums[:, pad + width + 1 : pad + width + 1 + count] - sums[:, pad - width : pad - width + count]
        sheet.put(np.log1p(inside[3]), inside[1] / np.maximum(inside[0], 1), inside[5] / inside[8])
        sheet.put(inside[6] / np.maximum(inside[2], 1))
        if width == DENSEST:
            densest = int(np.argmax(inside[3]))
    return densest


def _put_position(sheet: Sheet, view: View, title: Floats, densest: int) -> None:
    """Where the block stands: in the page, and as seen from headline, title, densest place and last heading."""
    number, count, whole = view.number, view.count, view.sums[:, -1]
    headlines = np.flatnonzero(view.tags[2])
    headline = float(headlines[0]) if len(headlines) else -1.0
    titled = int(np.argmax(title[2]))
    titled = titled if title[2, titled] > 0 else -1
    running = np.maximum.accumulate(np.where(view.heading > 0, number, -1))
    sheet.put(number / count, view.sums[0, :-1] / max(1.0, float(whole[0])), np.log1p(number), np.log1p(count - number))
    sheet.put(_signed(number - headline), np.full(count, headline >= 0), _signed(number - densest))
    sheet.put(_signed(number - titled), np.full(count, titled >= 0), np.log1p(number - running), running >= 0)
    sheet.put(view.sums[3, :-1] / max(1.0, float(whole[3])))


def _put_dominant(sheet: Sheet, view: View) -> None:
    """Whether the block stands in the element that holds most prose near its surface, or in one around it."""
    up = np.maximum(view.parent, 0)
    own = np.bincount(view.owner, view.prose, len(up))
    below = np.bincount(up, own, len(up))
    best = int(np.argmax(own * 0.5 + below + np.bincount(up, below, len(up)) * 0.5))
    for each in (best, up[best], up[up[best]]):
        sheet.put((view.number >= view.first[each]) & (view.number < view.last[each]))
    sheet.put(_signed(view.number - view.first[best]), _signed(view.number - view.last[best]))


def _signed(distance: NDArray) -> NDArray:
    return np.sign(distance) * np.log1p(np.abs(distance))


def _title(page: Blocks, signals: Signals) -> Floats:
    """Of each block: share of its words in the title, of the title's in it, the product of both, whether the
    description or the JSON-LD begins so, how often the page says the same, and whether it did so before.
    """
    known: dict[str, int] = {}
    said = np.array([known.setdefault(text, len(known)) for text in page.texts])
    texts = list(known)
    told = np.zeros((5, len(texts)), np.float32)
    _put_titled(told, texts, signals.title)
    _put_declared(told, texts, signals)
    found = np.empty((7, len(said)), np.float32)
    found[:5] = told.take(said, 1)
    found[5] = np.bincount(said)[said]
    found[6, 0] = 0
    found[6, 1:] = said[1:] <= np.maximum.accumulate(said)[:-1]
    return found


def _put_titled(told: Floats, texts: list[str], named: str) -> None:
    """The first three of these."""
    title = frozenset(WORD.findall(named.lower()[:500]))
    if not title:
        return
    texts = [text if len(text) < TITLE_LIMIT else "" for text in texts]
    found = [(at, {*words}) for at, words in enumerate(_words(texts)) if not title.isdisjoint(words)]
    if found:
        both = np.array([len(title & words) for _, words in found])
        mine, covered = both / [len(words) for _, words in found], both / len(title)
        told[:3, [at for at, _ in found]] = mine, covered, mine * covered


def _words(texts: list[str]) -> list[list[str]]:
    """The words of each text in lower case; those of plain letters all at once, by a table."""
    plain = [text if text.isascii() else "" for text in texts]
    found = [line.split() for line in "\n".join(plain).encode().translate(PLAIN).decode().split("\n")]
    for at, text in enumerate(texts):
        if text and not plain[at]:
            found[at] = WORD.findall(text.lower())
    return found


def _put_declared(told: Floats, texts: list[str], signals: Signals) -> None:
    """The next two. What holds a text holds all of its words but the first and the last between spaces, too."""
    description, linked = signals.description, signals.linked
    if not description and not linked:
        return
    words = {*description.split(" "), *linked.split(" ")}
    for at, text in enumerate(texts):
        if len(text) > BRIEF:
            probe = text[:PROBE]
            if words.issuperset(probe.split(" ")[1:-1]):
                if probe in description:
                    told[3, at] = 1
                if probe in linked:
                    told[4, at] = 1


def _general(page: Blocks, signals: Signals, view: View) -> Floats:
    """What kind of page it is."""
    whole, chars = view.sums[:, -1], view.chars
    total = max(1.0, float(whole[0]))
    often = np.bincount(view.tag, minlength=len(TAGS))
    logs = np.log1p([
        view.count, total, view.heading.sum(), chars.max(), _median(chars), view.tally[MONEY].sum(),
        often[NUMBER["article"]], often[NUMBER["tr"]], often[NUMBER["form"]], often[NUMBER["pre"]],
        view.tags[1].sum(), len(signals.description),
    ])  # fmt: skip
    found = [
        logs[0], logs[1], whole[1] / total, whole[3] / total, whole[4] / total, view.tags[2].sum(), *logs[2:5],
        chars[chars > 100].sum() / total, whole[6] / max(1.0, float(whole[2])), logs[5], whole[7] / total, logs[6],
        often[NUMBER["main"]] > 0, *logs[7:11], signals.depth, signals.digits, signals.query, logs[11], signals.og == 1,
        signals.og == 2, signals.og == 3,
    ]  # fmt: skip
    bits = np.array([signals.kinds, signals.path, page.elements[0][2]])
    return np.concatenate([found, _bits(bits[:1], len(TYPES))[0], _bits(bits[1:], WIDTH).ravel()], dtype=np.float32)


def _median(values: Floats) -> np.float32:
    """What `np.median` gives for so few numbers, in a tenth of its time."""
    ordered, middle = np.sort(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / np.float32(2)


def _flags(view: View, holder: Numbers) -> tuple[Floats, Numbers]:
    """Category bits of the block's inline elements, its owner, its containers, and all of its ancestors: each line
    that occurs once, and which is each block's.
    """
    together = np.zeros(len(view.parent), np.int64)
    np.bitwise_or.at(together, view.top, view.bits)
    words = np.array([view.inner, view.bits[view.owner], *together[holder[:3]], view.all_bits[view.owner]])
    lines: dict[bytes, int] = {}
    whole = words.T.tobytes()
    size = words.itemsize * len(words)
    line = [lines.setdefault(whole[at : at + size], len(lines)) for at in range(0, len(whole), size)]
    told = np.frombuffer(b"".join(lines), np.int64)
    return _bits(told, WIDTH).reshape(len(lines), -1).astype(np.float32), np.array(line)


def _bits(numbers: Numbers, width: int) -> NDArray[np.uint8]:
    """So many bits of each number, the lowest first."""
    bytes_ = numbers.view(np.uint8).reshape(len(numbers), numbers.itemsize)
    return np.unpackbits(bytes_, axis=1, count=width, bitorder="little")
