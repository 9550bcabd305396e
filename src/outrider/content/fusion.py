"""Fuse several rankings into one by a weighted sum of their scores.

Scores lie between 0 and a maximum that no text can exceed, so they can be added as they are. Only the lowest score of
a ranking says nothing, since all texts are somewhat similar: it is shifted towards 0. This is the convex combination
with theoretical bounds of Bruch et al., "An Analysis of Fusion Functions for Hybrid Retrieval" (2023,
arxiv.org/abs/2210.11934). It ranked better than reciprocal ranks and than min-max scaling in `evals/retrieval`: those
make a top hit out of the best of bad matches.
"""

from collections.abc import Sequence

Ranking = Sequence[tuple[str, float]]
CALIBRATION_DEPTH = 100  # results from which on the lowest score counts as what all texts have in common


def fuse_rankings(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> list[tuple[str, float]]:
    """Fuse rankings into one.

    Args:
        rankings: Each best first: (chunk id, score from 0 to 1).
        weights: Relative weight of each ranking; equal by default.

    Returns:
        Every chunk of any ranking, best first, with scores from 0 to 1; a chunk that a ranking lacks has 0 there. Ties
        keep the order of the earlier rankings.
    """
    shares = list(weights or [1.0] * len(rankings))
    total_weight = sum(shares) or 1.0
    scores: dict[str, float] = {}
    for share, ranking in zip(shares, rankings, strict=True):
        # The fewer results, the less sure it is that the lowest score is mere background.
        depth = min(1.0, len(ranking) / CALIBRATION_DEPTH)
        floor = min((score for _, score in ranking), default=0.0) * depth
        for chunk, score in ranking:
            scaled = (score - floor) / (1 - floor) if floor < 1 else score
            scores[chunk] = scores.get(chunk, 0.0) + share / total_weight * scaled
    return sorted(scores.items(), key=lambda scored: -scored[1])
