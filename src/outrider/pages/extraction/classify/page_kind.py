"""Classify a page by the mean of its blocks' features."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import PageBlocks
from outrider.pages.extraction.classify.features import (
    BLOCK_COLUMNS,
    FLAG_COLUMNS,
    OWN_COLUMN_INDEX,
    SHARED_COLUMN_INDEX,
    BlockFeatures,
)

Floats = NDArray[np.float32]
# The order is the model's.
PAGE_KINDS = ("article", "documentation", "service", "forum", "product", "collection", "listing")


@dataclass(frozen=True, slots=True)
class KindClassifier:
    """A linear classifier of pages.

    Attributes:
        mean, scale: Of the features (see `average_features`).
        weights: One column for each kind.
        bias: One for each kind.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats

    def predict_kind(self, features: Floats) -> str:
        """Return the likeliest kind of a page with these features (see `average_features`)."""
        return PAGE_KINDS[((features - self.mean) * self.scale @ self.weights + self.bias).argmax()]


def average_features(features: BlockFeatures, lexicon: Floats, words: Floats) -> Floats:
    """Average the features of a page's blocks, weighted by their words.

    The lexicon's columns come last.
    """
    mass = words + np.float32(0.5)
    mass /= mass.sum()
    lines = np.bincount(features.line, mass).astype(np.float32)
    flags = np.zeros(FLAG_COLUMNS, np.float32)
    flags[features.flags] = lines @ features.lines
    own = np.empty(BLOCK_COLUMNS, np.float32)
    own[OWN_COLUMN_INDEX] = features.own @ mass
    own[SHARED_COLUMN_INDEX] = np.bincount(features.container, mass).astype(np.float32) @ features.shared
    return np.concatenate([own, features.page, flags, lexicon @ mass])


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
