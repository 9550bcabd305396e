"""Blocks as numbers: what a classifier may know of each, independent of the page's language.

Every function here puts columns down in a fixed order, of which the model's file says which it takes. A page
costs about two hundred array operations whatever its size.
"""

import re
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import NUMBER, TAGS, Blocks
from outrider.pages.content.characters import (
    CLASSES,
    CLAUSE,
    DIGIT,
    DIVIDER,
    IDEOGRAPH,
    MONEY,
    OTHER,
    STOP,
    UPPER,
    classes,
)
from outrider.pages.content.signals import TYPES, Signals
from outrider.pages.content.words import WIDTH

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
LEVELS = 6  # ancestors that are described; chains of elements with the same blocks count as one
JUMPS = 7  # doublings in which such a chain is followed to its top
SHIFTS = (-3, -2, -1, 1, 2, 3)  # neighbours that are described
WINDOWS = (2, 5, 12)  # blocks on each side
DENSEST = 5  # of these, the one by which the page's densest place is found
LONG = 60  # characters from which words outside of links are prose
TITLE_LIMIT = 300  # characters of a block that is compared with the title
BRIEF = 12  # characters of a block that stand anywhere
PROBE = 40  # characters of a block that are looked for in what the page says about itself
WORD = re.compile(r"\w+")
PLAIN = bytes(code if chr(code).isalnum() or code == 95 else 32 for code in range(128)).lower() + bytes(128)  # ASCII
NOTHING = 0.0, 0.0, 0.0
GROUPS = (
    ("p",), ("li",), ("h1",), ("h2",), ("h3",), ("h4", "h5", "h6"), ("td", "th", "tr", "table", "tbody"), ("pre",),
    ("blockquote",), ("div", "custom", "center"), ("dt", "dd", "dl"), ("figcaption", "caption", "figure"),
    ("label", "button", "legend", "form", "fieldset"), ("section", "article", "main"),
    ("nav", "header", "footer", "aside"), ("ul", "ol", "menu"), ("summary", "details"),
)  # fmt: skip
GROUP = np.array([[float(tag in tags) for tag in TAGS] for tags in GROUPS], np.float32)
IS_HEADING = GROUP[2:6].sum(axis=0)
WIDEST = 700  # columns, more than there are


class Sheet:
    """Columns of floats, one value for each block; each column lies in one piece, since all work is by columns."""

    def __init__(self, count: int) -> None:
        self._columns = np.empty((WIDEST, count), np.float32)
        self._at = 0

    def put(self, *columns: NDArray) -> None:
        """Appends columns; an array of two dimensions holds several."""
        for column in columns:
            end = self._at + (1 if column.ndim < 2 else len(column))
            self._columns[self._at : end] = column
            self._at = end

    def rows(self) -> Floats:
        """All columns, one row for each block."""
        return self._columns[: self._at].T


@dataclass(slots=True)
class View:
    """A page's blocks and elements as arrays.

    Attributes:
        chars, words, linked, density: Of each block; density is the share of characters in links.
        tally: Of each class of characters, how many are in each block.
        first_kind, last_kind: Class of the first and last character of each block.
        counts: Six arrays: characters in links, links, pictures, breaks, marks, and whether in a link as a whole.
        inner: Category bits of inline elements.
        owner, parent, tag, bits, all_bits, signature, first, last: See `Blocks`.
        top: Of each element, the outermost that holds the same blocks.
        heading, number, prose: Of each block.
        tags: Of each group of tags, whether each block is of it.
        sums: Running sums of eight quantities, one more of each than there are blocks.
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
    heading: Floats
    tags: Floats
    number: Floats
    prose: Floats
    sums: Floats

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return len(self.chars)


def describe(page: Blocks, signals: Signals) -> tuple[Floats, Floats]:
    """The features of a page's blocks, and the weight of each block in words.

    Returns:
        An array of one row per block, and the number of words of each (an ideograph counts half a word).
    """
    view = _view(page)
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
    sheet.put(np.broadcast_to(_general(page, signals, view)[:, None], (GENERAL, view.count)))
    sheet.put(_flags(view, holder))
    return sheet.rows(), view.words


def _view(page: Blocks) -> View:
    count = len(page.texts)
    rows = _table(page.rows, 8)
    elements = _table(page.elements, 6)
    chars, words, tally, first_kind, last_kind = _characters(page.texts)
    counts = rows[1:7].astype(np.float32)
    linked = np.where(counts[5] > 0, chars, np.minimum(counts[0], chars))
    density = linked / chars
    owner, parent, tag = rows[0], elements[0], elements[1]
    first, last = elements[5], np.array(page.last)
    tags, heading = GROUP[:, tag[owner]], IS_HEADING[tag[owner]]
    prose = chars * (1 - density) * (chars > LONG)
    marks, figures = tally[STOP] + tally[CLAUSE], tally[MONEY] + tally[DIGIT]
    sums = np.zeros((8, count + 1), np.float32)
    np.cumsum(
        np.array([chars, linked, words, prose, chars * tags[0], heading, marks, figures]), axis=1, out=sums[:, 1:]
    )
    return View(
        chars, words, tally, first_kind, last_kind, counts, rows[7], linked, density, owner, parent, tag,
        elements[2], elements[3], elements[4], first, last, _tops(parent, first, last), heading, tags,
        np.arange(count, dtype=np.float32), prose, sums,
    )  # fmt: skip


def _table(rows: list[tuple[int, ...]], width: int) -> Numbers:
    """Rows of whole numbers as an array of columns."""
    return np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * width).reshape(-1, width).T.copy()


def _characters(texts: list[str]) -> tuple[Floats, Floats, Floats, NDArray[np.uint8], NDArray[np.uint8]]:
    """Of each text: characters, words, characters of each class, class of the first and of the last."""
    count = len(texts)
    lengths = np.fromiter(map(len, texts), np.int64, count)
    kinds = classes("".join(texts))
    block = np.repeat(np.arange(0, count * CLASSES, CLASSES), lengths)
    tally = np.bincount(block + kinds, minlength=count * CLASSES).reshape(count, CLASSES).T.astype(np.float32, "C")
    wordy = (kinds <= DIGIT) | (kinds == IDEOGRAPH)
    ends = np.cumsum(lengths)
    starts = wordy.copy()
    starts[1:] &= ~wordy[:-1]
    starts[ends - lengths] = wordy[ends - lengths]
    running = np.concatenate(([0], np.cumsum(starts)))
    words = (running[ends] - running[ends - lengths]).astype(np.float32) + tally[IDEOGRAPH] * np.float32(0.5)
    return lengths.astype(np.float32), words, tally, kinds[ends - lengths], kinds[ends - 1]


def _tops(parent: Numbers, first: Numbers, last: Numbers) -> Numbers:
    up = np.maximum(parent, 0)
    same = (first == first[up]) & (last == last[up]) & (parent >= 0)
    top = np.where(same, up, np.arange(len(up)))
    for _ in range(JUMPS):
        top = top[top]
    return top


def _put_basic(sheet: Sheet, view: View) -> None:
    """The block itself."""
    chars, words = view.chars, np.maximum(view.words, 1)
    shares = view.tally[[UPPER, DIGIT, STOP, CLAUSE, MONEY, DIVIDER, IDEOGRAPH, OTHER]]
    sheet.put(np.log1p(chars), np.log1p(view.words), view.density, shares / chars, shares[2:4] / words)
    sheet.put(chars / words, view.last_kind == STOP, view.last_kind == CLAUSE, view.first_kind == UPPER)
    sheet.put(np.log1p(view.counts[1:5]), view.counts[5], view.heading, view.tags)


def _put_ancestors(sheet: Sheet, view: View) -> Numbers:
    """The containers around the block; which they are, innermost first."""
    up = np.maximum(view.parent, 0)
    described = _containers(view)
    holder = np.empty((LEVELS, view.count), np.int64)
    at = view.top[view.owner]
    for level in range(LEVELS):
        holder[level] = at
        at = view.top[up[at]]
    size = np.maximum(view.last - view.first, 1).astype(np.float32)
    sheet.put(*[GROUP[:, tag] for tag in view.tag[holder[1:3]]], *[described[:, each] for each in holder])
    sheet.put((view.number - view.first[holder]) / size[holder])
    return holder


def _containers(view: View) -> Floats:
    """What each element holds, as shares of the page and of itself."""
    inside = view.sums[:, view.last] - view.sums[:, view.first]
    whole = view.sums[:, -1]
    size = np.maximum(view.last - view.first, 1).astype(np.float32)
    chars = np.maximum(inside[0], 1)
    often = np.bincount(view.signature)[view.signature].astype(np.float32)
    return np.array([
        inside[0] / max(1.0, float(whole[0])), np.log1p(inside[0]), inside[1] / chars, np.log1p(size),
        chars / size, inside[3] / chars, inside[4] / chars, inside[5] / size,
        inside[6] / np.maximum(inside[2], 1), inside[7] / chars, inside[3] / max(1.0, float(whole[3])),
        np.log1p(often),
    ], np.float32)  # fmt: skip


def _put_repeated(sheet: Sheet, view: View) -> None:
    """All blocks whose elements look the same from the root down: how many, how much, how linked, how far apart."""
    mine = view.signature[view.owner]
    often = np.bincount(mine)
    mass, linked = np.bincount(mine, view.chars), np.bincount(mine, view.linked)
    first, last = np.full(len(often), view.count), np.zeros(len(often))
    np.minimum.at(first, mine, np.arange(view.count))
    np.maximum.at(last, mine, view.number)
    mean, density = np.log1p(mass / np.maximum(often, 1)), linked / np.maximum(mass, 1)
    share = mass / max(1.0, float(view.chars.sum()))
    sheet.put(np.array([np.log1p(often), share, mean, density, (last - first) / view.count], np.float32)[:, mine])


def _put_neighbours(sheet: Sheet, view: View) -> None:
    """The blocks before and after."""
    count, pad = view.count, max(SHIFTS)
    near = np.full((9, count + 2 * pad), -1, np.float32)
    mine = near[:, pad : pad + count]
    mine[:] = [
        np.log1p(view.chars), view.density, view.tally[STOP] / view.chars, view.heading, view.last_kind == STOP,
        view.tags[0], view.tags[1], view.counts[5], view.signature[view.owner],
    ]  # fmt: skip
    for shift in SHIFTS:
        other = near[:, pad + shift : pad + shift + count]
        sheet.put(other[:8], other[8] == mine[8])


def _put_windows(sheet: Sheet, view: View) -> int:
    """The surroundings; the number of the block whose surroundings hold most prose."""
    densest, number = 0, np.arange(view.count)
    for width in WINDOWS:
        low, high = np.maximum(number - width, 0), np.minimum(number + width + 1, view.count)
        inside = view.sums[:, high] - view.sums[:, low]
        sheet.put(np.log1p(inside[3]), inside[1] / np.maximum(inside[0], 1), inside[5] / (high - low))
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
    title = frozenset(WORD.findall(signals.title.lower()[:500]))
    told = chain.from_iterable([_told(text, title, signals) for text in known])
    found = np.empty((7, len(said)), np.float32)
    found[:5] = np.fromiter(told, np.float32, len(known) * 5).reshape(-1, 5).T[:, said]
    found[5] = np.bincount(said)[said]
    found[6, 0] = 0
    found[6, 1:] = said[1:] <= np.maximum.accumulate(said)[:-1]
    return found


def _told(text: str, title: frozenset[str], signals: Signals) -> tuple[float, float, float, bool, bool]:
    """The first five of these."""
    if len(text) <= BRIEF:
        return (*_overlap(text, title), False, False)
    probe = text[:PROBE]
    return (*_overlap(text, title), probe in signals.description, probe in signals.linked)


def _overlap(text: str, title: frozenset[str]) -> tuple[float, float, float]:
    if not title or len(text) >= TITLE_LIMIT:
        return NOTHING
    words = _words(text)
    if title.isdisjoint(words):
        return NOTHING
    words = set(words)
    both = len(words & title)
    mine, covered = both / len(words), both / len(title)
    return mine, covered, mine * covered


def _words(text: str) -> list[str]:
    """The words of a text in lower case; those of plain letters by a table, in half the time."""
    return text.encode().translate(PLAIN).decode().split() if text.isascii() else WORD.findall(text.lower())


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
    found += [signals.kinds >> bit & 1 for bit in range(len(TYPES))]
    found += [signals.path >> bit & 1 for bit in range(WIDTH)]
    found += [page.elements[0][2] >> bit & 1 for bit in range(WIDTH)]
    return np.array(found, np.float32)


def _median(values: Floats) -> np.float32:
    """What `np.median` gives for so few numbers, in a tenth of its time."""
    ordered, middle = np.sort(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / np.float32(2)


GENERAL = 26 + len(TYPES) + 2 * WIDTH


def _flags(view: View, holder: Numbers) -> NDArray:
    """Category bits of the block's inline elements, its owner, its containers, and all of its ancestors."""
    together = np.zeros(len(view.parent), np.int64)
    np.bitwise_or.at(together, view.top, view.bits)
    words = np.array([view.inner, view.bits[view.owner], *together[holder[:3]], view.all_bits[view.owner]])
    bytes_ = words.T.copy().view(np.uint8).reshape(view.count, len(words), 8)
    return np.unpackbits(bytes_, axis=2, bitorder="little")[:, :, :WIDTH].reshape(view.count, -1).T
