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

from outrider.pages.extraction.blocks.page_blocks import PIECE_NEXT_CELL, TAG_NUMBERS, PageBlocks

TABLE_TAG, TH_TAG, PRE_TAG, LI_TAG, DT_TAG, DD_TAG = (
    TAG_NUMBERS[tag] for tag in ("table", "th", "pre", "li", "dt", "dd")
)
WHOLE_TAGS, PART_TAGS = frozenset({TABLE_TAG, PRE_TAG}), frozenset({LI_TAG, DT_TAG, DD_TAG})
LIST_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("ul", "ol", "menu"))
HEADING_TAGS = frozenset(TAG_NUMBERS[f"h{level}"] for level in range(1, 7))
MIN_RELATED_PROBABILITY = 0.1  # likelihood of what is kept for the sake of what it belongs to
MIN_LIST_ITEMS = 2  # of a list that is looked at as a whole
LINK, LINKED = 60, 0.8  # characters of such a link at most, and their share in links
MAX_TERM_BLOCKS = 4  # blocks of a term that is one


def complete_tables(page: PageBlocks, chosen: list[int]) -> list[int]:
    """The chosen blocks and those that belong to them.

    Of a table of data with headings, and of a listing, all, if half of it was chosen; a listing right between chosen
    blocks, too. Where nothing but such tables and their headings, or one heading, was left out between two chosen
    blocks, they are chosen too.
    """
    max_distance = 3  # blocks before and behind a listing
    marked = _find_tagged(page, WHOLE_TAGS)
    tables, listings = _find_data_tables(page, marked), _find_listings(page, marked)
    kept = set(chosen)
    for blocks in (*tables, *listings):
        missing = [block for block in blocks if block not in kept]
        if len(missing) * 2 <= len(blocks):
            kept.update(missing)
    for blocks in listings:
        before, behind = (
            range(blocks.start - max_distance, blocks.start),
            range(blocks.stop, blocks.stop + max_distance),
        )
        if not (kept.isdisjoint(before) or kept.isdisjoint(behind)):
            kept.update(blocks)
    tabular = {block for blocks in tables for block in blocks}
    gaps = [range(before + 1, after) for before, after in pairwise(sorted(kept)) if after - before > 1]
    for gap in gaps:
        if _is_fillable_gap(page, gap, tabular):
            kept.update(gap)
    return sorted(kept) if len(kept) > len(chosen) else chosen


def complete_lists(
    page: PageBlocks, chosen: list[int], probabilities: NDArray[np.float32], kind: str = ""
) -> list[int]:
    """The chosen blocks and the rest of lists: items of which half were chosen, blocks of items, terms; single gaps.

    What is quite unlikely to be content stays left out, but not a term or what it means.
    """
    kinds_with_call_links = frozenset(
        {"service", "listing", "product"}
    )  # kinds of pages in which links between what was kept belong to it
    max_item_blocks = 8  # blocks of an item that is more than one: a card, a post
    kept = set(chosen)
    elements, last = page.elements, page.last
    lists: dict[int, list[range]] = {}
    terms: dict[int, int] = {}
    for at in _find_tagged(page, PART_TAGS):
        row = elements[at]
        if row[1] == LI_TAG and row[5] < last[at] <= row[5] + max_item_blocks and elements[row[0]][1] in LIST_TAGS:
            lists.setdefault(row[0], []).append(range(row[5], last[at]))
        elif row[1] == DT_TAG:
            terms[row[0]] = at
        elif row[1] == DD_TAG and (term := terms.get(row[0], -1)) >= 0:
            _define(kept, range(elements[term][5], last[term]), range(row[5], last[at]))
    for items in lists.values():
        if len(items) >= MIN_LIST_ITEMS:
            _complete_items(page, kept, items, probabilities)
    ordered = sorted(kept)
    kept.update(_find_single_gaps(page, ordered, probabilities), _find_adjacent_lists(page, ordered, probabilities))
    if kind in kinds_with_call_links:
        kept.update(_find_link_runs(page, ordered, probabilities))
    return sorted(kept) if len(kept) > len(chosen) else chosen


def _find_single_gaps(page: PageBlocks, kept: list[int], likely: NDArray[np.float32]) -> list[int]:
    """Single blocks between two that are kept, all three in one element."""
    found = [before + 1 for before, after in pairwise(kept) if after - before == 2]
    return [
        at
        for at in found
        if likely[at] >= MIN_RELATED_PROBABILITY and len({_around(page, at + step) for step in (-1, 0, 1)}) == 1
    ]


def _find_adjacent_lists(page: PageBlocks, kept: list[int], likely: NDArray[np.float32]) -> list[int]:
    """Lists of which nothing was kept, right between two kept blocks or right behind one that ends with a colon."""
    found = list[int]()
    for before, after in pairwise([*kept, len(page.texts)]):
        items = _find_list(page, before + 1, after) if after - before > MIN_LIST_ITEMS else range(0)
        if items and likely[items.start : items.stop].min() >= _get_required_probability(
            page, before, between=items.stop == after
        ):
            found += items
    return found


def _get_required_probability(page: PageBlocks, before: int, *, between: bool) -> float:
    """The likelihood that each item of a list needs behind this block."""
    colons = (":", "：")
    min_item_probability = 0.2  # likelihood of each item of a list right between kept blocks
    if page.texts[before].endswith(colons):
        return MIN_RELATED_PROBABILITY
    return min_item_probability if between else math.inf


def _find_list(page: PageBlocks, first: int, stop: int) -> range:
    """The blocks of the largest list that begins with this one and does not reach so far; none if it is but one."""
    at, end = page.rows[first][0], first
    while at > 0 and page.elements[at][5] == first and page.last[at] <= stop:
        if page.elements[at][1] in LIST_TAGS:
            end = page.last[at]
        at = page.elements[at][0]
    return range(first, end) if end - first >= MIN_LIST_ITEMS else range(0)


def _find_link_runs(page: PageBlocks, kept: list[int], likely: NDArray[np.float32]) -> list[int]:
    """Runs of links between two kept blocks: buttons, calls to act, the next step."""
    min_link_probability = 0.05  # likelihood of each
    max_run = 5  # of such links at most
    gaps = [range(before + 1, after) for before, after in pairwise(kept) if 1 < after - before <= max_run + 1]
    return [
        at
        for gap in gaps
        if all(_is_short_link(page, at) and likely[at] >= min_link_probability for at in gap)
        for at in gap
    ]


def _is_short_link(page: PageBlocks, block: int) -> bool:
    text = page.texts[block]
    return len(text) < LINK and page.rows[block][1] >= LINKED * len(text)


def _around(page: PageBlocks, block: int) -> int:
    return page.elements[page.rows[block][0]][0]


def _define(kept: set[int], term: range, detail: range) -> None:
    """Keeps a term with what it means; not the other way around: behind the name of a poster stands much else."""
    if len(term) < MAX_TERM_BLOCKS and not kept.isdisjoint(detail):
        kept.update(term)


def _complete_items(page: PageBlocks, kept: set[int], items: list[range], likely: NDArray[np.float32]) -> None:
    """Keeps items if half of them are kept, and all of an item if most of its text is."""
    found = [item for item in items if not kept.isdisjoint(item)]
    for item in items if 2 * len(found) >= len(items) else found:
        chosen = [block for block in item if block in kept]
        if len(chosen) < len(item) and (not chosen or 2 * _count_chars(page, chosen) >= _count_chars(page, item)):
            kept.update(block for block in item if likely[block] >= MIN_RELATED_PROBABILITY)


def _count_chars(page: PageBlocks, blocks: Iterable[int]) -> int:
    return sum([len(page.texts[block]) for block in blocks])


def add_headings(page: PageBlocks, chosen: list[int], probabilities: NDArray[np.float32]) -> list[int]:
    """The chosen blocks and the headings right above them, unless those are quite unlikely to be content."""
    kept = set(chosen)
    for block in reversed(chosen):
        above = block - 1
        while (
            above >= 0
            and above not in kept
            and probabilities[above] >= MIN_RELATED_PROBABILITY
            and is_heading(page, above)
        ):
            kept.add(above)
            above -= 1
    return sorted(kept) if len(kept) > len(chosen) else chosen


def _is_fillable_gap(page: PageBlocks, gap: range, tabular: set[int]) -> bool:
    """Whether what was left out is tables with their headings, or one heading of the block behind it."""
    if len(gap) == 1 and gap[0] not in tabular:
        return is_heading(page, gap[0]) and not is_heading(page, gap.stop)
    return not tabular.isdisjoint(gap) and all(block in tabular or is_heading(page, block) for block in gap)


def is_heading(page: PageBlocks, block: int) -> bool:
    """Whether a block stands in a heading."""
    return find_heading(page, block) >= 0


def find_heading(page: PageBlocks, block: int) -> int:
    """The heading that a block stands in; -1 for none."""
    max_ancestors = 3  # elements that a block of a heading stands in
    at = page.rows[block][0]
    for _ in range(max_ancestors):
        if at < 0:
            break
        if page.elements[at][1] in HEADING_TAGS:
            return at
        at = page.elements[at][0]
    return -1


def _find_tagged(page: PageBlocks, tags: frozenset[int]) -> list[int]:
    """The elements of these tags."""
    return [at for at, row in enumerate(page.elements) if row[1] in tags]


def _find_listings(page: PageBlocks, marked: list[int]) -> list[range]:
    """The blocks of each listing that is not part of another."""
    found = list[range]()
    for at in marked:
        row = page.elements[at]
        if row[1] == PRE_TAG and row[5] < page.last[at] and (not found or row[5] >= found[-1].stop):
            found.append(range(row[5], page.last[at]))
    return found


def _find_data_tables(page: PageBlocks, marked: list[int]) -> list[range]:
    """The blocks of each table that has headings or columns, holds no other table, and no long texts."""
    min_table_blocks = 2  # blocks of a table that is looked at as a whole
    tables = {at: range(page.elements[at][5], page.last[at]) for at in marked if page.elements[at][1] == TABLE_TAG}
    plain = tables.keys() - {_find_outer_table(page, table, tables) for table in tables}
    found = [(table, blocks) for table, blocks in tables.items() if table in plain and len(blocks) >= min_table_blocks]
    return [blocks for table, blocks in found if _is_data_table(page, table, blocks)]


def _find_outer_table(page: PageBlocks, table: int, tables: Container[int]) -> int:
    """The table that a table stands in; -1 for none."""
    at = page.elements[table][0]
    while at >= 0 and at not in tables:
        at = page.elements[at][0]
    return at


def _is_data_table(page: PageBlocks, table: int, blocks: range) -> bool:
    max_cell_chars = 600  # characters of a block in a table of data
    if any(len(page.texts[block]) >= max_cell_chars for block in blocks):
        return False
    tags = {page.elements[at][1] for at in range(table + 1, page.rows[blocks[-1]][0] + 1)}
    return TH_TAG in tags or 2 * sum([_is_multi_column(page, block) for block in blocks]) >= len(blocks)


def _is_multi_column(page: PageBlocks, block: int) -> bool:
    """Whether a block is a row of several cells."""
    return sum([piece.__class__ is tuple and piece[0] == PIECE_NEXT_CELL for piece in page.pieces[block]]) > 1
