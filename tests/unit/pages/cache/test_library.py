"""Read pages are found again, in any script."""

import pytest

from outrider.pages.options import ReadOptions
from support.fakes.website import FakeClock, FakeSite, SiteAnswer, open_pages

pytestmark = pytest.mark.anyio
LIBRARY_PAGES = {
    "/lamp": "<title>The lamp</title><p>A lens of glass turns in the tower.",
    "/boat": "<title>Boats</title><p>The lamp is mentioned here, but boats matter. Harbour dues are paid on Monday.",
    "/tokyo": "<title>東京タワー</title><p>東京タワーは高さ三百三十三メートルの電波塔です。",
    "/thai": "<title>ประภาคาร</title><p>ประภาคารตั้งอยู่บนแหลม",
    "/cafe": "<title>Café Zürich</title><p>Crème brûlée.",
    "/code": '<title>C++ "quoted" (x)</title><p>snake_case AND NOT syntax* ^col:',
}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("lamp", "/lamp"),
        ("harbour dues", "/boat"),
        ("電波塔", "/tokyo"),
        ("東京", "/tokyo"),
        ("ประภาคาร", "/thai"),
        ("cafe creme", "/cafe"),
        ("snake_case", "/code"),
        ('"quoted" AND (', "/code"),
        ("harbour nonexistentword", "/boat"),
    ],
)
@pytest.mark.nightly
async def test_the_best_page_comes_first(query: str, first: str):
    site, clock = (
        FakeSite({path: SiteAnswer(f'<meta charset="utf-8">{body}') for path, body in LIBRARY_PAGES.items()}),
        FakeClock(),
    )
    async with open_pages(site, clock=clock) as (pages, url):
        for path in LIBRARY_PAGES:
            await pages.read(url + path)
        found = await pages.search_cached(query, 5)
    assert found[0].url == url + first
    assert found[0].fetched_at == clock.now
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


async def test_a_page_with_the_answer_comes_before_one_that_has_all_words_somewhere():
    scattered = "<p>How do I read it? " + "".join(
        f"<p>{'Rows and columns. ' * 40} {word}."
        for word in ("limit", "the number of columns", "threads of a screw", "in a", "swimming pool")
    )
    answer = "<p>Background. " * 20 + "<p>Class ThreadPoolExecutor. max_workers: the maximum number of threads at once."
    bodies = {"/csv": f"<title>csv</title>{scattered}", "/pools": f"<title>Executors</title>{answer}"}
    async with open_pages(FakeSite({path: SiteAnswer(body) for path, body in bodies.items()})) as (pages, url):
        for path in bodies:
            await pages.read(url + path)
        found = await pages.search_cached("How do I limit the number of threads in a pool?", 2)
    assert [hit.url for hit in found] == [f"{url}/pools", f"{url}/csv"]
    assert "max_workers" in found[0].snippet


async def test_a_hit_shows_the_passage_that_matches():
    site = FakeSite(
        {"/x": SiteAnswer("<title>Tides</title><p>" + "Filler words. " * 300 + "<p>Spring tides follow the full moon.")}
    )
    async with open_pages(site) as (pages, url):
        await pages.read(f"{url}/x")
        hit = (await pages.search_cached("full moon", 3))[0]
    assert hit.title == "Tides"
    assert "Spring tides follow the full moon." in hit.snippet
    assert len(hit.snippet) <= 400


async def test_a_page_is_found_once_by_its_newest_text_only():
    site = FakeSite({"/": SiteAnswer("<title>A</title><p>anchor")})
    async with open_pages(site) as (pages, url):
        await pages.read(url)
        await pages.read(url, ReadOptions(main=False))
        assert [hit.url for hit in await pages.search_cached("anchor", 5)] == [f"{url}/"]
        site.routes["/"] = SiteAnswer("<title>A</title><p>rudder")
        await pages.read(url, ReadOptions(max_age=0))
        await pages.read(url, ReadOptions(main=False, max_age=0))
        assert await pages.search_cached("anchor", 5) == []
        assert len(await pages.search_cached("rudder", 5)) == 1


@pytest.mark.parametrize("query", ["", "   ", "***", "\x00"])
async def test_a_query_without_words_finds_nothing(query: str):
    async with open_pages(FakeSite()) as (pages, url):
        await pages.read(f"{url}/note.md")
        assert await pages.search_cached(query, 5) == []


async def test_a_redirect_and_its_target_are_one_hit_at_the_final_address():
    site = FakeSite({f"/old{number}": SiteAnswer("", status=302, headers={"Location": "/lamp"}) for number in range(5)})
    site.routes |= {"/lamp": SiteAnswer(LIBRARY_PAGES["/lamp"]), "/boat": SiteAnswer(LIBRARY_PAGES["/boat"])}
    async with open_pages(site) as (pages, url):
        for path in ("/old0", "/boat", "/lamp", "/old1", "/old2?utm_source=x", "/old3", "/old4"):
            await pages.read(url + path)
        assert [hit.url for hit in await pages.search_cached("lamp", 2)] == [f"{url}/lamp", f"{url}/boat"]


async def test_a_hit_is_plain_text():
    rows = "<tr><th>Port<th>Dues<tr><td>Rye<td>four <b>crowns</b>"
    page = f"<title>Dues</title><h2>What it <i>costs</i></h2><p>See <a href=/x>the list</a>.<table>{rows}</table>"
    async with open_pages(FakeSite({"/x": SiteAnswer(page)})) as (pages, url):
        await pages.read(f"{url}/x")
        snippet = (await pages.search_cached("crowns", 1))[0].snippet
    assert "Rye · four crowns" in snippet
    assert not set("*#|[]_") & set(snippet)
