"""Passages that a page says twice: once for wide and once for narrow screens, a quoted post, a panel and its print.

Only runs of blocks that repeat an earlier run in the same order are copies, only if they hold some prose (what recurs
line by line, in price lists, plans of training or rows of tables, says something each time), and only if they are made
otherwise (two posts that say the same are two posts). On grouped folds of the large corpus, this is worth .0033 of F1
on all pages; pages of documentation lose by it, so they keep theirs.
"""

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks

VERBATIM_TAGS = frozenset(
    TAG_NUMBERS[tag] for tag in ("pre", "td", "th", "tr")
)  # code and tables of data stay as they are


def drop_duplicates(page: PageBlocks, chosen: list[int], words: NDArray[np.float32]) -> list[int]:
    """The chosen blocks but those that repeat earlier ones.

    Args:
        page: The blocks.
        chosen: Numbers of the chosen blocks, in order.
        words: Of each block of the page.
    """
    min_mean_words = 8  # words of its blocks, in the mean
    min_run_words = 30  # words of a run
    copies: set[int] = set()
    for run in _find_repeated_runs(page, chosen):
        size = float(words[run].sum())
        if size >= min_run_words and size >= min_mean_words * len(run):
            copies.update(run)
    return [block for block in chosen if block not in copies] if copies else chosen


def _find_repeated_runs(page: PageBlocks, chosen: list[int]) -> list[list[int]]:
    """The longest runs of chosen blocks that say what an earlier run says, and do not look like it."""
    texts = [_get_comparable_text(page, block) for block in chosen]
    if len({*texts}) == len(texts):
        return []
    first: dict[str, int] = {}
    found, at = [], 0
    while at < len(chosen):
        earlier = first.setdefault(texts[at], at) if texts[at] else at
        length = _count_shared_blocks(texts, earlier, at) if earlier < at else 0
        if length and _get_signature(page, chosen[earlier]) != _get_signature(page, chosen[at]):
            found.append(chosen[at : at + length])
        at += length or 1
    return found


def _count_shared_blocks(texts: list[str], earlier: int, at: int) -> int:
    """How many blocks two runs share; they do not overlap."""
    most = min(at - earlier, len(texts) - at)
    return next(
        (step for step in range(most) if not texts[at + step] or texts[earlier + step] != texts[at + step]), most
    )


def _get_signature(page: PageBlocks, block: int) -> int:
    """The tags and classes from the root down to a block, as a number."""
    return page.elements[page.rows[block][0]][4]


def _get_comparable_text(page: PageBlocks, block: int) -> str:
    """The words of a block; none of one that must stay as it is."""
    return "" if page.elements[page.rows[block][0]][1] in VERBATIM_TAGS else page.texts[block]
