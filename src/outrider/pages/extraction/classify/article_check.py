"""A page that is taken for a listing, and is one text: an old article among teasers, a portal's story.

The long paragraphs of an article stand in one element, those of teasers each in a card of its own. Of 76 pages that the
classifier of kinds calls listings, and of which networks that had not seen them judged the blocks, three have a third
of their sure words in such paragraphs; none of them is a listing, and cut as articles they gain .026 together. On 120
pages of news of other corpora this is worth .006 of F1 (on three pages). Collections cut in the same way gain .007 of
F1 and lose .027 of their headings and .02 of their items, so they are left as they are.
"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import PageBlocks


def is_single_article(page: PageBlocks, probabilities: NDArray[np.float32], words: NDArray[np.float32]) -> bool:
    """Whether long paragraphs, at least two, that stand in one element are a good part of what is surely content."""
    min_share = 0.3  # of the sure words, which paragraphs of one element hold
    min_chars_per_linked = 4  # less than one in so many of its characters stand in links
    min_paragraph_words = 25  # words of a paragraph
    min_probability = 0.6  # likelihood of blocks that speak for a page
    sure = probabilities >= min_probability
    inside = defaultdict[int, list[float]](list)
    for block in np.flatnonzero(sure & (words >= min_paragraph_words)).tolist():
        owner, linked = page.rows[block][:2]
        if linked * min_chars_per_linked < len(page.texts[block]):
            inside[owner].append(float(words[block]))
            inside[page.elements[owner][0]].append(float(words[block]))
    most = max((sum(found) for found in inside.values() if len(found) > 1), default=0.0)
    return most >= min_share * float(words[sure].sum()) > 0
