"""A network over the features of blocks, its first layer taken apart.

That layer is linear in what it is given, so what is the same for all blocks of a page goes through it once, and the
flags once for each line of names. Features are standardised and then held between -4 and 4; here each column is held
between bounds of its own instead, and how it is standardised is part of the weights.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.judging.features import ALONE, AROUND, FLAGS, GENERAL, OWN, Features
from outrider.pages.content.judging.lexicon import COLUMNS

Floats = NDArray[np.float32]
Bounds = tuple[Floats, Floats]
ALL = OWN + GENERAL + FLAGS + COLUMNS  # columns, the lexicon's behind the features
MOST = 4.0  # deviations from the mean that count


@dataclass(frozen=True, slots=True)
class Network:
    """Weights and biases; the first layer's in parts.

    Attributes:
        own, around, general, lexicon: Bounds of these columns.
        of_blocks: Weights of the blocks' own columns, of the lexicon's, and of meanings if the network takes any.
        of_around: Of those that blocks share.
        of_pages: Of what is the same for all blocks.
        of_flags: Of flags.
        bias: Of the first layer.
        later: Weights and biases of the other layers in turn.
    """

    own: Bounds
    around: Bounds
    general: Bounds
    lexicon: Bounds
    of_blocks: Floats
    of_around: Floats
    of_pages: Floats
    of_flags: Floats
    bias: Floats
    later: list[Floats]

    def scores(self, features: Features, lexicon: Floats, meant: Floats | None = None) -> Floats:
        """How likely each block is content, as the logarithm of the odds.

        Args:
            features: What is known of the blocks.
            lexicon: The lexicon's columns, a row for each.
            meant: Those of meanings, if the network takes any.
        """
        columns = np.empty((len(self.of_blocks), lexicon.shape[1]), np.float32)
        own = len(ALONE)
        _held(features.own, self.own, columns[:own])
        _held(lexicon, self.lexicon, columns[own : own + COLUMNS])
        if meant is not None:
            columns[own + COLUMNS :] = meant
        around = np.empty_like(features.around)
        _held(features.around, self.around, around)
        lines = features.lines @ self.of_flags.take(features.flags, 0)
        general = np.empty_like(features.general)
        _held(features.general, self.general, general)
        lines += self.bias + general @ self.of_pages
        rows = columns.T @ self.of_blocks
        rows += lines.take(features.line, 0)
        rows += (around @ self.of_around).take(features.within, 0)
        for weights, bias in zip(self.later[::2], self.later[1::2], strict=True):
            rows = np.maximum(rows, 0, out=rows) @ weights
            rows += bias
        return rows[:, 0]


def used(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the features, and of all columns of the lexicon, behind them."""
    return np.concatenate([columns, np.arange(ALL - COLUMNS, ALL)])


def network(layers: list[NDArray], taken: NDArray[np.int64], mean: Floats, scale: Floats) -> Network:
    """A network from its weights and biases in turn.

    Args:
        layers: Of all layers.
        taken: Which of all columns the first layer takes, before any of meanings.
        mean: Of these.
        scale: The inverse of their spread.
    """
    first = layers[0].astype(np.float64)
    weights, middle, factor = np.zeros((ALL, first.shape[1])), np.zeros(ALL), np.ones(ALL)
    weights[taken], middle[taken], factor[taken] = first[: len(taken)], mean, scale
    low, high = (middle - MOST / factor)[:, None], (middle + MOST / factor)[:, None]
    slopes, flags = weights * factor[:, None], slice(OWN + GENERAL, ALL - COLUMNS)
    unset, set_ = (np.clip((value - middle[flags]) * factor[flags], -MOST, MOST) for value in (0, 1))
    plain = np.r_[: OWN + GENERAL, ALL - COLUMNS : ALL]
    bias = layers[1] - middle[plain] @ slopes[plain] + unset @ weights[flags]
    parts = (ALONE, AROUND, slice(OWN, OWN + GENERAL), slice(ALL - COLUMNS, ALL))
    own, around, general, lexicon = ((_floats(low[part]), _floats(high[part])) for part in parts)
    return Network(
        own, (around[0][:, 0], around[1][:, 0]), (general[0][:, 0], general[1][:, 0]), lexicon,
        _floats(np.concatenate([slopes[ALONE], slopes[parts[3]], first[len(taken) :]])), _floats(slopes[AROUND]),
        _floats(slopes[parts[2]]), _floats((set_ - unset)[:, None] * weights[flags]), _floats(bias),
        [_floats(layer) for layer in layers[2:]],
    )  # fmt: skip


def _held(values: Floats, bounds: Bounds, out: Floats) -> None:
    """Puts values between bounds; two passes of processors' own instructions take less than `np.clip`."""
    np.maximum(values, bounds[0], out=out)
    np.minimum(out, bounds[1], out=out)


def _floats(values: NDArray) -> Floats:
    return values.astype(np.float32)
