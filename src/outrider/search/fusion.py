"""Fuse rankings by reciprocal rank over canonical addresses.

Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods, SIGIR
2009; k = 60 is theirs.
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
    """One provider's hits, best first, and their weight."""

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
    """Return the hits of all rankings, each page once, ordered by the sum of weight / (60 + rank).

    Args:
        rankings: In any order; the result does not depend on it.
        limit: Most hits to return.
        per_domain: Most hits of one host (`www.` and `m.` are the same host); 0 for any number.

    Returns:
        Hits ranked from 1; `score` is the fused score, `sources` names every provider that found it with its rank,
        and what one provider did not know (snippet, date, sizes) comes from another.
    """
    votes: list[_Vote] = []
    for ranking in rankings:
        best: dict[str, _Vote] = {}  # one vote for each page, with its best rank
        for rank, hit in enumerate(ranking.hits, start=1):
            best.setdefault(_get_page_key(hit), _Vote(hit, ranking.provider, rank, ranking.weight))
        votes += best.values()
    votes_by_page: dict[str, list[_Vote]] = {}
    for vote in sorted(votes, key=lambda vote: vote.sort_key):
        votes_by_page.setdefault(_get_page_key(vote.hit), []).append(vote)
    fused = sorted(
        (_merge_votes(group) for group in votes_by_page.values()),
        key=lambda hit: (-(hit.score or 0.0), min(source.rank for source in hit.sources), _get_page_key(hit)),
    )
    kept = _limit_per_host(fused, per_domain) if per_domain > 0 else fused
    return [replace(hit, rank=rank) for rank, hit in enumerate(kept[:limit], start=1)]


def deduplicate_hits(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """Return one provider's hits, each page once, ranked anew from 1."""
    first = {_get_page_key(hit): hit for hit in reversed(list(hits))}
    kept = sorted(first.values(), key=lambda hit: hit.rank)
    return [replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1)]


def _get_page_key(hit: SearchHit) -> str:
    return canonicalize_url(hit.image_url or hit.url)


def _merge_votes(votes: list[_Vote]) -> SearchHit:
    """Merge the votes for a page into one hit; title and address come from the best vote, which is first."""
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


def _limit_per_host(hits: Iterable[SearchHit], limit: int) -> list[SearchHit]:
    seen: Counter[str] = Counter()
    kept: list[SearchHit] = []
    for hit in hits:
        host = parse_host(canonicalize_url(hit.url))
        seen[host] += 1
        if seen[host] <= limit:
            kept.append(hit)
    return kept
