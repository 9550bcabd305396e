"""One question to one provider: what it cannot do is noted, how it fails is typed, keys stay hidden."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

from outrider.core.errors import OutriderError
from outrider.core.http import Http, Limits, Reply
from outrider.search.blocked import is_page, why_blocked
from outrider.search.failures import KINDS, Code, code_of, failure
from outrider.search.hits import plain, to_hits
from outrider.search.links import plain_site
from outrider.search.provider import Access, Ask, Feature, Hit, Powers, Provider, Query, Ran, Rule
from outrider.search.redact import redact

FEATURES: tuple[Feature, ...] = ("freshness", "language", "region", "safe")
WANTS: Mapping[str, str] = {
    "freshness": "cannot limit results by date",
    "language": "cannot choose a language",
    "region": "cannot choose a region",
    "safe": "has no safe-search setting",
}
SPENT = re.compile(r"credits?\b|quota|out of searches|usage limit|plan.{0,12} limit|daily limit|billing", re.IGNORECASE)
# What `core.http` calls its failures; whatever else it says, the provider could not be reached.
HTTP_CODES: Mapping[str, Code] = {
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
READ_CHARS = 2_000  # of what a provider says; shown are the first after keys are out
MESSAGE_CHARS = 240
LONGEST_WAIT = 30 * 86_400.0  # seconds; a month is the longest plan period
BODY = 5_000_000  # bytes; the largest honest answer of a provider is far below


@dataclass(frozen=True)
class Answer:
    """What one provider answered: hits in its order, notes on what it could not do, plan calls left.

    `engine` is whose result page it was, where the provider read one.
    """

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    quota_left: int | None = None
    engine: str = ""


async def ask(provider: Provider, access: Access, query: Query, http: "Http", powers: Powers) -> Answer:
    """Asks one provider and returns its cleaned answer.

    Raises:
        OutriderError: one of the codes of `search.failures`, without any key in its text.
    """
    if provider.gone(access):
        raise failure("sunset", f"{provider.title} ended on {provider.sunset}", hint=provider.remedy)
    wanted, notes = adapt(provider, access, query)
    try:
        found, more, left, engine = await _found(provider, access, wanted, http, powers)
    except OutriderError as error:
        raise _safe(error, provider, access) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        # The wire decides what stands where; a mapping that trips over it has met a bad reply.
        raise failure("bad_reply", f"{provider.title} answered in an unknown shape") from None
    hits = to_hits(found, query, provider.name, access.secrets)
    hits = hits if provider.supports("page", query, keyless=access.keyless) else hits[query.start :]
    return Answer(tuple(hits[: query.count]), (*notes, *more), left, engine)


def adapt(provider: Provider, access: Access, query: Query) -> tuple[Query, tuple[str, ...]]:
    """The query as the provider can take it, and a note for everything that it cannot honour.

    Raises `unsupported` for a mode or a page that it does not have.
    """
    if query.mode not in provider.modes:
        raise failure("unsupported", f"{provider.title} has no {query.mode} search")
    notes = [f"{provider.title} {WANTS[each]}" for each in FEATURES if _unmet(provider, access, query, each)]
    dropped: dict[str, Any] = {each: None for each in FEATURES if _unmet(provider, access, query, each)}
    if "safe" in dropped:
        dropped["safe"] = "moderate"
    query = replace(query, **dropped)
    query, site_note = _with_site(provider, access, query)
    query, cut_note = _shortened(provider, query)
    query, count_note = _paged(provider, access, query)
    return query, (*notes, *filter(None, (site_note, cut_note, count_note)))


def _unmet(provider: Provider, access: Access, query: Query, feature: Feature) -> bool:
    value = getattr(query, feature)
    asked = value != "moderate" if feature == "safe" else value is not None
    return asked and not provider.supports(feature, query, keyless=access.keyless)


def _with_site(provider: Provider, access: Access, query: Query) -> tuple[Query, str]:
    if not query.site:
        return query, ""
    site = plain_site(query.site)
    if provider.supports("site", query, keyless=access.keyless):
        return replace(query, site=site), ""
    if provider.site_operator:
        return replace(query, site=None, text=f"{query.text} site:{site}"), ""
    note = f"{provider.title} cannot search within one site; its results were filtered for {site}"
    return replace(query, site=None, text=f"{query.text} {site}"), note


def _shortened(provider: Provider, query: Query) -> tuple[Query, str]:
    """Cuts the words but never the `site:` at their end."""
    words, site, domain = query.text.rpartition(" site:") if " site:" in query.text else (query.text, "", "")
    tail = f"{site}{domain}"
    kept = " ".join(words.split()[: provider.max_words - bool(tail)]) if _long(provider, query.text) else words
    room = provider.max_chars - len(tail)
    kept = kept if len(kept) <= room else kept[:room].rsplit(" ", 1)[0]
    if kept == words:
        return query, ""
    return replace(query, text=kept + tail), f"{provider.title} takes shorter queries: only the beginning was searched"


def _long(provider: Provider, text: str) -> bool:
    return len(text.split()) > provider.max_words


def _paged(provider: Provider, access: Access, query: Query) -> tuple[Query, str]:
    """The count to fetch. Those that cannot page give one long answer, from which the page is cut."""
    most, last = provider.max_count, query.start + query.count
    if not provider.supports("page", query, keyless=access.keyless):
        if query.start >= most:
            raise failure("unsupported", f"{provider.title} has no results beyond the first {most}")
        fetched = replace(query, page=1, count=min(last, most))
        return fetched, f"{provider.title} gives at most {most} results" if last > most else ""
    fetched = replace(query, count=min(query.count, most))
    if provider.max_offset is not None and fetched.start > provider.max_offset:
        raise failure("unsupported", f"{provider.title} has no page {query.page}")
    return fetched, f"{provider.title} gives at most {most} results a page" if query.count > most else ""


async def _found(
    provider: Provider, access: Access, query: Query, http: "Http", powers: Powers
) -> tuple[list[dict[str, Any]], tuple[str, ...], int | None, str]:
    if provider.run is not None:
        ran = await provider.run(query, access, powers)
        return (ran.items, (), None, ran.engine) if isinstance(ran, Ran) else (ran, (), None, "")
    if provider.ask is None or provider.read is None:
        raise failure("unsupported", f"{provider.title} has no request mapping")
    notes: list[str] = []

    async def send(asked: Ask) -> "Reply":
        notes.extend(asked.notes)
        return await _send(asked, access, http)

    reply = await (provider.call(send, query, access) if provider.call else send(provider.ask(query, access)))
    body = _checked(provider, access, reply)
    return provider.read(body, query), tuple(notes), provider.quota(reply), ""


async def _send(asked: Ask, access: Access, http: "Http") -> "Reply":
    headers = {"Accept": "application/json", **asked.headers}
    if access.user_agent:
        headers["User-Agent"] = access.user_agent
    return await http.request(
        asked.method,
        asked.url,
        params={name: str(value) for name, value in asked.params.items() if value is not None} or None,
        headers=headers,
        json=_without_none(asked.json),
        limits=Limits(seconds=access.timeout, body=BODY),
        trusted=access.trusted,
    )


def _without_none(body: Any) -> Any:
    return {name: value for name, value in body.items() if value is not None} if isinstance(body, dict) else body


def _checked(provider: Provider, access: Access, reply: "Reply") -> Any:
    """The parsed body of an answer. Raises the typed failure that page, status or body tell of."""
    text = reply.body.decode("utf-8", "replace")
    if is_page(reply.content_type, text):
        _fail_page(provider, access, reply, text)
    if not 200 <= reply.status < 300:
        _fail(provider, access, reply, text)
    return provider.decode(reply)


def _fail_page(provider: Provider, access: Access, reply: "Reply", text: str) -> NoReturn:
    wall, remedy = why_blocked(text), provider.remedy if access.keyless else ""
    wait = _retry_after(reply, None)
    if wall == "captcha":
        raise failure("captcha", f"{provider.title} asks for a CAPTCHA", retry_after=wait, hint=remedy)
    if wall == "blocked":
        raise failure("blocked", f"{provider.title} blocks this network", retry_after=wait, hint=remedy)
    rule = _rule(provider, reply.status, plain(text[:READ_CHARS]))
    if rule is not None and rule.hint:
        raise failure(rule.code, f"{provider.title}: {rule.hint}", hint=rule.hint, retry_after=wait)
    if 200 <= reply.status < 400:
        raise failure(
            "bad_reply",
            f"{provider.title} sent a web page where JSON was expected",
            hint=f"check the endpoint of {provider.name}, and whether a login page or a proxy stands before it",
        )
    raise failure(code_of(reply.status), f"{provider.title} answered {reply.status} with a web page", retry_after=wait)


def _fail(provider: Provider, access: Access, reply: "Reply", text: str) -> NoReturn:
    body = _parsed(text)
    said = _message(body) or plain(text[:READ_CHARS])
    rule = _rule(provider, reply.status, said)
    code = rule.code if rule else _code(reply.status, said)
    shown = f": {said}" if said else ""
    # Whoever has a key already is not helped by getting one, unless it is wrong.
    cured = code == "auth" or (access.keyless and code in {"quota", "rate_limited"})
    hint = (rule.hint if rule else "") or (provider.remedy if cured else "")
    wait = _retry_after(reply, body, access.now)
    raise failure(code, f"{provider.title} answered {reply.status}{shown}", hint=hint, retry_after=wait)


def _rule(provider: Provider, status: int, said: str) -> Rule | None:
    fitting = (rule for rule in provider.rules if rule.status in {None, status})
    return next((rule for rule in fitting if re.search(rule.words, said, re.IGNORECASE)), None)


def _code(status: int, said: str) -> Code:
    code = code_of(status)
    spent = code in {"rate_limited", "auth", "bad_request"} and SPENT.search(said)
    return "quota" if spent else code


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _message(body: Any, depth: int = 0) -> str:
    """The sentence that an error body holds, under the names that the providers use for it."""
    if isinstance(body, str):
        return plain(body[:READ_CHARS])
    if isinstance(body, list):
        body = body[0] if body else None
    if not isinstance(body, dict) or depth > 3:
        return ""
    names = ("userMessage", "error", "detail", "message", "errors", "error_message", "code", "errorCode")
    return next((said for name in names if (said := _message(body.get(name), depth + 1))), "")


def _retry_after(reply: "Reply", body: Any, now: float = 0.0) -> float | None:
    """Seconds to wait, from the header (RFC 9110, 10.2.3) or from what the body says."""
    told = reply.headers.get("retry-after")
    error = body.get("error") if isinstance(body, dict) else None
    inner = error if isinstance(error, dict) else {}
    outer = body if isinstance(body, dict) else {}
    for value in (told, inner.get("retry_after_seconds"), outer.get("retryAfter"), outer.get("retry_after")):
        seconds = _seconds(value, now)
        if seconds is not None:
            return min(seconds, LONGEST_WAIT)
    return None


def _seconds(value: Any, now: float) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return _until(value, now)
    return seconds if 0 <= seconds < float("inf") else None


def _until(value: Any, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(str(value))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.fromtimestamp(now, UTC)).total_seconds())


def _safe(error: OutriderError, provider: Provider, access: Access) -> OutriderError:
    """The error as one of our codes, without keys and without the traceback that may hold them."""
    code = _typed(error.code)
    message = error.message if provider.title in error.message else f"{provider.title}: {error.message}"
    if code == "timeout" and error.code == "timeout":
        message = f"{provider.title} did not answer within {access.timeout:g} seconds"
    return failure(
        code,
        redact(message[:READ_CHARS], access.secrets)[:MESSAGE_CHARS],
        hint=redact(error.hint, access.secrets),
        retry_after=error.retry_after,
    )


def _typed(code: str) -> Code:
    return {**{own: own for own in KINDS}, **HTTP_CODES}.get(code, "unavailable")
