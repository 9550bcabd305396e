"""One search after another: whom to ask, in which order, and what to do when they fail."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import anyio
from opentelemetry.trace import SpanKind

from outrider.core.database.database import Database
from outrider.core.errors import NotConfigured, OutriderError, Unavailable
from outrider.core.http import HttpClient
from outrider.core.metrics import SEARCH_SECONDS
from outrider.core.rate_limiter import RateLimiter
from outrider.core.tracing import start_span
from outrider.search import provider_request
from outrider.search.failures import build_failure
from outrider.search.fusion import Ranking, deduplicate_hits, fuse_rankings
from outrider.search.health import HealthLedger
from outrider.search.provider import Query, SearchHit, SearchServices
from outrider.search.selection import (
    Candidate,
    ProviderStatus,
    SearchPlan,
    explain_providers,
    load_providers,
    plan_search,
)
from outrider.search.settings import SearchSettings

if TYPE_CHECKING:
    from outrider.search.search import SearchDepth

log = logging.getLogger(__name__)
BENIGN_OUTCOMES = frozenset({"ok", "unsupported"})
GRACE_PERIOD_S = 3.0  # seconds that the others of a wave still have when the first has answered


@dataclass(frozen=True)
class SearchAttempt:
    """One provider's part in a search.

    `outcome` is `ok` or a failure code; `circuit_open` means that it was not asked.
    """

    provider: str
    outcome: str
    message: str = ""
    seconds: float = 0.0
    hits: int = 0


@dataclass(frozen=True)
class SearchOutcome:
    """What a search found.

    Attributes:
        hits: Best first, each page once.
        provider: Who answered, for people and programs: one name, or several as `a+b`.
        source: Whose results they are: the provider, or the engine whose page a provider read.
        profile: The profile in force, "" for the default chain.
        attempts: Every provider that was asked or passed over, in that order.
        notes: What the answer does not honour or should be read with.
        warnings: What an operator should repair.
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
    """The state of one search."""

    query: Query
    parallelism: int
    plan: SearchPlan
    attempts: list[SearchAttempt] = field(default_factory=list)
    answers: list[tuple[Candidate, provider_request.ProviderAnswer]] = field(default_factory=list)
    pending: list[Candidate] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    retry_delays_s: list[float] = field(default_factory=list)
    cancel_scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def is_answered(self) -> bool:
        """Whether anybody who could know has answered.

        That nothing was read here about it does not mean that the web has nothing, when the web could not be asked.
        """
        if any(answer.hits or not each.provider.is_local for each, answer in self.answers):
            return True
        return bool(self.answers) and not self.has_failures

    @property
    def has_failures(self) -> bool:
        """Whether anybody who was asked, or should have been, failed."""
        return any(each.outcome not in BENIGN_OUTCOMES for each in self.attempts)

    @property
    def useful_answers(self) -> list[tuple[Candidate, provider_request.ProviderAnswer]]:
        """Answers with hits, in the plan's order."""
        place = {each.access.id: at for at, each in enumerate(self.plan.candidates)}
        return sorted((each for each in self.answers if each[1].hits), key=lambda each: place[each[0].access.id])

    def skip(self, candidate: Candidate, outcome: str, message: str) -> None:
        self.attempts.append(SearchAttempt(candidate.provider.name, outcome, message))
        self.add_hint(candidate, "")

    def add_hint(self, candidate: Candidate, hint: str) -> None:
        """Keeps the remedy for a failure; a key helps where there is none."""
        self.hints.append(hint or (candidate.provider.remedy if candidate.access.keyless else ""))


class Flow:
    """What `Search` does; the arguments are its own."""

    def __init__(
        self,
        http: "HttpClient",
        settings: SearchSettings,
        database: Database | None,
        services: SearchServices,
        *,
        environ: Mapping[str, str],
        clock: Callable[[], float],
    ) -> None:
        self._http = http
        self._settings = settings
        self._services = services
        self._environ = environ
        self._clock = clock
        self._health = HealthLedger(database, clock)
        self._rate_limiter = RateLimiter(database)

    async def find(self, query: Query, depth: "SearchDepth", profile: str | None, *, browse: bool) -> SearchOutcome:
        """As `Search.find`."""
        parallelism: Mapping[str, int] = {"quick": 1, "balanced": 3, "wide": 6}  # providers asked at once
        run = SearchState(query, parallelism[depth], self._plan_search(profile, browse=browse))
        await self._health.load()
        with anyio.move_on_after(self._settings.deadline_s) as scope:
            await self._ask_in_batches(run)
        if scope.cancelled_caught:
            self._too_late(run)
        return self._build_results(run) if run.is_answered else _raise_search_failed(run)

    async def list_providers(self) -> list[ProviderStatus]:
        """As `Search.status`."""
        health = await self._health.load()
        return explain_providers(self._settings, self._environ, services=self._services, health=health)

    def _plan_search(self, profile: str | None, *, browse: bool) -> SearchPlan:
        now = self._clock()
        made = plan_search(self._settings, self._environ, self._services, now=now, profile=profile, browse=browse)
        if not made.candidates:
            raise NotConfigured(
                "no search provider can be used: none has a key, and keyless use is off",
                hint="set BRAVE_API_KEY or TAVILY_API_KEY, or turn `search.keyless` on",
                code="search_failed",
            )
        return made

    async def _ask_in_batches(self, state: SearchState) -> None:
        """Asks in waves until one answers; an honest "nothing" is checked with one more provider."""
        left, resort = list(state.plan.candidates), []
        while wave := self._take_next_batch(state, left, resort):
            checked = bool(state.answers)
            await self._ask_batch(state, wave)
            if state.useful_answers or checked or len(state.answers) > 1:
                return
        if state.is_answered:
            return
        for candidate in resort:
            await self._ask_batch(state, [candidate])
            if state.is_answered:
                return

    def _take_next_batch(
        self, state: SearchState, queue: list[Candidate], last_resorts: list[Candidate]
    ) -> list[Candidate]:
        """The next candidates that may be asked; takes them and those before them out of `queue`."""
        wave: list[Candidate] = []
        width = 1 if state.answers else state.parallelism
        while queue and len(wave) < width:
            candidate = queue.pop(0)
            title = candidate.provider.title
            if state.query.mode not in candidate.provider.modes:
                state.skip(candidate, "unsupported", f"{title} has no {state.query.mode} search")
            elif why := self._health.get(candidate.access.id).find_block(self._clock()):
                state.skip(candidate, why[0], why[1])
                last_resorts.append(candidate)
            else:
                wave.append(candidate)
        return wave

    async def _ask_batch(self, state: SearchState, batch: list[Candidate]) -> None:
        state.pending = list(batch)
        state.cancel_scope = anyio.CancelScope()
        with state.cancel_scope:
            async with anyio.create_task_group() as tasks:
                for candidate in batch:
                    tasks.start_soon(self._ask_provider, state, candidate)
        message = f"it had not answered {GRACE_PERIOD_S:g} seconds after the first"
        state.attempts += [SearchAttempt(each.provider.name, "timeout", message) for each in state.pending]

    async def _ask_provider(self, state: SearchState, candidate: Candidate) -> None:
        """Asks one provider and records how it went, in the run and in the ledger."""
        name, access = candidate.provider.name, candidate.access
        if self._health.get(access.id).is_half_open(self._clock()):
            await self._health.update(access.id, lambda health: health.begin_trial(self._clock()))
        started = self._clock()
        try:
            answer = await self._query_provider(state.query, candidate)
        except OutriderError as error:
            state.attempts.append(SearchAttempt(name, error.code, error.message, self._clock() - started))
            SEARCH_SECONDS.record(self._clock() - started, {"provider": name, "outcome": error.code})
            await self._record_failure(state, candidate, error)
            return
        seconds = self._clock() - started
        SEARCH_SECONDS.record(seconds, {"provider": name, "outcome": "ok"})
        state.answers.append((candidate, answer))
        state.attempts.append(SearchAttempt(name, "ok", "", seconds, len(answer.hits)))
        state.pending.remove(candidate)
        state.cancel_scope.deadline = min(state.cancel_scope.deadline, anyio.current_time() + GRACE_PERIOD_S)
        await self._health.update(
            access.id, lambda health: health.record_success(self._clock(), seconds, answer.quota_left)
        )

    async def _record_failure(self, state: SearchState, candidate: Candidate, error: OutriderError) -> None:
        state.pending.remove(candidate)
        state.add_hint(candidate, error.hint)
        if error.retry_after is not None:
            state.retry_delays_s.append(error.retry_after)
        await self._health.update(
            candidate.access.id, lambda health: health.record_failure(self._clock(), error.code, error.retry_after)
        )

    async def _query_provider(self, query: Query, candidate: Candidate) -> provider_request.ProviderAnswer:
        provider, access = candidate.provider, candidate.access.with_time(self._clock())
        await self._wait_for_rate_limit(candidate)
        try:
            with anyio.fail_after(access.timeout), start_span(f"search {provider.name}", kind=SpanKind.CLIENT):
                return await provider_request.query_provider(provider, access, query, self._http, self._services)
        except TimeoutError:
            message = f"{provider.title} did not answer within {access.timeout:g} seconds"
            raise build_failure("timeout", message) from None
        except OutriderError:
            raise
        except Exception as error:  # noqa: BLE001 - a plugin's bug must not end the search
            # No trace: its text may hold a key.
            log.error("search provider %s raised %s", provider.name, type(error).__name__)  # noqa: TRY400
            raise build_failure("unavailable", f"{provider.title} failed with {type(error).__name__}") from None

    async def _wait_for_rate_limit(self, candidate: Candidate) -> None:
        """Waits until the provider's rate allows one more call."""
        access = candidate.access
        if not await self._rate_limiter.acquire(
            f"search {access.id}", access.rate.calls, access.rate.seconds, max_wait_s=access.timeout
        ):
            raise build_failure(
                "rate_limited", f"too many searches wait for {candidate.provider.title} already", retry_after=1
            )

    def _too_late(self, state: SearchState) -> None:
        message = f"the search ended after {self._settings.deadline_s:g} seconds, before it answered"
        state.attempts += [SearchAttempt(each.provider.name, "timeout", message) for each in state.pending]

    def _build_results(self, state: SearchState) -> SearchOutcome:
        useful = state.useful_answers
        answered = useful or state.answers
        many = len(useful) > 1
        rankings = [Ranking(each.provider.name, answer.hits, each.provider.weight) for each, answer in useful]
        cap = 0 if state.query.site or state.query.mode == "image" else self._settings.per_domain
        hits = (
            fuse_rankings(rankings, limit=state.query.count, per_domain=cap)
            if many
            else deduplicate_hits(_hits(useful))
        )
        return SearchOutcome(
            hits=tuple(hits),
            provider="+".join(each.provider.name for each, _ in answered),
            source="+".join(answer.engine or each.provider.name for each, answer in answered),
            profile=state.plan.profile,
            attempts=tuple(state.attempts),
            notes=_collect_notes(state, answered),
            warnings=(*state.plan.warnings, *_endings([each for each, _ in answered])),
        )


def _collect_notes(
    state: SearchState, answered: list[tuple[Candidate, provider_request.ProviderAnswer]]
) -> tuple[str, ...]:
    """What the answers say of themselves, and whose silence or memory this is."""
    notes = [note for _, answer in answered for note in answer.notes]
    if not state.useful_answers:
        notes.append(f"no results, says {' and '.join(each.provider.title for each, _ in state.answers)}")
    elif all(each.provider.is_local for each, _ in answered) and any(
        each.outcome not in BENIGN_OUTCOMES for each in state.attempts
    ):
        notes.append("the web could not be searched: these are pages that were read here before")
    return tuple(dict.fromkeys(notes))


def _hits(useful: list[tuple[Candidate, provider_request.ProviderAnswer]]) -> tuple[SearchHit, ...]:
    return useful[0][1].hits if useful else ()


def _endings(answered: list[Candidate]) -> list[str]:
    return [
        f"{each.provider.title} ends on {each.provider.sunset_date}: {each.provider.remedy}"
        for each in answered
        if each.provider.sunset_date and not each.access.trusted
    ]


def _raise_search_failed(state: SearchState) -> SearchOutcome:
    """Raises the error that says who was tried, why each failed and what is the shortest remedy."""
    offline_hint = "no name resolves: check the network of the machine that Outrider runs on"
    default_hint = "try later, or set a key for another provider"
    details = {"attempts": [asdict(attempt) for attempt in state.attempts]}
    last = {attempt.provider: attempt for attempt in state.attempts}
    if all(attempt.outcome == "unsupported" for attempt in last.values()):
        able = sorted(each.name for each in load_providers().values() if state.query.mode in each.modes)
        raise NotConfigured(
            f"no usable search provider has {state.query.mode} search",
            hint=f"set a key for one of {', '.join(able)}",
            code="unsupported",
            details=details,
        )
    reasons = "; ".join(_format_reason(name, each) for name, each in last.items())
    failed = [attempt for attempt in last.values() if attempt.outcome not in BENIGN_OUTCOMES]
    telling = [
        each for each in failed if not load_providers()[each.provider].run_search
    ]  # a library behind a proxy sees no names
    is_offline = bool(telling) and all(each.message.endswith("does not resolve") for each in telling)
    raise Unavailable(
        f"no search provider answered ({reasons})",
        code="search_failed",
        hint=offline_hint if is_offline else min(filter(None, state.hints), key=len, default=default_hint),
        details=details,
        retry_after=min(state.retry_delays_s, default=None),
    )


def _format_reason(name: str, attempt: SearchAttempt) -> str:
    max_reason_chars = 180  # of one provider's failure in the text that names them all
    if attempt.outcome == "ok":
        return f"{name}: nothing that was read here matches"
    return f"{name}: {attempt.message[:max_reason_chars]} [{attempt.outcome}]"
