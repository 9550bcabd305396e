"""What a cut tears apart, put together again: tables of data, listings, and headings between what was kept.

Measured on every fourth page of the large corpus: a title, or a caption, that is kept against the cut costs F1 (.0012
and .0008), since references leave out most of them. So neither is done here; but a heading that was only just left out,
right above what was kept, costs .0004 on grouped folds, and most of those are part of the content.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.blocks import NUMBER, Blocks

TABLE, HEADED, PRE = NUMBER["table"], NUMBER["th"], NUMBER["pre"]
HEADINGS = frozenset(NUMBER[f"h{level}"] for level in range(1, 7))
FEWEST = 3  # blocks of a table that is looked at as a whole
LONGEST = 600  # characters of a block in a table of data
ABOVE = 3  # elements that a block of a heading stands in
CONCEIVABLE = 0.1  # likelihood of a heading that is kept with what it stands above


def mended(page: Blocks, chosen: list[int]) -> list[int]:
    """The chosen blocks and those that belong to them.

    Of a table of data with headings, and of a listing, all, if half of it was chosen. Where nothing but such
    tables and their headings, or one heading, was left out between two chosen blocks, they are chosen too.
    """
    tables = _tables_of_data(page)
    kept = set(chosen)
    for blocks in (*tables, *_listings(page)):
        missing = [block for block in blocks if block not in kept]
        if len(missing) * 2 <= len(blocks):
            kept.update(missing)
    tabular = {block for blocks in tables for block in blocks}
    ordered = sorted(kept)
    for before, after in pairwise(ordered):
        gap = range(before + 1, after)
        if gap and _belongs(page, gap, tabular):
            kept.update(gap)
    return sorted(kept) if len(kept) > len(chosen) else chosen


def headed(page: Blocks, chosen: list[int], likely: NDArray[np.float32]) -> list[int]:
    """The chosen blocks and the headings right above them, unless those are quite unlikely to be content."""
    kept = set(chosen)
    for block in reversed(chosen):
        above = block - 1
        while above >= 0 and above not in kept and likely[above] >= CONCEIVABLE and _is_heading(page, above):
            kept.add(above)
            above -= 1
    return sorted(kept) if len(kept) > len(chosen) else chosen


def _belongs(page: Blocks, gap: range, tabular: set[int]) -> bool:
    """Whether what was left out is tables with their headings, or one heading of the block behind it."""
    if len(gap) == 1 and gap[0] not in tabular:
        return _is_heading(page, gap[0]) and not _is_heading(page, gap.stop)
    return not tabular.isdisjoint(gap) and all(block in tabular or _is_heading(page, block) for block in gap)


def _is_heading(page: Blocks, block: int) -> bool:
    at = page.rows[block][0]
    for _ in range(ABOVE):
        if at < 0:
            break
        if page.elements[at][1] in HEADINGS:
            return True
        at = page.elements[at][0]
    return False


def _listings(page: Blocks) -> list[range]:
    """The blocks of each listing whose lines are elements."""
    ranges = [range(row[5], page.last[at]) for at, row in enumerate(page.elements) if row[1] == PRE]
    return [blocks for blocks in ranges if len(blocks) > 1]


def _tables_of_data(page: Blocks) -> list[range]:
    """The blocks of each table that has headings, holds no other table, and no long texts."""
    tables = [(at, range(row[5], page.last[at])) for at, row in enumerate(page.elements) if row[1] == TABLE]
    return [blocks for table, blocks in tables if len(blocks) >= FEWEST and _is_data(page, table, blocks)]


def _is_data(page: Blocks, table: int, blocks: range) -> bool:
    if any(len(page.texts[block]) >= LONGEST for block in blocks):
        return False
    tags = {page.elements[at][1] for at in range(table + 1, page.rows[blocks[-1]][0] + 1)}
    return HEADED in tags and TABLE not in tags
