"""Toolset `web_search_browse`: websearch and webbrowser, item by item."""

from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError

from outrider.core.citations import build_references
from outrider.core.context import Call
from outrider.core.result import ImageBlock, ResourceBlock
from support.apps import loopback_app
from support.results import read_first_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio

KIND = "application/vnd.dust.tool-output."
RESULTS_SITE = loopback_app.build_page_site(
    {
        "/a": loopback_app.build_article_html(
            "Page A", "Alpha has a lot to say about beginnings. " * 10, links=("/b", "/c?x=1")
        ),
        "/b": loopback_app.build_article_html("Page B", "Beta comes second and says so at length. " * 10),
        "/huge": loopback_app.build_article_html(
            "Huge", *(f"Sentence {n} of a page that does not end soon. " * 10 for n in range(600))
        ),
        "/listing": "<main><h1>Listing</h1><p>A listing.</p><pre>"
        + "\n".join(f"line_{n} = compute(value_{n}, other_{n})" for n in range(4_000))
        + "</pre></main>",
        "/many": loopback_app.build_article_html(
            "Many", "Links follow here. " * 20, links=tuple(f"/page{n}" for n in range(70))
        ),
        "/empty": "<html><body></body></html>",
        "/secret": (403, {}, b"no"),
    }
)


async def test_a_search_returns_one_resource_per_result_and_the_query_last(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        result = await loopback.app.call("websearch", query="fox")
    *hits, asked = result.content
    assert len(hits) == 16
    assert hits[0].mime_type == f"{KIND}websearch-result"
    assert (hits[0].uri, hits[0].text) == ("https://www.place1.example/1", "All about fox '1'")
    assert hits[0].fields == {"title": "fox & more, part 1", "reference": build_references()[0]}
    assert (asked.mime_type, asked.text, asked.uri) == (f"{KIND}websearch-query", "fox", "")
    assert result.data["results"][0]["reference"] == build_references()[0]


async def test_names_of_the_other_web_tools_are_answered_with_the_served_ones(home: Path):
    async with (
        loopback_app.open_loopback_app(home) as loopback,
        Client(loopback.app.build_server("web_search_browse")) as client,
    ):
        for asked, meant in (("web_fetch", "webbrowser"), ("web_search", "websearch"), ("fetch_url", "webbrowser")):
            with pytest.raises(MCPError, match=rf"did you mean {meant}\?"):
                await client.call_tool(asked, {})


async def test_references_are_never_reused_within_a_message(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        given = []
        for page in (1, 2):
            result = await loopback.app.call("websearch", Call(message="m1"), query="fox", page=page)
            given += [row["reference"] for row in result.data["results"]]
        other = await loopback.app.call("websearch", Call(message="m2"), query="fox")
    assert len(set(given)) == len(given) == 32
    assert other.data["results"][0]["reference"] == given[0]


async def test_the_second_page_continues_where_the_first_ended(home: Path):
    async with loopback_app.open_loopback_app(home, names=("serper",)) as loopback:
        first = await loopback.app.call("websearch", query="fox")
        second = await loopback.app.call("websearch", query="fox", page=2)
    urls = [row["url"] for result in (first, second) for row in result.data["results"]]
    assert len(set(urls)) == len(urls)


async def test_a_host_may_reserve_references_and_share_the_results_of_a_step(home: Path):
    call = Call(citations=(100, 6), extra={"websearchResultCount": 6})
    async with loopback_app.open_loopback_app(home) as loopback:
        result = await loopback.app.call("websearch", call, query="fox")
    assert [row["reference"] for row in result.data["results"]] == list(build_references()[100:106])


async def test_without_results_only_the_query_is_returned(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        loopback.provider_behaviour.modes["*"] = "empty"
        result = await loopback.app.call("websearch", query="fox")
    assert [item.mime_type for item in result.content] == [f"{KIND}websearch-query"]


async def test_a_failed_search_has_the_error_prefix_that_hosts_expect(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback, Client(loopback.app.build_server()) as client:
        loopback.provider_behaviour.modes["*"] = "500"
        result = await client.call_tool("websearch", {"query": "fox"})
    assert result.is_error
    assert read_first_text(result).startswith("Failed to search: ")


async def test_pages_are_returned_in_the_requested_order_with_their_metadata(home: Path):
    async with loopback_app.open_loopback_app(home, RESULTS_SITE) as loopback:
        urls = [f"{loopback.site_url}/b", f"{loopback.site_url}/a", f"{loopback.site_url}/b"]
        result = await loopback.app.call("webbrowser", urls=urls)
    assert [item.fields["requestedUrl"] for item in result.content] == urls
    page = result.content[1]
    assert page.mime_type == f"{KIND}browse-result"
    assert page.uri == urls[1]
    assert page.fields == {
        "requestedUrl": urls[1],
        "responseCode": "200",
        "title": "Page A",
        "description": "About Page A",
    }
    assert "Alpha has a lot to say" in page.text
    assert not result.is_error


async def test_links_are_a_separate_resource_with_their_texts(home: Path):
    async with loopback_app.open_loopback_app(home, RESULTS_SITE) as loopback:
        result = await loopback.app.call("webbrowser", urls=[f"{loopback.site_url}/a"], links=True)
        many = await loopback.app.call("webbrowser", urls=[f"{loopback.site_url}/many"], links=True)
    _, links = result.content
    assert links.text.startswith("## Links (first 50)\n")
    assert f"- [to /b]({loopback.site_url}/b)" in links.text
    assert many.content[1].text.count("\n- ") == 50
    assert "more)" in many.content[1].text


async def test_html_is_returned_as_text_and_as_a_field(home: Path):
    async with loopback_app.open_loopback_app(home, RESULTS_SITE) as loopback:
        (page,) = (await loopback.app.call("webbrowser", urls=[f"{loopback.site_url}/a"], format="html")).content
    assert "<h1>Page A</h1>" in page.text
    assert page.fields["html"] == page.text


async def test_a_long_page_is_cut_at_its_token_limit_and_can_be_read_on(home: Path):
    from outrider.core.text import count_tokens

    async with loopback_app.open_loopback_app(home, RESULTS_SITE) as loopback:
        url = f"{loopback.site_url}/huge"
        (page,) = (await loopback.app.call("webbrowser", urls=[url])).content
        offset = page.meta["outrider/next_offset"]
        (rest,) = (await loopback.app.call("webbrowser", urls=[url], offset=offset)).content
        (beyond,) = (await loopback.app.call("webbrowser", urls=[url], offset=10**9)).content
    assert "[offset 1000000000 is past the end of this page (" in beyond.text
    assert 31_000 < count_tokens(page.text) < 32_100
    assert f"[Truncated to 32000 tokens of this page; read on with offset={offset}]" in page.text
    assert rest.text.split("\n\n[Truncated")[0] not in page.text


async def test_code_cut_between_pages_is_fenced_on_both(home: Path):
    from outrider.core.text import count_tokens

    async with loopback_app.open_loopback_app(home, RESULTS_SITE, more={"boundary": False}) as loopback:
        url = f"{loopback.site_url}/listing"
        (page,) = (await loopback.app.call("webbrowser", urls=[url])).content
        (rest,) = (await loopback.app.call("webbrowser", urls=[url], offset=page.meta["outrider/next_offset"])).content
    shown = page.text.split("\n\n[Truncated")[0]
    assert shown.endswith("\n```")
    assert count_tokens(shown) <= 32_000
    assert rest.text.startswith("```\nline_")


async def test_pictures_follow_their_page_as_images(home: Path):
    urls = ["/a", "/secret", "/b"]
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with loopback_app.open_loopback_app(home, RESULTS_SITE) as loopback:
            asked = [f"{loopback.site_url}{path}" for path in urls]
            seen = await loopback.app.call("webbrowser", urls=asked, screenshotMode="viewport", links=True)
            (page, whole) = (await loopback.app.call("webbrowser", urls=asked[:1], screenshotMode="fullPage")).content
            assert loopback.app.browsers.list_sessions() == []
    kinds = [type(item).__name__ for item in seen.content]
    page_kinds = ["ResourceBlock", "ResourceBlock", "ImageBlock"]
    assert kinds == [*page_kinds, "ResourceBlock", *page_kinds]
    assert isinstance(page, ResourceBlock)
    for item in (seen.content[2], seen.content[6], whole):
        assert isinstance(item, ImageBlock)
        assert item.mime_type == "image/png"
        assert item.data.startswith(b"\x89PNG")


async def test_without_a_browser_the_page_includes_a_diagnosis_instead_of_a_picture(home: Path):
    none = {"browser": {"executable": "/no/such/browser"}}
    async with loopback_app.open_loopback_app(home, RESULTS_SITE, more=none) as loopback:
        result = await loopback.app.call("webbrowser", urls=[f"{loopback.site_url}/a"], screenshotMode="viewport")
    page, diagnosis = result.content
    assert "Alpha has a lot to say" in page.text
    assert diagnosis.mime_type == f"{KIND}browse-result"
    assert diagnosis.text.startswith("Screenshot failed: ")
    assert "/no/such/browser" in diagnosis.text


async def test_one_failed_page_does_not_spoil_the_others(home: Path):
    async with loopback_app.open_loopback_app(home, RESULTS_SITE) as loopback:
        bad = f"{loopback.site_url}/secret"
        result = await loopback.app.call("webbrowser", urls=[f"{loopback.site_url}/a", bad, "http://127.0.0.1:1/"])
    fine, refused, private = result.content
    assert fine.fields["responseCode"] == "200"
    assert refused.fields["responseCode"] == "403"
    assert refused.text.startswith(f"Browse error (403) for {bad}: ")
    assert refused.fields["errorMessage"] in refused.text
    assert private.fields["errorMessage"]
    assert not result.is_error


async def test_if_every_page_fails_the_call_failed(home: Path):
    async with loopback_app.open_loopback_app(home, RESULTS_SITE) as loopback:
        result = await loopback.app.call("webbrowser", urls=[f"{loopback.site_url}/secret"])
    assert result.is_error


@pytest.mark.parametrize("urls", [[], [""], ["http://a.example/"] * 17])
async def test_one_to_sixteen_addresses_are_accepted(home: Path, urls: list[str]):
    async with loopback_app.open_loopback_app(home) as loopback, Client(loopback.app.build_server()) as client:
        result = await client.call_tool("webbrowser", {"urls": urls})
    assert result.is_error
    assert "urls" in read_first_text(result)


async def test_the_toolset_can_be_chosen_by_its_display_name(home: Path):
    async with loopback_app.open_loopback_app(home, more={"toolsets": ["web_search_&_browse"]}) as loopback:
        assert sorted(loopback.app.toolbox.tools) == ["webbrowser", "websearch"]


async def test_progress_counts_the_pages(home: Path):
    seen: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message)

    async with (
        loopback_app.open_loopback_app(home, RESULTS_SITE) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        urls = [f"{loopback.site_url}/a", f"{loopback.site_url}/b"]
        await client.call_tool("webbrowser", {"urls": urls}, progress_callback=note)
    assert seen[-1] == "2 of 2 pages"
