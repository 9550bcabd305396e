"""Makes one ranking of several: their scores, added by weight.

The scores already lie between 0 and a highest one that no text can exceed (every word of the query as often as one
likes; the very same direction). Only a ranking's lowest score says nothing, since all texts are somewhat alike: it is
moved towards 0. That is the convex combination with theoretical bounds of Bruch et al., "An Analysis of Fusion
Functions for Hybrid Retrieval" (2023, arxiv.org/abs/2210.11934). `evals/retrieval` compares the ways: on four sets with
MiniLM it had nDCG@10 .832 .811 .787 .957, where reciprocal ranks (k=20) had .828 .805 .770 .861, spreading each ranking
over 0 to 1 .828 .807 .787 .878, keywords alone .800 .739 .723 .733 and vectors alone .772 .776 .733 .947. Ranks, and
spreading, make a best hit out of the best of bad ones.
"""

from collections.abc import Sequence

Ranking = Sequence[tuple[str, float]]
CALIBRATION_DEPTH = 100  # so many results say what texts have in common with the query anyway; fewer say less


def fuse_rankings(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> list[tuple[str, float]]:
    """One ranking of all.

    Args:
        rankings: Each best first: (chunk id, score from 0 to 1).
        weights: How much each counts; all the same by default. Their sum means nothing.

    Returns:
        Every chunk of any ranking, best first, with scores from 0 to 1; one that a ranking lacks has 0 there. Equal
        scores keep the order of the earlier rankings.
    """
    shares = list(weights or [1.0] * len(rankings))
    whole = sum(shares) or 1.0
    total: dict[str, float] = {}
    for share, ranking in zip(shares, rankings, strict=True):
        for chunk, score in _subtract_floor(ranking):
            total[chunk] = total.get(chunk, 0.0) + share / whole * score
    return sorted(total.items(), key=lambda each: -each[1])


def _subtract_floor(ranking: Ranking) -> list[tuple[str, float]]:
    """The same with its lowest score at 0, if it is deep enough to tell; the highest possible stays 1."""
    lowest = min((score for _, score in ranking), default=0.0) * min(1.0, len(ranking) / CALIBRATION_DEPTH)
    if lowest >= 1:
        return list(ranking)
    return [(chunk, (score - lowest) / (1 - lowest)) for chunk, score in ranking]
