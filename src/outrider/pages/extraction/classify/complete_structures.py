"""Complete tables, listings, lists and headings that were kept in part.

Titles and captions stay out, because references mostly leave them out. Each rule was kept because it costs no F1 and
keeps more of the structure: docs/reference/extraction.md has the figures.
"""

import math
from collections.abc import Iterable
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
MIN_RELATED_PROBABILITY = 0.1  # of blocks that are kept because of what they belong to
MIN_LIST_ITEMS = 2


def complete_tables(page: PageBlocks, chosen: list[int]) -> list[int]:
    """Add the rest of tables and listings that were chosen in part.

    Data tables with headings, and listings, are completed if half of them was chosen, and listings also right between
    chosen blocks. Gaps between chosen blocks that hold only such tables and headings, or one heading, are filled.
    """
    max_distance = 3  # blocks between a listing and a chosen block
    candidates = _find_tagged(page, WHOLE_TAGS)
    tables, listings = _find_data_tables(page, candidates), _find_listings(page, candidates)
    kept = set(chosen)
    for blocks in (*tables, *listings):
        missing = [block for block in blocks if block not in kept]
        if len(missing) * 2 <= len(blocks):
            kept.update(missing)
    for blocks in listings:
        before = range(blocks.start - max_distance, blocks.start)
        after = range(blocks.stop, blocks.stop + max_distance)
        if not (kept.isdisjoint(before) or kept.isdisjoint(after)):
            kept.update(blocks)
    tabular = {block for blocks in tables for block in blocks}
    gaps = [range(before + 1, after) for before, after in pairwise(sorted(kept)) if after - before > 1]
    for gap in gaps:
        if len(gap) == 1 and gap[0] not in tabular:
            is_fillable = is_heading(page, gap[0]) and not is_heading(page, gap.stop)
        else:
            are_related = [block in tabular or is_heading(page, block) for block in gap]
            is_fillable = not tabular.isdisjoint(gap) and all(are_related)
        if is_fillable:
            kept.update(gap)
    return sorted(kept) if len(kept) > len(chosen) else chosen


def complete_lists(
    page: PageBlocks, chosen: list[int], probabilities: NDArray[np.float32], kind: str = ""
) -> list[int]:
    """Add the rest of lists: items of lists chosen in half, blocks of items, terms, single gaps.

    Unlikely content stays out, except terms and their definitions.
    """
    max_item_blocks = 8  # longer items are cards or posts
    kept = set(chosen)
    elements, last = page.elements, page.last
    lists: dict[int, list[range]] = {}
    parts = _find_tagged(page, PART_TAGS)
    _keep_terms(page, kept, parts)
    for element in parts:
        row = elements[element]
        if row[1] == LI_TAG and row[5] < last[element] <= row[5] + max_item_blocks and elements[row[0]][1] in LIST_TAGS:
            lists.setdefault(row[0], []).append(range(row[5], last[element]))
    for items in lists.values():
        if len(items) >= MIN_LIST_ITEMS:
            _complete_items(page, kept, items, probabilities)
    ordered = sorted(kept)
    gaps = [before + 1 for before, after in pairwise(ordered) if after - before == 2]
    for block in gaps:
        parents = {elements[page.rows[neighbor][0]][0] for neighbor in (block - 1, block, block + 1)}
        if probabilities[block] >= MIN_RELATED_PROBABILITY and len(parents) == 1:
            kept.add(block)
    kept.update(_find_adjacent_lists(page, ordered, probabilities))
    if kind in ("service", "listing", "product"):
        kept.update(_find_link_runs(page, ordered, probabilities))
    return sorted(kept) if len(kept) > len(chosen) else chosen


def _keep_terms(page: PageBlocks, kept: set[int], parts: list[int]) -> None:
    """Keep terms with a kept definition. The reverse does not hold: much else follows the name of a poster."""
    max_term_blocks = 3  # longer ones are not terms
    terms: dict[int, int] = {}
    for element in parts:
        parent, tag, *_, first = page.elements[element]
        if tag == DT_TAG:
            terms[parent] = element
        elif tag == DD_TAG and parent in terms:
            term_blocks = range(page.elements[terms[parent]][5], page.last[terms[parent]])
            if len(term_blocks) <= max_term_blocks and not kept.isdisjoint(range(first, page.last[element])):
                kept.update(term_blocks)


def _find_adjacent_lists(page: PageBlocks, kept: list[int], probabilities: NDArray[np.float32]) -> list[int]:
    """Return lists between two kept blocks, or after a colon."""
    min_item_probability = 0.2  # right between kept blocks
    blocks = list[int]()
    for before, after in pairwise([*kept, len(page.texts)]):
        if after - before <= MIN_LIST_ITEMS:
            continue
        first = end = before + 1
        element = page.rows[first][0]
        # The largest list that begins at the first of the blocks between
        while element > 0 and page.elements[element][5] == first and page.last[element] <= after:
            if page.elements[element][1] in LIST_TAGS:
                end = page.last[element]
            element = page.elements[element][0]
        if end - first < MIN_LIST_ITEMS:
            continue
        if page.texts[before].endswith((":", "：")):
            required = MIN_RELATED_PROBABILITY
        else:
            required = min_item_probability if end == after else math.inf
        if np.min(probabilities[first:end]) >= required:
            blocks += range(first, end)
    return blocks


def _find_link_runs(page: PageBlocks, kept: list[int], probabilities: NDArray[np.float32]) -> list[int]:
    """Return runs of links between two kept blocks: buttons, calls to action, next steps."""
    min_probability = 0.05
    max_links = 5
    max_link_chars, min_linked_share = 60, 0.8

    def is_link(block: int) -> bool:
        chars = len(page.texts[block])
        is_short_link = chars < max_link_chars and page.rows[block][1] >= min_linked_share * chars
        return is_short_link and bool(probabilities[block] >= min_probability)

    gaps = [range(before + 1, after) for before, after in pairwise(kept) if 1 < after - before <= max_links + 1]
    return [block for gap in gaps if all(map(is_link, gap)) for block in gap]


def _complete_items(page: PageBlocks, kept: set[int], items: list[range], probabilities: NDArray[np.float32]) -> None:
    """Complete lists that are half kept, and items mostly kept."""
    kept_items = [item for item in items if not kept.isdisjoint(item)]
    for item in items if 2 * len(kept_items) >= len(items) else kept_items:
        chosen = [block for block in item if block in kept]
        if len(chosen) < len(item) and (not chosen or 2 * _count_chars(page, chosen) >= _count_chars(page, item)):
            kept.update(block for block in item if probabilities[block] >= MIN_RELATED_PROBABILITY)


def _count_chars(page: PageBlocks, blocks: Iterable[int]) -> int:
    return sum([len(page.texts[block]) for block in blocks])


def add_headings(page: PageBlocks, chosen: list[int], probabilities: NDArray[np.float32]) -> list[int]:
    """Add the headings right above chosen blocks, unless they are unlikely to be content."""
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


def is_heading(page: PageBlocks, block: int) -> bool:
    """Return whether a block is in a heading."""
    return find_heading(page, block) >= 0


def find_heading(page: PageBlocks, block: int) -> int:
    """Return the heading that a block is in, or -1."""
    max_ancestors = 3
    element = page.rows[block][0]
    for _ in range(max_ancestors):
        if element < 0:
            break
        if page.elements[element][1] in HEADING_TAGS:
            return element
        element = page.elements[element][0]
    return -1


def _find_tagged(page: PageBlocks, tags: frozenset[int]) -> list[int]:
    return [at for at, row in enumerate(page.elements) if row[1] in tags]


def _find_listings(page: PageBlocks, candidates: list[int]) -> list[range]:
    """Return the blocks of each listing that is not part of another."""
    listings = list[range]()
    for element in candidates:
        row = page.elements[element]
        if row[1] == PRE_TAG and row[5] < page.last[element] and (not listings or row[5] >= listings[-1].stop):
            listings.append(range(row[5], page.last[element]))
    return listings


def _find_data_tables(page: PageBlocks, candidates: list[int]) -> list[range]:
    """Return the blocks of each table with headings or columns, and without nested tables or long texts."""
    min_table_blocks, max_cell_chars = 2, 600
    tables = {at: range(page.elements[at][5], page.last[at]) for at in candidates if page.elements[at][1] == TABLE_TAG}
    outer_tables = set[int]()
    for table in tables:
        ancestor = page.elements[table][0]
        while ancestor >= 0 and ancestor not in tables:
            ancestor = page.elements[ancestor][0]
        outer_tables.add(ancestor)
    data_tables = []
    for table, blocks in tables.items():
        has_long_text = any(len(page.texts[block]) >= max_cell_chars for block in blocks)
        if table in outer_tables or len(blocks) < min_table_blocks or has_long_text:
            continue
        tags = {page.elements[at][1] for at in range(table + 1, page.rows[blocks[-1]][0] + 1)}
        next_cells = [
            sum([piece.__class__ is tuple and piece[0] == PIECE_NEXT_CELL for piece in page.pieces[block]])
            for block in (() if TH_TAG in tags else blocks)
        ]
        if TH_TAG in tags or 2 * sum([count > 1 for count in next_cells]) >= len(blocks):
            data_tables.append(blocks)
    return data_tables
