"""Average the scores of blocks with the same markup.

List items, cells of a column and posts of a thread should be kept or dropped together. A model that sees one block at
a time decides by chance of their length, so half of each block's score is the mean of its group. Figures:
docs/reference/extraction.md.
"""

import numpy as np
from numpy.typing import NDArray


def smooth_scores(
    scores: NDArray[np.float32], signatures: NDArray[np.int64], words: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Draw the scores of blocks towards the mean of those that look the same.

    Long blocks count by the square root of their words.

    Args:
        scores: Per block, a logit.
        signatures: Per block, a number that only blocks with the same markup share.
        words: Per block.
    """
    min_group_blocks = 3
    group_weight = 0.5  # share of a score that the group decides
    weight = np.sqrt(words + np.float32(0.5))
    mean = np.bincount(signatures, weight * scores) / np.maximum(np.bincount(signatures, weight), 1e-9)
    share = np.multiply(np.bincount(signatures) >= min_group_blocks, group_weight)
    smoothed = mean.take(signatures)
    smoothed -= scores
    smoothed *= share.take(signatures)
    smoothed += scores
    return smoothed.astype(np.float32)
