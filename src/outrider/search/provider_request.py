"""Query one provider, note what it cannot honour, and type its failures."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

from outrider.core.errors import OutriderError
from outrider.core.http import HttpClient, HttpResponse
from outrider.search.failures import (
    ERROR_CLASSES,
    FailureCode,
    build_failure,
    classify_status,
    detect_block,
    is_html_page,
    redact_secrets,
)
from outrider.search.hits import clean_text, to_hits
from outrider.search.provider import (
    EngineResults,
    ErrorRule,
    Freshness,
    ProviderAccess,
    ProviderRequest,
    Query,
    QueryFeature,
    ResultItem,
    SearchHit,
    SearchProvider,
    SearchServices,
)

QUOTA_EXHAUSTED = re.compile(
    r"credits?\b|quota|out of searches|usage limit|plan.{0,12} limit|daily limit|billing", re.IGNORECASE
)
# Failure codes of `core.http`; all others mean that the provider could not be reached.
HTTP_ERROR_CODES: Mapping[str, FailureCode] = {
    "bad_header": "auth",  # a key that no header can carry
    "bad_json": "bad_reply",
    "bad_url": "not_configured",
    "headers": "bad_reply",
    "no_browser": "not_configured",
    "no_sandbox": "not_configured",
    "protocol": "bad_reply",
    "redirects": "bad_reply",
    "too_large": "bad_reply",
}
MAX_REPLY_CHARS = 2_000  # of a provider's error text; less is shown after the keys are removed


@dataclass(frozen=True)
class ProviderAnswer:
    """One provider's answer: hits in its order, and notes on what it could not do.

    `quota_left` are the calls left in its plan, `pause_s` the seconds that it asks to wait before the next one, and
    `engine` names the search engine if the provider read a result page.
    """

    hits: tuple[SearchHit, ...]
    notes: tuple[str, ...] = ()
    quota_left: int | None = None
    pause_s: float | None = None
    engine: str = ""


@dataclass(frozen=True)
class FetchedItems:
    """A provider's items before they are cleaned; the other fields are those of its answer."""

    items: list[ResultItem]
    notes: tuple[str, ...] = ()
    quota_left: int | None = None
    pause_s: float | None = None
    engine: str = ""


async def query_provider(
    provider: SearchProvider, access: ProviderAccess, query: Query, http: HttpClient, services: SearchServices
) -> ProviderAnswer:
    """Ask one provider and return its cleaned answer.

    Raises:
        OutriderError: one of the codes of `search.failures`, without any key in its text.
    """
    if provider.is_sunset(access):
        raise build_failure("sunset", f"{provider.title} ended on {provider.sunset_date}", hint=provider.remedy)
    adapted, notes = adapt_query(provider, access, query)
    try:
        fetch = _fetch_own_pages if provider.has_own_pages else _fetch_results
        fetched = await fetch(provider, access, adapted, http, services)
    except OutriderError as error:
        raise _sanitize_error(error, provider, access) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        # The provider decides what it sends; a mapping that fails on it has met a bad reply.
        raise build_failure("bad_reply", f"{provider.title} answered in an unknown format") from None
    hits = to_hits(fetched.items, query, provider.name, access.secrets)
    hits = [hit for hit in hits if query.covers_date(hit.published)]
    hits = hits if provider.supports("page", query, keyless=access.keyless) else hits[query.offset :]
    return ProviderAnswer(
        tuple(hits[: query.count]), (*notes, *fetched.notes), fetched.quota_left, fetched.pause_s, fetched.engine
    )


def adapt_query(provider: SearchProvider, access: ProviderAccess, query: Query) -> tuple[Query, tuple[str, ...]]:
    """Adapt the query to the provider, with notes on unsupported options.

    Raises `unsupported` for a mode or a page that the provider does not have.
    """
    feature_notes: Mapping[str, str] = {
        "freshness": "cannot limit results by date",
        "language": "cannot choose a language",
        "region": "cannot choose a region",
        "safe": "has no safe-search setting",
    }
    if query.mode not in provider.list_modes(keyless=access.keyless):
        raise build_failure("unsupported", f"{provider.title} has no {query.mode} search")
    if not query.region and provider.supports("region", query, keyless=access.keyless):
        query = replace(query, region=query.country_code)  # of a language such as `de-AT`, which may be left out
    query, date_note = _apply_dates(provider, access, query)
    notes = [date_note]
    defaults: dict[QueryFeature, Any] = {"freshness": None, "language": None, "region": None, "safe": "moderate"}
    for feature, default in defaults.items():
        is_requested = getattr(query, feature) != default
        if is_requested and not provider.supports(feature, query, keyless=access.keyless):
            notes.append(f"{provider.title} {feature_notes[feature]}")
            query = replace(query, **{feature: default})
    query, operators, site_note = _apply_sites(provider, access, query)
    query, cut_note = _shorten_query(provider, query, operators)
    query, count_note = _paginate_query(provider, access, query)
    return query, tuple(filter(None, (*notes, site_note, cut_note, count_note)))


def _apply_dates(provider: SearchProvider, access: ProviderAccess, query: Query) -> tuple[Query, str]:
    """Express days by `freshness` if the provider has no ranges.

    The shortest value that covers the days is used.
    """
    if not (query.since or query.until) or provider.supports("dates", query, keyless=access.keyless):
        return query, ""
    age_days = (access.today - query.since).days if query.since else None
    longest_ages: Mapping[Freshness, int] = {"day": 1, "week": 7, "month": 31, "year": 366}
    covering = [name for name, days in longest_ages.items() if age_days is not None and age_days <= days]
    has_freshness = provider.supports("freshness", query, keyless=access.keyless)
    note = f"{provider.title} cannot limit results to a range of dates; only results of known other dates were dropped"
    return replace(query, since=None, until=None, freshness=covering[0] if covering and has_freshness else None), note


def _apply_sites(provider: SearchProvider, access: ProviderAccess, query: Query) -> tuple[Query, str, str]:
    """Express sites by parameters, else by operators, else by words; return the query, the operators and a note."""
    operators: list[str] = []
    note = ""
    has_path = any("/" in site for site in query.sites)
    takes_sites = provider.supports("site", query, keyless=access.keyless)
    if query.sites and provider.site_operator and (has_path or not takes_sites):
        terms = " OR ".join(f"site:{site}" for site in query.sites)
        operators.append(f"({terms})" if len(query.sites) > 1 else terms)
        query = replace(query, sites=())
    elif query.sites and not takes_sites:
        names = ", ".join(query.sites)
        note = f"{provider.title} cannot search within one site; its results were filtered for {names}"
        query = replace(query, sites=(), text=" ".join((query.text, *query.sites)))
    if query.exclude and provider.site_operator and not provider.supports("exclude", query, keyless=access.keyless):
        operators += [f"-site:{site}" for site in query.exclude]
        query = replace(query, exclude=())
    return query, " ".join(operators), note


def _shorten_query(provider: SearchProvider, query: Query, operators: str) -> tuple[Query, str]:
    """Cut the words to the provider's limits, and add the operators, which are never cut."""
    shortened = query.text
    max_words = max(provider.max_words - len(operators.split()), 1)
    if len(shortened.split()) > max_words:
        shortened = " ".join(shortened.split()[:max_words])
    max_chars = provider.max_chars - len(operators) - bool(operators)
    if len(shortened) > max_chars:
        shortened = shortened[:max_chars].rsplit(" ", 1)[0]
    note = f"{provider.title} takes shorter queries: only the beginning was used"
    text = f"{shortened} {operators}".strip()
    return replace(query, text=text), "" if shortened == query.text else note


def _paginate_query(provider: SearchProvider, access: ProviderAccess, query: Query) -> tuple[Query, str]:
    """Set the count to fetch. From providers without pages one long answer is fetched, and the page cut from it."""
    max_count, last = provider.max_count, query.offset + query.count
    if not provider.supports("page", query, keyless=access.keyless):
        if query.offset >= max_count:
            raise build_failure("unsupported", f"{provider.title} has no results beyond the first {max_count}")
        note = f"{provider.title} returns at most {max_count} results" if last > max_count else ""
        return replace(query, page=1, count=min(last, max_count)), note
    adapted = replace(query, count=min(query.count, max_count))
    is_past_offset = provider.max_offset is not None and adapted.offset > provider.max_offset
    if is_past_offset or (provider.max_page is not None and adapted.page > provider.max_page):
        raise build_failure("unsupported", f"{provider.title} has no page {query.page}")
    return adapted, f"{provider.title} returns at most {max_count} results a page" if query.count > max_count else ""


async def _fetch_own_pages(
    provider: SearchProvider, access: ProviderAccess, query: Query, http: HttpClient, services: SearchServices
) -> FetchedItems:
    """Return the items of one of our pages, cut from all pages of the provider so far."""
    max_own_pages = 5
    found: dict[str, dict[str, Any]] = {}
    notes: tuple[str, ...] = ()
    for number in range(1, max_own_pages + 1):
        own_page = replace(query, page=number)
        fetched = await _fetch_results(provider, access, own_page, http, services)
        known, notes = len(found), fetched.notes
        for item in fetched.items:
            found.setdefault(f"{item.get('url')} {item.get('image_url')}", item)
        if len(found) == known or len(found) >= query.offset + query.count:
            break
    return FetchedItems(list(found.values())[query.offset :], notes)


async def _fetch_results(
    provider: SearchProvider, access: ProviderAccess, query: Query, http: HttpClient, services: SearchServices
) -> FetchedItems:
    if provider.run_search is not None:
        results = await provider.run_search(query, access, services)
        if isinstance(results, EngineResults):
            return FetchedItems(results.items, results.notes, engine=results.engine)
        return FetchedItems(results)
    if provider.build_request is None or provider.parse_results is None:
        raise build_failure("unsupported", f"{provider.title} has no request mapping")
    notes: list[str] = []

    async def send_request(request: ProviderRequest) -> HttpResponse:
        notes.extend(request.notes)
        return await request.send(http, access)

    reply = await (
        provider.send_requests(send_request, query, access)
        if provider.send_requests
        else send_request(provider.build_request(query, access))
    )
    text = reply.body.decode("utf-8", "replace")
    if is_html_page(reply.content_type, text):
        _raise_page_error(provider, access, reply, text)
    if not 200 <= reply.status < 300:
        if provider.no_results_pattern and re.search(provider.no_results_pattern, text[:MAX_REPLY_CHARS]):
            return FetchedItems([], tuple(notes))
        _raise_status_error(provider, access, reply, text)
    body = provider.decode_reply(reply)
    items = provider.parse_results(body, query)
    return FetchedItems(
        items, tuple(dict.fromkeys(notes)), provider.read_quota(reply), pause_s=provider.read_pause(reply)
    )


def _raise_page_error(provider: SearchProvider, access: ProviderAccess, reply: HttpResponse, text: str) -> NoReturn:
    block, remedy = detect_block(text), provider.remedy if access.keyless else ""
    wait = _parse_retry_after(reply, None)
    if block is not None:
        action = "asks for a CAPTCHA" if block == "captcha" else "blocks this network"
        raise build_failure(block, f"{provider.title} {action}", retry_after=wait, hint=remedy)
    rule = _find_error_rule(provider, reply.status, clean_text(text[:MAX_REPLY_CHARS]))
    if rule is not None and rule.hint:
        raise build_failure(rule.code, f"{provider.title}: {rule.hint}", hint=rule.hint, retry_after=wait)
    if 200 <= reply.status < 400:
        raise build_failure(
            "bad_reply",
            f"{provider.title} sent a web page where JSON was expected",
            hint=f"check the endpoint of {provider.name}, and whether a login page or a proxy is in front of it",
        )
    raise build_failure(
        classify_status(reply.status), f"{provider.title} answered {reply.status} with a web page", retry_after=wait
    )


def _raise_status_error(provider: SearchProvider, access: ProviderAccess, reply: HttpResponse, text: str) -> NoReturn:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    message = _find_message(body) or clean_text(text[:MAX_REPLY_CHARS])
    rule = _find_error_rule(provider, reply.status, message)
    code = rule.code if rule else classify_status(reply.status)
    # Providers report an exhausted plan with all of these statuses, and only the text distinguishes it.
    if rule is None and code in {"rate_limited", "auth", "bad_request"} and QUOTA_EXHAUSTED.search(message):
        code = "quota"
    # The usual remedy is to get a key, which does not help those who have one, unless it is wrong.
    is_key_helpful = code == "auth" or (access.keyless and code in {"quota", "rate_limited"})
    hint = (rule.hint if rule else "") or (provider.remedy if is_key_helpful else "")
    wait = _parse_retry_after(reply, body, access.now)
    detail = f": {message}" if message else ""
    raise build_failure(code, f"{provider.title} answered {reply.status}{detail}", hint=hint, retry_after=wait)


def _find_error_rule(provider: SearchProvider, status: int, message: str) -> ErrorRule | None:
    rules = (rule for rule in provider.error_rules if rule.status in {None, status})
    return next((rule for rule in rules if re.search(rule.pattern, message, re.IGNORECASE)), None)


def _find_message(body: Any, depth: int = 0) -> str:
    """Return the message in an error body, under the names that providers use for it."""
    if isinstance(body, str):
        return clean_text(body[:MAX_REPLY_CHARS])
    if isinstance(body, list):
        body = body[0] if body else None
    if not isinstance(body, dict) or depth > 3:
        return ""
    names = ("userMessage", "error", "detail", "message", "errors", "error_message", "code", "errorCode")
    return next((message for name in names if (message := _find_message(body.get(name), depth + 1))), "")


def _parse_retry_after(reply: HttpResponse, body: Any, now: float = 0.0) -> float | None:
    """Return the seconds to wait, from the header (RFC 9110, 10.2.3) or from the body."""
    max_wait_s = 30 * 86_400.0  # a month is the longest plan period
    header = reply.headers.get("retry-after")
    error = body.get("error") if isinstance(body, dict) else None
    inner = error if isinstance(error, dict) else {}
    outer = body if isinstance(body, dict) else {}
    for value in (header, inner.get("retry_after_seconds"), outer.get("retryAfter"), outer.get("retry_after")):
        seconds = _parse_seconds(value, now)
        if seconds is not None:
            return min(seconds, max_wait_s)
    return None


def _parse_seconds(value: Any, now: float) -> float | None:
    """Return the seconds from now in a number, text or HTTP date. None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        seconds = float(value.removesuffix("s") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        try:
            moment = parsedate_to_datetime(str(value))
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.fromtimestamp(now, UTC)).total_seconds())
    return seconds if 0 <= seconds < float("inf") else None


def _sanitize_error(error: OutriderError, provider: SearchProvider, access: ProviderAccess) -> OutriderError:
    """Return the error with our code, without keys and traceback."""
    max_message_chars = 240
    own_codes: dict[str, FailureCode] = {code: code for code in ERROR_CLASSES}
    code = HTTP_ERROR_CODES.get(error.code) or own_codes.get(error.code, "unavailable")
    message = error.message if provider.title in error.message else f"{provider.title}: {error.message}"
    if code == "timeout" and error.code == "timeout":
        message = f"{provider.title} did not answer within {access.timeout:g} seconds"
    return build_failure(
        code,
        redact_secrets(message[:MAX_REPLY_CHARS], access.secrets)[:max_message_chars],
        hint=redact_secrets(error.hint, access.secrets),
        retry_after=error.retry_after,
    )
