"""Run a network over block features.

Its first layer is split by kind of feature.

The first layer is linear, so page features pass through it once, and flags once for each distinct line of names.
Features are standardized and then clipped to -4 and 4. Here each column is clipped to its own bounds instead, and
the standardisation is part of the weights.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.classify.features import (
    BLOCK_COLUMNS,
    FLAG_COLUMNS,
    OWN_COLUMN_INDEX,
    PAGE_COLUMNS,
    SHARED_COLUMN_INDEX,
    BlockFeatures,
)
from outrider.pages.extraction.classify.lexicon import LEXICON_COLUMNS

Floats = NDArray[np.float32]
ColumnBounds = tuple[Floats, Floats]
INPUT_COLUMNS = BLOCK_COLUMNS + PAGE_COLUMNS + FLAG_COLUMNS + LEXICON_COLUMNS


@dataclass(frozen=True, slots=True)
class BlockNetwork:
    """Weights and biases, with the first layer in parts.

    Attributes:
        own, shared, page, lexicon: Bounds of these columns.
        block_weights: For the blocks' own columns, the lexicon's, and name vectors if the network takes them.
        shared_weights: For columns that the blocks of a container share.
        page_weights: For columns that all blocks of a page share.
        flag_weights: For flags.
        bias: Of the first layer.
        later_layers: Weights and biases of the other layers in turn.
    """

    own: ColumnBounds
    shared: ColumnBounds
    page: ColumnBounds
    lexicon: ColumnBounds
    block_weights: Floats
    shared_weights: Floats
    page_weights: Floats
    flag_weights: Floats
    bias: Floats
    later_layers: list[Floats]

    def score_blocks(self, features: BlockFeatures, lexicon: Floats, name_vectors: Floats | None = None) -> Floats:
        """Return the log odds that each block is content.

        Args:
            features: The features of the blocks.
            lexicon: The lexicon's columns, one row each.
            name_vectors: The columns of name vectors, if the network takes them.
        """
        columns = np.empty((len(self.block_weights), lexicon.shape[1]), np.float32)
        own = len(OWN_COLUMN_INDEX)
        _clip_values(features.own, self.own, columns[:own])
        _clip_values(lexicon, self.lexicon, columns[own : own + LEXICON_COLUMNS])
        if name_vectors is not None:
            columns[own + LEXICON_COLUMNS :] = name_vectors
        shared = np.empty_like(features.shared)
        _clip_values(features.shared, self.shared, out=shared)
        lines = features.lines @ self.flag_weights.take(features.flags, 0)
        page = np.empty_like(features.page)
        _clip_values(features.page, self.page, page)
        lines += self.bias + page @ self.page_weights
        rows = columns.T @ self.block_weights
        rows += lines.take(features.line, 0)
        rows += (shared @ self.shared_weights).take(features.container, 0)
        for weights, bias in zip(self.later_layers[::2], self.later_layers[1::2], strict=True):
            rows = np.maximum(rows, 0, out=rows) @ weights
            rows += bias
        return rows[:, 0]


def append_lexicon_columns(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Append the numbers of all lexicon columns to those of the features."""
    return np.concatenate([columns, np.arange(INPUT_COLUMNS - LEXICON_COLUMNS, INPUT_COLUMNS)])


def build_network(layers: list[NDArray], columns: NDArray[np.int64], mean: Floats, scale: Floats) -> BlockNetwork:
    """Build a network from its weights and biases in turn.

    Args:
        layers: Weights and biases of all layers.
        columns: Numbers of the first layer's inputs, without name vectors.
        mean: Of these inputs.
        scale: One over their spread.
    """
    max_deviations = 4.0  # standard deviations from the mean
    first = layers[0].astype(np.float64)
    weights, middle, factor = np.zeros((INPUT_COLUMNS, first.shape[1])), np.zeros(INPUT_COLUMNS), np.ones(INPUT_COLUMNS)
    weights[columns], middle[columns], factor[columns] = first[: len(columns)], mean, scale
    low, high = (middle - max_deviations / factor)[:, None], (middle + max_deviations / factor)[:, None]
    slopes, flags = weights * factor[:, None], slice(BLOCK_COLUMNS + PAGE_COLUMNS, INPUT_COLUMNS - LEXICON_COLUMNS)
    unset, set_ = (
        np.clip((value - middle[flags]) * factor[flags], -max_deviations, max_deviations) for value in (0, 1)
    )
    plain = np.r_[: BLOCK_COLUMNS + PAGE_COLUMNS, INPUT_COLUMNS - LEXICON_COLUMNS : INPUT_COLUMNS]
    bias = layers[1] - middle[plain] @ slopes[plain] + unset @ weights[flags]
    parts = (
        OWN_COLUMN_INDEX,
        SHARED_COLUMN_INDEX,
        slice(BLOCK_COLUMNS, BLOCK_COLUMNS + PAGE_COLUMNS),
        slice(INPUT_COLUMNS - LEXICON_COLUMNS, INPUT_COLUMNS),
    )
    own, shared, page, lexicon = ((_to_float32(low[part]), _to_float32(high[part])) for part in parts)
    return BlockNetwork(
        own=own,
        shared=(shared[0][:, 0], shared[1][:, 0]),
        page=(page[0][:, 0], page[1][:, 0]),
        lexicon=lexicon,
        block_weights=_to_float32(np.concatenate([slopes[OWN_COLUMN_INDEX], slopes[parts[3]], first[len(columns) :]])),
        shared_weights=_to_float32(slopes[SHARED_COLUMN_INDEX]),
        page_weights=_to_float32(slopes[parts[2]]),
        flag_weights=_to_float32((set_ - unset)[:, None] * weights[flags]),
        bias=_to_float32(bias),
        later_layers=[_to_float32(layer) for layer in layers[2:]],
    )


def _clip_values(values: Floats, bounds: ColumnBounds, out: Floats) -> None:
    """Clip values to bounds, in two passes that are faster than `np.clip`."""
    np.maximum(values, bounds[0], out=out)
    np.minimum(out, bounds[1], out=out)


def _to_float32(values: NDArray) -> Floats:
    return values.astype(np.float32)
