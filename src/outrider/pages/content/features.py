"""Blocks as numbers: what a classifier may know of each, independent of the page's language."""

import re
import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import NUMBER, TAGS, Blocks
from outrider.pages.content.signals import TYPES, Signals
from outrider.pages.content.words import CATEGORIES, WIDTH

Floats = NDArray[np.float32]
LETTER, UPPER, DIGIT, SPACE, STOP, CLAUSE, IDEOGRAPH, MONEY, DIVIDER, OTHER = range(10)
CLASSES = 10
LEVELS = 6
SHIFTS = (-3, -2, -1, 1, 2, 3)
WINDOWS = (2, 5, 12)
WORD = re.compile(r"\w+")
GROUPS = (
    ("p",), ("li",), ("h1",), ("h2",), ("h3",), ("h4", "h5", "h6"), ("td", "th", "tr", "table", "tbody"), ("pre",),
    ("blockquote",), ("div", "custom", "center"), ("dt", "dd", "dl"), ("figcaption", "caption", "figure"),
    ("label", "button", "legend", "form", "fieldset"), ("section", "article", "main"),
    ("nav", "header", "footer", "aside"), ("ul", "ol", "menu"), ("summary", "details"),
)  # fmt: skip
GROUP = np.zeros((len(TAGS), len(GROUPS)), np.float32)
for _column, _tags in enumerate(GROUPS):
    for _tag in _tags:
        GROUP[NUMBER[_tag], _column] = 1
IS_HEADING = GROUP[:, 2:6].sum(axis=1)


@lru_cache(maxsize=1)
def character_classes() -> NDArray[np.uint8]:
    """The class of each character of the basic plane, by its Unicode category; the last stands for all beyond."""
    by_category = {"Lu": UPPER, "Lt": UPPER, "Nd": DIGIT, "Sc": MONEY, "Zs": SPACE, "Zl": SPACE, "Zp": SPACE, "Cc": SPACE}
    table = np.full(65_536, OTHER, np.uint8)
    for code in range(65_536):
        category = unicodedata.category(chr(code))
        table[code] = by_category.get(category, LETTER if category[0] in "LMN" else OTHER)
    for low, high in ((0x2E80, 0x2FE0), (0x3040, 0x3100), (0x3400, 0xA000), (0xF900, 0xFB00), (0x0E00, 0x0E80)):
        table[low:high][table[low:high] == LETTER] = IDEOGRAPH
    table[[ord(mark) for mark in ".!?。！？…؟।｡"]] = STOP
    table[[ord(mark) for mark in ",;:、，；：،"]] = CLAUSE
    table[[ord(mark) for mark in "|/»›•·«‹→←–—"]] = DIVIDER
    return table


def describe(page: Blocks, signals: Signals) -> tuple[Floats, NDArray[np.float32]]:
    """The features of a page's blocks, and the weight of each block in words.

    Returns:
        An array of one row per block, and the number of words of each (an ideograph counts half a word).
    """
    own, words = _own(page)
    return np.hstack(_parts(page, signals, own, words)), words


def _own(page: Blocks) -> tuple[dict[str, NDArray], NDArray]:
    texts = page.texts
    count = len(texts)
    lengths = np.fromiter(map(len, texts), np.int64, count)
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "replace"), np.uint32)
    kinds = character_classes()[np.minimum(codes, 65_535)]
    block = np.repeat(np.arange(count), lengths)
    tally = np.bincount(block * CLASSES + kinds, minlength=count * CLASSES).reshape(count, CLASSES).astype(np.float32)
    wordy = (kinds <= DIGIT) | (kinds == IDEOGRAPH)
    starts = wordy.copy()
    starts[1:] &= ~wordy[:-1]
    ends = np.cumsum(lengths)
    starts[(ends - lengths)] = wordy[(ends - lengths)]
    words = np.bincount(block[starts], minlength=count).astype(np.float32)
    words += tally[:, IDEOGRAPH] * np.float32(0.5)
    return {"lengths": lengths.astype(np.float32), "tally": tally, "last": kinds[ends - 1], "first": kinds[ends - lengths]}, words


def _parts(page: Blocks, signals: Signals, own: dict[str, NDArray], words: NDArray) -> list[Floats]:
    count = len(words)
    chars, tally = own["lengths"], own["tally"]
    total = max(1.0, float(chars.sum()))
    rows = np.array(page.rows, np.int64)
    counts = rows[:, 1:7].astype(np.float32)
    elements = np.array(page.elements, np.int64)
    linked = np.where(counts[:, 5] > 0, chars, np.minimum(counts[:, 0], chars))
    density = linked / chars
    owner = rows[:, 0]
    parent = elements[:, 0]
    tag = elements[:, 1]
    first, last = elements[:, 5], np.array(page.last)
    signature = elements[:, 4]
    heading = IS_HEADING[tag[owner]]
    per_word = np.maximum(words, 1)
    logchars = np.log1p(chars)
    shares = tally[:, [UPPER, DIGIT, STOP, CLAUSE, MONEY, DIVIDER, IDEOGRAPH, OTHER]]
    basic = np.column_stack([
        logchars, np.log1p(words), density, shares / chars[:, None], shares[:, 2:4] / per_word[:, None], chars / per_word,
        own["last"] == STOP, own["last"] == CLAUSE, own["first"] == UPPER, np.log1p(counts[:, 1:5]), counts[:, 5],
        heading,
    ]).astype(np.float32)  # fmt: skip
    tags = GROUP[tag[owner]]

    # containers: chains of elements with the same blocks count as one
    up = np.maximum(parent, 0)
    same = (first == first[up]) & (last == last[up]) & (parent >= 0)
    rep = np.where(same, up, np.arange(len(up)))
    for _ in range(7):
        rep = rep[rep]
    ownbits = elements[:, 2]
    repbits = np.zeros(len(up), np.int64)
    np.bitwise_or.at(repbits, rep, ownbits)
    prose = chars * (1 - density) * (chars > 60)
    paragraphs = chars * tags[:, 0]
    sums = np.zeros((count + 1, 8), np.float32)
    np.cumsum(
        np.column_stack([chars, linked, words, prose, paragraphs, heading, tally[:, STOP] + tally[:, CLAUSE], tally[:, MONEY] + tally[:, DIGIT]]),
        axis=0, out=sums[1:], dtype=np.float32,
    )  # fmt: skip
    whole = sums[-1]
    inside = sums[last] - sums[first]
    size = np.maximum(last - first, 1).astype(np.float32)
    ichars = np.maximum(inside[:, 0], 1)
    sigcount = np.bincount(signature)[signature].astype(np.float32)
    container = np.column_stack([
        inside[:, 0] / total, np.log1p(inside[:, 0]), inside[:, 1] / ichars, np.log1p(size), ichars / size,
        inside[:, 3] / ichars, inside[:, 4] / ichars, inside[:, 5] / size, inside[:, 6] / np.maximum(inside[:, 2], 1),
        inside[:, 7] / ichars, inside[:, 3] / max(1.0, float(whole[3])), np.log1p(sigcount),
    ]).astype(np.float32)  # fmt: skip
    chain = np.empty((LEVELS, count), np.int64)
    at = rep[owner]
    for level in range(LEVELS):
        chain[level] = at
        at = rep[up[at]]
    levels = container[chain].transpose(1, 0, 2).reshape(count, -1)
    number = np.arange(count, dtype=np.float32)
    place = ((number - first[chain]) / size[chain]).T
    leveltags = GROUP[tag[chain[1:3]]].transpose(1, 0, 2).reshape(count, -1)

    # repeated structure
    mine = signature[owner]
    kinds = int(mine.max()) + 1
    often = np.bincount(mine, minlength=kinds)
    mass = np.bincount(mine, chars, kinds)
    lmass = np.bincount(mine, linked, kinds)
    firsts = np.full(kinds, count)
    np.minimum.at(firsts, mine, np.arange(count))
    lasts = np.zeros(kinds)
    np.maximum.at(lasts, mine, number)
    repeated = np.column_stack([
        np.log1p(often)[mine], (mass / total)[mine], np.log1p(mass / np.maximum(often, 1))[mine],
        (lmass / np.maximum(mass, 1))[mine], ((lasts - firsts) / count)[mine],
    ])  # fmt: skip

    # neighbours
    near = np.column_stack([logchars, density, basic[:, 5 + 0], heading, own["last"] == STOP, tags[:, 0], tags[:, 1], basic[:, -2], mine]).astype(np.float32)
    pad = max(SHIFTS)
    padded = np.pad(near, ((pad, pad), (0, 0)), constant_values=-1)
    shifted = []
    for shift in SHIFTS:
        other = padded[pad + shift : pad + shift + count]
        shifted.append(other[:, :-1])
        shifted.append((other[:, -1:] == near[:, -1:]).astype(np.float32))
    windows = []
    best = 0
    for width in WINDOWS:
        low, high = np.maximum(np.arange(count) - width, 0), np.minimum(np.arange(count) + width + 1, count)
        within = sums[high] - sums[low]
        wchars = np.maximum(within[:, 0], 1)
        windows.append(np.column_stack([np.log1p(within[:, 3]), within[:, 1] / wchars, within[:, 5] / (high - low), within[:, 6] / np.maximum(within[:, 2], 1)]))
        if width == 5:
            best = int(np.argmax(within[:, 3]))
    h1 = np.flatnonzero(tags[:, 2])
    h1_at = float(h1[0]) if len(h1) else -1.0
    title = _title(page, signals)
    title_at = int(np.argmax(title[:, 2])) if count else 0
    if title[title_at, 2] <= 0:
        title_at = -1
    running = np.maximum.accumulate(np.where(heading > 0, number, -1))
    position = np.column_stack([
        number / count, sums[:-1, 0] / total, np.log1p(number), np.log1p(count - number), _signed(number - h1_at),
        np.full(count, h1_at >= 0), _signed(number - best), _signed(number - title_at), np.full(count, title_at >= 0),
        np.log1p(number - running), running >= 0,
        (sums[:-1, 3] / max(1.0, float(whole[3]))),
    ])  # fmt: skip
    score = _scores(prose, parent, owner, len(up))
    top = int(np.argmax(score))
    dominant = np.column_stack([
        (number >= first[top]) & (number < last[top]),
        (number >= first[up[top]]) & (number < last[up[top]]),
        (number >= first[up[up[top]]]) & (number < last[up[up[top]]]),
        _signed(number - first[top]), _signed(number - last[top]),
    ])  # fmt: skip

    words_of = np.array([rows[:, 7], ownbits[owner], repbits[chain[0]], repbits[chain[1]], repbits[chain[2]], elements[owner, 3]])
    flags = np.unpackbits(np.ascontiguousarray(words_of.T).view(np.uint8).reshape(count, -1, 8), axis=2, bitorder="little")[:, :, :WIDTH].reshape(count, -1)
    general = _general(page, signals, chars, density, whole, count, h1, heading, tags, tally)
    return [
        basic, tags, leveltags, levels, place.astype(np.float32), repeated.astype(np.float32), *shifted,
        *(window.astype(np.float32) for window in windows), position.astype(np.float32), dominant.astype(np.float32),
        title, np.broadcast_to(general, (count, len(general))), flags.astype(np.float32),
    ]  # fmt: skip


def _signed(distance: NDArray) -> NDArray:
    return np.sign(distance) * np.log1p(np.abs(distance))


def _scores(prose: NDArray, parent: NDArray, owner: NDArray, elements: int) -> NDArray:
    """How much prose each element holds as a grandparent, parent or owner of blocks."""
    score = np.bincount(owner, prose, elements)
    up = np.maximum(parent, 0)
    given = np.bincount(up, score, elements)
    return score * 0.5 + given + np.bincount(up, given, elements) * 0.5


def _title(page: Blocks, signals: Signals) -> Floats:
    """Of each block: share of its words in the title, share of the title's words, the product for headings' search,
    whether the description or the JSON-LD holds it, how often its text occurs.
    """
    title = set(WORD.findall(signals.title.lower()[:500]))
    size = max(1, len(title))
    described, linked = signals.description, signals.linked
    seen: dict[str, int] = {}
    earlier = []
    for text in page.texts:
        earlier.append(seen.get(text, 0))
        seen[text] = earlier[-1] + 1
    rows = []
    for text, before in zip(page.texts, earlier, strict=True):
        mine = covered = 0.0
        if len(text) < 300 and title:
            words = set(WORD.findall(text.lower()))
            both = len(words & title)
            if both:
                mine, covered = both / len(words), both / size
        probe = text[:40]
        rows.append((mine, covered, mine * covered, len(probe) > 12 and probe in described, len(probe) > 12 and probe in linked, seen[text], before > 0))
    return np.array(rows, np.float32).reshape(len(rows), 7)


def _general(page, signals, chars, density, whole, count, h1, heading, tags, tally) -> Floats:
    total = max(1.0, float(whole[0]))
    tag = np.array([row[1] for row in page.elements])
    ordinary = [
        np.log1p(count), np.log1p(total), whole[1] / total, whole[3] / total, whole[4] / total, len(h1),
        np.log1p(heading.sum()), np.log1p(chars.max()), np.log1p(np.median(chars)), float(chars[chars > 100].sum()) / total,
        whole[6] / max(1.0, float(whole[2])), np.log1p(tally[:, MONEY].sum()), whole[7] / total,
        np.log1p((tag == NUMBER["article"]).sum()), (tag == NUMBER["main"]).sum() > 0, np.log1p((tag == NUMBER["tr"]).sum()),
        np.log1p((tag == NUMBER["form"]).sum()), np.log1p((tag == NUMBER["pre"]).sum()), np.log1p(tags[:, 1].sum()),
        signals.depth, signals.digits, signals.query, np.log1p(len(signals.description)), signals.og == 1, signals.og == 2, signals.og == 3,
    ]  # fmt: skip
    kinds = [signals.kinds >> bit & 1 for bit in range(len(TYPES))]
    path = [signals.path >> bit & 1 for bit in range(WIDTH)]
    body = [(page.elements[0][2]) >> bit & 1 for bit in range(WIDTH)]
    return np.array(ordinary + kinds + path + body, np.float32)


def names() -> list[str]:
    """The columns' names, in order."""
    words = [name for name, _ in CATEGORIES]
    groups = [each[0] for each in GROUPS]
    basic = ["logchars", "logwords", "density", "upper", "digit", "stop", "clause", "money", "divider", "ideograph", "other", "stop_w", "clause_w", "wordlen", "ends_stop", "ends_clause", "starts_upper", "links", "images", "breaks", "marked", "anchored", "heading"]
    cont = ["share", "logchars", "density", "blocks", "mean", "prose", "para", "heading", "marks", "digits", "proseshare", "sigcount"]
    out = basic + [f"tag_{g}" for g in groups] + [f"l{level}tag_{g}" for level in (1, 2) for g in groups]
    out += [f"l{level}_{c}" for level in range(LEVELS) for c in cont] + [f"place{level}" for level in range(LEVELS)]
    out += [f"rep_{n}" for n in ["count", "share", "mean", "density", "span"]]
    for shift in SHIFTS:
        out += [f"n{shift}_{c}" for c in ["logchars", "density", "stop", "heading", "ends", "p", "li", "anchored", "same"]]
    out += [f"w{w}_{c}" for w in WINDOWS for c in ["prose", "density", "heading", "marks"]]
    out += [f"pos_{c}" for c in ["rel", "chars", "log", "logend", "h1", "hash1", "best", "title", "hastitle", "sincehead", "hashead", "proserel"]]
    out += [f"dom_{c}" for c in ["in", "up", "upup", "first", "last"]]
    out += [f"title_{c}" for c in ["mine", "cover", "product", "described", "linked", "seen", "again"]]
    out += [f"page_{c}" for c in ["blocks", "chars", "density", "prose", "para", "h1", "headings", "max", "median", "long", "marks", "money", "digits", "article", "main", "tr", "form", "pre", "li", "depth", "hasdigits", "query", "described", "og1", "og2", "og3"]]
    out += [f"ld_{n}" for n, _ in TYPES] + [f"path_{w}" for w in words] + [f"body_{w}" for w in words]
    for kind in ("inner", "own", "l0", "l1", "l2", "all"):
        out += [f"{kind}_{w}" for w in words]
    return out
