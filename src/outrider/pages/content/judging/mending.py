"""What a cut tears apart, put together again: tables of data, listings, lists, and headings between what was kept.

Measured on every fourth page of the large corpus: a title, or a caption, that is kept against the cut costs F1 (.0012
and .0008), since references leave out most of them. So neither is done here; but a heading that was only just left out,
right above what was kept, costs .0004 on grouped folds, and most of those are part of the content. Lists and terms
cost nothing, and keep .0040 more of the items in the content and .0034 more of the links. Neither do links such as
"Learn more" beside what was kept, on services and listings (-.0000 and .0002 on 1,341 pages on grouped folds), where
they keep .031 and .011 more of the links; on articles and in forums they cost .0001 and .0012, and stay out. Runs of
up to five such links, also on products, keep .0080 more of all links and .0027 of the items (.0000 on 1,487 pages by
networks that had not seen them; collections lose .001 by it and stay out).

A list of which nothing was kept, right between two kept blocks (each item likelier than .2) or right behind one that
ends with a colon (.1), is part of the text: .0086 of the items and .0028 of the links, at -.00002 of F1 (standard error
.00004) on 1,487 pages by the package's own networks, which have seen them; of 302 pages by networks that had not, one
changes, and gains. On 43 pages of news of other corpora nothing changes. Behind headings, or beside headings that were
left out too, lists cost .0001 of F1.
"""

import math
from collections.abc import Container, Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.walking.blocks import NEXT_CELL, NUMBER, Blocks

TABLE, HEADED, PRE, ITEM, TERM, DETAIL = (NUMBER[tag] for tag in ("table", "th", "pre", "li", "dt", "dd"))
WHOLE, PARTS = frozenset({TABLE, PRE}), frozenset({ITEM, TERM, DETAIL})
LISTS = frozenset(NUMBER[tag] for tag in ("ul", "ol", "menu"))
HEADINGS = frozenset(NUMBER[f"h{level}"] for level in range(1, 7))
FEWEST = 2  # blocks of a table that is looked at as a whole
LONGEST = 600  # characters of a block in a table of data
ABOVE = 3  # elements that a block of a heading stands in
CONCEIVABLE = 0.1  # likelihood of what is kept for the sake of what it belongs to
ITEMS = 2  # of a list that is looked at as a whole
LARGE = 8  # blocks of an item that is more than one: a card, a post
REACH = 3  # blocks before and behind a listing
LINKING = frozenset(
    {"service", "listing", "product"}
)  # kinds of pages in which links between what was kept belong to it
LINK, LINKED = 60, 0.8  # characters of such a link at most, and their share in links
RUN = 5  # of such links at most
POSSIBLE = 0.05  # likelihood of each
SMALL = 4  # blocks of a term that is one
AMONG = 0.2  # likelihood of each item of a list right between kept blocks
COLONS = (":", "：")


def mended(page: Blocks, chosen: list[int]) -> list[int]:
    """The chosen blocks and those that belong to them.

    Of a table of data with headings, and of a listing, all, if half of it was chosen; a listing right between chosen
    blocks, too. Where nothing but such tables and their headings, or one heading, was left out between two chosen
    blocks, they are chosen too.
    """
    marked = _marked(page, WHOLE)
    tables, listings = _tables_of_data(page, marked), _listings(page, marked)
    kept = set(chosen)
    for blocks in (*tables, *listings):
        missing = [block for block in blocks if block not in kept]
        if len(missing) * 2 <= len(blocks):
            kept.update(missing)
    for blocks in listings:
        before, behind = range(blocks.start - REACH, blocks.start), range(blocks.stop, blocks.stop + REACH)
        if not (kept.isdisjoint(before) or kept.isdisjoint(behind)):
            kept.update(blocks)
    tabular = {block for blocks in tables for block in blocks}
    gaps = [range(before + 1, after) for before, after in pairwise(sorted(kept)) if after - before > 1]
    for gap in gaps:
        if _belongs(page, gap, tabular):
            kept.update(gap)
    return sorted(kept) if len(kept) > len(chosen) else chosen


def completed(page: Blocks, chosen: list[int], likely: NDArray[np.float32], kind: str = "") -> list[int]:
    """The chosen blocks and the rest of lists: items of which half were chosen, blocks of items, terms; single gaps.

    What is quite unlikely to be content stays left out, but not a term or what it means.
    """
    kept = set(chosen)
    elements, last = page.elements, page.last
    lists: dict[int, list[range]] = {}
    terms: dict[int, int] = {}
    for at in _marked(page, PARTS):
        row = elements[at]
        if row[1] == ITEM and row[5] < last[at] <= row[5] + LARGE and elements[row[0]][1] in LISTS:
            lists.setdefault(row[0], []).append(range(row[5], last[at]))
        elif row[1] == TERM:
            terms[row[0]] = at
        elif row[1] == DETAIL and (term := terms.get(row[0], -1)) >= 0:
            _define(kept, range(elements[term][5], last[term]), range(row[5], last[at]))
    for items in lists.values():
        if len(items) >= ITEMS:
            _complete(page, kept, items, likely)
    ordered = sorted(kept)
    kept.update(_between(page, ordered, likely), _lists_with(page, ordered, likely))
    if kind in LINKING:
        kept.update(_links_between(page, ordered, likely))
    return sorted(kept) if len(kept) > len(chosen) else chosen


def _between(page: Blocks, kept: list[int], likely: NDArray[np.float32]) -> list[int]:
    """Single blocks between two that are kept, all three in one element."""
    found = [before + 1 for before, after in pairwise(kept) if after - before == 2]
    return [
        at for at in found if likely[at] >= CONCEIVABLE and len({_around(page, at + step) for step in (-1, 0, 1)}) == 1
    ]


def _lists_with(page: Blocks, kept: list[int], likely: NDArray[np.float32]) -> list[int]:
    """Lists of which nothing was kept, right between two kept blocks or right behind one that ends with a colon."""
    found = list[int]()
    for before, after in pairwise([*kept, len(page.texts)]):
        items = _list_at(page, before + 1, after) if after - before > ITEMS else range(0)
        if items and likely[items.start : items.stop].min() >= _wanted(page, before, between=items.stop == after):
            found += items
    return found


def _wanted(page: Blocks, before: int, *, between: bool) -> float:
    """The likelihood that each item of a list needs behind this block."""
    if page.texts[before].endswith(COLONS):
        return CONCEIVABLE
    return AMONG if between else math.inf


def _list_at(page: Blocks, first: int, stop: int) -> range:
    """The blocks of the largest list that begins with this one and does not reach so far; none if it is but one."""
    at, end = page.rows[first][0], first
    while at > 0 and page.elements[at][5] == first and page.last[at] <= stop:
        if page.elements[at][1] in LISTS:
            end = page.last[at]
        at = page.elements[at][0]
    return range(first, end) if end - first >= ITEMS else range(0)


def _links_between(page: Blocks, kept: list[int], likely: NDArray[np.float32]) -> list[int]:
    """Runs of links between two kept blocks: buttons, calls to act, the next step."""
    gaps = [range(before + 1, after) for before, after in pairwise(kept) if 1 < after - before <= RUN + 1]
    return [at for gap in gaps if all(_is_link(page, at) and likely[at] >= POSSIBLE for at in gap) for at in gap]


def _is_link(page: Blocks, block: int) -> bool:
    text = page.texts[block]
    return len(text) < LINK and page.rows[block][1] >= LINKED * len(text)


def _around(page: Blocks, block: int) -> int:
    return page.elements[page.rows[block][0]][0]


def _define(kept: set[int], term: range, detail: range) -> None:
    """Keeps a term with what it means; not the other way around: behind the name of a poster stands much else."""
    if len(term) < SMALL and not kept.isdisjoint(detail):
        kept.update(term)


def _complete(page: Blocks, kept: set[int], items: list[range], likely: NDArray[np.float32]) -> None:
    """Keeps items if half of them are kept, and all of an item if most of its text is."""
    found = [item for item in items if not kept.isdisjoint(item)]
    for item in items if 2 * len(found) >= len(items) else found:
        chosen = [block for block in item if block in kept]
        if len(chosen) < len(item) and (not chosen or 2 * _length(page, chosen) >= _length(page, item)):
            kept.update(block for block in item if likely[block] >= CONCEIVABLE)


def _length(page: Blocks, blocks: Iterable[int]) -> int:
    return sum([len(page.texts[block]) for block in blocks])


def headed(page: Blocks, chosen: list[int], likely: NDArray[np.float32]) -> list[int]:
    """The chosen blocks and the headings right above them, unless those are quite unlikely to be content."""
    kept = set(chosen)
    for block in reversed(chosen):
        above = block - 1
        while above >= 0 and above not in kept and likely[above] >= CONCEIVABLE and is_heading(page, above):
            kept.add(above)
            above -= 1
    return sorted(kept) if len(kept) > len(chosen) else chosen


def _belongs(page: Blocks, gap: range, tabular: set[int]) -> bool:
    """Whether what was left out is tables with their headings, or one heading of the block behind it."""
    if len(gap) == 1 and gap[0] not in tabular:
        return is_heading(page, gap[0]) and not is_heading(page, gap.stop)
    return not tabular.isdisjoint(gap) and all(block in tabular or is_heading(page, block) for block in gap)


def is_heading(page: Blocks, block: int) -> bool:
    """Whether a block stands in a heading."""
    return heading_of(page, block) >= 0


def heading_of(page: Blocks, block: int) -> int:
    """The heading that a block stands in; -1 for none."""
    at = page.rows[block][0]
    for _ in range(ABOVE):
        if at < 0:
            break
        if page.elements[at][1] in HEADINGS:
            return at
        at = page.elements[at][0]
    return -1


def _marked(page: Blocks, tags: frozenset[int]) -> list[int]:
    """The elements of these tags."""
    return [at for at, row in enumerate(page.elements) if row[1] in tags]


def _listings(page: Blocks, marked: list[int]) -> list[range]:
    """The blocks of each listing that is not part of another."""
    found = list[range]()
    for at in marked:
        row = page.elements[at]
        if row[1] == PRE and row[5] < page.last[at] and (not found or row[5] >= found[-1].stop):
            found.append(range(row[5], page.last[at]))
    return found


def _tables_of_data(page: Blocks, marked: list[int]) -> list[range]:
    """The blocks of each table that has headings or columns, holds no other table, and no long texts."""
    tables = {at: range(page.elements[at][5], page.last[at]) for at in marked if page.elements[at][1] == TABLE}
    plain = tables.keys() - {_table_around(page, table, tables) for table in tables}
    found = [(table, blocks) for table, blocks in tables.items() if table in plain and len(blocks) >= FEWEST]
    return [blocks for table, blocks in found if _is_data(page, table, blocks)]


def _table_around(page: Blocks, table: int, tables: Container[int]) -> int:
    """The table that a table stands in; -1 for none."""
    at = page.elements[table][0]
    while at >= 0 and at not in tables:
        at = page.elements[at][0]
    return at


def _is_data(page: Blocks, table: int, blocks: range) -> bool:
    if any(len(page.texts[block]) >= LONGEST for block in blocks):
        return False
    tags = {page.elements[at][1] for at in range(table + 1, page.rows[blocks[-1]][0] + 1)}
    return HEADED in tags or 2 * sum([_has_columns(page, block) for block in blocks]) >= len(blocks)


def _has_columns(page: Blocks, block: int) -> bool:
    """Whether a block is a row of several cells."""
    return sum([piece.__class__ is tuple and piece[0] == NEXT_CELL for piece in page.pieces[block]]) > 1
