"""The tool `search` with real Chromium and a real client; loopback servers replace the engines."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from outrider.app import App, open_app
from outrider.settings import load
from support.fakes import agent_browser_program, http_servers, result_pages, search_providers
from support.results import read_error, read_first_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
FIRST_RESULT = {
    "title": "Oolong, between green & black",
    "url": "https://leaves.example/oolong?utm_source=google",
    "description": '12 Mar 2026 — Half way between two worlds: oolong tea is "bruised" before it dries.',
}
KEYLESS = ["tavily", "you", "firecrawl", "exa", "ddgs"]  # they would be asked over the internet


@dataclass(frozen=True)
class SearchApp:
    """An app whose browser is real, a client of it, and the engines' behaviour."""

    app: App
    client: Client
    pages: result_pages.EngineBehaviour
    apis: search_providers.ProviderBehaviour

    async def search(self, **arguments: Any) -> Any:
        return await self.client.call_tool("search", {"query": "oolong tea", **arguments})


@asynccontextmanager
async def open_search_app(home: Path, *, brave: bool = False, **search: Any) -> AsyncGenerator[SearchApp]:
    pages, apis = result_pages.EngineBehaviour(), search_providers.ProviderBehaviour()
    async with (
        http_servers.serve_app(result_pages.build_engine_site(pages)) as url,
        http_servers.serve_app(search_providers.build_provider_app(apis)) as api_url,
    ):
        keyed = search_providers.build_provider_settings(api_url, "brave") if brave else {}
        values = {
            "toolsets": ["web-search", "web"],
            "egress": {"allow": [url.removeprefix("http://")]},
            "search": {"providers": result_pages.build_engine_settings(url) | keyed, "disabled": KEYLESS, **search},
        }
        loaded = load(values, environ={"PATH": "/usr/bin:/bin"}, home=home, workspace=home)
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            async with open_app(loaded) as app, Client(app.build_server()) as client:
                yield SearchApp(app, client, pages, apis)


@pytest.mark.nightly
async def test_the_first_engines_page_is_read_as_the_browser_shows_it(home: Path):
    async with open_search_app(home) as at:
        result = await at.search(limit=2)
        sessions = at.app.browsers.list_sessions()
    assert not result.is_error, read_first_text(result)
    assert json.loads(read_first_text(result)) == result.structured_content
    assert result.structured_content["source"] == "google"
    assert result.structured_content["query"] == "oolong tea"
    assert result.structured_content["results"] == [
        FIRST_RESULT,
        {
            "title": "The gardens of Formosa",
            "url": "https://garden.example/formosa?a=1&b=2",
            "description": "High mountain leaves, rolled by hand. <b> is no markup here.",
        },
    ]
    engine, path, asked, agent = at.pages.requests[0]
    assert (engine, path, asked) == ("google", "search", {"q": "oolong tea", "num": "2"})
    assert "Headless" not in agent
    assert len(at.pages.requests) == 1
    assert sessions == []


@pytest.mark.parametrize(
    "wall",
    [
        "captcha",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("consent", "blocked", "redesigned", "sorry")),
    ],
)
@pytest.mark.nightly
async def test_an_engine_that_shows_no_results_is_followed_by_the_next(home: Path, wall: str):
    async with open_search_app(home) as at:
        at.pages.modes["google"] = wall
        result = await at.search()
        again = await at.search()
    assert result.structured_content["source"] == "bing"
    assert result.structured_content["results"][0]["url"] == "https://leaves.example/oolong?a=1&b=2"
    assert again.structured_content["source"] == "bing"
    # An engine that refuses this network is paused; an engine with a new page layout is tried again.
    assert at.pages.requested_engines == ["google", "bing", *(["google"] if wall == "redesigned" else []), "bing"]


@pytest.mark.nightly
async def test_if_every_engine_blocks_us_the_error_lists_how_each_did(home: Path):
    async with open_search_app(home) as at:
        at.pages.modes["*"] = "captcha"
        at.pages.modes["google"] = "consent"
        result = await at.search()
    assert read_first_text(result).startswith("Search error: ")
    assert read_error(result)["code"] == "search_blocked"
    outcomes = {each["provider"]: each["outcome"] for each in read_error(result)["details"]["attempts"]}
    assert outcomes["google_page"] == "consent"
    assert outcomes["bing_page"] == outcomes["duckduckgo_page"] == "captcha"


@pytest.mark.nightly
async def test_a_provider_with_a_key_answers_when_no_page_does(home: Path):
    async with open_search_app(home, brave=True) as at:
        at.pages.modes["*"] = "captcha"
        result = await at.search(limit=1)
    assert result.structured_content["source"] == "brave"
    assert at.pages.requested_engines == ["google", "bing", "duckduckgo"]


async def test_a_provider_the_operator_puts_first_is_asked_first_and_needs_no_browser(home: Path):
    async with open_search_app(home, brave=True, order=["brave"]) as at:
        result = await at.search(limit=1)
        running = at.app.browsers.running_browsers
    assert result.structured_content["source"] == "brave"
    assert running == []
    assert at.pages.requests == []


@pytest.mark.nightly
async def test_other_tools_open_no_page_unless_it_is_named_for_all(home: Path):
    async with open_search_app(home) as at:
        plain = await at.client.call_tool("web_search", {"query": "oolong tea"})
    async with open_search_app(home, order=["duckduckgo_page"]) as named:
        found = await named.client.call_tool("web_search", {"query": "oolong tea"})
    assert plain.structured_content["results"] == []
    assert at.pages.requests == []
    assert found.structured_content["provider"] == "duckduckgo_page"
    assert found.structured_content["results"][0]["url"] == "https://leaves.example/oolong?a=1&b=2"


@pytest.mark.nightly
async def test_chosen_engines_are_asked_in_their_order(home: Path):
    async with open_search_app(home, browser={"engines": ["yandex", "ecosia"]}) as at:
        at.pages.modes["yandex"] = "captcha"
        result = await at.search()
    assert result.structured_content["source"] == "ecosia"
    assert at.pages.requested_engines == ["yandex", "ecosia"]


@pytest.mark.nightly
async def test_concurrent_searches_do_not_disturb_each_other(home: Path):
    async with open_search_app(home, browser={"engines": ["duckduckgo"]}) as at:
        answers: list[Any] = []

        async def ask(query: str) -> None:
            answers.append(await at.client.call_tool("search", {"query": query}))

        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(ask, f"tea {number}")
    assert sorted(each.structured_content["query"] for each in answers) == [f"tea {number}" for number in range(4)]
    assert sorted(asked["q"] for _, _, asked, _ in at.pages.requests) == [f"tea {number}" for number in range(4)]


async def test_the_external_program_is_used_if_our_own_browser_fails(home: Path):
    seen = (Path(result_pages.RECORDED_PAGES_FOLDER).parent / "snapshots" / "0.41.2_bing.txt").read_text()
    program = agent_browser_program.install_program(home / "program", pages={"/bing/": (seen, "")})
    async with open_search_app(home, agent_browser={"command": str(program)}) as at:
        at.pages.modes["*"] = "captcha"
        result = await at.search()
    assert result.structured_content["source"] == "bing"
    assert FIRST_RESULT["title"] in [row["title"] for row in result.structured_content["results"]]
    assert at.pages.requested_engines == ["google", "bing", "duckduckgo"]
    proxy = agent_browser_program.read_calls(program)[-1]["environ"]["AGENT_BROWSER_PROXY"]
    assert proxy.startswith("http://outrider:")


async def test_without_a_browser_the_other_providers_answer(home: Path):
    pages, apis = result_pages.EngineBehaviour(), search_providers.ProviderBehaviour()
    async with http_servers.serve_app(search_providers.build_provider_app(apis)) as url:
        values = {
            "toolsets": ["web-search"],
            "browser": {"executable": "/no/such/browser"},
            "search": {"providers": search_providers.build_provider_settings(url, "brave"), "disabled": KEYLESS},
        }
        async with open_app(load(values, environ={}, home=home, workspace=home)) as app:
            result = await app.call("search", query="oolong tea")
            rows = {row.name: row for row in await app.search.list_providers()}
    assert result.data["source"] == "brave"
    assert pages.requests == []
    assert "outrider browser install" in rows["google_page"].reason
