"""Services that are searched instead of the web: requests, results and rates."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any, get_args

import pytest

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import InvalidInput, NotConfigured, OutriderError
from outrider.core.http import HttpClient
from outrider.search.provider import Query
from outrider.search.search import Search
from outrider.search.selection import load_providers, load_sources, plan_source
from outrider.search.settings import SearchSettings
from outrider.toolsets.web.tools import SourceName
from support.fakes import http_servers, search_sources
from support.fakes.search_providers import SEARCH_TIME_S

pytestmark = pytest.mark.anyio
TEA_QUERY = Query("tea", count=5)
JSON = {"content-type": "application/json"}


@dataclass
class World:
    """A search with its sources on loopback; the clock is stopped at `now`."""

    behaviour: search_sources.SourceBehaviour
    settings: SearchSettings
    http: HttpClient
    now: float = SEARCH_TIME_S
    search: Search = field(init=False)

    def __post_init__(self) -> None:
        self.search = Search(self.http, self.settings, None, clock=lambda: self.now)

    async def send_query(self, source: str, query: Query) -> dict[str, str]:
        """Return the parameters of the request to a source."""
        await self.search.find(query, source=source)
        return self.behaviour.requests[-1].query

    async def failure(self, source: str, reply: search_sources.Reply) -> dict[str, Any]:
        self.behaviour.replies[source] = reply
        with pytest.raises(OutriderError) as caught:
            await self.search.find(TEA_QUERY, source=source)
        return caught.value.details["attempts"][-1] | {"hint": caught.value.hint, "wait": caught.value.retry_after}


@asynccontextmanager
async def open_world(**more: Any) -> AsyncGenerator[World]:
    behaviour = search_sources.SourceBehaviour()
    async with http_servers.serve_app(search_sources.build_source_app(behaviour)) as url:
        http = HttpClient(EgressGuard())
        providers = search_sources.build_source_settings(url)
        for name, content in more.pop("providers", {}).items():
            providers[name] |= content
        try:
            yield World(behaviour, SearchSettings(providers=providers, **more), http)
        finally:
            await http.close()


FIRST_BY_SOURCE = {
    "arxiv": ("Tea & steam 1", "https://arxiv.org/abs/2603.00001v1", "A. Leaf, B. Pot … We pour tea."),
    "crates": ("tea-1 1.4.0", "https://crates.io/crates/tea-1", "Brews · 1234 downloads"),
    "github": ("tea/pot1", "https://github.com/tea/pot1", "Brews tea · Rust · 42 stars · tea, cli"),
    "github_issues": (
        "Leak 1",
        "https://github.com/tea/pot/issues/1",
        "tea/pot #1, open, 3 comments … It drips.",
    ),
    "npm": ("@tea/pot1 1.0.0", "https://www.npmjs.com/package/@tea/pot1", "Brews · tea"),
    "pypi": ("tea 2.1", "https://index.example/project/tea/", "Brews · Python >=3.10"),
    "stackexchange": (
        'Why does tea "1" leak?',
        "https://stackoverflow.com/questions/1/tea",
        "2 answers, accepted answer, score 7 … My pot drips. pour()",
    ),
    "wikipedia": ("Tea (drink 1)", "https://en.wikipedia.org/wiki/Tea_(drink_1)", "Tea is a drink"),
}


def test_the_tool_offers_exactly_the_sources_that_there_are():
    assert set(get_args(SourceName)) == {"web", *load_sources()} == {"web", *search_sources.ANSWERS}
    assert not set(load_sources()) & set(load_providers())


async def test_each_source_answers_in_the_usual_shape():
    async with open_world() as w:
        for name, expected in FIRST_BY_SOURCE.items():
            found = await w.search.find(TEA_QUERY, source=name)
            first = found.hits[0]
            assert (first.title, first.url, first.snippet) == expected, name
            assert found.provider == name
            assert (first.published or "").startswith("2026-03-05"), name
            assert [each.outcome for each in found.attempts] == ["ok"], name


async def test_result_pages_do_not_overlap():
    async with open_world() as w:
        for name in sorted(set(load_sources()) - {"pypi"}):
            pages = [await w.search.find(Query("tea", count=5, page=page), source=name) for page in (1, 2, 3)]
            urls = [hit.url for page in pages for hit in page.hits]
            assert len(urls) == len(set(urls)) == search_sources.RESULTS, name


SINCE = Query("tea", count=5, since=date(2026, 3, 1), until=date(2026, 3, 31))
ASKED = [
    ("github", SINCE, {"q": "tea pushed:2026-03-01..2026-03-31", "per_page": "5"}),
    ("github", Query("tea", sites=("github.com/tea/pot",)), {"q": "tea repo:tea/pot"}),
    ("github", Query("tea", sites=("github.com/tea",), freshness="week"), {"q": "tea user:tea pushed:2026-11-13..*"}),
    ("github_issues", TEA_QUERY, {"q": "tea (is:issue OR is:pull-request)", "advanced_search": "true"}),
    ("github_issues", Query("tea is:pr"), {"q": "tea is:pr"}),
    ("stackexchange", SINCE, {"site": "stackoverflow.com", "fromdate": "1772323200", "todate": "1775001599"}),
    ("stackexchange", Query("tea", sites=("unix.stackexchange.com",)), {"site": "unix.stackexchange.com"}),
    ("arxiv", Query('how to pour "green tea"', count=5), {"search_query": 'all:pour AND all:"green tea"'}),
    ("arxiv", SINCE, {"search_query": "all:tea AND submittedDate:[202603010000 TO 202603312359]"}),
    ("wikipedia", Query("tea", language="de-AT"), {"srsearch": "tea"}),
]


async def test_dates_owners_and_sites_are_sent_in_each_sources_own_parameters():
    async with open_world() as w:
        for name, query, expected in ASKED:
            asked = await w.send_query(name, query)
            assert {key: asked.get(key) for key in expected} == expected, (name, query)


async def test_articles_of_wikipedia_have_the_address_of_their_language():
    async with open_world() as w:
        found = await w.search.find(Query("tea", language="de"), source="wikipedia")
    assert found.hits[0].url == "https://de.wikipedia.org/wiki/Tea_(drink_1)"


async def test_the_words_of_a_query_are_tried_as_names_of_python_packages():
    async with open_world() as w:
        found = await w.search.find(Query("Tea pot"), source="pypi")
        assert [hit.title for hit in found.hits] == ["tea 2.1", "pot 2.1"]
        assert [request.path for request in w.behaviour.requests] == [
            "/pypi/tea-pot/json",
            "/pypi/tea/json",
            "/pypi/pot/json",
        ]
        assert "PyPI has no search" in " ".join(found.notes)
        nothing = await w.search.find(Query("../../etc unknown"), source="pypi")
        assert nothing.hits == ()
        assert all(request.path.count("/") == 3 for request in w.behaviour.requests)


async def test_a_source_that_asks_for_a_pause_is_paused():
    async with open_world() as w:
        w.behaviour.backoff = 10
        assert (await w.search.find(TEA_QUERY, source="stackexchange")).hits
        w.behaviour.backoff = None
        health = {row.name: row.health for row in await w.search.list_providers()}["stackexchange"]
        assert health is not None
        assert (health.quota_left, health.limited_until) == (297, SEARCH_TIME_S + 10)


FAILURES = [
    ("github", (403, JSON, '{"message": "API rate limit exceeded for 192.0.2.1."}'), "rate_limited"),
    ("github", (422, JSON, '{"message": "Validation Failed"}'), "bad_request"),
    ("github_issues", (403, JSON, '{"message": "You have exceeded a secondary rate limit"}'), "rate_limited"),
    ("stackexchange", (400, JSON, '{"error_id": 502, "error_message": "too many requests"}'), "rate_limited"),
    ("stackexchange", (400, JSON, '{"error_id": 400, "error_message": "No site found"}'), "bad_request"),
    ("wikipedia", (200, JSON, '{"error": {"code": "badvalue", "info": "Unrecognized value"}}'), "bad_request"),
    ("arxiv", (200, {"content-type": "application/atom+xml"}, "<feed"), "bad_reply"),
    ("arxiv", (200, {"content-type": "application/atom+xml"}, "<!DOCTYPE x [<!ENTITY a 'a'>]><x/>"), "bad_reply"),
    ("arxiv", (503, {"content-type": "text/plain", "retry-after": "9"}, "Retry after 9 seconds"), "unavailable"),
    ("pypi", (500, JSON, "{}"), "unavailable"),
    ("npm", (200, JSON, '{"objects": [{"package": 7}]}'), "bad_reply"),
    ("npm", (200, JSON, "[]"), "bad_reply"),
    ("crates", (403, JSON, '{"errors": [{"detail": "violation of our crawler policy"}]}'), "auth"),
    ("crates", (200, JSON, '{"crates": "none"}'), "bad_reply"),
]


async def test_a_source_that_fails_says_how_and_what_to_do_instead():
    for name, reply, outcome in FAILURES:
        async with open_world() as w:
            failed = await w.failure(name, reply)
        assert failed["outcome"] == outcome, (name, reply)
        assert "search the web with site=" in failed["hint"], name


async def test_the_operators_token_is_sent_to_github_only_and_never_shown():
    async with open_world(providers={"github": {"api_key": "ghp_a1b2c3d4e5f6g7h8"}}) as w:
        await w.search.find(TEA_QUERY, source="github")
        await w.search.find(TEA_QUERY, source="github_issues")
        tokens = [request.headers.get("authorization") for request in w.behaviour.requests]
        assert tokens == ["Bearer ghp_a1b2c3d4e5f6g7h8", None]
        failed = await w.failure("github", (401, JSON, '{"message": "Bad credentials ghp_a1b2c3d4e5f6g7h8"}'))
    assert failed["outcome"] == "auth"
    assert "a1b2c3d4" not in str(failed)


async def test_a_source_that_the_operator_disabled_is_refused_with_a_remedy():
    for settings in ({"disabled": ["github"]}, {"keyless": False}):
        async with open_world(**settings) as w:
            with pytest.raises(NotConfigured, match="github is turned off") as caught:
                await w.search.find(TEA_QUERY, source="github")
            assert "leave out `source`" in caught.value.hint
            row = {row.name: row for row in await w.search.list_providers()}["github"]
            assert not row.usable
            assert not w.behaviour.requests


def test_an_unknown_source_is_an_error_that_names_the_known_ones():
    with pytest.raises(InvalidInput, match=r"source: must be one of arxiv, .*wikipedia, not 'gopher'"):
        plan_source(SearchSettings(), {}, "gopher")


async def test_a_web_search_never_asks_a_source():
    async with open_world(disabled=sorted(set(load_providers()) - {"local"})) as w:
        with pytest.raises(NotConfigured):
            await w.search.find(TEA_QUERY)
        assert not w.behaviour.requests


async def test_a_check_of_all_providers_asks_every_source():
    async with open_world(disabled=sorted(load_providers())) as w:
        attempts = await w.search.ask_every_provider(Query("anything", count=3))
        assert {each.provider: each.outcome for each in attempts} == dict.fromkeys(load_sources(), "ok")
        assert all("requests" in f"{request.query} {request.path}" for request in w.behaviour.requests)
