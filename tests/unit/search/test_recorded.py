"""Answers in files: our own small ones, and recorded ones if a folder of them is available."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.http import HttpClient
from outrider.search.failures import detect_block
from outrider.search.page_providers import load_engines
from outrider.search.provider import Query, RenderedPage
from outrider.search.result_page import parse_result_page
from outrider.search.search import Search
from outrider.search.selection import load_providers
from outrider.search.settings import SearchSettings
from support.fakes import http_servers, result_pages, search_providers

pytestmark = pytest.mark.anyio
RECORDED_AT_S = 1_795_000_000.0  # November 2026
OWN = sorted((Path(__file__).parents[2] / "data" / "search").glob("*.json"))


def _find_recordings() -> Path | None:
    """The folder named by OUTRIDER_FIXTURES, or fixtures/search next to the checkout."""
    named = os.environ.get("OUTRIDER_FIXTURES")
    near = (found for parent in Path(__file__).parents[2:5] for found in parent.glob("*/fixtures/search"))
    return Path(named) if named else next(near, None)


RECORDED = _find_recordings()
needs_recorded = pytest.mark.skipif(
    RECORDED is None, reason="needs recorded answers of search services: name their folder in OUTRIDER_FIXTURES"
)
ANSWERS = [  # folder and file, provider, mode, least hits
    ("bing_v7/web_java_0.json", "bing", "web", 1),
    ("bing_v7/images_node_0.json", "bing", "image", 1),
    ("brave/web-search_0.json", "brave", "web", 1),
    ("brave/images-search_0.json", "brave", "image", 1),
    ("brave/news-search_0.json", "brave", "news", 1),
    ("exa/search_2026.json", "exa", "web", 1),
    ("google_cse/web_springboot_2021.json", "google_cse", "web", 2),
    ("searxng/json_response_recorded.json", "searxng", "web", 2),
    ("searxng/json_response_recorded.json", "searxng", "image", 1),
    ("serpapi/searchapi_example_searchapi_response.json", "serpapi", "web", 5),
    ("serper/example_serperdev_response.json", "serper", "web", 5),
    ("tavily/search_basic.json", "tavily", "web", 1),
    ("webiq/search_shape.json", "webiq", "web", 1),
    ("you_com/search_shape.json", "you", "web", 1),
    ("you_com/search_shape.json", "you", "news", 1),
]
ERRORS = {
    "bing_v7_401": ("bing", "auth"),
    "bing_v7_errorresponse": ("bing", "bad_request"),
    "brave_422_token": ("brave", "auth"),
    "brave_429": ("brave", "rate_limited"),
    "exa_401": ("exa", "auth"),
    "exa_429": ("exa", "rate_limited"),
    "firecrawl_402": ("firecrawl", "quota"),
    "firecrawl_429": ("firecrawl", "rate_limited"),
    "google_cse_400_start": ("google_cse", "bad_request"),
    "google_cse_403_quota": ("google_cse", "quota"),
    "google_cse_429": ("google_cse", "quota"),
    "searxng_200_all_engines_down": ("searxng", "captcha"),
    "searxng_403_json_off": ("searxng", "not_configured"),
    "serpapi_200_empty": ("serpapi", "ok"),
    "serpapi_401": ("serpapi", "auth"),
    "serpapi_429": ("serpapi", "quota"),
    "serper_400_credits": ("serper", "quota"),
    "serper_403": ("serper", "auth"),
    "tavily_400_long": ("tavily", "bad_request"),
    "tavily_401": ("tavily", "auth"),
    "tavily_429": ("tavily", "rate_limited"),
    "tavily_432": ("tavily", "quota"),
    "tavily_keyless_limit": ("tavily", "rate_limited"),
    "webiq_429": ("webiq", "rate_limited"),
}


async def replay_answer(
    name: str, body: Any, query: Query, *, status: int = 200, keyed: bool = True, **headers: str
) -> Any:
    """Replay that answer and return the search's results or error."""
    behaviour = search_providers.ProviderBehaviour(
        modes={name: str(status)}, failure_bodies={name: body}, failure_headers={name: headers}
    )
    async with http_servers.serve_app(search_providers.build_provider_app(behaviour)) as url:
        http = HttpClient(EgressGuard())
        key = search_providers.PROVIDER_API_KEY if keyed else ""
        settings = SearchSettings(
            providers=search_providers.build_provider_settings(url, name, key=key),
            disabled=sorted(set(load_providers()) - {name}),
        )
        try:
            return await Search(http, settings, None, clock=lambda: RECORDED_AT_S).find(query)
        except OutriderError as error:
            return error
        finally:
            await http.close()


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
async def test_our_own_recordings_are_parsed_as_expected(path):
    case = json.loads(path.read_text())
    query = Query("oolong", mode=case.get("mode", "web"))
    found = await replay_answer(case["provider"], case["body"], query, keyed=case.get("keyed", True))
    shown = [hit.to_dict() for hit in found.hits]
    assert len(shown) == len(case["hits"])
    for hit, expected in zip(shown, case["hits"], strict=True):
        assert {name: hit.get(name) for name in expected} == expected


@needs_recorded
@pytest.mark.parametrize(("file", "name", "mode", "least"), ANSWERS, ids=lambda value: str(value)[:40])
async def test_recorded_answers_give_hits(file, name, mode, least):
    body = json.loads(((RECORDED or Path()) / file).read_text())
    body = body.get("body", body)
    found = await replay_answer(name, body, Query("q", mode=mode, count=10))
    assert len(found.hits) >= least
    assert all(hit.title and hit.url.startswith("http") and "<b>" not in hit.snippet for hit in found.hits)
    assert mode != "image" or all(hit.image_url for hit in found.hits)


@needs_recorded
@pytest.mark.parametrize("name", sorted(ERRORS))
async def test_recorded_errors_are_typed(name):
    provider, code = ERRORS[name]
    case = json.loads(((RECORDED or Path()) / "errors" / f"{name}.json").read_text())
    headers = {key.lower(): value for key, value in case["headers"].items() if key.lower() != "content-type"}
    result = await replay_answer(provider, case["body"], Query("q"), status=case["status"], **headers)
    attempts = (
        result.details["attempts"] if isinstance(result, OutriderError) else [vars(each) for each in result.attempts]
    )
    assert [each["outcome"] for each in attempts] == [code]
    wait = {"firecrawl_429": 12, "tavily_keyless_limit": 3600, "webiq_429": 2}.get(name)
    assert getattr(result, "retry_after", None) == wait


@needs_recorded
def test_recorded_block_pages_are_recognised_and_results_are_not():
    pages = sorted((RECORDED or Path()).glob("*_html/2026_search_*.html"))
    assert pages
    for page in pages:
        wall = any(word in page.name for word in ("captcha", "soft_block"))
        found = detect_block(page.read_text(errors="replace"))
        assert bool(found) is wall, page.name
    challenge = json.loads(((RECORDED or Path()) / "errors" / "duckduckgo_202_challenge.json").read_text())
    assert detect_block(challenge["body"]) == "captcha"


@needs_recorded
@pytest.mark.parametrize("engine", result_pages.ENGINES)
def test_recorded_result_pages_match_their_file_names(engine):
    pages = sorted((RECORDED or Path()).glob(f"{engine}_html/*.html"))
    assert pages
    for path in pages:
        # All links of sanitized recordings are the same; made distinct, they are results again.
        first, *parts = path.read_text(errors="replace").split("http://test.test")
        markup = first + "".join(f"https://t{number}.example{part}" for number, part in enumerate(parts))
        facts, query = load_engines()[engine], Query("x")
        if any(word in path.name for word in ("captcha", "soft_block")):
            with pytest.raises(Unavailable) as caught:
                parse_result_page(facts, RenderedPage(facts.build_url(query), markup), query)
            assert caught.value.code in {"captcha", "blocked"}, path.name
        elif not any(word in path.name for word in ("news", "images")):
            rows = parse_result_page(facts, RenderedPage(facts.build_url(query), markup), query)
            assert (not rows) if "no_results" in path.name else len(rows) >= 8, path.name
