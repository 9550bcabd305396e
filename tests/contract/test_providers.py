"""Every search provider keeps the same contract; a new one only adds its wire format here."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import OutriderError
from outrider.core.http import HttpClient
from outrider.search.failures import ERROR_CLASSES
from outrider.search.provider import Query
from outrider.search.search import Search
from outrider.search.selection import load_providers
from outrider.search.settings import SearchSettings
from outrider.search.urls import is_within_site
from support.fakes import http_servers, search_providers
from support.fakes.search_providers import SEARCH_TIME_S

pytestmark = pytest.mark.anyio
OVER_HTTP = sorted(name for name, provider in load_providers().items() if provider.run_search is None)
KEYLESS = sorted(name for name in OVER_HTTP if load_providers()[name].keyless_rank)
EVERY = [(name, True) for name in OVER_HTTP] + [(name, False) for name in KEYLESS]
IN_MODES = [
    (name, keyed, mode)
    for name, keyed in EVERY
    for mode in sorted(load_providers()[name].list_modes(keyless=not keyed))
]
PROVIDERS_WITH_SECRETS = sorted(
    name for name in OVER_HTTP if any(each.secret for each in load_providers()[name].credentials)
)
EXPECTED = {
    **{key: {"captcha"} for key in ("captcha", "captcha_202", "captcha_as_json", "captcha_429")},
    **{key: {"bad_reply"} for key in ("page", "truncated", "nothing", "null", "list", "object", "number", "binary")},
    **{key: {"bad_reply", "unavailable"} for key in ("deep", "wrong_types", "wrong_items", "cut", "reset")},
    "wall": {"blocked"},
    "page_500": {"unavailable"},
    "hang": {"timeout"},
    "400": {"bad_request"},
    "401": {"auth"},
    "402": {"quota"},
    "403": {"auth", "quota", "not_configured"},
    "404": {"unavailable"},
    "408": {"timeout"},
    "422": {"bad_request", "auth"},
    "429": {"rate_limited"},
    "430": {"unavailable", "rate_limited"},
    "432": {"unavailable", "quota"},
    "433": {"unavailable", "quota"},
    "500": {"unavailable"},
    "502": {"unavailable"},
    "503": {"unavailable"},
    "504": {"timeout"},
}


@dataclass
class Alone:
    """A single provider without a fallback."""

    search: Search
    behaviour: search_providers.ProviderBehaviour

    async def failure(self, query: Query) -> dict[str, Any]:
        """How its only attempt failed."""
        with pytest.raises(OutriderError) as caught:
            await self.search.find(query)
        return caught.value.details["attempts"][-1] | {"error": caught.value}


@asynccontextmanager
async def open_single_provider(
    name: str, *, keyed: bool = True, behaviour: search_providers.ProviderBehaviour | None = None, **more: Any
) -> AsyncGenerator[Alone]:
    assert name in search_providers.ANSWER_BUILDERS, f"teach tests/support/fakes/search_providers.py how {name} speaks"
    behaviour = behaviour or search_providers.ProviderBehaviour()
    others = sorted(set(load_providers()) - {name})
    async with http_servers.serve_app(search_providers.build_provider_app(behaviour)) as url:
        http = HttpClient(EgressGuard())
        key = search_providers.PROVIDER_API_KEY if keyed else ""
        settings = SearchSettings(
            providers=search_providers.build_provider_settings(url, name, key=key, rate=1000, **more), disabled=others
        )
        try:
            yield Alone(Search(http, settings, None, clock=lambda: SEARCH_TIME_S), behaviour)
        finally:
            await http.close()


def test_every_kind_of_failure_is_expected_somewhere():
    assert set(search_providers.FAILURE_MODES) | set(search_providers.FAILURE_STATUSES) | set(
        search_providers.BROKEN_MODES
    ) == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(load_providers()))
def test_every_provider_explains_how_to_get_access(name):
    provider = load_providers()[name]
    assert provider.title
    assert 10 < len(provider.remedy) < 120
    assert (provider.run_search is None) == (provider.build_request is not None and provider.parse_results is not None)
    assert provider.run_search or all(each.env for each in provider.credentials)
    assert provider.keyless_rank or provider.credentials


@pytest.mark.parametrize(("name", "keyed", "mode"), IN_MODES)
async def test_results_are_mapped_cleaned_and_counted(name, keyed, mode):
    behaviour = search_providers.ProviderBehaviour(ignores_count=True)
    async with open_single_provider(name, keyed=keyed, behaviour=behaviour) as one:
        found = await one.search.find(Query("tea", mode=mode, count=4))
    assert found.provider == name
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4]
    assert [hit.title for hit in found.hits] == [f"tea & more, part {number}" for number in (1, 2, 3, 4)]
    assert found.hits[0].url == "https://www.place1.example/1"
    assert [(source.provider, source.rank) for source in found.hits[0].sources] == [(name, 1)]
    if mode == "image":
        assert found.hits[0].image_url == "https://img1.example/1.png"
        assert found.hits[0].page_url == found.hits[0].url
    else:
        assert found.hits[0].snippet == "All about tea '1'"
    assert [(attempt.provider, attempt.outcome, attempt.hits) for attempt in found.attempts] == [(name, "ok", 4)]


@pytest.mark.parametrize(("name", "keyed", "mode"), IN_MODES)
@pytest.mark.nightly
async def test_pages_do_not_overlap_and_leave_nothing_out(name, keyed, mode):
    async with open_single_provider(name, keyed=keyed) as one:
        pages = [(await one.search.find(Query("tea", mode=mode, count=5, page=page))).hits for page in (1, 2)]
    first, second = ({hit.url for hit in page} for page in pages)
    assert len(first) == len(second) == 5
    assert not first & second
    assert first | second == {f"https://www.place{number}.example/{number}" for number in range(1, 11)}


@pytest.mark.parametrize(("name", "keyed"), EVERY)
async def test_a_page_that_a_provider_does_not_have_is_unsupported_or_empty_but_never_wrong(name, keyed):
    async with open_single_provider(name, keyed=keyed) as one:
        provider = load_providers()[name]
        has_pages = provider.supports("page", Query("tea"), keyless=not keyed)
        if has_pages and not provider.max_offset and not provider.max_page:
            assert not (await one.search.find(Query("tea", count=20, page=30))).hits
        else:
            assert (await one.failure(Query("tea", count=20, page=30)))["outcome"] == "unsupported"


@pytest.mark.parametrize(("name", "keyed"), EVERY)
async def test_an_empty_result_is_an_answer(name, keyed):
    behaviour = search_providers.ProviderBehaviour(modes={name: "empty"})
    async with open_single_provider(name, keyed=keyed, behaviour=behaviour) as one:
        found = await one.search.find(Query("tea"))
    assert found.hits == ()
    assert found.provider == name
    assert "no results" in " ".join(found.notes)


@pytest.mark.parametrize(("name", "keyed"), EVERY)
async def test_every_failure_is_typed_and_never_taken_for_an_empty_result(name, keyed):
    async with open_single_provider(name, keyed=keyed) as one:
        for way in sorted(set(EXPECTED) - {"hang"}):
            one.behaviour.modes[name] = way
            attempt = await one.failure(Query("tea"))
            assert attempt["outcome"] in EXPECTED[way] & set(ERROR_CLASSES), way
            assert load_providers()[name].title in attempt["error"].message, way
            assert attempt["error"].hint, way


@pytest.mark.parametrize(("name", "keyed"), EVERY)
async def test_an_unresponsive_provider_ends_at_its_own_time_limit(name, keyed):
    behaviour = search_providers.ProviderBehaviour(modes={name: "hang"})
    async with open_single_provider(name, keyed=keyed, behaviour=behaviour, timeout_s=0.2) as one:
        attempt = await one.failure(Query("tea"))
    assert attempt["outcome"] == "timeout"
    assert "0.2 seconds" in attempt["message"]


@pytest.mark.parametrize(("name", "keyed"), EVERY)
async def test_the_wait_requested_by_a_provider_reaches_the_caller(name, keyed):
    behaviour = search_providers.ProviderBehaviour(modes={name: "429"}, failure_headers={name: {"retry-after": "17"}})
    async with open_single_provider(name, keyed=keyed, behaviour=behaviour) as one:
        attempt = await one.failure(Query("tea"))
    assert attempt["error"].retry_after == 17


@pytest.mark.parametrize(("name", "keyed"), EVERY)
async def test_unsupported_options_of_a_provider_are_reported_in_a_note(name, keyed):
    provider = load_providers()[name]
    wish = Query("tea", freshness="week", language="de", region="XK", safe="strict")
    async with open_single_provider(name, keyed=keyed) as one:
        found = await one.search.find(wish)
    notes = " ".join(found.notes)
    for feature, word in (("freshness", "date"), ("language", "language"), ("safe", "safe-search")):
        honoured = provider.supports(feature, wish, keyless=not keyed)
        assert honoured != (word in notes), feature
    if not provider.supports("region", wish, keyless=not keyed):
        assert "region" in notes


@pytest.mark.parametrize(("name", "keyed"), EVERY)
async def test_a_site_is_searched_by_parameter_or_operator_or_filter(name, keyed):
    provider = load_providers()[name]
    query = Query("tea", count=3, sites=("https://www.place2.example/",))
    async with open_single_provider(name, keyed=keyed) as one:
        found = await one.search.find(query)
        asked = str([(each.query, each.body) for each in one.behaviour.requests])
    assert all(is_within_site(hit.url, "place2.example") for hit in found.hits)
    assert "place2.example" in asked
    told = provider.supports("site", query, keyless=not keyed) or provider.site_operator
    assert told != any("filtered" in note for note in found.notes)


@pytest.mark.parametrize(("name", "keyed"), EVERY)
async def test_a_query_beyond_the_providers_limit_is_cut_with_a_note(name, keyed):
    async with open_single_provider(name, keyed=keyed) as one:
        found = await one.search.find(Query("tea " * 600))
        asked = one.behaviour.requests[-1]
    provider = load_providers()[name]
    arguments = asked.body["params"]["arguments"] if asked.path.endswith("/mcp") else None
    names = ("q", "query", "objective")
    text = arguments["query"] if arguments else next(filter(None, map(asked.get_parameter, names)))
    assert len(text) <= provider.max_chars
    assert "shorter" in " ".join(found.notes)


@pytest.mark.parametrize("name", PROVIDERS_WITH_SECRETS)
async def test_a_key_is_never_shown_even_if_the_provider_repeats_it(name, caplog):
    caplog.set_level(logging.DEBUG)
    echo = {
        "error": {"message": f"bad key {search_providers.PROVIDER_API_KEY}", "code": search_providers.PROVIDER_API_KEY},
        "key": search_providers.PROVIDER_API_KEY,
    }
    key = search_providers.PROVIDER_API_KEY
    page = f"<html><title>{key}</title>{key[:12]} is not a key</html>"
    async with open_single_provider(name) as one:
        for body in (echo, {"message": f"https://x.example/?api_key={search_providers.PROVIDER_API_KEY}"}, page):
            one.behaviour.failure_bodies[name] = body
            for status in ("ok", "400", "401", "403", "422", "429", "500"):
                one.behaviour.modes[name] = status
                error = (await one.failure(Query("tea")))["error"]
                texts = (str(error), error.hint, repr(error), str(error.to_dict()), repr(vars(one.search)), caplog.text)
                assert not any(search_providers.PROVIDER_API_KEY[:12] in text for text in texts), status
                assert error.__cause__ is None


@pytest.mark.parametrize("name", PROVIDERS_WITH_SECRETS)
async def test_a_key_in_a_result_is_masked(name):
    async with open_single_provider(name) as one:
        found = await one.search.find(Query(f"{search_providers.PROVIDER_API_KEY} leaked", count=3))
    assert found.hits
    assert search_providers.PROVIDER_API_KEY.lower() not in repr(found).lower()


@pytest.mark.parametrize("name", PROVIDERS_WITH_SECRETS)
async def test_a_wrong_key_is_an_auth_failure(name):
    async with open_single_provider(
        name, behaviour=search_providers.ProviderBehaviour(key="another-key-entirely")
    ) as one:
        attempt = await one.failure(Query("tea"))
    assert attempt["outcome"] == "auth"
    assert load_providers()[name].remedy in attempt["error"].hint


@pytest.mark.parametrize("name", PROVIDERS_WITH_SECRETS)
async def test_a_key_that_is_not_a_valid_header_value_is_an_auth_failure(name):
    key = "k\u00e9y-\u2603-with-a-snowman"
    async with open_single_provider(name, behaviour=search_providers.ProviderBehaviour(key="x"), api_key=key) as one:
        attempt = await one.failure(Query("tea"))
    assert attempt["outcome"] == "auth"
    assert "snowman" not in str(attempt["error"].to_dict())


@pytest.mark.parametrize("name", sorted(load_providers()))
async def test_a_copied_provider_keeps_all_its_fields(name):
    assert replace(load_providers()[name]) == load_providers()[name]
