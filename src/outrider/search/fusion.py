"""Several rankings made one: reciprocal rank fusion over canonical addresses.

Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual rank learning
methods, SIGIR 2009; k = 60 is theirs.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from outrider.search.provider import ProviderRank, SearchHit
from outrider.search.urls import canonicalize_url, parse_host

RRF_K = 60


@dataclass(frozen=True)
class Ranking:
    """One provider's hits, best first, and how much they count."""

    provider: str
    hits: Sequence[SearchHit]
    weight: float = 1.0


@dataclass(frozen=True)
class _Vote:
    hit: SearchHit
    provider: str
    rank: int
    weight: float

    @property
    def score(self) -> float:
        return self.weight / (RRF_K + self.rank)

    @property
    def sort_key(self) -> tuple[float, int, str, str]:
        return (-self.score, self.rank, self.provider, self.hit.url)


def fuse_rankings(rankings: Iterable[Ranking], *, limit: int | None = None, per_domain: int = 0) -> list[SearchHit]:
    """The hits of all rankings, each page once, by the sum of weight / (60 + rank).

    Args:
        rankings: In any order; the result does not depend on it.
        limit: Most hits to return.
        per_domain: Most hits of one host (`www.` and `m.` are the same host); 0 for any number.

    Returns:
        Hits ranked from 1; `score` is the fused score, `sources` names every finder with its rank,
        and what one finder did not know (snippet, date, sizes) comes from another.
    """
    votes: dict[str, list[_Vote]] = {}
    for vote in sorted((vote for each in rankings for vote in _collect_votes(each)), key=lambda vote: vote.sort_key):
        votes.setdefault(_get_page_key(vote.hit), []).append(vote)
    fused = sorted((_merge_votes(group) for group in votes.values()), key=_best_first)
    kept = _limit_per_host(fused, per_domain) if per_domain > 0 else fused
    return [replace(hit, rank=rank) for rank, hit in enumerate(kept[:limit], start=1)]


def deduplicate_hits(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """One provider's hits, each page once, ranked anew from 1."""
    first = {_get_page_key(hit): hit for hit in reversed(list(hits))}
    kept = sorted(first.values(), key=lambda hit: hit.rank)
    return [replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1)]


def _collect_votes(ranking: Ranking) -> list[_Vote]:
    """A provider votes once for a page, with its best place."""
    best: dict[str, _Vote] = {}
    for rank, hit in enumerate(ranking.hits, start=1):
        best.setdefault(_get_page_key(hit), _Vote(hit, ranking.provider, rank, ranking.weight))
    return list(best.values())


def _get_page_key(hit: SearchHit) -> str:
    return canonicalize_url(hit.image_url or hit.url)


def _merge_votes(votes: list[_Vote]) -> SearchHit:
    """One hit from all votes for it, best vote first; that one gives the words."""
    first = votes[0].hit
    known = {
        name: next((value for vote in votes if (value := getattr(vote.hit, name)) not in (None, "")), default)
        for name, default in (("snippet", ""), ("published", None), ("thumbnail_url", None))
    }
    sized = next((vote.hit for vote in votes if vote.hit.width and vote.hit.height), first)
    return replace(
        first,
        **known,
        width=sized.width,
        height=sized.height,
        provider="+".join(dict.fromkeys(vote.provider for vote in votes)),
        score=math.fsum(vote.score for vote in votes),
        sources=tuple(ProviderRank(vote.provider, vote.rank) for vote in votes),
    )


def _best_first(hit: SearchHit) -> tuple[float, int, str]:
    return (-(hit.score or 0.0), min(source.rank for source in hit.sources), _get_page_key(hit))


def _limit_per_host(hits: Iterable[SearchHit], limit: int) -> list[SearchHit]:
    seen: Counter[str] = Counter()
    kept: list[SearchHit] = []
    for hit in hits:
        host = parse_host(canonicalize_url(hit.url))
        seen[host] += 1
        if seen[host] <= limit:
            kept.append(hit)
    return kept
