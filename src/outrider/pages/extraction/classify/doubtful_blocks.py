"""What is in doubt, and stands inside of the element that holds most of what is kept.

On pages of all kinds but documentation. Inside of an article's text the floor is lower: there it drops the last
section, a list of sources, a table, seldom a margin. On other pages headings, items, rows, listings and links inside of
that element need less than a paragraph does.

On 1,487 pages, each judged by networks that had not seen it, the first is worth .0008 of F1 (standard error .0005) and
keeps more of the structure in the content: .0134 of the rows, .0067 of the headings, .0065 of the items, .0060 of the
links, .0041 of the code; on 120 pages of news of other corpora it costs .0004. With a floor of .3 links gain .002 more,
and news lose .0015. The second costs .0005 of F1 and is worth .011 of the links, .008 of the code, .007 of the items
and .005 of the headings. These figures are of elements that hold seven tenths; eight keep .002 more of links and items
and cost .0001, nine cost news .005.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks
from outrider.pages.extraction.classify.complete_structures import MIN_RELATED_PROBABILITY, is_heading

STRUCTURE_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("li", "tr", "td", "th", "pre"))


def keep_doubtful_blocks(
    page: PageBlocks,
    keep: NDArray[np.bool_],
    probabilities: NDArray[np.float32],
    words: NDArray[np.float32],
    *,
    threshold: float,
    kind: str,
) -> None:
    """Adds to what is kept.

    Args:
        page: The blocks.
        keep: Which are kept so far.
        probabilities: Of each, how likely it is content.
        words: Of each.
        threshold: The likelihood from which a block is kept where there is no floor.
        kind: The kind of the page.
    """
    threshold_factor = 0.6  # of the cut's threshold: what a block needs that is structure
    structured_kinds = frozenset({"service", "forum", "product", "collection", "listing"})
    min_probabilities = {
        "article": 0.4
    }  # likelihood of a block inside of the content, where outside it must be likelier
    if kind in min_probabilities:
        found = _find_doubtful_blocks(page, keep, probabilities, words, max(min_probabilities[kind], threshold))
        keep[found] = True
    elif kind in structured_kinds:
        found = _find_doubtful_blocks(
            page, keep, probabilities, words, max(MIN_RELATED_PROBABILITY, threshold_factor * threshold), between=True
        )
        keep[[at for at in found.tolist() if _is_structure(page, at)]] = True


def _find_doubtful_blocks(
    page: PageBlocks,
    keep: NDArray[np.bool_],
    likely: NDArray[np.float32],
    words: NDArray[np.float32],
    least: float,
    *,
    between: bool = False,
) -> NDArray[np.intp]:
    """The blocks that are left out though they are so likely and stand in the element; between those kept if asked."""
    chosen = np.flatnonzero(keep)
    doubted = np.flatnonzero((likely >= least) & ~keep)
    if not len(chosen) or not len(doubted):
        return doubted[:0]
    first, last = _find_main_element(page, np.cumsum(words * likely * keep))
    if between:
        first, last = max(first, int(chosen[0])), min(last, int(chosen[-1]))
    return doubted[(doubted >= first) & (doubted < last)]


def _find_main_element(page: PageBlocks, sums: NDArray[np.float32]) -> tuple[int, int]:
    """The first block of the smallest element that holds most of what is summed up, and the block behind its last.

    It holds the block at half of the sum, since it holds more than half.
    """
    min_share = 0.8  # of the words that are kept, each by its likelihood: what the element holds
    middle, wanted = int(np.searchsorted(sums, sums[-1] / 2)), min_share * float(sums[-1])
    for at in _iter_ancestors(page, middle):
        first, last = page.elements[at][5], page.last[at]
        if float(sums[last - 1]) - (float(sums[first - 1]) if first else 0.0) >= wanted:
            return first, last
    return 0, len(sums)


def _iter_ancestors(page: PageBlocks, block: int) -> Iterator[int]:
    at = page.rows[block][0]
    while at > 0:
        yield at
        at = page.elements[at][0]


def _is_structure(page: PageBlocks, block: int) -> bool:
    """Whether a block is a heading, an item, a row, a listing, or mostly links."""
    row = page.rows[block]
    return page.elements[row[0]][1] in STRUCTURE_TAGS or 2 * row[1] > len(page.texts[block]) or is_heading(page, block)
