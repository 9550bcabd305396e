"""Describe search providers: their facts, and the mappings to and from their wire formats.

A provider is one file under `providers/`, found by discovery (`core.discovery`). Plugins add more through the
entry-point group `outrider.search_providers`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, Protocol

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotConfigured
from outrider.core.http import HttpClient, HttpResponse, RequestLimits
from outrider.search.agent_browser import AgentBrowser
from outrider.search.failures import FailureCode, build_failure
from outrider.search.urls import normalize_site, split_site

SearchMode = Literal["web", "image", "news"]
Freshness = Literal["day", "week", "month", "year"]
SafeSearch = Literal["off", "moderate", "strict"]
QueryFeature = Literal["freshness", "dates", "language", "region", "site", "exclude", "safe", "page"]
MAX_RESULTS = 20  # of one query
PROVIDER_ENTRY_POINTS = "outrider.search_providers"


@dataclass(frozen=True)
class Query:
    """A search query. Raises InvalidInput for values out of range.

    Attributes:
        text: The words, not empty.
        count: Results wanted: 1 to 20 of a search, more where later pages are cut from one long answer.
        page: 1 is the first page of `count` results.
        freshness: The maximum age of results.
        since, until: The first and the last day of publication.
        language: ISO 639-1 code with or without a region, for instance `de` or `pt-BR`.
        region: ISO 3166-1 alpha-2 code, for instance `DE`; without it, that of `language` counts.
        sites: Only results of these hosts, each with or without a path.
        exclude: No results of these hosts, each with or without a path.
        safe: Filters explicit results.
        caller: The call that searches; pages in its own stores are only searched for itself.
    """

    text: str
    mode: SearchMode = "web"
    count: int = 10
    page: int = 1
    freshness: Freshness | None = None
    since: date | None = None
    until: date | None = None
    language: str | None = None
    region: str | None = None
    sites: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    safe: SafeSearch = "moderate"
    caller: Call | None = field(default=None, compare=False, repr=False)

    def covers_date(self, published: str | None) -> bool:
        """Return whether a result may be of the requested days; True if its date is unknown."""
        try:
            day = date.fromisoformat((published or "")[:10])
        except ValueError:
            return True
        return (self.since is None or self.since <= day) and (self.until is None or day <= self.until)

    def __post_init__(self) -> None:
        search_modes = ("web", "image", "news")
        if not self.text.strip():
            raise InvalidInput("query: is empty", hint="say what to look for")
        if self.count < 1:
            raise InvalidInput(f"count: must be 1 to {MAX_RESULTS}, not {self.count}")
        if self.page < 1:
            raise InvalidInput(f"page: must be at least 1, not {self.page}")
        if self.mode not in search_modes:
            raise InvalidInput(f"mode: must be one of {', '.join(search_modes)}, not {self.mode!r}")
        if self.since and self.until and self.since > self.until:
            raise InvalidInput(f"since: {self.since} is after until ({self.until})", hint="swap them")
        if self.freshness and (self.since or self.until):
            raise InvalidInput("freshness: cannot be combined with since and until", hint="leave out `freshness`")
        for name in ("sites", "exclude"):
            normalized = (normalize_site(site) for site in getattr(self, name))
            object.__setattr__(self, name, tuple(dict.fromkeys(filter(None, normalized))))

    @property
    def language_code(self) -> str | None:
        """The language without its region, for instance `de` for `de-AT`."""
        return self.language.replace("_", "-").split("-")[0].lower() if self.language else None

    @property
    def country_code(self) -> str | None:
        """The region in capitals, or that of the language, for instance `AT` of `de-AT`."""
        tags = self.language.replace("_", "-").split("-")[1:] if self.language else []
        region = self.region or next((tag for tag in tags if len(tag) == 2), None)
        return region.upper() if region else None

    @property
    def site_hosts(self) -> list[str] | None:
        """The hosts of `sites`, for providers that take no paths; None if any host will do."""
        return list(dict.fromkeys(split_site(site)[0] for site in self.sites)) or None

    @property
    def excluded_hosts(self) -> list[str] | None:
        """The hosts of `exclude` that are excluded as a whole; None if there are none."""
        return [site for site in self.exclude if not split_site(site)[1]] or None

    def find_first_day(self, today: date) -> date | None:
        """Return the first day of publication, computed from an age if necessary.

        It is for providers that take no ages.
        """
        days = {"day": 1, "week": 7, "month": 31, "year": 366}
        return today - timedelta(days=days[self.freshness]) if self.freshness else self.since

    @property
    def offset(self) -> int:
        """The number of results before this page."""
        return (self.page - 1) * self.count


@dataclass(frozen=True)
class ProviderRank:
    """A provider that found a result, and its rank there (1 is the best)."""

    provider: str
    rank: int


@dataclass(frozen=True)
class SearchHit:
    """One result: cleaned third-party text with an http(s) address.

    `score` is the provider's own or, after fusion, the fused one; it is only comparable within one answer. The image
    fields are set in image mode, where `url` is the page that shows the image.
    """

    title: str
    url: str
    snippet: str = ""
    published: str | None = None
    provider: str = ""
    rank: int = 0
    score: float | None = None
    image_url: str | None = None
    page_url: str | None = None
    thumbnail_url: str | None = None
    width: int | None = None
    height: int | None = None
    sources: tuple[ProviderRank, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as a JSON object, without empty fields."""
        return {name: value for name, value in asdict(self).items() if value not in (None, ())}


@dataclass(frozen=True)
class Credential:
    """One value that a provider needs, with its names in settings and in the environment."""

    name: str = "api_key"
    aliases: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    secret: bool = True


@dataclass(frozen=True)
class CallRate:
    """At most `calls` within any `seconds`."""

    calls: float
    seconds: float = 1.0

    @classmethod
    def from_setting(cls, value: Any, default: "CallRate", where: str) -> "CallRate":
        """Return the rate in a setting, or the default for None. Raises NotConfigured."""
        if value is None:
            return default
        numbers: Sequence[Any] = value if isinstance(value, list | tuple) else [value, 1.0]
        are_positive = [isinstance(each, int | float) and not isinstance(each, bool) and each > 0 for each in numbers]
        if len(numbers) == 2 and all(are_positive):
            return cls(float(numbers[0]), float(numbers[1]))
        raise NotConfigured(f"{where}: rate must be calls per second, or [calls, seconds], not {value!r}")


@dataclass(frozen=True)
class ProviderAccess:
    """How this installation reaches a provider; its repr hides the credentials.

    Attributes:
        id: Identifies it in the health ledger; one provider with two keys has two accesses.
        endpoint: The base address of requests.
        secrets: Credentials that must not appear in any text.
        trusted: Whether the operator chose the endpoint, so that it may be on a private network.
        keyless: Whether it is used without a key.
        timeout: Seconds for one call.
        now: Seconds since the epoch, from the injected clock.
    """

    id: str
    endpoint: str
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    trusted: bool = False
    keyless: bool = False
    timeout: float = 20.0
    user_agent: str = ""
    rate: CallRate = field(default_factory=lambda: CallRate(5))
    now: float = 0.0

    @property
    def api_key(self) -> str:
        """The credential named `api_key`, or ""."""
        return self.credentials.get("api_key", "")

    @property
    def today(self) -> date:
        return datetime.fromtimestamp(self.now, UTC).date()


@dataclass(frozen=True)
class ProviderRequest:
    """One HTTP request; `params` of None are not sent, `notes` say what the request could not express."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Any = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    async def send(self, http: HttpClient, access: ProviderAccess) -> HttpResponse:
        """Send it within the access's limits; values of None are left out."""
        headers = {"Accept": "application/json", **self.headers}
        headers |= {"User-Agent": access.user_agent} if access.user_agent else {}
        body = self.json
        if isinstance(body, dict):
            body = {name: value for name, value in body.items() if value is not None}
        return await http.request(
            self.method,
            self.url,
            params={name: str(value) for name, value in self.params.items() if value is not None} or None,
            headers=headers,
            json=body,
            limits=RequestLimits(timeout_s=access.timeout, max_body_bytes=5_000_000),  # genuine answers are far smaller
            trusted=access.trusted,
        )


@dataclass(frozen=True)
class ErrorRule:
    """A provider's own meaning of a status and an error message; the first matching rule applies.

    `status` None matches every failing status; `pattern` is a regular expression for the message.
    """

    status: int | None
    code: FailureCode
    pattern: str = ""
    hint: str = ""


ResultItem = dict[str, Any]
SendRequest = Callable[[ProviderRequest], Awaitable[HttpResponse]]


@dataclass(frozen=True)
class RenderedPage:
    """A page as rendered by a browser.

    Attributes:
        url: Its address, after redirects.
        html: The rendered document.
    """

    url: str
    html: str


class PageOpener(Protocol):
    """A browser that opens result pages."""

    def explain_unavailable(self) -> str:
        """Return why no browser is available; "" if one is."""
        ...

    async def open_page(self, url: str) -> RenderedPage:
        """Return the page of an address once it has loaded, with any status. Raises OutriderError."""
        ...


@dataclass(frozen=True)
class SearchServices:
    """Services of other packages, for providers that do not use `core.http`.

    Attributes:
        search_local: Searches pages that were read before.
        get_proxy_url: Returns the address of the guarded CONNECT proxy, or None if there is none.
        browser: Opens result pages.
        agent_browser: The program `agent-browser`.
    """

    search_local: Callable[[Query], Awaitable[list[SearchHit]]] | None = None
    get_proxy_url: Callable[[], str | None] | None = None
    browser: PageOpener | None = None
    agent_browser: AgentBrowser | None = None


@dataclass(frozen=True)
class EngineResults:
    """Items found without HTTP, their engine, and notes.

    The notes name parts of the query that could not be expressed.
    """

    items: list[ResultItem]
    engine: str = ""
    notes: tuple[str, ...] = ()


RunSearch = Callable[[Query, ProviderAccess, SearchServices], Awaitable[list[ResultItem] | EngineResults]]


@dataclass(frozen=True)
class SearchProvider:
    """The facts of one search provider.

    Attributes:
        name: Unique, as in settings.
        title: Its name for people.
        remedy: How to get or repair access, in one sentence.
        endpoint: The address that requests are built on.
        keyless_endpoint: The endpoint for use without a key, if it differs.
        credentials: What it needs to be used with a key.
        keyless_rank: Its position in the chain without a key (1 is first); None if it needs its credentials.
        modes: The modes that it can search in; `keyless_modes` without a key, if they differ.
        features: The parts of a query that it can honour; `keyless_features` without a key, if they differ.
        missing_features: By mode, the features that are missing in that mode alone.
        site_operator: Whether it understands `site:` in the words.
        max_count: The most results in one call. Without the feature `page`, pages are cut from one long answer.
        max_offset: The most results before a page, with the feature `page`.
        max_page: The last page, with the feature `page`.
        has_own_pages: Whether its pages have another length, so that ours are cut from all of them so far.
        max_chars, max_words: Limits of the query; longer ones are cut with a note.
        rate, keyless_rate: The calls that it allows.
        sunset_date: The day from which its own endpoint no longer works.
        weight: The weight of its ranking in fusion.
        build_request: Maps a query to a request.
        parse_results: Maps parsed JSON to items with the field names of `SearchHit`; may raise a typed failure.
        decode_reply: Maps a response to the argument of `parse_results`.
        error_rules: The meaning of its errors if it differs from HTTP's.
        no_results_pattern: Matches the text of a failing response that means that nothing was found.
        read_quota: Returns the calls left in the plan, if the response says so.
        read_pause: Returns the seconds to wait before the next call, if a successful response asks for them.
        send_requests: Replaces the single request, for protocols of several steps.
        run_search: Replaces HTTP altogether.
        explain_unavailable: Returns why it cannot be used with these services; "" if it can.
        is_local: Whether it searches only pages that were read here, so that "no results" says nothing about the web.
        uses_browser: Whether it opens result pages in a browser; used only on request or if `search.order` names it.
        timeout_s: Seconds for one call, unless the settings say otherwise.
    """

    name: str
    title: str
    remedy: str
    endpoint: str = ""
    keyless_endpoint: str = ""
    credentials: tuple[Credential, ...] = ()
    keyless_rank: int | None = None
    modes: frozenset[SearchMode] = frozenset({"web"})
    keyless_modes: frozenset[SearchMode] | None = None
    features: frozenset[QueryFeature] = frozenset()
    keyless_features: frozenset[QueryFeature] | None = None
    missing_features: Mapping[str, frozenset[QueryFeature]] = field(default_factory=dict)
    site_operator: bool = False
    max_count: int = MAX_RESULTS
    max_offset: int | None = None
    max_page: int | None = None
    has_own_pages: bool = False
    max_chars: int = 2_000
    max_words: int = 400
    rate: CallRate = field(default_factory=lambda: CallRate(5))
    keyless_rate: CallRate = field(default_factory=lambda: CallRate(2))
    sunset_date: date | None = None
    weight: float = 1.0
    build_request: Callable[[Query, ProviderAccess], ProviderRequest] | None = None
    parse_results: Callable[[Any, Query], list[ResultItem]] | None = None
    decode_reply: Callable[[HttpResponse], Any] = HttpResponse.json
    error_rules: tuple[ErrorRule, ...] = ()
    no_results_pattern: str = ""
    read_quota: Callable[[HttpResponse], int | None] = lambda _response: None
    read_pause: Callable[[HttpResponse], float | None] = lambda _response: None
    send_requests: Callable[[SendRequest, Query, ProviderAccess], Awaitable[HttpResponse]] | None = None
    run_search: RunSearch | None = None
    explain_unavailable: Callable[[SearchServices], str] = lambda _services: ""
    is_local: bool = False
    uses_browser: bool = False
    timeout_s: float = 20.0

    def supports(self, feature: QueryFeature, query: Query, *, keyless: bool = False) -> bool:
        """Return whether it can honour that part of the query, in the query's mode and with or without a key."""
        features = self.keyless_features if keyless and self.keyless_features is not None else self.features
        return feature in features and feature not in self.missing_features.get(query.mode, frozenset())

    def list_modes(self, *, keyless: bool) -> frozenset[SearchMode]:
        """Return the modes that it can search in with or without a key."""
        return self.keyless_modes if keyless and self.keyless_modes is not None else self.modes

    def is_sunset(self, access: ProviderAccess) -> bool:
        """Return whether the provider's own service has ended; an operator's gateway may live on."""
        is_own_endpoint = access.endpoint.rstrip("/") == self.endpoint.rstrip("/")
        return self.sunset_date is not None and is_own_endpoint and access.today >= self.sunset_date


def list_items(body: Any, *path: str, name: str) -> list[ResultItem]:
    """Return the objects in the list under a path of keys; a missing key means none.

    Raises `bad_reply` for any other value, because a wrong shape must never pass for "no results".
    """
    value = body
    for key in path:
        if not isinstance(value, dict):
            raise build_failure("bad_reply", f"{name} answered in an unknown format")
        value = value.get(key)
        if value is None:
            return []
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    if not isinstance(value, list) or (value and not items):
        raise build_failure("bad_reply", f"{name} answered in an unknown format")
    return items


def require_keys(body: Any, *keys: str, name: str) -> dict[str, Any]:
    """Return the body if it is an object with at least one of the keys; raises `bad_reply` otherwise."""
    if isinstance(body, dict) and any(key in body for key in keys):
        return body
    raise build_failure("bad_reply", f"{name} answered without {' or '.join(keys)}")
