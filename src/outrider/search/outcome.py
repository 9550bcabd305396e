"""State and outcome of one search."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace

import anyio

from outrider.core.errors import NotConfigured, OutriderError, Unavailable
from outrider.search.provider import ProviderRank, Query, SearchHit
from outrider.search.provider_request import ProviderAnswer
from outrider.search.selection import Candidate, SearchPlan, load_providers, load_providers_and_sources
from outrider.search.urls import canonicalize_url, parse_host

HARMLESS_OUTCOMES = frozenset({"ok", "unsupported"})  # not failures of the provider
RRF_K = 60


@dataclass(frozen=True)
class SearchAttempt:
    """One provider's part in a search.

    `outcome` is `ok` or a failure code; `circuit_open` means that the provider was not asked.
    """

    provider: str
    outcome: str
    message: str = ""
    seconds: float = 0.0
    hits: int = 0


@dataclass(frozen=True)
class SearchOutcome:
    """The answer to a search.

    Attributes:
        hits: Best first, each page once.
        provider: The providers that answered, for people and programs: one name, or several as `a+b`.
        source: The origin of the results: the provider, or the engine whose page it read.
        profile: The profile in force, "" for the default chain.
        attempts: Every provider that was asked or skipped, in that order.
        notes: Parts of the query that were not honoured, and other remarks.
        warnings: Problems for the operator to fix.
    """

    hits: tuple[SearchHit, ...]
    provider: str
    profile: str = ""
    attempts: tuple[SearchAttempt, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    source: str = ""


@dataclass
class SearchState:
    """The state of a running search.

    Attributes:
        query: The query.
        plan: The providers to ask, in order.
        parallelism: Providers asked at once.
        attempts: The outcome of each provider so far.
        answers: Candidates that answered, in the order of their answers.
        pending: Candidates of the current batch that have not answered yet.
        last_resorts: Candidates to ask after all others have failed.
        cancel_scope: Ends the current batch.
    """

    query: Query
    plan: SearchPlan
    parallelism: int
    attempts: list[SearchAttempt] = field(default_factory=list)
    answers: list[tuple[Candidate, ProviderAnswer]] = field(default_factory=list)
    pending: list[Candidate] = field(default_factory=list)
    last_resorts: list[Candidate] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    retry_delays_s: list[float] = field(default_factory=list)
    cancel_scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def is_answered(self) -> bool:
        """Whether a provider has answered conclusively.

        The local index cannot replace the web: its "nothing" counts only if no web provider failed.
        """
        if any(answer.hits or not candidate.provider.is_local for candidate, answer in self.answers):
            return True
        return bool(self.answers) and not self.has_failures

    @property
    def has_failures(self) -> bool:
        """Whether any provider failed or was skipped because it had failed before."""
        return any(attempt.outcome not in HARMLESS_OUTCOMES for attempt in self.attempts)

    @property
    def useful_answers(self) -> list[tuple[Candidate, ProviderAnswer]]:
        """Answers with hits, in the plan's order."""
        position = {candidate.access.id: index for index, candidate in enumerate(self.plan.candidates)}
        useful = [(candidate, answer) for candidate, answer in self.answers if answer.hits]
        return sorted(useful, key=lambda pair: position[pair[0].access.id])

    def skip(self, candidate: Candidate, outcome: str, message: str) -> None:
        """Record that a candidate was not asked."""
        self.attempts.append(SearchAttempt(candidate.provider.name, outcome, message))
        self.add_hint(candidate, "")

    def add_hint(self, candidate: Candidate, hint: str) -> None:
        """Record the remedy for a failure; for a provider used without a key, a key may be one."""
        is_key_helpful = candidate.access.keyless and self.query.mode in candidate.provider.modes
        self.hints.append(hint or (candidate.provider.remedy if is_key_helpful else ""))

    def build_outcome(self, per_domain: int) -> SearchOutcome:
        """Return the answer, with limited hits per host.

        If several rankings are fused, a host has at most `per_domain` hits.
        """
        useful = self.useful_answers
        answered = useful or self.answers
        if len(useful) > 1:
            rankings = [Ranking(each.provider.name, answer.hits, each.provider.weight) for each, answer in useful]
            is_single_host = len(self.query.sites) == 1 or self.query.mode == "image"
            hits = fuse_rankings(rankings, limit=self.query.count, per_domain=0 if is_single_host else per_domain)
        else:
            hits = deduplicate_hits(useful[0][1].hits if useful else ())
        notes = [note for _, answer in answered for note in answer.notes]
        if not useful:
            notes.append(f"no results, says {' and '.join(each.provider.title for each, _ in self.answers)}")
        elif self.has_failures and all(each.provider.is_local for each, _ in answered):
            notes.append("the web could not be searched: these are pages that were read here before")
        sunsets = [
            f"{each.provider.title} ends on {each.provider.sunset_date}: {each.provider.remedy}"
            for each, _ in answered
            if each.provider.sunset_date and not each.access.trusted
        ]
        return SearchOutcome(
            hits=tuple(hits),
            provider="+".join(each.provider.name for each, _ in answered),
            source="+".join(answer.engine or each.provider.name for each, answer in answered),
            profile=self.plan.profile,
            attempts=tuple(self.attempts),
            notes=tuple(dict.fromkeys(notes)),
            warnings=(*self.plan.warnings, *sunsets),
        )

    def build_error(self) -> OutriderError:
        """Return the error with all providers asked, their failures, and the shortest remedy."""
        details = {"attempts": [asdict(attempt) for attempt in self.attempts]}
        last_attempts = {attempt.provider: attempt for attempt in self.attempts}
        if all(attempt.outcome == "unsupported" for attempt in last_attempts.values()):
            return NotConfigured(
                f"none of the configured search providers has {self.query.mode} search",
                hint=f"set a key for one of {', '.join(self._list_able_providers())}",
                code="unsupported",
                details=details,
            )
        max_reason_chars = 180  # per provider, in a text about all of them
        reasons = "; ".join(
            f"{each.provider}: no page read here matches"
            if each.outcome == "ok"
            else f"{each.provider}: {each.message[:max_reason_chars]} [{each.outcome}]"
            for each in last_attempts.values()
        )
        return Unavailable(
            f"no search provider answered ({reasons})",
            code="search_failed",
            hint=self._choose_hint(list(last_attempts.values())),
            details=details,
            retry_after=min(self.retry_delays_s, default=None),
        )

    def _choose_hint(self, last_attempts: list[SearchAttempt]) -> str:
        """Return the shortest remedy, or the machine's network if no provider's name resolves."""
        failed = [attempt for attempt in last_attempts if attempt.outcome not in HARMLESS_OUTCOMES]
        # Providers with `run_search` dial through a proxy and never see whether a name resolves.
        dialled = [attempt for attempt in failed if not load_providers_and_sources()[attempt.provider].run_search]
        if dialled and all(attempt.message.endswith("does not resolve") for attempt in dialled):
            return "no name resolves: check the network of the machine that Outrider runs on"
        others = "another provider" if self.query.mode == "web" else f"one of {', '.join(self._list_able_providers())}"
        default_hint = f"try later, or set a key for {others}"
        return min(filter(None, self.hints), key=len, default=default_hint)

    def _list_able_providers(self) -> list[str]:
        """Return the providers whose key would bring searches of this mode."""
        known = load_providers().values()
        able = (each for each in known if self.query.mode in each.modes and each.credentials and not each.sunset_date)
        return sorted(each.name for each in able)


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
        and details that one provider lacks (snippet, date, sizes) come from another.
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
    limited = _limit_per_host(fused, per_domain) if per_domain > 0 else fused
    return [replace(hit, rank=rank) for rank, hit in enumerate(limited[:limit], start=1)]


def deduplicate_hits(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """Return one provider's hits, each page once, ranked again from 1."""
    first = {_get_page_key(hit): hit for hit in reversed(list(hits))}
    distinct = sorted(first.values(), key=lambda hit: hit.rank)
    return [replace(hit, rank=rank) for rank, hit in enumerate(distinct, start=1)]


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
    limited: list[SearchHit] = []
    for hit in hits:
        host = parse_host(canonicalize_url(hit.url))
        seen[host] += 1
        if seen[host] <= limit:
            limited.append(hit)
    return limited
