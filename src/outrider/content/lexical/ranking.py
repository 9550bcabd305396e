"""Rank candidates by BM25, independent of the index that found them.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with Lucene's inverse document
frequency, which is never negative. A repeated word of the query counts each time, and typical words of questions count
little.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from outrider.content.lexical.index import Candidates
from outrider.core.text import QUESTION_WORD_WEIGHT, QUESTION_WORDS

BM25_K1 = 1.2
BM25_B = 0.5  # passages have similar lengths; a shorter one is the end of a text, or a title


def rank_candidates(query: Sequence[tuple[str, ...]], candidates: Candidates) -> list[tuple[str, float]]:
    """Return the ids and scores of matching chunks, best first.

    Args:
        query: For each word of the query, as often as it occurs, its alternative terms; the one that a chunk has
            most often counts.
        candidates: Candidates and totals of one or several stores.

    Returns:
        Scores from 0 to 1. 1 is the limit for endless repetition of every word of the query, so scores of different
        queries and stores are comparable, and thresholds are meaningful.
    """
    weights = weigh_terms(query, candidates.frequency, candidates.chunks)
    max_score = (BM25_K1 + 1) * sum(weights.values())
    if not max_score:
        return []
    average_length = candidates.words / candidates.chunks if candidates.words else 1.0
    ranking: list[tuple[str, float]] = []
    for posting in candidates.postings:
        norm = BM25_K1 * (1 - BM25_B + BM25_B * posting.length / average_length)
        score = 0.0
        for terms, weight in weights.items():
            count = max(posting.counts.get(term, 0) for term in terms)
            score += weight * count * (BM25_K1 + 1) / (count + norm)
        if score > 0:
            ranking.append((posting.chunk, score / max_score))
    return sorted(ranking, key=lambda scored: (-scored[1], scored[0]))


def weigh_terms(
    query: Sequence[tuple[str, ...]], frequency: Mapping[str, int], chunks: int
) -> dict[tuple[str, ...], float]:
    """Return the weight of each word of a query: its inverse document frequency times its repetitions.

    Typical words of questions count less: `what`, `of` and `how` say little, although in some stores they are too rare
    to get a low weight from their frequency.
    """
    weights: dict[tuple[str, ...], float] = {}
    for terms, repetitions in Counter(query).items():
        if terms:
            containing = max(frequency.get(term, 0) for term in terms)
            rarity = math.log(1 + (chunks - containing + 0.5) / (containing + 0.5))
            unstemmed = max(terms[:2], key=len)  # `willing` is not a question word, though its stem is
            weights[terms] = repetitions * rarity * (QUESTION_WORD_WEIGHT if unstemmed in QUESTION_WORDS else 1)
    return weights
