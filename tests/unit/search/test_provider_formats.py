"""Specific wire formats of single providers."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import date
from typing import Any

import pytest

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import InvalidInput, OutriderError
from outrider.core.http import HttpClient
from outrider.search.outcome import SearchOutcome
from outrider.search.provider import Query
from outrider.search.search import Search
from outrider.search.selection import load_providers
from outrider.search.settings import SearchSettings
from support.fakes import http_servers, search_providers
from support.fakes.search_providers import SEARCH_TIME_S

pytestmark = pytest.mark.anyio


class Wire:
    def __init__(self, http: HttpClient, url: str, behaviour: search_providers.ProviderBehaviour) -> None:
        self.http, self.url, self.behaviour = http, url, behaviour

    async def find(self, name: str, query: Query, *, keyed: bool = True) -> SearchOutcome:
        key = search_providers.PROVIDER_API_KEY if keyed else ""
        unused = sorted(set(load_providers()) - {name})
        settings = SearchSettings(
            providers=search_providers.build_provider_settings(self.url, name, key=key, rate=1000), disabled=unused
        )
        return await Search(self.http, settings, None, clock=lambda: SEARCH_TIME_S).find(query)

    async def ask(self, name: str, query: Query, *, keyed: bool = True) -> dict[str, Any]:
        """Return the request on the wire for a query."""
        await self.find(name, query, keyed=keyed)
        request = self.behaviour.requests[-1]
        return request.body or request.query

    async def failure(self, name: str, *, keyed: bool = True) -> dict[str, Any]:
        with pytest.raises(OutriderError) as caught:
            await self.find(name, Query("tea"), keyed=keyed)
        return caught.value.details["attempts"][-1] | {"hint": caught.value.hint, "wait": caught.value.retry_after}


@asynccontextmanager
async def open_wire(**behaviour: Any) -> AsyncGenerator[Wire]:
    acting = search_providers.ProviderBehaviour(**behaviour)
    async with http_servers.serve_app(search_providers.build_provider_app(acting)) as url:
        http = HttpClient(EgressGuard())
        try:
            yield Wire(http, url, acting)
        finally:
            await http.close()


FULL_QUERY = Query("tea", count=5, freshness="week", language="de-AT", region="at", safe="strict", sites=("a.example",))
SENT = {
    "bing": {"mkt": "de-AT", "freshness": "Week", "safeSearch": "Strict", "q": "tea site:a.example", "count": "5"},
    "brave": {"country": "AT", "search_lang": "de", "freshness": "pw", "safesearch": "strict"},
    "exa": {
        "userLocation": "AT",
        "includeDomains": ["a.example"],
        "startPublishedDate": "2026-11-13T00:00:00.000Z",
        "moderation": True,
    },
    "firecrawl": {"country": "AT", "tbs": "qdr:w", "includeDomains": ["a.example"], "sources": ["web"], "limit": 5},
    "google_cse": {"gl": "at", "lr": "lang_de", "dateRestrict": "w1", "safe": "active", "q": "tea site:a.example"},
    "jina": {"gl": "at", "hl": "de", "num": "5", "q": "tea site:a.example"},
    "kagi": {
        "filters": {"region": "at", "after": "2026-11-13"},
        "lens": {"sites_included": ["a.example"]},
        "limit": 5,
        "safe_search": True,
        "workflow": "search",
    },
    "linkup": {"fromDate": "2026-11-13", "includeDomains": ["a.example"], "maxResults": 5, "depth": "standard"},
    "parallel": {
        "search_queries": ["tea"],
        "advanced_settings": {
            "max_results": 5,
            "location": "at",
            "excerpt_settings": {"max_chars_per_result": 1000},
            "source_policy": {"include_domains": ["a.example"], "after_date": "2026-11-13"},
        },
    },
    "perplexity": {
        "country": "AT",
        "search_language_filter": ["de"],
        "search_recency_filter": "week",
        "search_domain_filter": ["a.example"],
        "max_results": 5,
    },
    "searxng": {"language": "de-AT", "time_range": "week", "safesearch": "2", "categories": "general"},
    "serpapi": {"gl": "at", "hl": "de", "tbs": "qdr:w", "safe": "active", "engine": "google"},
    "serper": {"gl": "at", "hl": "de", "tbs": "qdr:w", "num": 5, "q": "tea site:a.example"},
    "tavily": {"country": "austria", "time_range": "week", "include_domains": ["a.example"], "max_results": 5},
    "webiq": {
        "language": "de",
        "region": "AT",
        "safeSearch": "strict",
        "maxResults": 5,
        "query": "tea site:a.example",
        "contentFormat": "passage",
        "maxLength": 2000,
    },
    "you": {"country": "AT", "freshness": "week", "count": "5"},
}


async def test_options_are_sent_in_each_providers_own_parameters():
    async with open_wire() as w:
        for name, expected in SENT.items():
            asked = await w.ask(name, FULL_QUERY)
            assert {key: asked.get(key) for key in expected} == expected, name


LOCALES = [
    (
        "ja",
        "jp",
        {"brave": ("jp", "JP"), "you": ("JA", "JP"), "serpapi": ("ja", "jp"), "google_cse": ("lang_ja", "jp")},
    ),
    ("pt", "br", {"brave": ("pt-br", "BR"), "you": ("PT-BR", "BR"), "serpapi": ("pt-BR", "br")}),
    ("pt-PT", None, {"brave": ("pt-pt", "PT"), "you": ("PT-PT", "PT"), "serpapi": ("pt-PT", "pt")}),
    ("zh-TW", None, {"brave": ("zh-hant", "TW"), "you": ("ZH-HANT", "TW"), "google_cse": ("lang_zh-TW", "tw")}),
    ("zh", None, {"brave": ("zh-hans", None), "you": ("ZH-HANS", None), "serper": ("zh-CN", None)}),
    (
        "en",
        "gb",
        {"brave": ("en-gb", "GB"), "you": ("EN-GB", "GB"), "serpapi": ("en-GB", "uk"), "serper": ("en-GB", "gb")},
    ),
    ("no", "no", {"brave": ("nb", "NO"), "google_cse": ("lang_no", "no")}),
    ("he", "il", {"brave": ("he", "ALL"), "you": ("HE", None), "google_cse": ("lang_iw", "il")}),
    ("de-AT", None, {"brave": ("de", "AT"), "serpapi": ("de", "at"), "tavily": (None, "austria")}),
    ("ja", "JP", {"bing": ("jp", "ja-JP"), "searxng": ("ja-JP",), "jina": ("ja", "jp")}),
    ("no", "NO", {"bing": ("nb", "no-NO"), "searxng": ("nb-NO",), "jina": ("no", "no")}),
    ("de", None, {"bing": ("de", "de-DE"), "searxng": ("de",)}),
    ("zh-Hant", None, {"bing": ("zh-hant", "zh-TW"), "searxng": ("zh-TW",), "jina": ("zh-tw", None)}),
    (None, "CH", {"bing": (None, "de-CH"), "searxng": ("de-CH",), "tavily": (None, "switzerland")}),
    ("fr", "BE", {"bing": ("fr", "fr-BE"), "searxng": ("fr-BE",)}),
]
LOCALE_FIELDS = {
    "brave": ("search_lang", "country"),
    "you": ("language", "country"),
    "serpapi": ("hl", "gl"),
    "serper": ("hl", "gl"),
    "google_cse": ("lr", "gl"),
    "tavily": ("language", "country"),
    "bing": ("setLang", "mkt"),
    "searxng": ("language",),
    "jina": ("hl", "gl"),
}


async def test_languages_and_countries_are_sent_as_each_providers_codes():
    async with open_wire() as w:
        for language, region, expected in LOCALES:
            for name, codes in expected.items():
                asked = await w.ask(name, Query("tea", language=language, region=region))
                assert tuple(asked.get(field) for field in LOCALE_FIELDS[name]) == codes, (language, region, name)


async def test_a_language_or_country_without_a_code_is_named_in_a_note():
    async with open_wire() as w:
        for name in ("bing", "brave", "you"):
            notes = " ".join((await w.find(name, Query("tea", language="ka", region="GE"))).notes)
            assert "cannot choose the language ka" in notes, name
            assert "cannot choose the region GE" in notes, name
        for name, query, note in (
            ("searxng", Query("tea", language="ka"), "SearXNG cannot choose the language ka"),
            ("searxng", Query("tea", language="de", region="LU"), "SearXNG cannot choose the region LU for de"),
            ("searxng", Query("tea", region="AT"), "de-AT was searched"),
            ("searxng", Query("tea", region="GE"), "SearXNG cannot choose the region GE"),
            ("bing", Query("tea", language="de", region="US"), "Bing cannot choose the region US"),
            ("tavily", Query("tea", region="AQ"), "Tavily cannot choose the region AQ"),
            ("jina", Query("tea", language="hsb"), "Jina cannot choose the language hsb"),
            ("webiq", Query("tea", language="hsb"), "Web IQ cannot choose the language hsb"),
            ("webiq", Query("tea", mode="news", safe="strict"), "Web IQ has no safe-search setting"),
            ("perplexity", Query("tea", language="hsb"), "Perplexity cannot choose the language hsb"),
            ("parallel", RANGE, "Parallel takes a first day only"),
        ):
            assert note in " ".join((await w.find(name, query)).notes), (name, note)


RANGE = Query("tea", count=5, since=date(2026, 3, 1), until=date(2026, 3, 31), exclude=("b.example", "c.example/old"))
RANGE_SENT = {
    "brave": {"freshness": "2026-03-01to2026-03-31", "q": "tea -site:b.example -site:c.example/old"},
    "exa": {
        "startPublishedDate": "2026-03-01T00:00:00.000Z",
        "endPublishedDate": "2026-03-31T23:59:59.999Z",
        "excludeDomains": ["b.example"],
    },
    "firecrawl": {"tbs": "cdr:1,cd_min:03/01/2026,cd_max:03/31/2026", "excludeDomains": ["b.example"]},
    "google_cse": {"sort": "date:r:20260301:20260331", "q": "tea -site:b.example -site:c.example/old"},
    "serpapi": {"tbs": "cdr:1,cd_min:03/01/2026,cd_max:03/31/2026"},
    "serper": {"tbs": "cdr:1,cd_min:03/01/2026,cd_max:03/31/2026"},
    "tavily": {"start_date": "2026-03-01", "end_date": "2026-03-31", "exclude_domains": ["b.example"]},
    "you": {"freshness": "2026-03-01to2026-03-31", "exclude_domains": "b.example"},
    "bing": {"freshness": "2026-03-01..2026-03-31", "q": "tea -site:b.example -site:c.example/old"},
    "kagi": {
        "filters": {"after": "2026-03-01", "before": "2026-03-31"},
        "lens": {"sites_excluded": ["b.example"]},
    },
    "linkup": {"fromDate": "2026-03-01", "toDate": "2026-03-31", "excludeDomains": ["b.example"]},
    "perplexity": {
        "search_after_date_filter": "3/1/2026",
        "search_before_date_filter": "3/31/2026",
        "search_domain_filter": ["-b.example"],
    },
    "searxng": {"time_range": "year", "q": "tea -site:b.example -site:c.example/old"},
    "webiq": {"query": "tea -site:b.example -site:c.example/old"},
}


async def test_date_ranges_and_excluded_sites_are_sent_in_each_providers_format():
    async with open_wire() as w:
        for name, expected in RANGE_SENT.items():
            asked = await w.ask(name, RANGE)
            assert {key: asked.get(key) for key in expected} == expected, name


async def test_several_sites_are_sent_as_a_list_or_alternatives_without_paths_as_hosts():
    both = Query("tea", sites=("a.example", "https://www.b.example/"))
    below = Query("tea", sites=("a.example/docs",))
    sent = {
        "tavily": ("include_domains", ["a.example", "b.example"], ["a.example"]),
        "exa": ("includeDomains", ["a.example", "b.example"], ["a.example"]),
        "you": ("include_domains", "a.example,b.example", None),
        "firecrawl": ("includeDomains", ["a.example", "b.example"], None),
        "brave": ("q", "tea (site:a.example OR site:b.example)", "tea site:a.example/docs"),
    }
    async with open_wire() as w:
        for name, (field, of_both, of_path) in sent.items():
            assert (await w.ask(name, both)).get(field) == of_both, name
            assert (await w.ask(name, below)).get(field) == of_path, name
        assert (await w.ask("firecrawl", below))["query"] == "tea site:a.example/docs"


async def test_results_from_excluded_sites_or_other_dates_are_always_dropped():
    rows = [
        {"title": "kept", "url": "https://a.example/", "page_age": "2026-03-05T10:00:00"},
        {"title": "no date", "url": "https://a.example/2"},
        {"title": "too old", "url": "https://a.example/3", "page_age": "2025-03-05T10:00:00"},
        {"title": "excluded", "url": "https://www.b.example/4", "page_age": "2026-03-05T10:00:00"},
    ]
    async with open_wire(failure_bodies={"brave": {"type": "search", "web": {"results": rows}}}) as w:
        found = await w.find("brave", RANGE)
    assert [hit.title for hit in found.hits] == ["kept", "no date"]


async def test_a_serper_call_never_asks_for_more_than_one_credit_buys():
    async with open_wire() as w:
        assert (await w.ask("serper", Query("tea", count=16)))["num"] == 10


async def test_you_com_has_separate_endpoints_with_and_without_a_key():
    assert load_providers()["you"].endpoint == "https://ydc-index.io/v1/search"
    assert load_providers()["you"].keyless_endpoint == "https://api.you.com/v1/agents/search"


async def test_serpapi_news_are_flattened_from_groups_and_limited_by_operators():
    story = {"title": "Storm", "link": "https://a.example/1", "iso_date": "2026-03-05T10:00:00Z"}
    other = {"title": "Rain", "link": "https://b.example/2", "date": "03/05/2026"}
    body = {"search_metadata": {}, "news_results": [{"title": "Weather", "highlight": story, "stories": [other]}]}
    async with open_wire(failure_bodies={"serpapi": body}) as w:
        found = await w.find("serpapi", Query("tea", mode="news", freshness="week", sites=("b.example",)))
        query = w.behaviour.requests[-1].query
        assert [hit.title for hit in found.hits] == ["Rain"]
        assert query["q"] == "tea site:b.example when:7d"
        assert "tbs" not in query
        everything = await w.find("serpapi", Query("tea", mode="news"))
        assert (everything.hits[0].title, everything.hits[0].published) == ("Storm", "2026-03-05T10:00:00Z")


async def test_exa_searches_news_only_with_a_key():
    async with open_wire() as w:
        assert (await w.ask("exa", Query("tea", mode="news")))["category"] == "news"
        with pytest.raises(OutriderError, match="news search"):
            await w.find("exa", Query("tea", mode="news"), keyed=False)


async def test_a_page_that_contains_title_lines_is_one_result_of_exas_hosted_text():
    text = (
        "Title: Cards\nURL: https://a.example/\nText: A card has fields.\nTitle: its name\nand more\nand more\n"
        "and more\n\nTitle: Second\nAuthor: N/A\nPublished Date: 2026-03-01\nURL: https://b.example/\nText: Two."
    )
    body = {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": text}]}}
    async with open_wire(modes={"exa": "200"}, failure_bodies={"exa": body}) as w:
        hits = (await w.find("exa", Query("tea"), keyed=False)).hits
    assert [hit.title for hit in hits] == ["Cards", "Second"]
    assert "its name" in hits[0].snippet


async def test_the_second_page_starts_where_the_first_ended():
    starts = {
        "bing": ("offset", "5"),
        "google_cse": ("start", "6"),
        "serpapi": ("start", "5"),
        "brave": ("offset", "1"),
    }
    async with open_wire() as w:
        for name, (key, value) in starts.items():
            assert (await w.ask(name, Query("tea", count=5, page=2)))[key] == value, name


async def test_a_later_page_is_cut_from_a_larger_answer():
    async with open_wire() as w:
        for name, field in (("exa", "numResults"), ("firecrawl", "limit")):
            found = await w.find(name, Query("tea", count=15, page=2))
            assert w.behaviour.requests[-1].body[field] == 30, name
            assert found.hits[0].url == "https://www.place16.example/16", name
        with pytest.raises(InvalidInput, match="count: must be 1 to 20, not 21"):
            await w.find("exa", Query("tea", count=21))


@pytest.mark.parametrize("style", ["sse", "json", "session"])
async def test_exa_answers_without_a_key_in_every_dialect_of_the_protocol(style):
    async with open_wire(exa_transport=style) as w:
        found = await w.find("exa", Query("tea", count=3), keyed=False)
        methods = [request.body["method"] for request in w.behaviour.requests]
    assert [hit.snippet for hit in found.hits] == ["All about tea '1'", "All about tea '2'", "All about tea '3'"]
    shake = ["tools/call", "initialize", "notifications/initialized", "tools/call"]
    assert methods == (shake if style == "session" else ["tools/call"])


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"isError": True, "content": [{"type": "text", "text": "Free rate limit reached"}]}, "rate_limited"),
        ({"isError": True, "content": [{"type": "text", "text": "Internal problem"}]}, "unavailable"),
        ({"content": [{"type": "text", "text": "I could not do that"}]}, "bad_reply"),
    ],
)
async def test_exas_tool_failures_are_not_empty_results(result, code):
    async with open_wire(
        modes={"exa": "200"}, failure_bodies={"exa": {"jsonrpc": "2.0", "id": 2, "result": result}}
    ) as w:
        assert (await w.failure("exa", keyed=False))["outcome"] == code


async def test_exas_protocol_errors_are_typed():
    body = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32029, "message": "Too many requests"}}
    async with open_wire(modes={"exa": "200"}, failure_bodies={"exa": body}) as w:
        assert (await w.failure("exa", keyed=False))["outcome"] == "rate_limited"


async def test_tavily_without_a_key_says_so_in_its_header():
    async with open_wire() as w:
        await w.find("tavily", Query("tea"), keyed=False)
        headers = w.behaviour.requests[-1].headers
    assert headers["x-tavily-access-mode"] == "keyless"
    assert "authorization" not in headers


FAILURES = [
    ("tavily", "432", {"detail": {"error": "exceeds your plan's set usage limit"}}, "quota", None),
    ("tavily", "433", {"detail": {"error": "pay as you go limit"}}, "quota", None),
    (
        "tavily",
        "429",
        {"error": {"code": "x", "message": "Keyless", "retry_after_seconds": 3600}},
        "rate_limited",
        3600,
    ),
    ("brave", "422", {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "token is invalid"}}, "auth", None),
    ("brave", "422", {"error": {"detail": "q: too long"}}, "bad_request", None),
    ("serper", "400", {"message": "Not enough credits", "statusCode": 400}, "quota", None),
    ("serper", "403", {"message": "Unauthorized.", "statusCode": 403}, "auth", None),
    ("serpapi", "429", {"error": "Your account has run out of searches."}, "quota", None),
    ("serpapi", "429", {"error": "hourly throughput exceeded"}, "rate_limited", None),
    (
        "serpapi",
        "ok",
        {"search_metadata": {"status": "Error"}, "error": "We could not process it"},
        "unavailable",
        None,
    ),
    ("kagi", "402", {"error": [{"code": "billing.credit", "message": "Insufficient credit"}]}, "quota", None),
    ("jina", "402", {"code": 402, "message": "Account balance not enough to run this query"}, "quota", None),
    (
        "linkup",
        "429",
        {"statusCode": 429, "error": {"code": "INSUFFICIENT_FUNDS_CREDITS", "message": "Not enough credits"}},
        "quota",
        None,
    ),
    ("linkup", "429", {"error": {"code": "TOO_MANY_REQUESTS", "message": "Too many requests"}}, "rate_limited", None),
    ("parallel", "402", {"type": "error", "error": {"message": "Insufficient credit in account"}}, "quota", None),
    ("webiq", "430", {"errorCode": "X", "userMessage": "at the same time", "retryAfter": "60s"}, "rate_limited", 60),
    ("webiq", "429", {"errorCode": "X", "userMessage": "slow down", "retryAfter": "2"}, "rate_limited", 2),
    ("google_cse", "403", {"error": {"message": "Quota exceeded for quota metric"}}, "quota", None),
    ("google_cse", "429", {"error": {"message": "limit 'Queries per day'"}}, "quota", None),
    ("google_cse", "429", {"error": {"message": "limit 'Queries per minute'"}}, "rate_limited", None),
    ("google_cse", "400", {"error": {"message": "API key not valid. Please pass a valid API key."}}, "auth", None),
    ("google_cse", "400", {"error": {"message": "Request contains an invalid argument."}}, "bad_request", None),
    ("bing", "401", {"error": {"code": "401", "message": "invalid subscription key"}}, "auth", None),
    ("bing", "400", {"_type": "ErrorResponse", "errors": [{"message": "Parameter is wrong"}]}, "bad_request", None),
    ("firecrawl", "402", {"success": False, "error": "Insufficient credits"}, "quota", None),
    ("firecrawl", "ok", {"success": False, "error": "it failed"}, "unavailable", None),
    ("exa", "402", {"error": "no credits", "tag": "NO_MORE_CREDITS"}, "quota", None),
    ("exa", "429", {"error": "exceeded your Exa rate limit"}, "rate_limited", None),
    ("searxng", "ok", {"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}, "captcha", None),
    ("searxng", "ok", {"results": [], "unresponsive_engines": [["a", "timeout"]]}, "unavailable", None),
    ("searxng", "ok", {"results": [], "unresponsive_engines": [["a", "too many requests"]]}, "rate_limited", None),
    ("you", "429", {"message": "daily limit"}, "quota", None),
]


@pytest.mark.parametrize(("name", "status", "body", "code", "wait"), FAILURES, ids=lambda value: str(value)[:30])
async def test_provider_specific_failures_are_recognised(name, status, body, code, wait):
    async with open_wire(modes={name: status}, failure_bodies={name: body}) as w:
        failed = await w.failure(name)
    assert (failed["outcome"], failed["wait"]) == (code, wait)


async def test_searxng_without_json_says_what_to_change():
    page = "<!doctype html>\n<title>403 Forbidden</title><h1>Forbidden</h1><p>You don't have the permission.</p>"
    async with open_wire(modes={"searxng": "403"}, failure_bodies={"searxng": page}) as w:
        failed = await w.failure("searxng")
    assert failed["outcome"] == "not_configured"
    assert "add json to search.formats in settings.yml" in failed["hint"]


async def test_searxng_with_some_silent_engines_still_answers():
    rows = [{"title": "a", "url": "https://a.example/", "content": "b"}]
    async with open_wire(
        failure_bodies={"searxng": {"results": rows, "unresponsive_engines": [["x", "CAPTCHA"]]}}
    ) as w:
        assert len((await w.find("searxng", Query("tea"))).hits) == 1


async def test_serpapi_and_google_report_empty_results_in_their_own_ways():
    empty = {"search_metadata": {"status": "Success"}, "error": "Google hasn't returned any results for this query."}
    bodies = {"serpapi": empty, "google_cse": {"kind": "x", "searchInformation": {"totalResults": "0"}}}
    async with open_wire(failure_bodies=bodies) as w:
        for name in bodies:
            assert (await w.find(name, Query("tea"))).hits == ()


async def test_brave_reports_what_is_left_of_the_month():
    async with open_wire(failure_headers={"brave": {"x-ratelimit-remaining": "0, 14523"}}, modes={"brave": "200"}) as w:
        w.behaviour.failure_bodies["brave"] = {"type": "search", "web": {"results": []}}
        unused = sorted(set(load_providers()) - {"brave"})
        settings = SearchSettings(providers=search_providers.build_provider_settings(w.url, "brave"), disabled=unused)
        search = Search(w.http, settings, None, clock=lambda: SEARCH_TIME_S)
        await search.find(Query("tea"))
        health = {row.name: row.health for row in await search.list_providers()}["brave"]
    assert health is not None
    assert health.quota_left == 14523


async def test_a_retry_after_date_is_converted_to_seconds():
    when = {"retry-after": "Fri, 20 Nov 2026 00:00:40 GMT"}
    async with open_wire(modes={"brave": "429"}, failure_headers={"brave": when}) as w:
        assert (await w.failure("brave"))["wait"] == 40


async def test_nothing_of_a_request_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    async with open_wire() as w:
        for name in ("serpapi", "google_cse"):  # their keys are in the address
            await w.find(name, Query("tea"))
    own = [record for record in caplog.records if not record.name.startswith("uvicorn")]
    assert search_providers.PROVIDER_API_KEY not in " ".join(record.getMessage() for record in own)
