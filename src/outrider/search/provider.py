"""What a search provider is: a table of facts, and two mappings between our words and its wire.

A provider is one file under `providers/`; nothing lists them (`core.discovery`). Plugins add more
through the entry-point group `outrider.search_providers`.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, Literal, Protocol

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.http import HttpResponse
from outrider.search.agent_browser import AgentBrowser
from outrider.search.failures import FailureCode, build_failure

SearchMode = Literal["web", "image", "news"]
Freshness = Literal["day", "week", "month", "year"]
SafeSearch = Literal["off", "moderate", "strict"]
QueryFeature = Literal["freshness", "language", "region", "site", "safe", "page"]
SEARCH_MODES = ("web", "image", "news")
MAX_RESULTS = 20  # results that one query may ask for
PROVIDER_ENTRY_POINTS = "outrider.search_providers"


@dataclass(frozen=True)
class Query:
    """What is looked for. Raises InvalidInput for values out of range.

    Attributes:
        text: The words, not empty.
        count: Results wanted, 1 to 20.
        page: 1 is the first page of `count` results.
        freshness: Nothing older than this.
        language: ISO 639-1 code, for instance `de`.
        region: ISO 3166-1 alpha-2 code, for instance `DE`.
        site: Only results of this host, with or without a path.
        caller: Who asks; what they have read themselves is theirs alone.
    """

    text: str
    mode: SearchMode = "web"
    count: int = 10
    page: int = 1
    freshness: Freshness | None = None
    language: str | None = None
    region: str | None = None
    site: str | None = None
    safe: SafeSearch = "moderate"
    caller: Call | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidInput("query: is empty", hint="say what to look for")
        if not 1 <= self.count <= MAX_RESULTS:
            raise InvalidInput(f"count: must be 1 to {MAX_RESULTS}, not {self.count}")
        if self.page < 1:
            raise InvalidInput(f"page: begins at 1, not {self.page}")
        if self.mode not in SEARCH_MODES:
            raise InvalidInput(f"mode: must be one of {', '.join(SEARCH_MODES)}, not {self.mode!r}")

    @property
    def language_code(self) -> str | None:
        """The language without its region: `de` for `de-AT`."""
        return self.language.replace("_", "-").split("-")[0].lower() if self.language else None

    @property
    def country_code(self) -> str | None:
        """The region in capitals."""
        return self.region.upper() if self.region else None

    @property
    def offset(self) -> int:
        """How many results lie before this page."""
        return (self.page - 1) * self.count


@dataclass(frozen=True)
class ProviderRank:
    """Who found a result, and on which place (1 is the best)."""

    provider: str
    rank: int


@dataclass(frozen=True)
class SearchHit:
    """One result: text that other people wrote, cleaned, with an http(s) address.

    `score` is the provider's own or, after fusion, the fused one; only comparable within one answer.
    The image fields are filled in image mode, where `url` is the page that shows the image.
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
        """The hit as a JSON object, without what it does not have."""
        return {name: value for name, value in asdict(self).items() if value not in (None, ())}


@dataclass(frozen=True)
class Credential:
    """One value that a provider needs: how it is called in settings and in the environment."""

    name: str = "api_key"
    aliases: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    secret: bool = True


@dataclass(frozen=True)
class CallRate:
    """At most `calls` in any `seconds`."""

    calls: float
    seconds: float = 1.0


@dataclass(frozen=True)
class ProviderAccess:
    """How this installation reaches a provider. The credentials never show in its repr.

    Attributes:
        id: Under which the ledger knows it: one provider with two keys is two accesses.
        trusted: The endpoint was chosen by the operator, so it may be on a private network.
        keyless: It is used without a key.
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

    def with_time(self, now: float) -> "ProviderAccess":
        """The same access at another time."""
        return replace(self, now=now)


@dataclass(frozen=True)
class ProviderRequest:
    """One HTTP request. `params` without None are sent; `notes` say what could not be asked for."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Any = field(default=None, repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ErrorRule:
    """A provider's own meaning of a status and words in its error; the first that fits counts.

    `status` None fits every failing status; `pattern` is a regular expression for the message.
    """

    status: int | None
    code: FailureCode
    pattern: str = ""
    hint: str = ""


ResultItem = dict[str, Any]
SendRequest = Callable[[ProviderRequest], Awaitable["HttpResponse"]]


@dataclass(frozen=True)
class RenderedPage:
    """A page as a browser shows it.

    Attributes:
        url: Where it is, after redirects.
        html: The rendered document.
    """

    url: str
    html: str


class PageOpener(Protocol):
    """A browser, as far as searching needs one."""

    def explain_unavailable(self) -> str:
        """Why there is none; "" if there is."""
        ...

    async def open_page(self, url: str) -> RenderedPage:
        """The page of an address once it has come to rest, whatever its status. Raises OutriderError."""
        ...


@dataclass(frozen=True)
class SearchServices:
    """What the app hands to providers that do not speak HTTP through `core.http`.

    Attributes:
        search_local: Searches in what was read before.
        get_proxy_url: The address of the guarded CONNECT proxy, or None when there is none.
        browser: Opens result pages.
        agent_browser: The program of that name.
    """

    search_local: Callable[[Query], Awaitable[list[SearchHit]]] | None = None
    get_proxy_url: Callable[[], str | None] | None = None
    browser: PageOpener | None = None
    agent_browser: "AgentBrowser | None" = None


@dataclass(frozen=True)
class EngineResults:
    """What a provider found that asks somebody else: the items, and the name of whose page they stood on."""

    items: list[ResultItem]
    engine: str


RunSearch = Callable[[Query, ProviderAccess, SearchServices], Awaitable[list[ResultItem] | EngineResults]]


def _report_available(_services: SearchServices) -> str:
    return ""


def parse_json_reply(reply: "HttpResponse") -> Any:
    """The usual way to read a reply."""
    return reply.json()


def _report_no_quota(_reply: "HttpResponse") -> int | None:
    return None


@dataclass(frozen=True)
class SearchProvider:
    """The facts of one search provider.

    Attributes:
        name: Unique, as in settings.
        title: As people know it.
        remedy: How to get or repair access, in one sentence.
        endpoint: The address that the request mapping builds on.
        keyless_endpoint: Another one for use without a key; default: the same.
        credentials: What it needs to be used with a key.
        keyless_rank: Place in the chain without a key (1 first); None: it needs its credentials.
        features: Which parts of a query it can honour; `keyless_features` where they differ.
        missing_features: What it cannot do in one mode although it can in others.
        site_operator: It understands `site:` in the words.
        max_count: Most results in one call. Without `page`, pages are cut from one long answer.
        max_offset: Most results before a page, for those that can page.
        max_chars, max_words: Limits of the query; longer ones are cut with a note.
        rate, keyless_rate: Calls that it allows.
        sunset_date: The day from which its own endpoint is gone.
        weight: How much its ranking counts in fusion.
        build_request: From a query to a request.
        parse_results: From parsed JSON to items with the field names of `Hit`; may raise a typed failure.
        decode_reply: From a reply to what `parse_results` takes.
        error_rules: What its errors mean where HTTP's own meaning does not hold.
        read_quota: What is left of the plan, when the reply tells.
        send_requests: Replaces the single request, for protocols of several steps.
        run_search: Replaces HTTP altogether.
        explain_unavailable: Why it cannot be offered with these powers; "" if it can.
        is_local: It searches only what was read here, so its "nothing" says nothing of the web.
        uses_browser: It opens result pages in a browser: asked where those are wanted, or when `search.order` names it.
        timeout_s: Time for one call, unless the settings say otherwise.
    """

    name: str
    title: str
    remedy: str
    endpoint: str = ""
    keyless_endpoint: str = ""
    credentials: tuple[Credential, ...] = ()
    keyless_rank: int | None = None
    modes: frozenset[SearchMode] = frozenset({"web"})
    features: frozenset[QueryFeature] = frozenset()
    keyless_features: frozenset[QueryFeature] | None = None
    missing_features: Mapping[str, frozenset[QueryFeature]] = field(default_factory=dict)
    site_operator: bool = False
    max_count: int = MAX_RESULTS
    max_offset: int | None = None
    max_chars: int = 2_000
    max_words: int = 400
    rate: CallRate = field(default_factory=lambda: CallRate(5))
    keyless_rate: CallRate = field(default_factory=lambda: CallRate(2))
    sunset_date: date | None = None
    weight: float = 1.0
    build_request: Callable[[Query, ProviderAccess], ProviderRequest] | None = None
    parse_results: Callable[[Any, Query], list[ResultItem]] | None = None
    decode_reply: Callable[["HttpResponse"], Any] = parse_json_reply
    error_rules: tuple[ErrorRule, ...] = ()
    read_quota: Callable[["HttpResponse"], int | None] = _report_no_quota
    send_requests: Callable[[SendRequest, Query, ProviderAccess], Awaitable["HttpResponse"]] | None = None
    run_search: RunSearch | None = None
    explain_unavailable: Callable[[SearchServices], str] = _report_available
    is_local: bool = False
    uses_browser: bool = False
    timeout_s: float = 20.0

    def supports(self, feature: QueryFeature, query: Query, *, keyless: bool = False) -> bool:
        """Whether it can honour that part of the query, in that mode and with that access."""
        known = self.keyless_features if keyless and self.keyless_features is not None else self.features
        return feature in known and feature not in self.missing_features.get(query.mode, frozenset())

    def is_sunset(self, access: ProviderAccess) -> bool:
        """Whether the provider's own service has ended; an operator's gateway may go on."""
        own = access.endpoint.rstrip("/") == self.endpoint.rstrip("/")
        return self.sunset_date is not None and own and access.today >= self.sunset_date


def list_items(body: Any, *path: str, name: str) -> list[ResultItem]:
    """The objects in the list under a path of keys; a missing key means none.

    Raises `bad_reply` where something else stands: a wrong shape must never pass for "no results".
    """
    at = body
    for key in path:
        if not isinstance(at, dict):
            raise build_failure("bad_reply", f"{name} answered in an unknown shape")
        at = at.get(key)
        if at is None:
            return []
    if not isinstance(at, list):
        raise build_failure("bad_reply", f"{name} answered in an unknown shape")
    found = [item for item in at if isinstance(item, dict)]
    if at and not found:
        raise build_failure("bad_reply", f"{name} answered in an unknown shape")
    return found


def require_keys(body: Any, *keys: str, name: str) -> dict[str, Any]:
    """The body as an object that has at least one of the keys which every genuine answer has."""
    if isinstance(body, dict) and any(key in body for key in keys):
        return body
    raise build_failure("bad_reply", f"{name} answered without {' or '.join(keys)}")
