"""The contract of web_crawl (toolset `web`)."""

import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotConfigured, NotFound
from support.apps import loopback_app
from support.results import read_error

pytestmark = pytest.mark.anyio
CHECKPOINT_TEXT = "The checkpoint of {0} moves its pages into the database, and {0} goes on. " * 4
LINKED_SITE = loopback_app.build_page_site(
    {
        "/": loopback_app.build_article_html(
            "Docs", CHECKPOINT_TEXT.format("docs"), links=("/a", "/b", "/missing", "https://elsewhere.example/")
        )
    }
    | {
        f"/{name}": loopback_app.build_article_html(name, CHECKPOINT_TEXT.format(name), links=("/", "/c"))
        for name in "abc"
    }
    | {
        "/many": loopback_app.build_article_html(
            "Many", CHECKPOINT_TEXT.format("all"), links=tuple(f"/many/{n}" for n in range(130))
        )
    }
    | {
        f"/many/{n}": loopback_app.build_article_html(f"Number {n}", CHECKPOINT_TEXT.format(f"number {n}"))
        for n in range(130)
    }
)


async def test_a_crawl_lists_its_pages_as_data_and_as_text(home: Path):
    async with loopback_app.open_loopback_app(home, LINKED_SITE) as loopback:
        result = await loopback.app.call("web_crawl", url=f"{loopback.site_url}/", max_depth=2)
    data = result.data
    assert (data["status"], data["counts"]) == ("finished", {"read": 4, "gone": 3, "new": 4})
    assert [each["url"].removeprefix(loopback.site_url) for each in data["pages"] if "title" in each] == [
        "/",
        "/a",
        "/b",
        "/c",
    ]
    assert {"/missing", "/home", "/about"} == {
        each["url"].removeprefix(loopback.site_url) for each in data["pages"] if each.get("state") == "gone"
    }
    assert result.text.startswith("finished: 4 read, 3 gone, 4 new. Next: the site is read")
    assert f"- a {loopback.site_url}/a (" in result.text


@pytest.mark.nightly
async def test_crawled_pages_are_read_from_the_cache(home: Path):
    async with loopback_app.open_loopback_app(home, LINKED_SITE) as loopback:
        await loopback.app.call("web_crawl", url=f"{loopback.site_url}/", max_depth=1)
        page = await loopback.app.call("web_fetch", url=f"{loopback.site_url}/a")
    assert "checkpoint of a" in page.text


async def test_a_spent_budget_explains_how_to_continue_and_the_next_call_does(home: Path):
    async with loopback_app.open_loopback_app(home, LINKED_SITE) as loopback:
        first = (await loopback.app.call("web_crawl", url=f"{loopback.site_url}/", max_pages=2, max_depth=2)).data
        second = (await loopback.app.call("web_crawl", url=f"{loopback.site_url}/", max_pages=9, max_depth=2)).data
    assert (first["status"], first["counts"]["read"]) == ("pages", 2)
    assert "larger" in first["note"]
    assert (second["status"], second["counts"]["read"]) == ("finished", 4)


@pytest.mark.nightly
async def test_long_lists_continue_at_an_offset_without_reading_anything(home: Path):
    async with loopback_app.open_loopback_app(home, LINKED_SITE, more={"pages": {"per_host_rate": 1_000}}) as loopback:
        asked: dict[str, Any] = {"url": f"{loopback.site_url}/many", "within": "path", "include": ["/many*"]}
        asked |= {"max_pages": 150, "max_seconds": 600}  # a busy machine may need more than the default
        first = (await loopback.app.call("web_crawl", **asked)).data
        rest = (await loopback.app.call("web_crawl", **asked, offset=first["next_offset"])).data
    assert (len(first["pages"]), first["next_offset"], first["counts"]["read"]) == (100, 100, 131)
    assert (rest["status"], len(rest["pages"]), rest["next_offset"]) == ("listing", 31, 0)


async def test_each_session_has_its_own_crawls(home: Path):
    async with loopback_app.open_loopback_app(home, LINKED_SITE) as loopback:
        ann, ben = Call(session="ann"), Call(session="ben")
        await loopback.app.call("web_crawl", ann, url=f"{loopback.site_url}/", max_depth=1)
        listed = await loopback.app.call("web_crawl", ben, url=f"{loopback.site_url}/", max_depth=1, offset=1)
        again = await loopback.app.call("web_crawl", ann, url=f"{loopback.site_url}/", max_depth=1)
    assert listed.data["pages"] == []
    assert listed.data["note"] == "offset 1 is past the end of the list; give a lower one"
    assert again.data["counts"]["same"] == 3


async def test_progress_reports_pages_read_and_rate(home: Path):
    told: list[tuple[float, float | None, str]] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message or ""))

    async with (
        loopback_app.open_loopback_app(home, LINKED_SITE) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        arguments = {"url": f"{loopback.site_url}/", "max_depth": 2}
        await client.call_tool("web_crawl", arguments, progress_callback=progress)
    assert told
    assert re.match(r"1 page read, \d+ waiting, \d+\.\d/s: http", told[0][2])
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})


async def test_a_first_page_that_cannot_be_read_is_an_error_with_a_remedy(home: Path):
    async with (
        loopback_app.open_loopback_app(home, LINKED_SITE) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        missing = await client.call_tool("web_crawl", {"url": f"{loopback.site_url}/nowhere"})
        closed = await client.call_tool("web_crawl", {"url": "http://192.168.0.1/"})
        nonsense = await client.call_tool("web_crawl", {"url": "file:///etc/passwd"})
    assert read_error(missing)["code"] == "not_found"
    assert read_error(closed)["code"] == "egress"
    assert read_error(nonsense)["code"] == "bad_url"


@pytest.mark.parametrize("wrong", [{"max_pages": 0}, {"within": "world"}, {"include": [""]}, {"url": "  "}])
async def test_bad_arguments_name_the_field(home: Path, wrong: dict[str, Any]):
    async with loopback_app.open_loopback_app(home, LINKED_SITE) as loopback:
        arguments: dict[str, Any] = {"url": loopback.site_url} | wrong
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            await loopback.app.call("web_crawl", **arguments)


async def test_crawled_pages_are_added_to_the_named_store_and_found_there(home: Path):
    async with loopback_app.open_loopback_app(home, LINKED_SITE) as loopback:
        store = (await loopback.app.call("createStore", metadata={"name": "docs"})).data["storeId"]
        crawl: dict[str, Any] = {"url": f"{loopback.site_url}/", "max_depth": 1, "store_id": store}
        first = (await loopback.app.call("web_crawl", **crawl)).data
        again = (await loopback.app.call("web_crawl", **crawl)).data
        listed = (await loopback.app.call("listContent", store_id=store)).data
        found = (await loopback.app.call("keywordSimilaritySearch", query="checkpoint of b", store_id=store)).data
    ids = {each["content_id"] for each in first["pages"] if "title" in each}
    assert {each["contentId"] for each in listed["contents"]} == ids
    assert (len(ids), again["counts"]["same"]) == (3, 3)
    assert found["results"][0]["contentId"] in ids


async def test_an_unknown_store_is_reported_before_any_page_is_read(home: Path):
    async with loopback_app.open_loopback_app(home, LINKED_SITE) as loopback:
        with pytest.raises(NotFound, match="store"):
            await loopback.app.call("web_crawl", url=f"{loopback.site_url}/", store_id="nowhere")
    async with loopback_app.open_loopback_app(home, LINKED_SITE, more={"toolsets": ["web"]}) as loopback:
        with pytest.raises(NotConfigured, match="store_id"):
            await loopback.app.call("web_crawl", url=f"{loopback.site_url}/", store_id="nowhere")
