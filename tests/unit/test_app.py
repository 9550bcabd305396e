"""The open app from Python code."""

from pathlib import Path

import anyio
import pytest

import outrider
from outrider import InvalidInput, NotFound, load, open_app
from outrider.core.context import Call
from outrider.search.provider import Query
from support.apps import loopback_app
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio

TEA_SITE = loopback_app.build_page_site(
    {"/tea": loopback_app.build_article_html("Tea", "Tea is a drink made of leaves and hot water. " * 10)}
)


async def test_every_public_name_exists():
    assert {name for name in outrider.__all__ if getattr(outrider, name, None) is None} == set()


async def test_a_tool_is_called_as_a_host_would_call_it(home: Path):
    async with loopback_app.open_loopback_app(home, TEA_SITE) as loopback:
        page = await loopback.app.call("web_fetch", url=f"{loopback.site_url}/tea")
    assert "Tea is a drink" in page.text


async def test_dotted_settings_override_files_as_on_the_command_line():
    async with open_app(settings={"egress.deny": "evil.example,bad.example", "pages.max_age": 0}) as app:
        egress, pages = app.loaded.settings.egress, app.loaded.settings.pages
    assert (egress.deny, pages.max_age) == (["evil.example", "bad.example"], 0)
    with pytest.raises(InvalidInput, match=r"egress\.den.*did you mean 'deny'"):
        async with open_app(settings={"egress.den": []}):
            pass


async def test_errors_pass_through_the_app_unchanged(home: Path):
    loaded = load(environ={}, home=home, workspace=home)
    with pytest.raises(InvalidInput, match="query"):
        async with open_app(loaded) as app:
            await app.call("web_search", query="")
    with pytest.raises(NotFound, match="no tool 'nope'"):
        async with open_app(loaded) as app:
            await app.call("nope")


async def test_every_call_is_recorded_and_the_record_outlives_the_app(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        await loopback.app.call("web_search", Call(session="s1"), query="tea")
        with pytest.raises(InvalidInput):
            await loopback.app.call("web_search", query="")
    async with loopback_app.open_loopback_app(home) as loopback:
        events = await loopback.app.events.list_recent()
    assert [(event.tool, event.session, event.outcome) for event in events] == [
        ("web_search", "default", "invalid_input"),
        ("web_search", "s1", "ok"),
    ]


async def test_records_and_files_older_than_keep_days_are_deleted(home: Path):
    async with loopback_app.open_loopback_app(home) as loopback:
        await loopback.app.call("web_search", query="tea")
        kept = await loopback.app.artifacts.save(b"x", name="x", mime_type="text/plain", session="s")
    async with loopback_app.open_loopback_app(home, more={"keep_days": 0.000_000_1}) as loopback:
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while await loopback.app.events.list_recent():
                await anyio.lowlevel.checkpoint()
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while await loopback.app.artifacts.list_recent():
                await anyio.lowlevel.checkpoint()
        with pytest.raises(NotFound):
            await loopback.app.artifacts.get(kept.uri)


async def test_pages_already_read_can_be_searched_if_nothing_else_answers(home: Path):
    async with loopback_app.open_loopback_app(home, TEA_SITE, names=("brave",)) as loopback:
        loopback.provider_behaviour.modes["*"] = "500"
        await loopback.app.call("web_fetch", url=f"{loopback.site_url}/tea")
        found = (await loopback.app.call("web_search", query="drink leaves")).data
        elsewhere = await loopback.app.search.find(Query("drink leaves", sites=("127.0.0.1",)))
    assert found["provider"] == "local"
    assert [hit["url"] for hit in found["results"]] == [f"{loopback.site_url}/tea"]
    assert "read here before" in found["notes"][-1]
    assert elsewhere.hits


async def test_two_apps_share_one_home(home: Path):
    async with (
        loopback_app.open_loopback_app(home, names=("serper",)) as one,
        loopback_app.open_loopback_app(home, names=("serper",)) as other,
    ):
        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(_search_web, (one, other)[number % 2], f"tea {number}")
        await one.app.events.flush()
        events = await other.app.events.list_recent()
    assert [event.outcome for event in events] == ["ok"] * 10


async def _search_web(loopback: loopback_app.LoopbackApp, query: str) -> None:
    await loopback.app.call("web_search", query=query)
