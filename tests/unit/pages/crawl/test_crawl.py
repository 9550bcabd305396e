"""Crawling a site over real sockets: scope, exclusions and resumption."""

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.core.database.database import Database
from outrider.core.errors import NotFound, Refused, Unavailable
from outrider.pages.crawl import CrawlBudget, Crawler, CrawlPlan
from outrider.pages.crawl.result import CrawlResult
from outrider.pages.pages import Pages
from outrider.pages.settings import PagesSettings
from support.databases import sqlite
from support.fakes import http_servers
from support.fakes.website import FakeClock, FakeSite, SiteAnswer, SiteRequest, open_http_client

pytestmark = pytest.mark.anyio
TIDE_TEXT = "The tide comes in twice a day, and the boats of {0} rise with it until the bell of {0} rings. "


def build_page(name: str, *links: str, head: str = "") -> SiteAnswer:
    """A page about something, with links."""
    anchors = "".join(f'<li><a href="{each}">To {each}</a></li>' for each in links)
    return SiteAnswer(
        f"<title>{name}</title>{head}<main><h1>{name}</h1><p>{TIDE_TEXT.format(name) * 5}</p><ul>{anchors}</ul></main>"
    )


@dataclass
class Place:
    """A crawler on a site, and the pages that it kept."""

    crawler: Crawler
    url: str
    site: FakeSite
    clock: FakeClock
    kept: list[str]

    async def crawl(self, path: str = "/", pages: int = 50, seconds: float = 30, **plan: Any) -> CrawlResult:
        budget = CrawlBudget(pages, seconds)
        return await self.crawler.crawl(CrawlPlan(self.url + path, **plan), budget, store_page=self.keep)

    async def keep(self, read: Any) -> str:
        self.kept.append(read.url.removeprefix(self.url))
        return f"kept-{len(self.kept)}"

    async def list_states(self, path: str = "/", **plan: Any) -> dict[str, str]:
        """Each page's state, by path."""
        rows = await self.crawler.list_pages(CrawlPlan(self.url + path, **plan))
        return {row["url"].removeprefix(self.url): row["state"] for row in rows}

    async def changes(self) -> dict[str, str]:
        rows = await self.crawler.list_pages(CrawlPlan(f"{self.url}/"))
        return {row["url"].removeprefix(self.url): row["change"] or row["state"] for row in rows}


@asynccontextmanager
async def open_crawler(routes: dict[str, Any], file: Path | None = None, **settings: Any) -> AsyncGenerator[Place]:
    clock, site = FakeClock(), FakeSite(routes)
    database = Database.from_file(sqlite.create_migrated_file(file or Path.home() / "crawl.db"))
    chosen = PagesSettings.model_validate({"per_host_rate": 1_000, **settings})
    try:
        async with http_servers.serve_app(site) as url, open_http_client() as http:
            pages = Pages(http, chosen, database, clock=clock, sleep=clock.sleep, attempts=1)
            yield Place(Crawler(pages, database, clock=clock, sleep=clock.sleep), url, site, clock, [])
    finally:
        await database.close()


HARBOUR = {
    "/": build_page(
        "Harbour", "/boats", "/bells#top", "/gone", "https://elsewhere.example/x", "/map.png", "mailto:a@b.c"
    ),
    "/boats": build_page("Boats", "/", "/boats/tern", "/boats/gull"),
    "/bells": build_page("Bells", "/boats"),
    "/boats/tern": build_page("Tern", "/boats/tern/log"),
    "/boats/gull": build_page("Gull"),
    "/boats/tern/log": build_page("Log"),
}


async def test_a_site_is_read_by_its_links():
    async with open_crawler(HARBOUR) as here:
        done = await here.crawl()
        states = await here.list_states()
    assert (done.ending, done.round, done.pages_read) == ("finished", 1, 6)
    assert states == dict.fromkeys(HARBOUR, "read") | {"/gone": "gone"}
    assert set(here.kept) == set(HARBOUR)
    assert "/map.png" not in here.site.list_paths()


async def test_a_crawl_is_limited_by_depth_pages_and_path():
    async with open_crawler(HARBOUR) as here:
        await here.crawl(depth=1)
        shallow = await here.list_states(depth=1)
        few = await here.crawl(pages=2, depth=2)
        below = await here.crawl("/boats/tern", within="path")
        states = await here.list_states("/boats/tern", within="path")
    assert set(shallow) == {"/", "/boats", "/bells", "/gone"}
    assert (few.ending, few.tally.used_pages) == ("pages", 2)
    assert few.tally.waiting > 0
    assert (below.ending, set(states)) == ("finished", {"/boats/tern", "/boats/tern/log"})


async def test_patterns_choose_among_paths():
    async with open_crawler(HARBOUR) as here:
        await here.crawl(include=("/boats*",), exclude=("*/log",))
        states = await here.list_states(include=("/boats*",), exclude=("*/log",))
    assert set(states) == {"/", "/boats", "/boats/tern", "/boats/gull"}


async def test_a_larger_budget_continues_where_the_smaller_ended():
    async with open_crawler(HARBOUR) as here:
        await here.crawl(pages=3)
        asked = len(here.site.requests)
        done = await here.crawl(pages=20)
        again = [path for path in here.site.list_paths()[asked:] if path in ("/", "/boats", "/bells")]
    assert (done.ending, done.round, done.tally.read) == ("finished", 1, 6)
    assert again == []


@pytest.mark.nightly
async def test_recrawling_a_site_transfers_and_reports_only_changes():
    routes: dict[str, Any] = dict(HARBOUR)

    def answer_with_tag(answer: SiteAnswer) -> Any:
        tag = f'"{hash(answer.body)}"'

        def reply(request: SiteRequest) -> SiteAnswer:
            same = request.headers.get("if-none-match") == tag
            return SiteAnswer(status=304) if same else SiteAnswer(answer.body, headers={"etag": tag})

        return reply

    routes |= {path: answer_with_tag(answer) for path, answer in HARBOUR.items()}
    async with open_crawler(routes) as here:
        await here.crawl()
        first, here.kept[:] = list(here.kept), []
        routes["/boats"] = answer_with_tag(build_page("Boats, painted", "/", "/boats/tern", "/boats/swan"))
        routes["/boats/swan"] = answer_with_tag(build_page("Swan"))
        here.clock.now += 1_000
        done = await here.crawl()
        changes = await here.changes()
    assert len(first) == 6
    assert (done.round, done.ending) == (2, "finished")
    same = dict.fromkeys(("/", "/bells", "/boats/tern", "/boats/tern/log"), "same")
    assert changes == same | {"/boats": "changed", "/boats/swan": "new", "/boats/gull": "gone", "/gone": "gone"}
    assert sorted(here.kept) == ["/boats", "/boats/swan"]


async def test_pages_in_the_sitemap_are_read_and_skipped_while_unchanged():
    def sitemap(day: str) -> str:
        return (
            f"<urlset><url><loc>{{0}}/quiet</loc><lastmod>{day}</lastmod></url>"
            "<url><loc>https://elsewhere.example/</loc></url></urlset>"
        )

    routes: dict[str, Any] = {"/": build_page("Harbour"), "/quiet": build_page("Quiet")}
    async with open_crawler(routes) as here:
        index = f"<sitemapindex><sitemap><loc>{here.url}/list.xml</loc></sitemap></sitemapindex>"
        routes["/robots.txt"] = SiteAnswer(f"Sitemap: {here.url}/index.xml", "text/plain")
        routes["/index.xml"] = SiteAnswer(index, "application/xml")
        routes["/list.xml"] = SiteAnswer(sitemap("2024-05-05").replace("{0}", here.url), "application/xml")
        await here.crawl()
        here.clock.now += 1_000
        await here.crawl()
        changes = await here.changes()
    assert changes == {"/": "same", "/quiet": "same"}
    assert here.site.list_paths().count("/quiet") == 1
    assert here.site.list_paths().count("/") == 2


async def test_robots_txt_and_its_crawl_delay_are_respected():
    rules = "User-agent: *\nDisallow: /bells\nCrawl-delay: 2"
    async with open_crawler(HARBOUR | {"/robots.txt": SiteAnswer(rules, "text/plain")}) as here:
        done = await here.crawl(depth=1)
        states = await here.list_states(depth=1)
    assert states["/bells"] == "skipped"
    assert "/bells" not in here.site.list_paths()
    assert here.clock.sleeps.count(2.0) == done.tally.read + 2  # the forbidden and the missing page get their turn


async def test_a_site_that_forbids_the_first_page_is_refused():
    rules = SiteAnswer("User-agent: *\nDisallow: /", "text/plain")
    async with open_crawler(HARBOUR | {"/robots.txt": rules}) as here:
        with pytest.raises(Refused, match=r"robots\.txt"):
            await here.crawl()


async def test_pages_that_ask_not_to_be_followed_are_not():
    nofollow = '<meta name="robots" content="index, nofollow">'
    async with open_crawler(
        {"/": build_page("Harbour", "/boats", head=nofollow), "/boats": build_page("Boats")}
    ) as here:
        await here.crawl()
        states = await here.list_states()
    assert states == {"/": "read"}


async def test_one_text_under_several_addresses_is_read_once():
    routes = {
        "/": build_page("Harbour", "/a", "/b", "/views?sort=up", "/old", "/boats?utm_source=letter&page=2"),
        "/a": build_page("Same"),
        "/b": build_page("Same"),
        "/old": SiteAnswer(status=301, headers={"location": "/a"}),
        "/views": build_page("Views", head='<link rel="canonical" href="/views">'),
        "/boats": build_page("Boats"),
    }
    async with open_crawler(routes) as here:
        await here.crawl()
        states = await here.list_states()
    assert sorted(states[path] for path in ("/a", "/b", "/old")) == ["duplicate", "duplicate", "read"]
    assert (states["/views?sort=up"], states["/views"]) == ("duplicate", "read")
    assert states["/boats?page=2"] == "read"


async def test_an_address_that_leads_to_the_same_one_with_a_slash_is_one_page_also_after_a_restart():
    routes = {
        "/": build_page("Harbour", "/a", "/a/", "/b", "/c", "/c/"),
        "/a": SiteAnswer(status=301, headers={"location": "/a/"}),
        "/a/": build_page("Boats", "/a/"),
        "/b": build_page("Bells", "/a/", "/d/"),
        "/d/": build_page("Docks"),
        "/c": build_page("Cranes"),
        "/c/": build_page("Crates"),
    }
    async with open_crawler(routes) as here:
        plan = CrawlPlan(f"{here.url}/")
        for pages in (2, 50):
            await here.crawler.crawl(plan, CrawlBudget(pages, 30, concurrency=1), store_page=here.keep)
        states = await here.list_states()
        paths = here.site.list_paths()
    assert states == dict.fromkeys(("/", "/a", "/b", "/c", "/c/", "/d/"), "read")
    assert paths.count("/a/") == 1, "only the redirect leads there"


async def test_a_canonical_address_shared_by_all_pages_is_ignored():
    home = '<link rel="canonical" href="/">'
    async with open_crawler(
        {"/": build_page("Harbour", "/a", head=home), "/a": build_page("Alone", head=home)}
    ) as here:
        await here.crawl()
        assert await here.list_states() == {"/": "read", "/a": "read"}


async def test_a_crawl_of_endlessly_nested_paths_ends():
    def deeper(request: SiteRequest) -> SiteAnswer:
        return build_page(request.path, "loop/")

    routes = {"/": build_page("Harbour", "/loop/")} | {"/" + "loop/" * count: deeper for count in range(1, 12)}
    async with open_crawler(routes) as here:
        done = await here.crawl(depth=20)
    assert (done.ending, done.tally.read) == ("finished", 4)


async def test_session_ids_in_addresses_do_not_multiply_pages():
    fresh = itertools.count()

    def shop(request: SiteRequest) -> SiteAnswer:
        number = f"{next(fresh):032x}"[::-1]
        return build_page(
            "Shop", f"/shop?PHPSESSID={number}", f"/shop;jsessionid={number}.node1", f"/shop?sid=a{number}"
        )

    routes = {"/": build_page("Harbour", "/shop", "/list?sid=12&page=2"), "/shop": shop, "/list": build_page("List")}
    async with open_crawler(routes) as here:
        done = await here.crawl(depth=20)
        assert set(await here.list_states(depth=20)) == {"/", "/shop", "/list?sid=12&page=2"}
    assert (done.ending, done.tally.read, done.tally.duplicate) == ("finished", 3, 0)
    assert here.site.list_paths().count("/shop") == 1


async def test_a_missing_first_page_or_a_redirect_to_another_site_is_an_error():
    away = SiteAnswer(status=302, headers={"location": "http://localhost:1/"})
    async with open_crawler({"/away": away}) as here:
        with pytest.raises(NotFound):
            await here.crawl("/missing")
        with pytest.raises((Refused, Unavailable)):
            await here.crawl("/away")


@pytest.mark.nightly
async def test_a_failing_site_is_left_alone_and_tried_again_later():
    broken = {"down": True}

    def shaky(request: SiteRequest) -> SiteAnswer:
        return SiteAnswer("busy", "text/plain", 503) if broken["down"] else build_page(request.path)

    paths = [f"/p{number}" for number in range(30)]
    async with open_crawler({"/": build_page("Harbour", *paths)} | dict.fromkeys(paths, shaky)) as here:
        ill = await here.crawl()
        broken["down"] = False
        well = await here.crawl()
    assert (ill.ending, ill.round) == ("trouble", 1)
    assert 10 <= ill.tally.failed < 20
    assert (well.ending, well.round, well.tally.read, well.tally.failed) == ("finished", 1, 31, 0)


@pytest.mark.nightly
async def test_pages_linked_from_a_failing_page_are_not_reported_as_gone():
    down: set[str] = set()

    def shaky(request: SiteRequest) -> SiteAnswer:
        return SiteAnswer("busy", "text/plain", 503) if request.path in down else HARBOUR[request.path]

    async with open_crawler(dict.fromkeys(HARBOUR, shaky)) as here:
        await here.crawl()
        down.add("/boats/tern")
        here.clock.now += 700_000  # more than a week, so that no stale copy is used
        ill = await here.crawl()
        states = await here.changes()
        down.clear()
        here.clock.now += 1_000
        await here.crawl()
        well = await here.changes()
    assert (ill.ending, states["/boats/tern"]) == ("finished", "failed")
    assert "/boats/tern/log" not in states
    assert (well["/boats/tern"], well["/boats/tern/log"]) == ("same", "same")


@pytest.mark.nightly
async def test_a_page_unfinished_at_the_time_limit_is_left_to_the_next_call():
    long = SiteAnswer("<title>Long</title><a href=/boats>Boats</a>" + "<p>Tides come and go, so do boats.</p>" * 60_000)
    async with open_crawler({"/": long, "/boats": build_page("Boats")}) as here:
        first = await here.crawl(seconds=0.4)
        second = await here.crawl()
    assert (first.ending, first.tally.failed) == ("time", 0)
    assert (second.ending, second.tally.read) == ("finished", 2)


async def test_a_call_ends_at_its_time_limit_and_the_next_one_continues():
    async with open_crawler(HARBOUR) as here:

        async def endless(read: Any) -> str:
            if read.url.endswith("/boats"):
                await anyio.sleep_forever()
            return "kept"

        plan = CrawlPlan(f"{here.url}/")
        first = await here.crawler.crawl(plan, CrawlBudget(seconds=0.5), store_page=endless)
        second = await here.crawl()
    assert (first.ending, first.tally.waiting > 0) == ("time", True)
    assert (second.ending, second.round, second.tally.read) == ("finished", 1, 6)


async def test_a_crawl_in_progress_is_not_disturbed_by_another_call():
    async with open_crawler(HARBOUR) as here:
        plan, started, go_on = CrawlPlan(f"{here.url}/"), anyio.Event(), anyio.Event()

        async def keep(read: Any) -> str:
            started.set()
            await go_on.wait()
            return "kept"

        async with anyio.create_task_group() as group:
            group.start_soon(lambda: here.crawler.crawl(plan, CrawlBudget(), store_page=keep))
            await started.wait()
            with pytest.raises(Unavailable, match="running in another call") as caught:
                await here.crawler.crawl(plan, CrawlBudget())
            go_on.set()
        other = await here.crawler.crawl(plan, CrawlBudget(), "somebody else")
    assert caught.value.retry_after
    assert other.round == 1
