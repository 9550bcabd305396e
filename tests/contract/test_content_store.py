"""The contract of toolset `content_store`."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import text

from outrider.app import App
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused
from outrider.core.result import ResourceBlock
from outrider.toolsets.content_store.tools import describe_stores
from support.apps import loopback_app, replicas

pytestmark = pytest.mark.anyio
MINE, OTHERS = Call(session="mine"), Call(session="others")
TEA_TEXT = "# Tea\n\nGreen tea is steeped at eighty degrees.\n\n# Coffee\n\nBeans are roasted.\n"
TEN = [
    "createStore", "addContent", "listContent", "readContent", "keywordSimilaritySearch", "semanticSimilaritySearch",
    "deleteContent", "updateContent", "getStoreInfo", "listStores",
]  # fmt: skip


def open_content_app(home: Path, *, more: dict[str, Any] | None = None, **content: Any) -> Any:
    toolsets = ["content_store", "web", "web_search_browse"]
    return replicas.open_replicated_app(home, {"toolsets": toolsets, "content": content} | (more or {}))


async def call_for_data(app: App, tool: str, call: Call = MINE, **arguments: Any) -> dict[str, Any]:
    return (await app.call(tool, call, **arguments)).data


async def add_content(app: App, text: str = TEA_TEXT, call: Call = MINE, **metadata: Any) -> dict[str, Any]:
    return await call_for_data(app, "addContent", call, content=text, metadata=metadata)


async def search_content(
    app: App, query: str, call: Call = MINE, tool: str = "keyword", **options: Any
) -> list[dict[str, Any]]:
    answer = await call_for_data(app, f"{tool}SimilaritySearch", call, query=query, options=options)
    return answer["results"]


async def test_all_ten_tools_and_the_hybrid_search_are_served(home: Path):
    async with open_content_app(home) as app:
        served = app.toolbox.toolsets["content_store"].tools
        assert set(served) == {*TEN, "hybridSimilaritySearch"}
        assert app.toolbox.select_toolset("contentstore").toolsets.keys() == {"content_store"}
        for tool in served.values():
            assert not {name for name in tool.input_schema["properties"] if name != name.lower()}


async def test_a_text_is_kept_described_listed_read_and_found(home: Path):
    async with open_content_app(home) as app:
        made = await add_content(app, filename="tea.md", mime_type="text/markdown", uploaded_at="2025-09-28T12:00:00Z")
        assert made | {"storeId": "", "contentId": ""} == {
            "storeId": "",
            "contentId": "",
            "filename": "tea.md",
            "mimeType": "text/markdown",
            "size": len(TEA_TEXT),
            "lineCount": 7,
            "preview": TEA_TEXT,
            "uploadedAt": "2025-09-28T12:00:00Z",
            "chunkCount": 1,
            "version": 1,
        }
        listed = await call_for_data(app, "listContent")
        assert listed["storeId"] == made["storeId"]
        assert [each["contentId"] for each in listed["contents"]] == [made["contentId"]]
        assert (listed["total"], listed["hasMore"]) == (1, False)
        read = await call_for_data(app, "readContent", content_id=made["contentId"], from_line=3, to_line=3)
        assert (read["content"], read["lineRange"]) == ("Green tea is steeped at eighty degrees.\n", [3, 3])
        [hit] = await search_content(app, "steeping green teas")
        assert hit["contentId"] == made["contentId"]
        assert hit["lineRange"] == [1, 7]
        assert hit["relevanceType"] == "keyword"
        assert 0 < hit["score"] < 1
        assert set(hit["highlights"]) >= {"Green", "steeped"}


@pytest.mark.parametrize(
    ("snake", "camel"),
    [
        ({"content_id": 0, "from_line": 2, "to_line": 2}, {"contentId": 0, "fromLine": 2, "toLine": 2}),
    ],
)
async def test_both_spellings_of_names_are_accepted(home: Path, snake: dict[str, Any], camel: dict[str, Any]):
    async with open_content_app(home) as app:
        made = await call_for_data(
            app,
            "addContent",
            content=TEA_TEXT,
            storeId=(await call_for_data(app, "createStore", metadata={"name": "n", "session_id": "passed over"}))[
                "storeId"
            ],
            metadata={"mimeType": "text/x", "uploadedAt": "2025-01-01"},
        )
        assert (made["mimeType"], made["uploadedAt"]) == ("text/x", "2025-01-01T00:00:00Z")
        ids = [each | {name: made["contentId"] for name in each if each[name] == 0} for each in (snake, camel)]
        assert await call_for_data(app, "readContent", **ids[0]) == await call_for_data(app, "readContent", **ids[1])
        assert await call_for_data(
            app, "keywordSimilaritySearch", query="tea", options={"topN": 1}
        ) == await call_for_data(app, "keywordSimilaritySearch", query="tea", options={"top_n": 1})


async def test_text_and_data_of_a_result_agree(home: Path):
    async with open_content_app(home) as app:
        made = await app.call("addContent", MINE, content=TEA_TEXT)
        assert json.loads(made.text) == made.data
        hits = await app.call("keywordSimilaritySearch", MINE, query="roasted beans")
        [row] = hits.data["results"]
        assert all(str(each) in hits.text for each in (row["contentId"], row["matchedText"], row["lineRange"][1]))


@pytest.mark.nightly
async def test_equal_text_in_a_store_is_kept_once(home: Path):
    async with open_content_app(home) as app:
        first = await add_content(app)
        again = await add_content(app, filename="other.txt")
        elsewhere = await call_for_data(app, "createStore", name="second")
        there = await call_for_data(app, "addContent", content=TEA_TEXT, store_id=elsewhere["storeId"])
    assert again["contentId"] == first["contentId"]
    assert "already" in again["note"]
    assert there["contentId"] != first["contentId"]


async def test_stores_are_made_listed_and_described(home: Path):
    async with open_content_app(home) as app:
        made = await call_for_data(app, "createStore", metadata={"name": "Teas", "description": "of the world"})
        assert made["id"] == made["storeId"]
        assert (await call_for_data(app, "createStore"))["name"] == "Unnamed Store"
        await call_for_data(app, "addContent", content=TEA_TEXT, store_id=made["storeId"])
        info = await call_for_data(app, "getStoreInfo", store_id=made["storeId"])
        assert {name: info[name] for name in ("name", "description", "contentCount", "chunkCount", "totalSize")} == {
            "name": "Teas",
            "description": "of the world",
            "contentCount": 1,
            "chunkCount": 1,
            "totalSize": len(TEA_TEXT),
        }
        first = await call_for_data(app, "listStores", pagination={"limit": 1})
        second = await call_for_data(app, "listStores", pagination={"offset": 1, "limit": 1})
        assert (first["total"], first["hasMore"], second["hasMore"]) == (2, True, False)
        assert {first["stores"][0]["name"], second["stores"][0]["name"]} == {"Teas", "Unnamed Store"}


@pytest.mark.nightly
async def test_listing_is_newest_first_and_in_pages(home: Path):
    async with open_content_app(home) as app:
        for day in ("03", "01", "02"):
            await add_content(app, f"text of day {day}", filename=day, uploaded_at=f"2025-01-{day}")
        page = await call_for_data(app, "listContent", pagination={"offset": 0, "limit": 2})
        rest = await call_for_data(app, "listContent", pagination={"offset": 2})
    assert [each["filename"] for each in page["contents"]] == ["03", "02"]
    assert (page["total"], page["hasMore"], rest["hasMore"]) == (3, True, False)
    assert [each["filename"] for each in rest["contents"]] == ["01"]


async def test_updating_replaces_text_and_index_in_one_step(home: Path):
    async with open_content_app(home) as app:
        made = await add_content(app, filename="tea.md")
        renamed = await call_for_data(
            app, "updateContent", content_id=made["contentId"], metadata={"filename": "drinks.md"}
        )
        assert (renamed["filename"], renamed["version"], renamed["preview"]) == ("drinks.md", 2, TEA_TEXT)
        assert len(await search_content(app, "steeped")) == 1
        changed = await call_for_data(app, "updateContent", content_id=made["contentId"], content="Water boils.")
        assert (changed["filename"], changed["version"]) == ("drinks.md", 3)
        assert await search_content(app, "steeped") == []
        assert [each["contentId"] for each in await search_content(app, "boiling water")] == [made["contentId"]]


async def test_deleted_content_is_gone_everywhere(home: Path):
    async with open_content_app(home) as app:
        made = await add_content(app)
        assert await call_for_data(app, "deleteContent", content_id=made["contentId"]) == {
            "contentId": made["contentId"],
            "deleted": True,
        }
        assert await search_content(app, "tea") == []
        assert (await call_for_data(app, "listContent"))["total"] == 0
        for tool in ("readContent", "deleteContent"):
            with pytest.raises(NotFound) as gone:
                await app.call(tool, MINE, content_id=made["contentId"])
            assert gone.value.code == "CONTENT_NOT_FOUND"


async def test_sessions_people_and_workspaces_do_not_see_each_other(home: Path):
    async with open_content_app(home) as app:
        made = await add_content(app, "a secret of mine")
        strangers = (OTHERS, Call(session="mine", workspace="elsewhere"), Call(session="mine", identity="eve@x.org"))
        for stranger in strangers:
            assert await search_content(app, "secret", stranger) == []
            assert (await call_for_data(app, "listStores", stranger))["stores"] == []
            tries: list[tuple[str, dict[str, Any]]] = [
                ("readContent", {"content_id": made["contentId"]}),
                ("deleteContent", {"content_id": made["contentId"]}),
                ("updateContent", {"content_id": made["contentId"], "content": "x"}),
                ("getStoreInfo", {"store_id": made["storeId"]}),
                ("listContent", {"store_id": made["storeId"]}),
                ("addContent", {"store_id": made["storeId"], "content": "x"}),
                ("keywordSimilaritySearch", {"store_id": made["storeId"], "query": "secret"}),
            ]
            for tool, arguments in tries:
                with pytest.raises(NotFound) as refused:
                    await app.call(tool, stranger, **arguments)
                assert refused.value.code in {"CONTENT_NOT_FOUND", "STORE_NOT_FOUND"}
        assert len(await search_content(app, "secret")) == 1


async def test_everything_outlives_the_process(home: Path):
    async with open_content_app(home) as app:
        made = await add_content(app)
    async with open_content_app(home) as app:
        assert [each["contentId"] for each in await search_content(app, "tea")] == [made["contentId"]]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("addContent", {}, "MISSING_INPUT"),
        ("addContent", {"content": "a", "file_url": "b"}, "invalid_input"),
        ("addContent", {"content": "x" * 10_000_001}, "CONTENT_TOO_LARGE"),
        ("addContent", {"content": "a", "store_id": "store_none"}, "STORE_NOT_FOUND"),
        ("addContent", {"file_url": "ftp://host/file"}, "invalid_input"),
        ("addContent", {"file_url": "file://elsewhere/share/file"}, "invalid_input"),
        ("addContent", {"content": "a", "metadata": {"uploaded_at": "yesterday"}}, "invalid_input"),
        ("addContent", {"content": "a", "metadata": {"size": -1}}, "invalid_input"),
        ("updateContent", {"content_id": "content_none", "content": "x"}, "CONTENT_NOT_FOUND"),
        ("updateContent", {"content_id": "content_none"}, "MISSING_INPUT"),
        ("keywordSimilaritySearch", {"query": "  "}, "invalid_input"),
        ("keywordSimilaritySearch", {"query": "a", "options": {"top_n": 101}}, "invalid_input"),
        ("keywordSimilaritySearch", {"query": "a", "options": {"threshold": 2}}, "invalid_input"),
        ("listContent", {"pagination": {"limit": 1_001}}, "invalid_input"),
    ],
)
async def test_errors_have_the_codes_of_the_contract(home: Path, tool: str, arguments: dict[str, Any], code: str):
    async with open_content_app(home) as app:
        with pytest.raises(OutriderError) as error:
            await app.call(tool, MINE, **arguments)
    assert error.value.code == code
    assert error.value.hint


async def test_missing_lines_are_an_error_that_names_the_existing_ones(home: Path):
    async with open_content_app(home) as app:
        made = await add_content(app)
        for lines in ({"from_line": 8}, {"from_line": 3, "to_line": 2}):
            with pytest.raises(InvalidInput, match="lines 1 to 7") as error:
                await app.call("readContent", MINE, content_id=made["contentId"], **lines)
            assert error.value.code == "INVALID_LINE_RANGE"


async def test_reading_continues_where_it_stopped_even_within_a_line(home: Path):
    text = "first\r\n" + "word " * 5_000 + "\r\nlast"
    async with open_content_app(home) as app:
        made = await add_content(app, text)
        parts, offset = [], 0
        while offset is not None:
            part = await call_for_data(app, "readContent", content_id=made["contentId"], offset=offset, max_chars=7_000)
            parts.append(part["content"])
            offset = part.get("nextOffset")
        with pytest.raises(InvalidInput, match="past the end of the lines"):
            await app.call("readContent", MINE, content_id=made["contentId"], offset=len(text))
    assert "".join(parts) == text
    assert len(parts) == 4


async def test_search_filters_before_it_counts(home: Path):
    async with open_content_app(home) as app:
        for number in range(30):
            await add_content(app, f"tea tea tea number {number}", filename=f"n{number}.txt", uploaded_at="2025-01-01")
        await add_content(app, "some tea among many other things here", filename="w.md", mime_type="text/markdown",
                    uploaded_at="2025-03-01")  # fmt: skip
        assert len(await search_content(app, "tea", top_n=5)) == 5
        filters: list[dict[str, Any]] = [
            {"mime_type": "text/mark*"},
            {"source": "W.MD"},
            {"since": "2025-02-01T00:00Z"},
        ]
        for only in filters:
            assert [each["filename"] for each in await search_content(app, "tea", top_n=3, **only)] == ["w.md"]
        assert len(await search_content(app, "tea", top_n=100, until="2025-02-01")) == 30
        assert await search_content(app, "tea", since="2030-01-01") == []
        best = (await search_content(app, "tea"))[0]["score"]
        assert all(each["score"] >= best for each in await search_content(app, "tea", threshold=best))


async def test_a_hit_can_include_its_neighbours(home: Path):
    parts = [f"Part {n}. " + f"filler{n} " * 110 for n in range(8)]
    async with open_content_app(home) as app:
        await add_content(app, "\n\n".join(parts))
        alone = (await search_content(app, "filler4", top_n=1))[0]
        hit = (await search_content(app, "filler4", top_n=1, neighbours=1))[0]
    assert "before" not in alone
    assert "filler3" in hit["before"]
    assert "filler5" in hit["after"]


async def test_without_an_embedder_the_error_names_the_keyword_tool(home: Path):
    async with open_content_app(home, embedding={"provider": "off"}) as app:
        await add_content(app)
        assert (await call_for_data(app, "getStoreInfo"))["semantic"] is False
        for tool in ("semantic", "hybrid"):
            with pytest.raises(NotConfigured, match="semantic search is not available") as error:
                await search_content(app, "tea", tool=tool)
            assert error.value.code == "semantic_unavailable"
            assert "keywordSimilaritySearch" in error.value.hint


@pytest.mark.parametrize(
    "place",
    [
        "/etc/passwd",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "file://localhost/etc/passwd",
        "../../../../../../etc/passwd",
        "notes/../../../outside.txt",
        "link.txt",
        "folder/outside.txt",
        "~/outside.txt",
        "file:///proc/self/environ",
        "file:%2F%2F%2Fetc%2Fpasswd",
        "a\0b",
    ],
)
async def test_no_file_outside_the_workspace_and_the_roots_is_read(home: Path, place: str):
    (home / "outside.txt").write_text("outside")
    async with open_content_app(home) as app:
        own = app_workspace(app)
        (own / "link.txt").symlink_to(home / "outside.txt")
        (own / "folder").symlink_to(home)
        with pytest.raises((Refused, InvalidInput, NotFound)):
            await app.call("addContent", MINE, file_url=place)
        assert (await call_for_data(app, "listStores"))["total"] == 0


def app_workspace(app: App) -> Path:
    """The directory of the session's files."""
    from outrider.workspace import SessionWorkspaces

    return (
        SessionWorkspaces(app.loaded.settings.data_dir / "workspaces", app.loaded.settings.workspace)
        .ensure_workspace(MINE)
        .directory
    )


async def test_files_of_the_workspace_and_of_allowed_roots_are_kept(home: Path):
    root = home / "books"
    root.mkdir()
    (root / "b.csv").write_text("name,score\ntea,1\r\nwater,2\n")
    async with open_content_app(home, more={"workspace": {"import_roots": [str(root)]}}) as app:
        (app_workspace(app) / "code.py").write_bytes("def brew():\n    return 'Té'\n".encode("latin-1"))
        for place in ("code.py", f"file://{app_workspace(app)}/code.py"):
            code = await call_for_data(app, "addContent", file_url=place)
            assert (code["filename"], code["lineCount"]) == ("code.py", 2)
        table = await call_for_data(app, "addContent", file_url=f"file://{root}/b.csv")
        assert (await call_for_data(app, "readContent", content_id=table["contentId"]))["content"] == (
            "name,score\ntea,1\r\nwater,2\n"
        )
        with pytest.raises(Refused, match="outside"):
            await app.call("addContent", MINE, file_url=f"file://{home}/books-2/x")


async def test_a_file_that_is_too_large_is_reported_before_it_is_read(home: Path):
    async with open_content_app(home, more={"pages": {"document_max_bytes": 2_000}}) as app:
        with (app_workspace(app) / "big.txt").open("wb") as file:
            file.truncate(10**12)
        with pytest.raises(InvalidInput) as error:
            await app.call("addContent", MINE, file_url="big.txt")
    assert error.value.code == "FILE_TOO_LARGE"


async def test_documents_become_markdown_and_pages_come_through_the_guard(home: Path):
    site = loopback_app.build_page_site(
        {"/tea": loopback_app.build_article_html("All about tea", ":cite[abc] Green tea is steeped. " * 20)}
    )
    async with loopback_app.open_loopback_app(home, site) as loopback:
        shown = await loopback.app.call("addContent", MINE, file_url=f"{loopback.site_url}/tea")
        assert ":cite[" not in str(shown.content)
        page = await call_for_data(loopback.app, "addContent", file_url=f"{loopback.site_url}/tea")
        assert page["mimeType"] == "text/html"
        [hit] = await search_content(loopback.app, "steeped tea")
        assert (hit["title"], hit["source"]) == ("All about tea", f"{loopback.site_url}/tea")
        with pytest.raises(Refused):
            await loopback.app.call("addContent", MINE, file_url="http://169.254.169.254/latest/meta-data")
        (app_workspace(loopback.app) / "p.html").write_text(
            loopback_app.build_article_html("Local", "Words of a local file. " * 20)
        )
        local = await call_for_data(loopback.app, "addContent", file_url="p.html")
        assert "<p>" not in local["preview"]


async def test_the_service_context_counts_and_names_the_stores(home: Path):
    async with open_content_app(home) as app:
        await add_content(app, filename="tea.md")
        await call_for_data(app, "createStore", name="second")
        text, state = await describe_stores(app.content, MINE)
    assert text.splitlines()[:5] == [
        "# Content Store Server Status",
        "**Server**: content_store",
        "**Status**: Active",
        "**Stores Available**: 2 stores",
        "**Total Content**: 1 items",
    ]
    assert "tea.md" in text
    assert (state["totalStores"], state["totalContent"]) == (2, 1)


@pytest.mark.nightly
async def test_many_concurrent_sessions_keep_their_own_contents(home: Path):
    async with open_content_app(home) as app:

        async def one(number: int) -> None:
            call = Call(session=f"s{number}")
            for part in range(4):
                await add_content(app, f"word{number} tea part {part}", call)
            hits = await search_content(app, f"word{number} tea", call, top_n=100)
            assert len(hits) == 4

        async with anyio.create_task_group() as tasks:
            for number in range(16):
                tasks.start_soon(one, number)


async def test_pages_that_are_read_are_saved_and_found(home: Path):
    site = loopback_app.build_page_site(
        {"/tea": loopback_app.build_article_html("All about tea", "Green tea is steeped. " * 20)}
    )
    async with loopback_app.open_loopback_app(home, site) as loopback:
        url = f"{loopback.site_url}/tea"
        fetched = await loopback.app.call("web_fetch", MINE, url=url)
        content_id = fetched.meta["outrider/content_id"]
        passages = await loopback.app.call("web_fetch", MINE, url=url, query="steeped")
        assert passages.meta["outrider/content_id"] == content_id
        [browsed] = (await loopback.app.call("webbrowser", MINE, urls=[url])).content
        assert isinstance(browsed, ResourceBlock)
        assert browsed.meta["outrider/content_id"] == content_id
        [hit] = await search_content(loopback.app, "steeped")
        assert (hit["contentId"], hit["source"]) == (content_id, url)
        assert await search_content(loopback.app, "steeped", OTHERS) == []


async def test_a_changed_page_becomes_a_new_version_under_its_id(home: Path):
    bodies = {"/tea": loopback_app.build_article_html("Tea", "It was green once. " * 20)}
    async with loopback_app.open_loopback_app(
        home, loopback_app.build_page_site(bodies), more={"pages": {"max_age": 0}}
    ) as loopback:
        first = await loopback.app.call("web_fetch", MINE, url=f"{loopback.site_url}/tea")
        bodies["/tea"] = loopback_app.build_article_html("Tea", "It is black now. " * 20)
        second = await loopback.app.call("web_fetch", MINE, url=f"{loopback.site_url}/tea")
        assert first.meta["outrider/content_id"] == second.meta["outrider/content_id"]
        assert await search_content(loopback.app, "green") == []
        assert len(await search_content(loopback.app, "black")) == 1


@pytest.mark.parametrize("more", [{"content": {"offer": False}}, {"toolsets": ["web"]}], ids=["off", "not served"])
async def test_nothing_is_saved_if_the_setting_is_off(home: Path, more: dict[str, Any]):
    site = loopback_app.build_page_site({"/tea": loopback_app.build_article_html("Tea", "Words. " * 50)})
    async with loopback_app.open_loopback_app(home, site, more=more) as loopback:
        fetched = await loopback.app.call("web_fetch", MINE, url=f"{loopback.site_url}/tea")
        assert "outrider/content_id" not in fetched.meta
        assert (await loopback.app.content.list_stores(MINE))[1] == 0


async def test_the_provider_local_searches_the_callers_stores(home: Path):
    tea = loopback_app.build_article_html("All about tea", "Green tea is steeped at eighty degrees. " * 5)
    more = {"search": {"order": ["local"], "providers": {}, "keyless": False}, "pages": {"cache_bytes": 0}}
    async with loopback_app.open_loopback_app(home, loopback_app.build_page_site({"/tea": tea}), more=more) as loopback:
        await add_content(loopback.app, "steeped tea without an address")
        await loopback.app.call("web_fetch", MINE, url=f"{loopback.site_url}/tea")
        for tool in ("web_search", "websearch", "search"):
            [hit] = (await call_for_data(loopback.app, tool, query="steeping teas"))["results"]
            assert (hit["title"], hit["url"]) == ("All about tea", f"{loopback.site_url}/tea")
        assert (await call_for_data(loopback.app, "web_search", OTHERS, query="steeping teas"))["results"] == []
        assert (await call_for_data(loopback.app, "web_search", query="steeping teas", site="example.org"))[
            "results"
        ] == []


@pytest.mark.parametrize("offered", [True, False], ids=["from the caller's stores", "from the page cache"])
async def test_a_page_read_at_two_addresses_is_found_once_in_plain_text(home: Path, offered: bool):
    rows = "<tr><th>Kind<th>Degrees<tr><td>Green <b>steeped</b> tea<td>eighty"
    tea = f"<title>Tea</title><h2>Green <i>tea</i></h2><p>See <a href=/x>steeped tea</a>.</p><table>{rows}</table>"
    site = loopback_app.build_page_site({"/tea": tea, "/old": (302, {"location": "/tea"}, b"")})
    search = {"order": ["local"], "providers": {}, "keyless": False}
    async with loopback_app.open_loopback_app(
        home, site, more={"search": search, "content": {"offer": offered}}
    ) as loopback:
        for path in ("/old", "/tea"):
            await loopback.app.call("web_fetch", MINE, url=loopback.site_url + path)
        for tool in ("web_search", "websearch", "search"):
            [hit] = (await call_for_data(loopback.app, tool, query="steeped tea"))["results"]
            assert (hit["url"], "Green steeped tea · eighty" in str(hit)) == (f"{loopback.site_url}/tea", True)
            assert not set("*#|[") & set(hit.get("snippet") or hit["description"])


async def test_a_file_is_read_back_byte_for_byte(home: Path):
    web = b"<html><head><title>Tea</title></head><body><h1>Tea</h1><p>Green tea is steeped.</p></body></html>"
    files = {
        "tea.html": (web, "text/html"),
        "latin.txt": ("Th\xe9 vert, r\xe9colt\xe9 au printemps\r\n".encode("latin-1") * 5, "text/plain"),
        "plain.md": (TEA_TEXT.encode(), "text/markdown"),
        "marked.txt": (b"\xef\xbb\xbfwith a byte order mark", "text/plain"),
        "readings.bin": (bytes(range(256)), "application/octet-stream"),
    }
    async with open_content_app(home) as app:
        folder = app.workspaces.ensure_workspace(MINE).directory
        for name, (body, mime_type) in files.items():
            (folder / name).write_bytes(body)
            made = await call_for_data(app, "addContent", file_url=name)
            await call_for_data(app, "updateContent", content_id=made["contentId"], metadata={"title": "Renamed"})
            read = await call_for_data(app, "readContent", content_id=made["contentId"], original=True)
            artifact, original = await app.artifacts.read(read["original"])
            assert original == body, name
            assert (artifact.name, artifact.mime_type, artifact.size) == (name, mime_type, len(body))
            assert (made["filename"], made["mimeType"], made["size"]) == (name, mime_type, len(body))
        [listed] = [
            each for each in (await call_for_data(app, "listContent"))["contents"] if each["filename"] == "tea.html"
        ]
        assert listed["source"] == "tea.html"
        replaced = await call_for_data(app, "updateContent", content_id=listed["contentId"], content="Now a text.")
        read = await call_for_data(app, "readContent", content_id=replaced["contentId"], original=True)
        assert (await app.artifacts.read(read["original"]))[1] == b"Now a text."


async def test_a_resource_of_another_tool_is_added_like_a_file(home: Path):
    async with open_content_app(home) as app:
        made = await app.artifacts.save(
            b"day,metres\nMonday,3.1\n", name="tides.csv", mime_type="text/csv", session="x"
        )
        added_file = await call_for_data(app, "addContent", file_url=made.uri)
        assert (added_file["filename"], added_file["mimeType"]) == ("tides.csv", "text/csv")
        assert (await search_content(app, "Monday"))[0]["source"] == made.uri
        with pytest.raises(NotFound):
            await app.call("addContent", MINE, file_url=f"{made.uri}0")


async def test_the_original_of_a_deleted_content_is_gone_too(home: Path):
    async with open_content_app(home) as app:
        folder = app.workspaces.ensure_workspace(MINE).directory
        store = await call_for_data(app, "createStore", name="second")
        for number, where in enumerate((None, store["storeId"])):
            (folder / "tea.html").write_text(f"<h1>Tea</h1><p>Number {number} is steeped.</p>")
            made = await call_for_data(app, "addContent", file_url="tea.html", store_id=where)
        await call_for_data(app, "deleteContent", content_id=made["contentId"])
        await app.content.delete_store(MINE, (await call_for_data(app, "getStoreInfo"))["storeId"])
        await app.content.purge_stale()
        async with app.database.read() as connection:
            assert (await connection.execute(text("SELECT count(*) FROM content_originals"))).scalar_one() == 0
