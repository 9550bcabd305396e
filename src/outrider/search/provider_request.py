"""One question to one provider: what it cannot do is noted, how it fails is typed, keys stay hidden."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

from outrider.core.errors import OutriderError
from outrider.core.http import HttpClient, HttpResponse, RequestLimits
from outrider.search.block_pages import detect_block, is_html_page
from outrider.search.failures import ERROR_CLASSES, FailureCode, build_failure, classify_status
from outrider.search.hits import clean_text, to_hits
from outrider.search.provider import (
    EngineResults,
    ErrorRule,
    ProviderAccess,
    ProviderRequest,
    Query,
    QueryFeature,
    SearchHit,
    SearchProvider,
    SearchServices,
)
from outrider.search.redact import redact_secrets
from outrider.search.urls import normalize_site

QUOTA_EXHAUSTED = re.compile(
    r"credits?\b|quota|out of searches|usage limit|plan.{0,12} limit|daily limit|billing", re.IGNORECASE
)
# What `core.http` calls its failures; whatever else it says, the provider could not be reached.
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
MAX_REPLY_CHARS = 2_000  # of what a provider says; shown are the first after keys are out


@dataclass(frozen=True)
class ProviderAnswer:
    """What one provider answered: hits in its order, notes on what it could not do, plan calls left.

    `engine` is whose result page it was, where the provider read one.
    """

    hits: tuple[SearchHit, ...]
    notes: tuple[str, ...] = ()
    quota_left: int | None = None
    engine: str = ""


async def query_provider(
    provider: SearchProvider, access: ProviderAccess, query: Query, http: "HttpClient", services: SearchServices
) -> ProviderAnswer:
    """Asks one provider and returns its cleaned answer.

    Raises:
        OutriderError: one of the codes of `search.failures`, without any key in its text.
    """
    if provider.is_sunset(access):
        raise build_failure("sunset", f"{provider.title} ended on {provider.sunset_date}", hint=provider.remedy)
    wanted, notes = adapt_query(provider, access, query)
    try:
        found, more, left, engine = await _fetch_results(provider, access, wanted, http, services)
    except OutriderError as error:
        raise _sanitize_error(error, provider, access) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        # The wire decides what stands where; a mapping that trips over it has met a bad reply.
        raise build_failure("bad_reply", f"{provider.title} answered in an unknown shape") from None
    hits = to_hits(found, query, provider.name, access.secrets)
    hits = hits if provider.supports("page", query, keyless=access.keyless) else hits[query.offset :]
    return ProviderAnswer(tuple(hits[: query.count]), (*notes, *more), left, engine)


def adapt_query(provider: SearchProvider, access: ProviderAccess, query: Query) -> tuple[Query, tuple[str, ...]]:
    """The query as the provider can take it, and a note for everything that it cannot honour.

    Raises `unsupported` for a mode or a page that it does not have.
    """
    feature_notes: Mapping[str, str] = {
        "freshness": "cannot limit results by date",
        "language": "cannot choose a language",
        "region": "cannot choose a region",
        "safe": "has no safe-search setting",
    }
    features: tuple[QueryFeature, ...] = ("freshness", "language", "region", "safe")
    if query.mode not in provider.modes:
        raise build_failure("unsupported", f"{provider.title} has no {query.mode} search")
    notes = [f"{provider.title} {feature_notes[each]}" for each in features if _is_unmet(provider, access, query, each)]
    dropped: dict[str, Any] = {each: None for each in features if _is_unmet(provider, access, query, each)}
    if "safe" in dropped:
        dropped["safe"] = "moderate"
    query = replace(query, **dropped)
    query, site_note = _apply_site(provider, access, query)
    query, cut_note = _shorten_query(provider, query)
    query, count_note = _paginate_query(provider, access, query)
    return query, (*notes, *filter(None, (site_note, cut_note, count_note)))


def _is_unmet(provider: SearchProvider, access: ProviderAccess, query: Query, feature: QueryFeature) -> bool:
    value = getattr(query, feature)
    asked = value != "moderate" if feature == "safe" else value is not None
    return asked and not provider.supports(feature, query, keyless=access.keyless)


def _apply_site(provider: SearchProvider, access: ProviderAccess, query: Query) -> tuple[Query, str]:
    if not query.site:
        return query, ""
    site = normalize_site(query.site)
    if provider.supports("site", query, keyless=access.keyless):
        return replace(query, site=site), ""
    if provider.site_operator:
        return replace(query, site=None, text=f"{query.text} site:{site}"), ""
    note = f"{provider.title} cannot search within one site; its results were filtered for {site}"
    return replace(query, site=None, text=f"{query.text} {site}"), note


def _shorten_query(provider: SearchProvider, query: Query) -> tuple[Query, str]:
    """Cuts the words but never the `site:` at their end."""
    words, site, domain = query.text.rpartition(" site:") if " site:" in query.text else (query.text, "", "")
    tail = f"{site}{domain}"
    kept = " ".join(words.split()[: provider.max_words - bool(tail)]) if _long(provider, query.text) else words
    room = provider.max_chars - len(tail)
    kept = kept if len(kept) <= room else kept[:room].rsplit(" ", 1)[0]
    if kept == words:
        return query, ""
    return replace(query, text=kept + tail), f"{provider.title} takes shorter queries: only the beginning was searched"


def _long(provider: SearchProvider, text: str) -> bool:
    return len(text.split()) > provider.max_words


def _paginate_query(provider: SearchProvider, access: ProviderAccess, query: Query) -> tuple[Query, str]:
    """The count to fetch. Those that cannot page give one long answer, from which the page is cut."""
    most, last = provider.max_count, query.offset + query.count
    if not provider.supports("page", query, keyless=access.keyless):
        if query.offset >= most:
            raise build_failure("unsupported", f"{provider.title} has no results beyond the first {most}")
        fetched = replace(query, page=1, count=min(last, most))
        return fetched, f"{provider.title} gives at most {most} results" if last > most else ""
    fetched = replace(query, count=min(query.count, most))
    if provider.max_offset is not None and fetched.offset > provider.max_offset:
        raise build_failure("unsupported", f"{provider.title} has no page {query.page}")
    return fetched, f"{provider.title} gives at most {most} results a page" if query.count > most else ""


async def _fetch_results(
    provider: SearchProvider, access: ProviderAccess, query: Query, http: "HttpClient", services: SearchServices
) -> tuple[list[dict[str, Any]], tuple[str, ...], int | None, str]:
    if provider.run_search is not None:
        ran = await provider.run_search(query, access, services)
        return (ran.items, (), None, ran.engine) if isinstance(ran, EngineResults) else (ran, (), None, "")
    if provider.build_request is None or provider.parse_results is None:
        raise build_failure("unsupported", f"{provider.title} has no request mapping")
    notes: list[str] = []

    async def send_request(asked: ProviderRequest) -> "HttpResponse":
        notes.extend(asked.notes)
        return await _send_request(asked, access, http)

    reply = await (
        provider.send_requests(send_request, query, access)
        if provider.send_requests
        else send_request(provider.build_request(query, access))
    )
    body = _check_reply(provider, access, reply)
    return provider.parse_results(body, query), tuple(notes), provider.read_quota(reply), ""


async def _send_request(request: ProviderRequest, access: ProviderAccess, http: "HttpClient") -> "HttpResponse":
    max_body_bytes = 5_000_000  # bytes; the largest honest answer of a provider is far below
    headers = {"Accept": "application/json", **request.headers}
    if access.user_agent:
        headers["User-Agent"] = access.user_agent
    return await http.request(
        request.method,
        request.url,
        params={name: str(value) for name, value in request.params.items() if value is not None} or None,
        headers=headers,
        json=_drop_none_values(request.json),
        limits=RequestLimits(timeout_s=access.timeout, max_body_bytes=max_body_bytes),
        trusted=access.trusted,
    )


def _drop_none_values(body: Any) -> Any:
    return {name: value for name, value in body.items() if value is not None} if isinstance(body, dict) else body


def _check_reply(provider: SearchProvider, access: ProviderAccess, reply: "HttpResponse") -> Any:
    """The parsed body of an answer. Raises the typed failure that page, status or body tell of."""
    text = reply.body.decode("utf-8", "replace")
    if is_html_page(reply.content_type, text):
        _raise_page_error(provider, access, reply, text)
    if not 200 <= reply.status < 300:
        _raise_status_error(provider, access, reply, text)
    return provider.decode_reply(reply)


def _raise_page_error(provider: SearchProvider, access: ProviderAccess, reply: "HttpResponse", text: str) -> NoReturn:
    wall, remedy = detect_block(text), provider.remedy if access.keyless else ""
    wait = _parse_retry_after(reply, None)
    if wall == "captcha":
        raise build_failure("captcha", f"{provider.title} asks for a CAPTCHA", retry_after=wait, hint=remedy)
    if wall == "blocked":
        raise build_failure("blocked", f"{provider.title} blocks this network", retry_after=wait, hint=remedy)
    rule = _find_error_rule(provider, reply.status, clean_text(text[:MAX_REPLY_CHARS]))
    if rule is not None and rule.hint:
        raise build_failure(rule.code, f"{provider.title}: {rule.hint}", hint=rule.hint, retry_after=wait)
    if 200 <= reply.status < 400:
        raise build_failure(
            "bad_reply",
            f"{provider.title} sent a web page where JSON was expected",
            hint=f"check the endpoint of {provider.name}, and whether a login page or a proxy stands before it",
        )
    raise build_failure(
        classify_status(reply.status), f"{provider.title} answered {reply.status} with a web page", retry_after=wait
    )


def _raise_status_error(provider: SearchProvider, access: ProviderAccess, reply: "HttpResponse", text: str) -> NoReturn:
    body = _parse_json(text)
    said = _find_message(body) or clean_text(text[:MAX_REPLY_CHARS])
    rule = _find_error_rule(provider, reply.status, said)
    code = rule.code if rule else _classify_failure(reply.status, said)
    shown = f": {said}" if said else ""
    # Whoever has a key already is not helped by getting one, unless it is wrong.
    cured = code == "auth" or (access.keyless and code in {"quota", "rate_limited"})
    hint = (rule.hint if rule else "") or (provider.remedy if cured else "")
    wait = _parse_retry_after(reply, body, access.now)
    raise build_failure(code, f"{provider.title} answered {reply.status}{shown}", hint=hint, retry_after=wait)


def _find_error_rule(provider: SearchProvider, status: int, message: str) -> ErrorRule | None:
    fitting = (rule for rule in provider.error_rules if rule.status in {None, status})
    return next((rule for rule in fitting if re.search(rule.pattern, message, re.IGNORECASE)), None)


def _classify_failure(status: int, message: str) -> FailureCode:
    code = classify_status(status)
    spent = code in {"rate_limited", "auth", "bad_request"} and QUOTA_EXHAUSTED.search(message)
    return "quota" if spent else code


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _find_message(body: Any, depth: int = 0) -> str:
    """The sentence that an error body holds, under the names that the providers use for it."""
    if isinstance(body, str):
        return clean_text(body[:MAX_REPLY_CHARS])
    if isinstance(body, list):
        body = body[0] if body else None
    if not isinstance(body, dict) or depth > 3:
        return ""
    names = ("userMessage", "error", "detail", "message", "errors", "error_message", "code", "errorCode")
    return next((said for name in names if (said := _find_message(body.get(name), depth + 1))), "")


def _parse_retry_after(reply: "HttpResponse", body: Any, now: float = 0.0) -> float | None:
    """Seconds to wait, from the header (RFC 9110, 10.2.3) or from what the body says."""
    max_wait_s = 30 * 86_400.0  # seconds; a month is the longest plan period
    told = reply.headers.get("retry-after")
    error = body.get("error") if isinstance(body, dict) else None
    inner = error if isinstance(error, dict) else {}
    outer = body if isinstance(body, dict) else {}
    for value in (told, inner.get("retry_after_seconds"), outer.get("retryAfter"), outer.get("retry_after")):
        seconds = _parse_seconds(value, now)
        if seconds is not None:
            return min(seconds, max_wait_s)
    return None


def _parse_seconds(value: Any, now: float) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return _parse_http_date(value, now)
    return seconds if 0 <= seconds < float("inf") else None


def _parse_http_date(value: Any, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(str(value))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.fromtimestamp(now, UTC)).total_seconds())


def _sanitize_error(error: OutriderError, provider: SearchProvider, access: ProviderAccess) -> OutriderError:
    """The error as one of our codes, without keys and without the traceback that may hold them."""
    max_message_chars = 240
    code = _typed(error.code)
    message = error.message if provider.title in error.message else f"{provider.title}: {error.message}"
    if code == "timeout" and error.code == "timeout":
        message = f"{provider.title} did not answer within {access.timeout:g} seconds"
    return build_failure(
        code,
        redact_secrets(message[:MAX_REPLY_CHARS], access.secrets)[:max_message_chars],
        hint=redact_secrets(error.hint, access.secrets),
        retry_after=error.retry_after,
    )


def _typed(code: str) -> FailureCode:
    return {**{own: own for own in ERROR_CLASSES}, **HTTP_ERROR_CODES}.get(code, "unavailable")
