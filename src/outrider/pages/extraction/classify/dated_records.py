"""Keep lists of dated records: decisions below a search form, agendas, press releases.

On unfamiliar sites their short lines are less likely content than a notice above them, and the notice alone is kept.
Menus are unlikelier still, and have no dates. Figures: docs/reference/extraction.md.
"""

import re
from collections import defaultdict
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import PageBlocks
from outrider.pages.extraction.classify.complete_structures import MIN_RELATED_PROBABILITY

RECORD_KINDS = ("listing", "collection", "service")  # elsewhere, dated records are comments
DATE_PATTERN = re.compile(r"\b(?:19|20)\d\d\b|\d[/.-]\d{1,2}[/.-]\d\d")


def find_dated_records(
    page: PageBlocks, keep: NDArray[np.bool_], probabilities: NDArray[np.float32], words: NDArray[np.float32]
) -> list[int]:
    """Return the blocks of the longest list of possible records, if it is one of dates and most records are left out.

    Args:
        page: The blocks.
        keep: Per block, whether it is kept so far.
        probabilities: Per block.
        words: Per block.
    """
    min_records, min_words = 3, 20
    min_dated_share, max_kept_share = 0.8, 0.5  # of the records
    alike: dict[tuple[int, int], list[range]] = defaultdict(list)  # blocks of elements with the same parent and markup
    for element, (parent, _, _, _, signature, first) in enumerate(page.elements):
        if parent >= 0 and first < page.last[element]:
            alike[parent, signature].append(range(first, page.last[element]))
    words_before = np.cumsum([0.0, *words]).tolist()
    excess_before = np.cumsum([0.0, *(probabilities - MIN_RELATED_PROBABILITY) * (words + 0.5)]).tolist()
    longest, longest_words = list[range](), float(min_words)
    for records in alike.values():
        count = sum([words_before[record.stop] - words_before[record.start] for record in records])
        excess = sum([excess_before[record.stop] - excess_before[record.start] for record in records])
        if len(records) >= min_records and count > longest_words and excess >= 0:
            longest, longest_words = records, count
    dated = [record for record in longest if any(DATE_PATTERN.search(page.texts[block]) for block in record)]
    kept = [record for record in longest if keep[record.start : record.stop].any()]
    if len(dated) < min_dated_share * len(longest) or len(kept) >= max_kept_share * len(longest):
        return []
    return list(chain.from_iterable(longest))
