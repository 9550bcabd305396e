"""Ask providers in order, and fall back when they fail."""

import itertools
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.core.database.database import Database
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import InvalidInput, NotConfigured, Unavailable
from outrider.core.http import HttpClient
from outrider.search.provider import Query, SearchHit, SearchServices
from outrider.search.search import Search
from outrider.search.selection import load_providers
from outrider.search.settings import SearchSettings
from support.busy_machine import scale_to_load
from support.databases import sqlite
from support.fakes import http_servers, search_providers
from support.fakes.search_providers import SEARCH_TIME_S
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
FOUR = ("brave", "exa", "serper", "tavily")  # in the order in which they are asked
CHAOS = ["captcha", "wall", "page", "truncated", "object", "401", "402", "403", "422", "429", "500", "503", "reset"]
TEA_QUERY = Query("tea", count=5)


class World:
    """Some providers on loopback, and a search that knows only those."""

    def __init__(
        self, http: HttpClient, url: str, behaviour: search_providers.ProviderBehaviour, database: Database | None
    ) -> None:
        self.http, self.url, self.behaviour, self.database = http, url, behaviour, database
        self.now = SEARCH_TIME_S

    def search(
        self, *names: str, free: tuple[str, ...] = (), local: Any = None, timeout_s: float = 60, **more: Any
    ) -> Search:
        table = search_providers.build_provider_settings(
            self.url, *names, rate=1000
        ) | search_providers.build_provider_settings(self.url, *free, key="", rate=1000)
        table = {name: content | more.pop(name, {}) for name, content in table.items()}
        unused = sorted(set(load_providers()) - set(table) - {"local"})
        settings = SearchSettings.model_validate({"providers": table, "disabled": unused, **more})
        return Search(
            self.http,
            settings,
            self.database,
            build_services=lambda: SearchServices(search_local=local),
            clock=lambda: self.now,
            timeout_s=timeout_s,
        )

    @property
    def asked(self) -> list[str]:
        return [request.provider for request in self.behaviour.requests]


@asynccontextmanager
async def open_world(database: Database | None = None, **behaviour: Any) -> AsyncGenerator[World]:
    acting = search_providers.ProviderBehaviour(**behaviour)
    async with http_servers.serve_app(search_providers.build_provider_app(acting)) as url:
        http = HttpClient(EgressGuard())
        try:
            yield World(http, url, acting, database)
        finally:
            await http.close()


async def test_quick_takes_the_first_answer_and_asks_no_other_provider():
    async with open_world() as w:
        found = await w.search(*FOUR).find(TEA_QUERY)
        assert w.asked == ["brave"]
    assert found.provider == "brave"
    assert len(found.hits) == 5
    assert [each.outcome for each in found.attempts] == ["ok"]
    assert found.notes == found.warnings == ()


@pytest.mark.parametrize("left", FOUR)
@pytest.mark.parametrize("way", CHAOS)
@pytest.mark.nightly
async def test_any_remaining_provider_answers_however_the_others_fail(left, way):
    ways = dict.fromkeys(set(FOUR) - {left}, way)
    async with open_world(modes=ways) as w:
        for depth in ("quick", "balanced", "wide"):
            found = await w.search(*FOUR).find(TEA_QUERY, depth=depth)
            assert found.provider == left
            assert len(found.hits) == 5
            failed = {each.provider for each in found.attempts if each.outcome != "ok"}
            assert failed <= set(ways)


@pytest.mark.parametrize("depth", ["quick", "balanced", "wide"])
async def test_when_all_fail_the_error_names_each_and_why(depth):
    ways = {"brave": "captcha", "exa": "429", "serper": "401", "tavily": "truncated"}
    async with open_world(modes=ways, failure_headers={"exa": {"retry-after": "9"}}) as w:
        with pytest.raises(Unavailable) as caught:
            await w.search(*FOUR).find(TEA_QUERY, depth=depth)
    error = caught.value
    assert error.code == "search_failed"
    outcomes = {each["provider"]: each["outcome"] for each in error.details["attempts"]}
    assert outcomes == {"brave": "captcha", "exa": "rate_limited", "serper": "auth", "tavily": "bad_reply"}
    assert all(name in error.message and outcome in error.message for name, outcome in outcomes.items())
    assert error.retry_after == 9
    assert error.hint == load_providers()["serper"].remedy  # the others have keys that are not at fault


async def test_without_a_network_the_error_says_so():
    async with open_world() as w:
        w.url = "http://search.invalid"
        with pytest.raises(Unavailable) as caught:
            await w.search(*FOUR).find(TEA_QUERY)
    assert caught.value.hint.startswith("no name resolves: check the network")


async def test_the_keyless_chain_goes_from_tavily_to_pages_already_read():
    async def local(query: Query) -> list[SearchHit]:
        return [SearchHit(title=query.text, url="https://read.example/before")]

    async with open_world(modes={"*": "429"}) as w:
        search = w.search(free=("exa", "tavily", "you"), local=local)
        found = await search.find(TEA_QUERY)
        assert w.asked == ["tavily", "you", "exa"]
    assert found.provider == "local"
    assert found.hits[0].url == "https://read.example/before"
    assert [each.outcome for each in found.attempts] == ["rate_limited"] * 3 + ["ok"]


async def test_an_empty_result_is_checked_with_one_other_provider_and_then_accepted():
    async with open_world(modes={"brave": "empty", "exa": "empty"}) as w:
        found = await w.search(*FOUR).find(TEA_QUERY)
        assert w.asked == ["brave", "exa"]
    assert found.hits == ()
    assert found.provider == "brave+exa"
    assert any("no results" in note for note in found.notes)


async def test_results_of_the_second_provider_replace_an_empty_result():
    async with open_world(modes={"brave": "empty"}) as w:
        found = await w.search(*FOUR).find(TEA_QUERY)
    assert (found.provider, len(found.hits)) == ("exa", 5)


async def test_a_captcha_is_never_taken_for_an_empty_result():
    async with open_world(modes={"brave": "captcha", "exa": "empty", "serper": "captcha"}) as w:
        found = await w.search("brave", "exa", "serper").find(TEA_QUERY)
    assert found.provider == "exa"
    assert found.notes == ("no results, says Exa",)


async def test_wide_fuses_all_providers_and_reports_who_found_what():
    async with open_world(modes={"serper": "500"}) as w:
        found = await w.search(*FOUR).find(TEA_QUERY, depth="wide")
        assert sorted(w.asked) == sorted(FOUR)
    assert found.provider == "brave+exa+tavily"
    assert {source.provider for source in found.hits[0].sources} == {"brave", "exa", "tavily"}
    assert len(found.hits) == 5


async def test_balanced_asks_three():
    async with open_world() as w:
        found = await w.search(*FOUR).find(TEA_QUERY, depth="balanced")
        assert sorted(w.asked) == sorted(FOUR[:3])
    assert found.provider == "brave+exa+serper"


async def test_one_host_does_not_fill_a_fused_answer_unless_requested():
    async with open_world() as w:
        query = Query("tea", count=5, sites=("place1.example",))
        assert len((await w.search(*FOUR, per_domain=1).find(query, depth="wide")).hits) == 5
        open_query = Query("tea site:place1.example", count=5)
        assert len((await w.search(*FOUR, per_domain=2).find(open_query, depth="wide")).hits) == 2


async def test_a_circuit_opens_is_skipped_and_closes_again():
    async with open_world(modes={"brave": "captcha"}) as w:
        search = w.search("brave", "exa")
        assert (await search.find(TEA_QUERY)).attempts[0].outcome == "captcha"
        found = await search.find(TEA_QUERY)
        assert [(each.provider, each.outcome) for each in found.attempts] == [("brave", "circuit_open"), ("exa", "ok")]
        assert "captcha" in found.attempts[0].message
        assert w.asked == ["brave", "exa", "exa"]
        w.behaviour.modes.clear()
        w.now += 3_600
        assert (await search.find(TEA_QUERY)).provider == "brave"


async def test_before_giving_up_even_an_open_circuit_is_tried():
    async with open_world(modes={"brave": "captcha", "exa": "500"}) as w:
        search = w.search("brave", "exa")
        for _ in range(2):
            with pytest.raises(Unavailable):
                await search.find(TEA_QUERY)
        w.behaviour.modes["brave"] = "ok"
        found = await search.find(TEA_QUERY)
    assert [each.outcome for each in found.attempts] == ["circuit_open", "unavailable", "ok"]
    assert found.provider == "brave"


async def test_a_limited_provider_is_skipped_as_long_as_it_asked():
    async with open_world(modes={"brave": "429"}, failure_headers={"brave": {"retry-after": "30"}}) as w:
        search = w.search("brave", "exa")
        await search.find(TEA_QUERY)
        w.behaviour.modes.clear()
        w.now += 29
        assert (await search.find(TEA_QUERY)).provider == "exa"
        w.now += 2
        assert (await search.find(TEA_QUERY)).provider == "brave"


async def test_another_process_uses_what_this_one_learned(tmp_path: Path):
    database = Database.from_file(sqlite.create_migrated_file(tmp_path / "x.db"))
    async with open_world(database, modes={"brave": "captcha"}) as w:
        await w.search("brave", "exa").find(TEA_QUERY)
        w.behaviour.requests.clear()
        search = w.search("brave", "exa")
        await search.find(TEA_QUERY)
        assert w.asked == ["exa"]
        rows = {row.name: row for row in await search.list_providers()}
        assert rows["brave"].health is not None
        assert rows["brave"].health.kinds == {"captcha": 1}
    await database.close()


async def test_a_broken_database_does_not_stop_a_search(tmp_path: Path):
    database = Database.from_file(sqlite.create_migrated_file(tmp_path / "x.db"))
    async with database.write() as connection:
        await connection.exec_driver_sql("DROP TABLE search_health")
    async with open_world(database) as w:
        assert (await w.search("brave").find(TEA_QUERY)).provider == "brave"
    await database.close()


async def test_parallel_searches_wait_their_turn_instead_of_failing():
    async with open_world() as w:
        search = w.search("brave", brave={"rate": [4, 0.2]})
        found = []
        with anyio.fail_after(EVENT_TIMEOUT_S):
            async with anyio.create_task_group() as tasks:
                for number in range(10):
                    tasks.start_soon(_collect, search, Query(f"tea{number}"), found)
        assert len(found) == 10
        assert all(each.attempts[0].outcome == "ok" for each in found)


async def _collect(search: Search, query: Query, found: list[Any]) -> None:
    found.append(await search.find(query))


async def test_a_rate_limited_provider_is_skipped():
    async with open_world() as w:
        search = w.search("brave", "exa", brave={"rate": [1, 3_600]})
        assert (await search.find(TEA_QUERY)).provider == "brave"
        found = await search.find(TEA_QUERY)
    assert [(each.provider, each.outcome) for each in found.attempts] == [("brave", "rate_limited"), ("exa", "ok")]


async def test_a_search_ends_at_its_deadline_with_what_it_has():
    async with open_world(modes={"brave": "hang", "exa": "hang"}) as w:
        with anyio.fail_after(EVENT_TIMEOUT_S):
            found = await w.search("brave", "exa", "serper", timeout_s=scale_to_load(1.0)).find(TEA_QUERY, depth="wide")
            assert found.provider == "serper"
            assert sorted(each.outcome for each in found.attempts) == ["ok", "timeout", "timeout"]
            with pytest.raises(Unavailable, match=r"0\.3 seconds"):
                await w.search("brave", "exa", timeout_s=0.3).find(TEA_QUERY)


async def test_providers_without_the_mode_are_skipped():
    async with open_world() as w:
        found = await w.search(*FOUR).find(Query("tea", mode="image"))
        assert found.provider == "brave"
        with pytest.raises(NotConfigured, match="image search") as caught:
            await w.search("exa", "tavily").find(Query("tea", mode="image"))
        assert "brave" in caught.value.hint
        assert "exa" not in w.asked


async def test_the_remedy_of_an_image_search_names_providers_that_have_images():
    async with open_world() as w:
        search = w.search("brave", free=("you", "tavily"), brave={"rate": [1, 3_600]})
        await search.find(Query("tea", mode="image"))
        with pytest.raises(Unavailable) as caught:
            await search.find(Query("tea", mode="image"))
    hint = caught.value.hint
    assert "YDC_API_KEY" not in hint
    assert "TAVILY" not in hint
    assert "serper" in hint
    assert not {"you", "tavily", "bing", "google_cse", "ddgs"} & set(hint.replace(",", "").split())


async def test_without_a_usable_provider_the_hint_names_a_variable():
    async with open_world() as w:
        with pytest.raises(NotConfigured) as caught:
            await w.search(keyless=False).find(TEA_QUERY)
    assert "BRAVE_API_KEY" in caught.value.hint


async def test_a_profile_is_asked_first_and_followed_by_the_chain():
    async with open_world(modes={"serper": "500"}) as w:
        address = search_providers.build_endpoint_url(w.url, "serper")
        profiles = {"mine": {"provider": "serper", "api_key": search_providers.PROVIDER_API_KEY, "endpoint": address}}
        search = w.search("brave", "serper", profiles=profiles, profile="mine")
        found = await search.find(TEA_QUERY)
        assert w.asked == ["serper", "brave"]
        assert (found.provider, found.profile) == ("brave", "mine")
        assert (await search.find(TEA_QUERY, profile="default")).profile == ""


async def test_google_cse_warns_before_its_shutdown_and_refuses_afterwards():
    async with open_world() as w:
        profiles = {"g": {"provider": "google", "api_key": "g-key-123456", "cse_id": "c"}}
        search = w.search("brave", "google_cse", profiles=profiles, profile="g")
        w.now = datetime(2027, 1, 1, tzinfo=UTC).timestamp()
        found = await search.find(TEA_QUERY)
        assert [(each.provider, each.outcome) for each in found.attempts] == [("google_cse", "sunset"), ("brave", "ok")]
        assert "2027-01-01" in found.attempts[0].message


async def test_a_plugin_that_raises_anything_is_one_failed_attempt(caplog):
    caplog.set_level(logging.ERROR)

    async def local(_query: Query) -> list[SearchHit]:
        raise RuntimeError("the secret is out")

    async with open_world() as w:
        with pytest.raises(Unavailable, match="RuntimeError") as caught:
            await w.search(local=local).find(TEA_QUERY)
    assert "secret" not in str(caught.value)
    assert "secret" not in caplog.text


async def test_redirect_wrappers_and_duplicates_are_removed_from_one_providers_answer():
    rows = [
        {"title": "a", "url": "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F"},
        {"title": "a again", "url": "http://www.a.example/?utm_source=x"},
        {"title": "bad", "url": "javascript:alert(1)"},
    ]
    async with open_world(failure_bodies={"brave": {"type": "search", "web": {"results": rows}}}) as w:
        found = await w.search("brave").find(TEA_QUERY)
    assert [(hit.title, hit.url, hit.rank) for hit in found.hits] == [("a", "https://a.example/", 1)]


@pytest.mark.parametrize("wrong", [{"text": " "}, {"count": 0}, {"page": 0}, {"mode": "video"}], ids=str)
def test_a_query_out_of_range_is_refused(wrong):
    facts: dict[str, Any] = {"text": "tea", **wrong}
    with pytest.raises(InvalidInput):
        Query(**facts)


async def test_after_two_different_failures_the_third_provider_answers():
    async with open_world() as w:
        for first, second in itertools.pairwise(CHAOS):
            w.behaviour.modes = {"brave": first, "exa": second}
            assert (await w.search("brave", "exa", "serper").find(TEA_QUERY)).provider == "serper"


async def test_a_cache_without_a_match_does_not_hide_that_the_web_was_unreachable():
    async def nothing(_: Query) -> list[SearchHit]:
        return []

    async with open_world(modes={"*": "500"}) as w:
        with pytest.raises(Unavailable, match="no page read here matches"):
            await w.search("brave", local=nothing).find(TEA_QUERY)


async def test_cached_results_in_place_of_the_web_are_marked():
    async def read(_: Query) -> list[SearchHit]:
        return [SearchHit("Tea", "https://tea.example/", "green")]

    async with open_world(modes={"*": "500"}) as w:
        found = await w.search("brave", local=read).find(TEA_QUERY)
    assert [hit.url for hit in found.hits] == ["https://tea.example/"]
    assert "read here before" in found.notes[-1]


async def test_a_slow_provider_does_not_delay_those_that_have_answered():
    async with open_world(modes={"brave": "hang"}) as w:
        with anyio.fail_after(EVENT_TIMEOUT_S):
            found = await w.search("brave", "exa", "serper").find(TEA_QUERY, depth="balanced")
    assert found.provider == "exa+serper"
    assert {each.provider: each.outcome for each in found.attempts}["brave"] == "timeout"
