"""Drop repeated passages, such as mobile versions and quoted posts.

Only runs of blocks that repeat an earlier run in the same order are duplicates, only if they hold some prose (repeated
lines of price lists, plans and tables mean something each time), and only with different markup (two equal posts are
two posts). Pages of documentation repeat themselves on purpose and keep everything. Figures:
docs/reference/extraction.md.
"""

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks

VERBATIM_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("pre", "td", "th", "tr"))  # code and data tables stay unchanged


def drop_duplicates(page: PageBlocks, chosen: list[int], words: NDArray[np.float32]) -> list[int]:
    """Return the chosen blocks without long runs that repeat the text of earlier ones with different markup.

    Args:
        page: The blocks.
        chosen: Numbers of the chosen blocks, in order.
        words: Per block of the page, its words.
    """
    min_mean_words = 8  # per block of a run
    min_run_words = 30
    tags = [page.elements[page.rows[block][0]][1] for block in chosen]
    texts = ["" if tag in VERBATIM_TAGS else page.texts[block] for block, tag in zip(chosen, tags, strict=True)]
    if len({*texts}) == len(texts):
        return chosen
    first: dict[str, int] = {}
    duplicates: set[int] = set()
    at = 0
    while at < len(chosen):
        earlier = first.setdefault(texts[at], at) if texts[at] else at
        length, limit = 0, min(at - earlier, len(texts) - at)  # of blocks that both runs share without overlap
        while length < limit and texts[at + length] and texts[earlier + length] == texts[at + length]:
            length += 1
        run = chosen[at : at + length]
        if run and _get_signature(page, chosen[earlier]) != _get_signature(page, chosen[at]):
            run_words = float(words[run].sum())
            if run_words >= min_run_words and run_words >= min_mean_words * len(run):
                duplicates.update(run)
        at += length or 1
    return [block for block in chosen if block not in duplicates] if duplicates else chosen


def _get_signature(page: PageBlocks, block: int) -> int:
    """Return the number of a block's tags and classes from the root down."""
    return page.elements[page.rows[block][0]][4]
