"""Recognize articles that the kind classifier takes for listings.

The long paragraphs of an article are in one element, those of teasers each in a card of their own. See
docs/reference/extraction.md for what this gains.
"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import PageBlocks


def is_single_article(page: PageBlocks, probabilities: NDArray[np.float32], words: NDArray[np.float32]) -> bool:
    """Return whether long paragraphs in one element hold much of the certain content."""
    min_share = 0.3  # of the certain words
    max_linked_share = 0.25  # of a paragraph's characters
    min_paragraph_words = 25
    is_certain = probabilities >= 0.6
    words_by_element = defaultdict[int, list[float]](list)
    for block in np.flatnonzero(is_certain & (words >= min_paragraph_words)).tolist():
        owner, linked_chars = page.rows[block][:2]
        if linked_chars < max_linked_share * len(page.texts[block]):
            words_by_element[owner].append(float(words[block]))
            words_by_element[page.elements[owner][0]].append(float(words[block]))
    largest = max((sum(counts) for counts in words_by_element.values() if len(counts) > 1), default=0.0)
    return largest >= min_share * float(words[is_certain].sum()) > 0
