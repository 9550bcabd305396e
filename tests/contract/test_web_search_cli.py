"""Toolset `web-search` with its single tool."""

import json
from pathlib import Path

import pytest
from mcp import Client

from support.apps import loopback_app
from support.results import read_first_text

pytestmark = pytest.mark.anyio


async def test_results_have_title_url_and_description(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        result = await loopback.app.call("search", query="fox", limit=1)
    assert json.loads(result.text) == result.data
    assert result.data == {
        "results": [
            {"title": "fox & more, part 1", "url": "https://www.place1.example/1", "description": "All about fox '1'"}
        ],
        "source": "brave",
        "query": "fox",
    }


@pytest.mark.parametrize(("limit", "got"), [(0, 1), (11, 10), (2.4, 2), ("x", 5), ("7", 5), ({}, 5), (True, 5)])
async def test_the_limit_is_clamped_to_its_range(home: Path, limit: object, got: int):
    async with loopback_app.open_loopback_app(home) as loopback:
        result = await loopback.app.call("search", query="fox", limit=limit)
    assert len(result.data["results"]) == got


async def test_control_characters_are_removed_before_the_length_is_checked(home: Path):
    async with loopback_app.open_loopback_app(home, names=("serper",)) as loopback:
        await loopback.app.call("search", query="\x00" * 400 + "f\x7fox")
        await loopback.app.call("search", query="x" * 500 + "\n")
    assert [request.get_parameter("q") for request in loopback.provider_behaviour.requests] == ["fox", "x" * 500]


@pytest.mark.parametrize(("query", "expected"), [("", "empty"), ("\x00\x1f", "control characters"), ("x" * 501, "501")])
async def test_a_bad_query_is_named(home: Path, query: str, expected: str):
    async with loopback_app.open_loopback_app(home) as loopback, Client(loopback.app.build_server()) as client:
        result = await client.call_tool("search", {"query": query})
    assert result.is_error
    assert expected in read_first_text(result)


async def test_a_failed_search_has_the_error_prefix_that_hosts_expect(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback, Client(loopback.app.build_server()) as client:
        loopback.provider_behaviour.modes["*"] = "captcha"
        result = await client.call_tool("search", {"query": "fox"})
    assert result.is_error
    assert read_first_text(result).startswith("Search error: ")
