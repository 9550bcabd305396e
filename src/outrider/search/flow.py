"""One search after another: whom to ask, in which order, and what to do when they fail."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import anyio
from opentelemetry.trace import SpanKind

from outrider.core.db import Database
from outrider.core.errors import NotConfigured, OutriderError, Unavailable
from outrider.core.http import Http
from outrider.core.meters import SEARCH_SECONDS
from outrider.core.rates import Rates
from outrider.core.tracing import span
from outrider.search import call
from outrider.search.access import Candidate, Plan, ProviderStatus, explain, known, plan
from outrider.search.failures import failure
from outrider.search.fusion import Ranking, distinct, fuse
from outrider.search.health import Ledger
from outrider.search.provider import Hit, Powers, Query
from outrider.search.settings import SearchSettings

if TYPE_CHECKING:
    from outrider.search.search import Depth

log = logging.getLogger(__name__)
WIDTHS: Mapping[str, int] = {"quick": 1, "balanced": 3, "wide": 6}  # providers asked at once
ELSEWHERE = "try later, or set a key for another provider"
OFFLINE = "no name resolves: check the network of the machine that Outrider runs on"
REASON_CHARS = 180  # of one provider's failure in the text that names them all
FINE = frozenset({"ok", "unsupported"})
GRACE = 3.0  # seconds that the others of a wave still have when the first has answered


@dataclass(frozen=True)
class Attempt:
    """One provider's part in a search.

    `outcome` is `ok` or a failure code; `circuit_open` means that it was not asked.
    """

    provider: str
    outcome: str
    message: str = ""
    seconds: float = 0.0
    hits: int = 0


@dataclass(frozen=True)
class Found:
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

    hits: tuple[Hit, ...]
    provider: str
    profile: str = ""
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    source: str = ""


@dataclass
class _Run:
    """The state of one search."""

    query: Query
    width: int
    plan: Plan
    attempts: list[Attempt] = field(default_factory=list)
    answers: list[tuple[Candidate, call.Answer]] = field(default_factory=list)
    waiting: list[Candidate] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    retries: list[float] = field(default_factory=list)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def answered(self) -> bool:
        """Whether anybody who could know has answered.

        That nothing was read here about it does not mean that the web has nothing, when the web could not be asked.
        """
        if any(answer.hits or not each.provider.remembers for each, answer in self.answers):
            return True
        return bool(self.answers) and not self.failed

    @property
    def failed(self) -> bool:
        """Whether anybody who was asked, or should have been, failed."""
        return any(each.outcome not in FINE for each in self.attempts)

    @property
    def useful(self) -> list[tuple[Candidate, call.Answer]]:
        """Answers with hits, in the plan's order."""
        place = {each.access.id: at for at, each in enumerate(self.plan.candidates)}
        return sorted((each for each in self.answers if each[1].hits), key=lambda each: place[each[0].access.id])

    def passed_over(self, candidate: Candidate, outcome: str, message: str) -> None:
        self.attempts.append(Attempt(candidate.provider.name, outcome, message))
        self.advise(candidate, "")

    def advise(self, candidate: Candidate, hint: str) -> None:
        """Keeps the remedy for a failure; a key helps where there is none."""
        self.hints.append(hint or (candidate.provider.remedy if candidate.access.keyless else ""))


class Flow:
    """What `Search` does; the arguments are its own."""

    def __init__(
        self,
        http: "Http",
        settings: SearchSettings,
        database: Database | None,
        powers: Powers,
        *,
        environ: Mapping[str, str],
        clock: Callable[[], float],
    ) -> None:
        self._http = http
        self._settings = settings
        self._powers = powers
        self._environ = environ
        self._clock = clock
        self._ledger = Ledger(database, clock)
        self._rates = Rates(database)

    async def find(self, query: Query, depth: "Depth", profile: str | None, *, browse: bool) -> Found:
        """As `Search.find`."""
        run = _Run(query, WIDTHS[depth], self._plan(profile, browse=browse))
        await self._ledger.load()
        with anyio.move_on_after(self._settings.deadline_s) as scope:
            await self._answer(run)
        if scope.cancelled_caught:
            self._too_late(run)
        return self._found(run) if run.answered else _failed(run)

    async def status(self) -> list[ProviderStatus]:
        """As `Search.status`."""
        health = await self._ledger.load()
        return explain(self._settings, self._environ, powers=self._powers, health=health)

    def _plan(self, profile: str | None, *, browse: bool) -> Plan:
        now = self._clock()
        made = plan(self._settings, self._environ, self._powers, now=now, profile=profile, browse=browse)
        if not made.candidates:
            raise NotConfigured(
                "no search provider can be used: none has a key, and keyless use is off",
                hint="set BRAVE_API_KEY or TAVILY_API_KEY, or turn `search.keyless` on",
                code="search_failed",
            )
        return made

    async def _answer(self, run: _Run) -> None:
        """Asks in waves until one answers; an honest "nothing" is checked with one more provider."""
        left, resort = list(run.plan.candidates), []
        while wave := self._next_wave(run, left, resort):
            checked = bool(run.answers)
            await self._ask_all(run, wave)
            if run.useful or checked or len(run.answers) > 1:
                return
        if run.answered:
            return
        for candidate in resort:
            await self._ask_all(run, [candidate])
            if run.answered:
                return

    def _next_wave(self, run: _Run, left: list[Candidate], resort: list[Candidate]) -> list[Candidate]:
        """The next candidates that may be asked; takes them and those before them out of `left`."""
        wave: list[Candidate] = []
        width = 1 if run.answers else run.width
        while left and len(wave) < width:
            candidate = left.pop(0)
            title = candidate.provider.title
            if run.query.mode not in candidate.provider.modes:
                run.passed_over(candidate, "unsupported", f"{title} has no {run.query.mode} search")
            elif why := self._ledger.get(candidate.access.id).why_not(self._clock()):
                run.passed_over(candidate, why[0], why[1])
                resort.append(candidate)
            else:
                wave.append(candidate)
        return wave

    async def _ask_all(self, run: _Run, wave: list[Candidate]) -> None:
        run.waiting = list(wave)
        run.scope = anyio.CancelScope()
        with run.scope:
            async with anyio.create_task_group() as tasks:
                for candidate in wave:
                    tasks.start_soon(self._ask, run, candidate)
        message = f"it had not answered {GRACE:g} seconds after the first"
        run.attempts += [Attempt(each.provider.name, "timeout", message) for each in run.waiting]

    async def _ask(self, run: _Run, candidate: Candidate) -> None:
        """Asks one provider and records how it went, in the run and in the ledger."""
        name, access = candidate.provider.name, candidate.access
        if self._ledger.get(access.id).half_open(self._clock()):
            await self._ledger.change(access.id, lambda health: health.trying(self._clock()))
        started = self._clock()
        try:
            answer = await self._asked(run.query, candidate)
        except OutriderError as error:
            run.attempts.append(Attempt(name, error.code, error.message, self._clock() - started))
            SEARCH_SECONDS.record(self._clock() - started, {"provider": name, "outcome": error.code})
            await self._failed(run, candidate, error)
            return
        seconds = self._clock() - started
        SEARCH_SECONDS.record(seconds, {"provider": name, "outcome": "ok"})
        run.answers.append((candidate, answer))
        run.attempts.append(Attempt(name, "ok", "", seconds, len(answer.hits)))
        run.waiting.remove(candidate)
        run.scope.deadline = min(run.scope.deadline, anyio.current_time() + GRACE)
        await self._ledger.change(access.id, lambda health: health.succeeded(self._clock(), seconds, answer.quota_left))

    async def _failed(self, run: _Run, candidate: Candidate, error: OutriderError) -> None:
        run.waiting.remove(candidate)
        run.advise(candidate, error.hint)
        if error.retry_after is not None:
            run.retries.append(error.retry_after)
        await self._ledger.change(
            candidate.access.id, lambda health: health.failed(self._clock(), error.code, error.retry_after)
        )

    async def _asked(self, query: Query, candidate: Candidate) -> call.Answer:
        provider, access = candidate.provider, candidate.access.at(self._clock())
        await self._turn(candidate)
        try:
            with anyio.fail_after(access.timeout), span(f"search {provider.name}", kind=SpanKind.CLIENT):
                return await call.ask(provider, access, query, self._http, self._powers)
        except TimeoutError:
            message = f"{provider.title} did not answer within {access.timeout:g} seconds"
            raise failure("timeout", message) from None
        except OutriderError:
            raise
        except Exception as error:  # noqa: BLE001 - a plugin's bug must not end the search
            # No trace: its text may hold a key.
            log.error("search provider %s raised %s", provider.name, type(error).__name__)  # noqa: TRY400
            raise failure("unavailable", f"{provider.title} failed with {type(error).__name__}") from None

    async def _turn(self, candidate: Candidate) -> None:
        """Waits until the provider's rate allows one more call."""
        access = candidate.access
        if not await self._rates.turn(
            f"search {access.id}", access.rate.calls, access.rate.seconds, patience=access.timeout
        ):
            raise failure(
                "rate_limited", f"too many searches wait for {candidate.provider.title} already", retry_after=1
            )

    def _too_late(self, run: _Run) -> None:
        message = f"the search ended after {self._settings.deadline_s:g} seconds, before it answered"
        run.attempts += [Attempt(each.provider.name, "timeout", message) for each in run.waiting]

    def _found(self, run: _Run) -> Found:
        useful = run.useful
        answered = useful or run.answers
        many = len(useful) > 1
        rankings = [Ranking(each.provider.name, answer.hits, each.provider.weight) for each, answer in useful]
        cap = 0 if run.query.site or run.query.mode == "image" else self._settings.per_domain
        hits = fuse(rankings, limit=run.query.count, per_domain=cap) if many else distinct(_hits(useful))
        return Found(
            hits=tuple(hits),
            provider="+".join(each.provider.name for each, _ in answered),
            source="+".join(answer.engine or each.provider.name for each, answer in answered),
            profile=run.plan.profile,
            attempts=tuple(run.attempts),
            notes=_notes(run, answered),
            warnings=(*run.plan.warnings, *_endings([each for each, _ in answered])),
        )


def _notes(run: _Run, answered: list[tuple[Candidate, call.Answer]]) -> tuple[str, ...]:
    """What the answers say of themselves, and whose silence or memory this is."""
    notes = [note for _, answer in answered for note in answer.notes]
    if not run.useful:
        notes.append(f"no results, says {' and '.join(each.provider.title for each, _ in run.answers)}")
    elif all(each.provider.remembers for each, _ in answered) and any(
        each.outcome not in FINE for each in run.attempts
    ):
        notes.append("the web could not be searched: these are pages that were read here before")
    return tuple(dict.fromkeys(notes))


def _hits(useful: list[tuple[Candidate, call.Answer]]) -> tuple[Hit, ...]:
    return useful[0][1].hits if useful else ()


def _endings(answered: list[Candidate]) -> list[str]:
    return [
        f"{each.provider.title} ends on {each.provider.sunset}: {each.provider.remedy}"
        for each in answered
        if each.provider.sunset and not each.access.trusted
    ]


def _failed(run: _Run) -> Found:
    """Raises the error that says who was tried, why each failed and what is the shortest remedy."""
    details = {"attempts": [asdict(attempt) for attempt in run.attempts]}
    last = {attempt.provider: attempt for attempt in run.attempts}
    if all(attempt.outcome == "unsupported" for attempt in last.values()):
        able = sorted(each.name for each in known().values() if run.query.mode in each.modes)
        raise NotConfigured(
            f"no usable search provider has {run.query.mode} search",
            hint=f"set a key for one of {', '.join(able)}",
            code="unsupported",
            details=details,
        )
    reasons = "; ".join(_reason(name, each) for name, each in last.items())
    failed = [attempt for attempt in last.values() if attempt.outcome not in FINE]
    telling = [each for each in failed if not known()[each.provider].run]  # a library behind a proxy sees no names
    is_offline = bool(telling) and all(each.message.endswith("does not resolve") for each in telling)
    raise Unavailable(
        f"no search provider answered ({reasons})",
        code="search_failed",
        hint=OFFLINE if is_offline else min(filter(None, run.hints), key=len, default=ELSEWHERE),
        details=details,
        retry_after=min(run.retries, default=None),
    )


def _reason(name: str, attempt: Attempt) -> str:
    if attempt.outcome == "ok":
        return f"{name}: nothing that was read here matches"
    return f"{name}: {attempt.message[:REASON_CHARS]} [{attempt.outcome}]"
