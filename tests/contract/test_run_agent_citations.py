"""Test that an agent's citations reach its caller in the caller's references."""

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.core.citations import build_references
from support.apps import agents_app
from support.apps.agents_app import ChatTurn
from support.apps.mcp_clients import NEWEST_VERSION, connect_client
from support.fakes import http_servers, search_providers
from support.timeouts import BROWSER_TIMEOUT_S

pytestmark = pytest.mark.anyio
REFERENCE = re.compile(r"^\[([a-z0-9]{3})\]", re.MULTILINE)


def list_references(body: dict[str, Any]) -> list[str]:
    """The references that the last tool's result has shown to the model."""
    return REFERENCE.findall(body["messages"][-1]["content"])


def cite_two(body: dict[str, Any]) -> str:
    one, two = list_references(body)[:2]
    return f"Tea is old :cite[{one}], and green :cite[{two},zzz]. Nobody says so :cite[000]."


def repeat_citations(body: dict[str, Any]) -> str:
    told = json.dumps(body["messages"][-1]["content"], ensure_ascii=False)
    blocks = re.findall(r":cite\[[a-z0-9,]+\]", told)
    return f"My scout says tea is green {blocks[1]}."


CITING_TURNS = {
    "scout": [ChatTurn(calls=[("websearch", {"query": "tea"})]), ChatTurn(text=cite_two)],
    "chief": [ChatTurn(calls=[("run_scout", {"query": "tea?"})]), ChatTurn(text=repeat_citations)],
}
CITING_AGENTS: dict[str, dict[str, Any]] = {"scout": {"tools": ["websearch"]}, "chief": {"tools": ["run_scout"]}}


@pytest.mark.parametrize("agent", ["scout", "chief"])
async def test_citations_use_the_range_that_the_host_reserved(home: Path, agent: str):
    meta: Any = {"stepContext": {"citationsOffset": 640, "citationsCount": 64}}
    async with http_servers.serve_app(search_providers.build_provider_app(search_providers.ProviderBehaviour())) as url:
        search = {
            "providers": search_providers.build_provider_settings(url, "brave"),
            "order": ["brave"],
            "keyless": False,
        }
        settings = {"data_dir": str(home / "data"), "search": search}
        with anyio.fail_after(BROWSER_TIMEOUT_S):
            async with (
                agents_app.open_agents_app(home, CITING_TURNS, CITING_AGENTS, **settings) as agents,
                connect_client(agents.app.build_server(), NEWEST_VERSION) as caller,
            ):
                result = await caller.call_tool(f"run_{agent}", {"query": "tea?"}, meta=meta)
                hits = (await agents.app.call("websearch", query="tea")).data["results"]
    answer = result.content[0].resource
    refs = answer.meta["outrider/fields"]["refs"]
    first, second = build_references()[640:642]
    if agent == "scout":
        assert answer.text == f"Tea is old :cite[{first}], and green :cite[{second}]. Nobody says so."
        assert [each["href"] for each in refs.values()] == [hit["url"] for hit in hits[:2]]
    else:
        assert answer.text == f"My scout says tea is green :cite[{first}]."
        assert [each["href"] for each in refs.values()] == [hits[1]["url"]]
    assert list(refs) == [first, second][: len(refs)]
    assert all(each["provider"] == "webcrawler" for each in refs.values())
