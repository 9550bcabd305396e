"""Search the web over several providers, with fallbacks and fused rankings."""

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Literal

import anyio
from opentelemetry.trace import SpanKind

from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, NotConfigured, OutriderError
from outrider.core.http import HttpClient
from outrider.core.tracing import start_span
from outrider.search.failures import build_failure
from outrider.search.outcome import SearchAttempt, SearchOutcome, SearchState
from outrider.search.provider import MAX_RESULTS, Query, SearchServices
from outrider.search.provider_request import ProviderAnswer, query_provider
from outrider.search.selection import (
    Candidate,
    ProviderStatus,
    explain_providers,
    list_source_candidates,
    plan_search,
    plan_source,
)
from outrider.search.settings import SearchSettings

if TYPE_CHECKING:  # these modules load SQLAlchemy
    from outrider.core.rate_limiter import RateLimiter
    from outrider.search.health_ledger import HealthLedger

SearchDepth = Literal["quick", "balanced", "wide"]

log = logging.getLogger(__name__)


class Search:
    """Search over all providers that this installation can use.

    Args:
        http: Sends the requests.
        settings: The operator's choices.
        database: Holds the health of providers; None keeps it in memory.
        build_services: Builds what providers need that do not use `http`; called at the first search.
        environ: Where keys may be set, for instance `os.environ`.
        clock: Returns seconds since the epoch.
    """

    def __init__(
        self,
        http: HttpClient,
        settings: SearchSettings,
        database: Database | None,
        *,
        build_services: Callable[[], SearchServices] = SearchServices,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        timeout_s: float = 60.0,
    ) -> None:
        self._http = http
        self._timeout_s = timeout_s
        self._settings = settings
        self._database = database
        self._build_services = build_services
        self._environ = environ or {}
        self._clock = clock
        # By profile and `browse`; only whether a provider is available changes between searches.
        self._plan = lru_cache(maxsize=16)(partial(plan_search, settings, self._environ))

    async def find(
        self,
        query: Query,
        *,
        depth: SearchDepth = "quick",
        profile: str | None = None,
        browse: bool = False,
        source: str = "",
    ) -> SearchOutcome:
        """Search; a provider that fails is followed by the next.

        Args:
            query: What to look for.
            depth: `quick` takes the first answer, `balanced` fuses up to three, `wide` up to six.
            profile: A profile's name instead of the one in the settings.
            browse: Whether result pages in a browser come first (see `selection.plan_search`).
            source: The service to search instead of the web, for instance `github` (see `selection.load_sources`).

        Raises:
            InvalidInput: More results are requested than a search returns.
            NotConfigured: No provider can be used, or the profile or a setting is wrong.
            Unavailable: code `search_failed` if every provider failed; `details.attempts` and the message say how,
                the hint is the shortest remedy.
        """
        parallelism: Mapping[SearchDepth, int] = {"quick": 1, "balanced": 3, "wide": 6}
        if query.count > MAX_RESULTS:
            raise InvalidInput(f"count: must be 1 to {MAX_RESULTS}, not {query.count}")
        if source:
            plan = plan_source(self._settings, self._environ, source)
        else:
            plan = self._plan(profile=profile, browse=browse).select_available(self._services)
        if not plan.candidates:
            raise NotConfigured(
                "no search provider is configured: no API key is set and search.keyless is off",
                hint="set BRAVE_API_KEY or TAVILY_API_KEY, or turn `search.keyless` on",
                code="search_failed",
            )
        state = SearchState(query, plan, parallelism[depth])
        await self._health.load()
        with anyio.move_on_after(self._timeout_s) as scope:
            await self._ask_in_batches(state)
        if scope.cancelled_caught:
            message = f"no answer before the search ended after {self._timeout_s:g} seconds"
            state.attempts += [SearchAttempt(each.provider.name, "timeout", message) for each in state.pending]
        if not state.is_answered:
            raise state.build_error()
        return state.build_outcome(self._settings.per_domain)

    async def list_providers(self) -> list[ProviderStatus]:
        """Return every provider with its health, for `outrider doctor`."""
        health = await self._health.load()
        return explain_providers(self._settings, self._environ, services=self._services, health=health)

    async def ask_every_provider(self, query: Query) -> list[SearchAttempt]:
        """Ask each usable provider and source, also paused ones, and return the outcomes; for release checks.

        Sources are asked for `requests`, which all of them know. The message of a successful attempt is the title of
        the first result.
        """
        plan = self._plan().select_available(self._services)
        sources = list_source_candidates(self._settings, self._environ)
        attempts: list[SearchAttempt] = []
        for candidate in (*plan.candidates, *sources):
            name, started_at = candidate.provider.name, self._clock()
            provider_query = replace(query, text="requests") if candidate in sources else query
            try:
                hits = (await self._query_provider(provider_query, candidate)).hits
            except OutriderError as error:
                attempts.append(SearchAttempt(name, error.code, error.message, self._clock() - started_at))
                continue
            title = hits[0].title if hits else ""
            attempts.append(SearchAttempt(name, "ok", title, self._clock() - started_at, len(hits)))
        return attempts

    async def _ask_in_batches(self, state: SearchState) -> None:
        """Ask until one provider has hits, or two say honestly that there are none."""
        queue = deque(state.plan.candidates)
        while batch := self._take_next_batch(state, queue):
            was_answered = bool(state.answers)
            await self._ask_batch(state, batch)
            if state.useful_answers or was_answered or len(state.answers) > 1:
                return
        for candidate in state.last_resorts:
            if state.is_answered:
                return
            await self._ask_batch(state, [candidate])

    def _take_next_batch(self, state: SearchState, queue: deque[Candidate]) -> list[Candidate]:
        """Take the candidates to ask next from the queue; skip those that cannot answer now."""
        # One honest "nothing found" is double-checked with a single further provider.
        batch_size = 1 if state.answers else state.parallelism
        batch: list[Candidate] = []
        while queue and len(batch) < batch_size:
            candidate = queue.popleft()
            provider = candidate.provider
            if state.query.mode not in provider.list_modes(keyless=candidate.access.keyless):
                state.skip(candidate, "unsupported", f"{provider.title} has no {state.query.mode} search")
            elif block := self._health.get(candidate.access.id).find_block(self._clock()):
                state.skip(candidate, block.code, block.message)
                state.last_resorts.append(candidate)
            else:
                batch.append(candidate)
        return batch

    async def _ask_batch(self, state: SearchState, batch: list[Candidate]) -> None:
        grace_period_s = 3.0  # for the rest of a batch, once the first has answered
        state.pending = list(batch)
        with anyio.CancelScope() as state.cancel_scope:
            async with anyio.create_task_group() as tasks:
                for candidate in batch:
                    tasks.start_soon(self._ask_provider, state, candidate, grace_period_s)
        message = f"no answer within {grace_period_s:g} s of the first provider's"
        state.attempts += [SearchAttempt(candidate.provider.name, "timeout", message) for candidate in state.pending]

    async def _ask_provider(self, state: SearchState, candidate: Candidate, grace_period_s: float) -> None:
        """Ask one provider, and record the result in the state and in the health ledger."""
        from outrider.core.metrics import SEARCH_SECONDS  # loads OpenTelemetry's metrics

        name, access_id = candidate.provider.name, candidate.access.id
        if self._health.get(access_id).is_half_open(self._clock()):
            await self._health.update(access_id, lambda health: health.begin_trial(self._clock()))
        started_at = self._clock()
        try:
            answer = await self._query_provider(state.query, candidate)
        except OutriderError as error:
            state.attempts.append(SearchAttempt(name, error.code, error.message, self._clock() - started_at))
            SEARCH_SECONDS.record(self._clock() - started_at, {"provider": name, "outcome": error.code})
            state.pending.remove(candidate)
            state.add_hint(candidate, error.hint)
            code, retry_after = error.code, error.retry_after
            if retry_after is not None:
                state.retry_delays_s.append(retry_after)
            await self._health.update(access_id, lambda health: health.record_failure(self._clock(), code, retry_after))
            return
        seconds = self._clock() - started_at
        SEARCH_SECONDS.record(seconds, {"provider": name, "outcome": "ok"})
        state.answers.append((candidate, answer))
        state.attempts.append(SearchAttempt(name, "ok", "", seconds, len(answer.hits)))
        state.pending.remove(candidate)
        state.cancel_scope.deadline = min(state.cancel_scope.deadline, anyio.current_time() + grace_period_s)
        await self._health.update(
            access_id, lambda health: health.record_success(self._clock(), seconds, answer.quota_left, answer.pause_s)
        )

    async def _query_provider(self, query: Query, candidate: Candidate) -> ProviderAnswer:
        """Query one provider within its rate and time limits. Raises one of the codes of `search.failures`."""
        provider, access = candidate.provider, replace(candidate.access, now=self._clock())
        if not await self._rate_limiter.acquire(
            f"search {access.id}", access.rate.calls, access.rate.seconds, max_wait_s=access.timeout
        ):
            raise build_failure(
                "rate_limited", f"too many searches are already waiting for {provider.title}", retry_after=1
            )
        try:
            with anyio.fail_after(access.timeout), start_span(f"search {provider.name}", kind=SpanKind.CLIENT):
                return await query_provider(provider, access, query, self._http, self._services)
        except TimeoutError:
            message = f"{provider.title} did not answer within {access.timeout:g} seconds"
            raise build_failure("timeout", message) from None
        except OutriderError:
            raise
        except Exception as error:  # noqa: BLE001 - a plugin's bug must not end the search
            # Without the traceback, whose text may hold a key.
            log.error("search provider %s raised %s", provider.name, type(error).__name__)  # noqa: TRY400
            raise build_failure("unavailable", f"{provider.title} failed with {type(error).__name__}") from None

    # The following are built at the first search, because their modules are slow to import.

    @cached_property
    def _services(self) -> SearchServices:
        return self._build_services()

    @cached_property
    def _health(self) -> "HealthLedger":
        from outrider.search.health_ledger import HealthLedger

        return HealthLedger(self._database, self._clock)

    @cached_property
    def _rate_limiter(self) -> "RateLimiter":
        from outrider.core.rate_limiter import RateLimiter

        return RateLimiter(self._database)
