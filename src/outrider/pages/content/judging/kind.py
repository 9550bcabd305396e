"""What a page is to its readers: told from the mean of its blocks' features."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.judging.features import ALONE, AROUND, FLAGS, OWN, Features

Floats = NDArray[np.float32]
# The order is the model's.
KINDS = ("article", "documentation", "service", "forum", "product", "collection", "listing")


@dataclass(frozen=True, slots=True)
class Kinds:
    """A linear classifier.

    Attributes:
        mean, scale: Of the features, which are those that the model of blocks sees (see `mean_of`).
        weights: One column for each kind.
        bias: One for each kind.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    bias: Floats

    def of(self, features: Floats) -> str:
        """The likeliest kind of a page with these features (see `mean_of`)."""
        return KINDS[((features - self.mean) * self.scale @ self.weights + self.bias).argmax()]


def mean_of(features: Features, lexicon: Floats, words: Floats) -> Floats:
    """The features of a page, the lexicon's columns behind them: the mean of its blocks, each counted by its words."""
    mass = words + np.float32(0.5)
    mass /= mass.sum()
    lines = np.bincount(features.line, mass).astype(np.float32)
    flags = np.zeros(FLAGS, np.float32)
    flags[features.flags] = lines @ features.lines
    own = np.empty(OWN, np.float32)
    own[ALONE] = features.own @ mass
    own[AROUND] = np.bincount(features.within, mass).astype(np.float32) @ features.around
    return np.concatenate([own, features.general, flags, lexicon @ mass])
