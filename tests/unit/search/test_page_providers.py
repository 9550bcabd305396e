"""Result pages among the providers: when and in which order they are asked, and how they fail.

The browser has no scripts: it fetches pages over real HTTP on loopback. Other tests use Chromium.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from outrider.core.egress import EgressSettings
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotConfigured, OutriderError, Unavailable
from outrider.core.http import HttpClient
from outrider.search.provider import Query, RenderedPage, SearchServices
from outrider.search.search import Search
from outrider.search.selection import SearchPlan, load_providers, plan_search
from outrider.search.settings import ResultPageSettings, SearchSettings
from support.fakes import http_servers, result_pages

pytestmark = pytest.mark.anyio
TEA_QUERY = Query("oolong tea", count=5)
PAGE_PROVIDERS = ["google_page", "bing_page", "duckduckgo_page"]
NO_API = sorted(name for name, provider in load_providers().items() if not provider.uses_browser)


@dataclass(frozen=True)
class Plain:
    """A browser without scripts, which counts how often it was requested."""

    http: HttpClient
    why: str = ""
    lookups: list[None] = field(default_factory=list)

    def explain_unavailable(self) -> str:
        self.lookups.append(None)
        return self.why

    async def open_page(self, url: str) -> RenderedPage:
        reply = await self.http.request("GET", url)
        return RenderedPage(reply.url, reply.body.decode())


@asynccontextmanager
async def open_search(behaviour: result_pages.EngineBehaviour, *, why: str = "", **more: Any) -> AsyncGenerator[Search]:
    """A search that only asks result pages; `now` is a stopped clock."""
    async with http_servers.serve_app(result_pages.build_engine_site(behaviour)) as url:
        http = HttpClient(EgressGuard(EgressSettings(allow=[url.removeprefix("http://")])))
        values = {"providers": result_pages.build_engine_settings(url), "disabled": NO_API} | more
        settings = SearchSettings.model_validate(values)
        try:
            yield Search(
                http,
                settings,
                None,
                build_services=lambda: SearchServices(browser=Plain(http, why)),
                clock=lambda: 1_795_000_000.0,
            )
        finally:
            await http.close()


def plan_available(**settings: Any) -> SearchPlan:
    powers = SearchServices(browser=Plain(HttpClient(EgressGuard())))
    browse = settings.pop("browse", True)
    plan = plan_search(SearchSettings.model_validate(settings), {"BRAVE_API_KEY": "k"}, browse=browse)
    return plan.select_available(powers)


def list_names(made: SearchPlan) -> list[str]:
    return [each.provider.name for each in made.candidates]


def test_a_browser_is_looked_up_only_if_result_pages_are_wanted():
    browser = Plain(HttpClient(EgressGuard()))
    services = SearchServices(browser=browser)
    for browse in (False, True):
        plan_search(SearchSettings(), {"BRAVE_API_KEY": "k"}, browse=browse).select_available(services)
        assert bool(browser.lookups) is browse


def test_result_pages_come_before_every_key_if_wanted():
    assert list_names(plan_available())[:4] == [*PAGE_PROVIDERS, "brave"]


def test_result_pages_are_not_opened_if_not_wanted():
    assert not set(PAGE_PROVIDERS) & set(list_names(plan_available(browse=False)))


def test_a_result_page_in_the_general_order_is_opened_by_all_searches():
    assert list_names(plan_available(browse=False, order=["bing_page"]))[:2] == ["bing_page", "brave"]


def test_the_operators_own_order_comes_before_the_pages():
    assert list_names(plan_available(order=["brave"]))[:2] == ["brave", "google_page"]


@pytest.mark.parametrize("off", [{"browser": {"engines": []}}, {"keyless": False}, {"disabled": PAGE_PROVIDERS}])
def test_they_can_be_turned_off(off):
    assert not set(PAGE_PROVIDERS) & set(list_names(plan_available(**off)))


def test_engines_are_opened_in_the_order_in_which_they_are_named():
    assert list_names(plan_available(browser={"engines": ["yandex", "google", "yandex"]}))[:3] == [
        "yandex_page",
        "google_page",
        "brave",
    ]


def test_an_unknown_engine_is_named_with_the_setting():
    with pytest.raises(NotConfigured) as caught:
        plan_available(browser={"engines": ["altavista"]})
    assert "search.browser.engines: no engine 'altavista'" in caught.value.message
    assert "duckduckgo" in caught.value.hint


def test_the_default_engines_exist():
    assert [f"{name}_page" for name in ResultPageSettings().engines] == PAGE_PROVIDERS
    assert {f"{name}_page" for name in result_pages.ENGINES} <= set(load_providers())


async def test_the_answer_names_the_engine_and_the_provider():
    async with open_search(result_pages.EngineBehaviour()) as search:
        found = await search.find(TEA_QUERY, browse=True)
    assert (found.source, found.provider) == ("google", "google_page")
    assert found.hits[0].provider == "google_page"


@pytest.mark.parametrize(
    ("way", "outcome"),
    [("captcha", "captcha"), ("sorry", "captcha"), ("consent", "consent"), ("redesigned", "bad_reply")],
)
async def test_a_page_without_results_is_a_typed_failure_and_the_next_is_asked(way, outcome):
    behaviour = result_pages.EngineBehaviour(modes={"google": way})
    async with open_search(behaviour) as search:
        found = await search.find(TEA_QUERY, browse=True)
    assert [(each.provider, each.outcome) for each in found.attempts] == [("google_page", outcome), ("bing_page", "ok")]


async def test_an_engine_that_asked_for_consent_is_skipped_from_then_on():
    behaviour = result_pages.EngineBehaviour(modes={"google": "consent"})
    async with open_search(behaviour) as search:
        await search.find(TEA_QUERY, browse=True)
        again = await search.find(TEA_QUERY, browse=True)
    assert behaviour.requested_engines == ["google", "bing", "bing"]
    assert again.attempts[0].outcome == "circuit_open"


async def test_an_empty_result_is_checked_with_one_more_engine():
    behaviour = result_pages.EngineBehaviour(modes={"*": "nothing"})
    async with open_search(behaviour) as search:
        found = await search.find(Query("qzx captcha qzx"), browse=True)
    assert found.hits == ()
    assert behaviour.requested_engines == ["google", "bing"]
    assert found.source == "google+bing"


async def test_if_all_fail_every_reason_is_reported():
    behaviour = result_pages.EngineBehaviour(modes={"google": "consent", "bing": "captcha", "duckduckgo": "redesigned"})
    async with open_search(behaviour) as search:
        with pytest.raises(Unavailable) as caught:
            await search.find(TEA_QUERY, browse=True)
    outcomes = [each["outcome"] for each in caught.value.details["attempts"]]
    assert outcomes == ["consent", "captcha", "bad_reply"]
    assert "consent to cookies" in caught.value.message


async def test_options_that_an_engine_does_not_support_are_noted():
    async with open_search(result_pages.EngineBehaviour(), browser={"engines": ["ecosia"]}) as search:
        found = await search.find(Query("oolong tea", freshness="week", language="de"), browse=True)
    assert "by date" in " ".join(found.notes)
    assert "language" in " ".join(found.notes)


async def test_a_site_is_requested_in_the_query_and_others_are_dropped():
    behaviour = result_pages.EngineBehaviour()
    async with open_search(behaviour) as search:
        found = await search.find(Query("oolong tea", sites=("garden.example",)), browse=True)
    assert behaviour.requests[0][2]["q"] == "oolong tea site:garden.example"
    assert [hit.url for hit in found.hits] == ["https://garden.example/formosa?a=1&b=2"]


async def test_without_a_browser_the_pages_are_not_offered_and_say_why():
    async with open_search(result_pages.EngineBehaviour(), why="there is no browser here") as search:
        with pytest.raises(OutriderError):
            await search.find(TEA_QUERY, browse=True)
        rows = {row.name: row for row in await search.list_providers()}
    assert rows["google_page"].reason == "there is no browser here"
    assert "outrider browser install" in rows["google_page"].remedy


async def test_an_unselected_engine_says_where_to_select_it():
    async with open_search(result_pages.EngineBehaviour()) as search:
        rows = {row.name: row for row in await search.list_providers()}
    assert rows["google_page"].usable
    assert "search.browser.engines" in rows["yandex_page"].reason
    assert "add 'yandex'" in rows["yandex_page"].remedy


async def test_duckduckgo_gets_its_own_code_for_a_country_and_its_language():
    codes = {
        ("de-AT", None): "at-de",
        ("en", "GB"): "uk-en",
        ("ja", None): "jp-jp",
        ("fr", "CH"): "ch-fr",
        ("zh", "TW"): "tw-tzh",
        ("sl", "SI"): "sl-sl",
        ("es", "UY"): "xl-es",
        ("es-419", None): "xl-es",
        ("ar", "EG"): "xa-ar",
        ("en", "AE"): "xa-en",
        (None, "IS"): "is-is",
        (None, "PK"): "pk-en",
        ("ka", "GE"): None,
    }
    behaviour = result_pages.EngineBehaviour()
    async with open_search(behaviour, browser={"engines": ["duckduckgo"]}) as search:
        for (language, region), code in codes.items():
            await search.find(Query("oolong tea", language=language, region=region), browse=True)
            assert behaviour.requests[-1][2].get("kl") == code, (language, region)
