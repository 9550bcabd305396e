"""Read pages over real sockets: content, revalidation and errors."""

from pathlib import Path

import anyio
import pytest

from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused, Unavailable
from outrider.pages.options import ReadOptions
from outrider.pages.pages import Pages
from support.busy_machine import scale_to_load
from support.fakes.website import FakeClock, FakeSite, SiteAnswer, SiteRequest, build_pdf, open_pages
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
TIDES_TEXT = "The tide comes in twice a day, and the boats rise with it until the bell rings. "
TIDE_HTML = f"<title>Tide</title><p>{TIDES_TEXT * 8}"
CHALLENGE = "<title>Just a moment...</title><p>Checking your browser</p>"


def build_changing_page(**headers: str):
    """A page that is different each time."""
    count = iter(range(1_000))
    return lambda request: SiteAnswer(f"<p>{TIDES_TEXT} number {next(count)}", headers={**headers})


def tagged(request: SiteRequest) -> SiteAnswer:
    if request.headers.get("if-none-match") == '"1"':
        return SiteAnswer(status=304, headers={"etag": '"1"'})
    return SiteAnswer(TIDE_HTML, headers={"etag": '"1"'})


def dated(request: SiteRequest) -> SiteAnswer:
    day = "Tue, 05 Mar 2024 08:30:00 GMT"
    return (
        SiteAnswer(status=304)
        if request.headers.get("if-modified-since") == day
        else SiteAnswer(TIDE_HTML, headers={"last-modified": day})
    )


def build_failing_page(times: int, status: int = 503, **headers: str):
    """A page that arrives after some failures."""
    left = iter(range(times))
    return lambda request: (
        SiteAnswer(TIDE_HTML) if next(left, None) is None else SiteAnswer("busy", "text/plain", status, headers)
    )


async def test_a_page_reports_the_requested_and_the_final_address():
    site = FakeSite({"/old": SiteAnswer(status=301, headers={"location": "/new#x"}), "/new": SiteAnswer(TIDE_HTML)})
    async with open_pages(site, clock=FakeClock()) as (pages, url):
        page = await pages.read(f"{url}/old#top")
    assert (page.requested_url, page.url) == (f"{url}/old", f"{url}/new")
    assert (page.status, page.content_type, page.fetched_at) == (200, "text/html", 1_800_000_000.0)
    assert (page.document.title, page.html, page.cut) == ("Tide", TIDE_HTML, False)


@pytest.mark.parametrize(
    ("path", "kind", "has"),
    [
        ("/article.html", "article", "autumn of 1871"),
        ("/news.xml", "feed", "- [Fog](http"),
        ("/news.xml", "feed", "- [Ice & snow](https://harbour.example/ice) (2024-01-02)"),
        ("/lights.csv", "table", "| Cape Wend | 41 |"),
        ("/place.json", "json", '"name": "Cape Wend"'),
        ("/ships.jsonl", "json", '{"ship": "Tern"}'),
        ("/note.md", "text", "The *fog* came in."),
    ],
)
async def test_every_kind_of_page_is_read(path: str, kind: str, has: str):
    async with open_pages(FakeSite()) as (pages, url):
        page = await pages.read(url + path)
    assert page.document.kind == kind
    assert has in page.document.markdown


async def test_a_pdf_is_read_page_by_page():
    body = build_pdf("The tide table", "High water at noon", title="Tides", author="Ida Marsh")
    async with open_pages(FakeSite({"/t": SiteAnswer(body, "application/octet-stream")}), max_bytes=1_000) as (
        pages,
        url,
    ):
        page = await pages.read(f"{url}/t")
    assert page.document.markdown == (
        "--- page 1 of 2 ---\n\nThe tide table\n\n--- page 2 of 2 ---\n\nHigh water at noon"
    )
    facts = page.document
    assert (facts.title, facts.author, facts.published) == ("Tides", "Ida Marsh", "2024-02-29")


async def test_rereading_within_max_age_returns_the_same_text_without_a_request():
    site = FakeSite({"/": build_changing_page()})
    clock = FakeClock()
    async with open_pages(site, clock=clock) as (pages, url):
        first = await pages.read(f"{url}/")
        clock.now += 299
        again = await pages.read(f"{url}/?utm_source=letter")
    assert again.document == first.document
    assert (first.from_cache, again.from_cache) == (False, True)
    assert len(site.requests) == 1


async def test_after_max_age_the_page_is_asked_for_again():
    site, clock = FakeSite({"/": build_changing_page()}), FakeClock()
    async with open_pages(site, clock=clock, max_age=10) as (pages, url):
        first = await pages.read(url)
        clock.now += 11
        assert (await pages.read(url)).document != first.document
        await pages.read(url, ReadOptions(max_age=0))
        await pages.read(url, ReadOptions(max_age=3_600))
    assert len(site.requests) == 3


@pytest.mark.parametrize("answer", [tagged, dated])
async def test_an_unchanged_page_is_confirmed_not_sent_again(answer):
    site, clock = FakeSite({"/": answer}), FakeClock()
    async with open_pages(site, clock=clock) as (pages, url):
        first = await pages.read(url)
        second = await pages.read(url, ReadOptions(max_age=0))
        clock.now += 200
        third = await pages.read(url)
    assert (second.revalidated, second.from_cache, second.document, second.html) == (
        True,
        True,
        first.document,
        TIDE_HTML,
    )
    assert (third.revalidated, len(site.requests)) == (False, 2)


async def test_a_server_may_keep_its_page_fresh_up_to_the_cap():
    site, clock = FakeSite({"/": build_changing_page(**{"cache-control": "max-age=100000"})}), FakeClock()
    async with open_pages(site, clock=clock, max_age=0) as (pages, url):
        await pages.read(url)
        clock.now += 86_399
        assert (await pages.read(url)).from_cache
        clock.now += 2
        assert not (await pages.read(url)).from_cache


async def test_no_store_is_not_stored():
    site = FakeSite({"/": build_changing_page(**{"cache-control": "no-store"})})
    async with open_pages(site) as (pages, url):
        await pages.read(url)
        await pages.read(url)
        assert await pages.search_cached("tide", 5) == []
    assert len(site.requests) == 2


async def test_main_content_and_whole_page_are_cached_separately():
    async with open_pages(FakeSite()) as (pages, url):
        main = await pages.read(f"{url}/article.html")
        whole = await pages.read(f"{url}/article.html", ReadOptions(main=False))
        assert (await pages.read(f"{url}/article.html")).document == main.document
    assert "Imprint" in whole.document.markdown
    assert "Imprint" not in main.document.markdown


async def test_two_readers_share_one_file(tmp_path: Path):
    site, clock = FakeSite({"/": build_changing_page()}), FakeClock()
    file = tmp_path / "p.db"
    async with (
        open_pages(site, clock=clock, file=file) as (one, url),
        open_pages(FakeSite(), clock=clock, file=file) as (two, _),
    ):
        first = await one.read(url)
        assert (await two.read(url)).document == first.document


async def test_a_stale_copy_stands_in_for_a_server_in_trouble():
    site, clock = FakeSite({"/": SiteAnswer(TIDE_HTML)}), FakeClock()
    async with open_pages(site, clock=clock) as (pages, url):
        first = await pages.read(url)
        site.routes["/"] = SiteAnswer("down", "text/plain", 503)
        clock.now += 600_000
        page = await pages.read(url)
        assert (page.stale, page.from_cache, page.document) == (True, True, first.document)
        clock.now += 5_000
        with pytest.raises(Unavailable):
            await pages.read(url)


async def test_a_stale_copy_stands_in_for_a_server_that_is_gone(tmp_path: Path):
    clock = FakeClock()
    async with open_pages(FakeSite({"/": SiteAnswer(TIDE_HTML)}), clock=clock, file=tmp_path / "p.db") as (pages, url):
        await pages.read(url)
    async with open_pages(FakeSite(), clock=clock, file=tmp_path / "p.db", max_age=0) as (pages, _):
        assert (await pages.read(url)).stale


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (404, NotFound, "not_found"),
        (410, NotFound, "not_found"),
        (401, Refused, "forbidden"),
        (403, Refused, "forbidden"),
        (451, Refused, "forbidden"),
        (400, Refused, "http_status"),
        (418, Refused, "http_status"),
        (500, Unavailable, "server_error"),
        (503, Unavailable, "server_error"),
        (429, Unavailable, "rate_limited"),
    ],
)
async def test_statuses_become_errors_named_by_the_next_step(status: int, kind: type[OutriderError], code: str):
    async with open_pages(FakeSite({"/": SiteAnswer(TIDE_HTML, status=status)})) as (pages, url):
        with pytest.raises(kind) as caught:
            await pages.read(url)
    assert caught.value.code == code
    assert caught.value.details["status"] == status
    assert str(status) in caught.value.message


@pytest.mark.parametrize("status", [200, 403, 503])
async def test_a_robot_check_is_distinguished_from_a_page(status: int):
    async with open_pages(FakeSite({"/": SiteAnswer(CHALLENGE, status=status)})) as (pages, url):
        with pytest.raises(Unavailable) as caught:
            await pages.read(url)
    assert caught.value.code == "blocked_by_site"
    assert caught.value.details["status"] == status


async def test_an_article_about_robot_checks_is_a_page():
    async with open_pages(FakeSite({"/": SiteAnswer(CHALLENGE + f"<p>{TIDES_TEXT * 40}")})) as (pages, url):
        assert "tide" in (await pages.read(url)).document.text


async def test_a_server_in_trouble_is_asked_again_after_the_time_it_names():
    site, clock = FakeSite({"/": build_failing_page(2, **{"retry-after": "7"})}), FakeClock()
    async with open_pages(site, clock=clock) as (pages, url):
        assert (await pages.read(url)).document.title == "Tide"
    assert [int(pause) for pause in clock.sleeps] == [7, 7]


async def test_a_retry_after_date_is_understood():
    clock = FakeClock()
    site = FakeSite({"/": build_failing_page(1, 429, **{"retry-after": "Fri, 15 Jan 2027 08:00:05 GMT"})})
    async with open_pages(site, clock=clock) as (pages, url):
        await pages.read(url)
    assert [int(pause) for pause in clock.sleeps] == [5]


async def test_pauses_grow_if_the_server_names_none():
    site, clock = FakeSite({"/": build_failing_page(9)}), FakeClock()
    async with open_pages(site, clock=clock, attempts=4) as (pages, url):
        with pytest.raises(Unavailable):
            await pages.read(url)
    assert len(site.requests) == 4
    assert all(pause <= 0.5 * 2**at for at, pause in enumerate(clock.sleeps))


async def test_a_long_wait_is_an_error_instead():
    site, clock = FakeSite({"/": build_failing_page(9, 429, **{"retry-after": "3600"})}), FakeClock()
    async with open_pages(site, clock=clock) as (pages, url):
        with pytest.raises(Unavailable) as caught:
            await pages.read(url)
    assert (caught.value.retry_after, clock.sleeps, len(site.requests)) == (3600, [], 1)


@pytest.mark.parametrize(("wait", "delay"), [("90", "in 90 seconds"), ("99999999", "another day"), ("0", "later")])
async def test_the_hint_says_how_long_to_wait(wait: str, delay: str):
    site = FakeSite({"/": build_failing_page(9, 503, **{"retry-after": wait})})
    async with open_pages(site) as (pages, url):
        with pytest.raises(Unavailable, match="has a server error") as caught:
            await pages.read(url)
    assert caught.value.hint == f"try again {delay}, or choose another source"


async def test_an_unrequested_partial_response_is_reported_as_cut():
    site = FakeSite({"/": SiteAnswer("<p>The first half", status=206, headers={"content-range": "bytes 0-16/900"})})
    async with open_pages(site) as (pages, url):
        assert (await pages.read(url)).cut


async def test_a_permanent_failure_is_not_retried():
    site = FakeSite({"/": SiteAnswer("no", "text/plain", 403)})
    async with open_pages(site) as (pages, url):
        with pytest.raises(Refused):
            await pages.read(url)
    assert len(site.requests) == 1


async def test_a_page_that_never_arrives_ends_at_the_deadline():
    async def endless(scope, receive, send):
        if scope["type"] == "lifespan":
            await FakeSite()(scope, receive, send)
        await anyio.sleep_forever()

    async with open_pages(endless, timeout_s=0.2) as (pages, url):  # ty: ignore[invalid-argument-type]
        with pytest.raises(Unavailable) as caught:
            await pages.read(url)
    assert caught.value.code == "timeout"


async def test_an_oversized_page_is_cut_and_says_so():
    async with open_pages(FakeSite({"/": SiteAnswer(TIDE_HTML * 100)}), max_bytes=3_000) as (pages, url):
        page = await pages.read(url)
    assert page.cut
    assert page.html is not None
    assert len(page.html) == 3_000


@pytest.mark.parametrize("address", ["ftp://a.b/", "nonsense", "https://user:pw@a.b/", "javascript:x"])
async def test_an_invalid_address_is_an_input_error(address: str):
    async with open_pages(FakeSite()) as (pages, _):
        with pytest.raises(InvalidInput) as caught:
            await pages.read(address)
    assert caught.value.code == "bad_url"


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        (None, "/private/x", False),
        (None, "/public", True),
        (SiteAnswer("gone", status=404), "/private/x", True),
        (SiteAnswer("no", status=403), "/private/x", True),
        (SiteAnswer("broken", status=500), "/public", False),
        (SiteAnswer("<html>not rules", "text/html"), "/public", True),
        (SiteAnswer(b"\xff\xfe\x00 garbage \x80", "text/plain"), "/public", True),
        (SiteAnswer("user-agent: *\ndisallow: /\n", "text/plain"), "/public", False),
        (SiteAnswer("#" * 600_000 + "\nuser-agent: *\ndisallow: /", "text/plain"), "/public", True),
        (SiteAnswer(status=302, headers={"location": "/robots.txt"}), "/public", True),
    ],
)
async def test_robots_rules_apply_only_if_respected(rules: SiteAnswer | None, path: str, allowed: bool):
    site = FakeSite({path: SiteAnswer(TIDE_HTML)} | ({"/robots.txt": rules} if rules else {}))
    async with open_pages(site) as (pages, url):
        if allowed:
            assert (await pages.read(url + path, ReadOptions(robots="respect"))).document.title == "Tide"
        else:
            with pytest.raises((Refused, Unavailable)) as caught:
                await pages.read(url + path, ReadOptions(robots="respect"))
            assert caught.value.code == "robots"
            assert path not in site.list_paths()


async def test_unreachable_robots_rules_are_not_reported_as_a_prohibition():
    site = FakeSite({"/public": SiteAnswer(TIDE_HTML), "/robots.txt": SiteAnswer("broken", status=500)})
    async with open_pages(site) as (pages, url):
        with pytest.raises(Unavailable, match="is unreachable: HTTP 500"):
            await pages.read(f"{url}/public", ReadOptions(robots="respect"))
        with pytest.raises(Unavailable, match=r"is unreachable: the name nowhere\.invalid does not resolve"):
            await pages.read("http://nowhere.invalid/public", ReadOptions(robots="respect"))


async def test_robots_rules_are_requested_once_a_day_and_only_if_respected():
    site, clock = FakeSite({"/a": SiteAnswer(TIDE_HTML), "/b": SiteAnswer(TIDE_HTML)}), FakeClock()
    async with open_pages(site, clock=clock) as (pages, url):
        await pages.read(f"{url}/a")
        assert site.list_paths() == ["/a"]
        for path in ("/a", "/b"):
            await pages.read(url + path, ReadOptions(robots="respect", max_age=0))
        assert site.list_paths().count("/robots.txt") == 1
        clock.now += 86_401
        await pages.read(f"{url}/a", ReadOptions(robots="respect", max_age=0))
    assert site.list_paths().count("/robots.txt") == 2


async def test_a_page_that_needs_its_scripts_is_rendered():
    site = FakeSite(
        {"/": SiteAnswer("<title>App</title><div id=app></div><script src=x></script>"), "/full": SiteAnswer(TIDE_HTML)}
    )
    asked = []

    async def render(address: str) -> str:
        asked.append(address)
        return f"<title>App</title><div id=app><p>{TIDES_TEXT * 5}</div>"

    async with open_pages(site, render=render) as (pages, url):
        page = await pages.read(url)
        await pages.read(f"{url}/full")
    assert "boats rise" in page.document.text
    assert asked == [f"{url}/"]


async def test_a_browser_that_fails_loses_nothing():
    async def render(address: str) -> str:
        raise Unavailable("the browser crashed")

    async with open_pages(FakeSite({"/": SiteAnswer("<title>App</title><script>x</script>")}), render=render) as (
        pages,
        url,
    ):
        assert (await pages.read(url)).document.text == "App"


async def test_the_caller_decides_whether_a_browser_is_used():
    site, clock = (
        FakeSite({"/": SiteAnswer(TIDE_HTML, headers={"etag": '"1"'}), "/t": SiteAnswer("a,b\n1,2", "text/csv")}),
        FakeClock(),
    )
    asked = []

    async def render(address: str) -> str:
        asked.append(address)
        return f"<p>{TIDES_TEXT * 9} number {len(asked)}"

    async with open_pages(site, render=render, clock=clock) as (pages, url):
        plain = await pages.read(url)
        made = await pages.read(url, ReadOptions(render="always"))
        kept = await pages.read(url, ReadOptions(render="always"))
        either = await pages.read(url)
        never = await pages.read(url, ReadOptions(render="never"))
        table = await pages.read(f"{url}/t", ReadOptions(render="always"))
        clock.now += 301
        later = await pages.read(url, ReadOptions(render="always"))
    assert [page.is_rendered for page in (plain, made, kept, either, never, table)] == [
        False,
        True,
        True,
        True,
        False,
        False,
    ]
    assert made.document.text.endswith("number 1")
    assert kept.document.text == either.document.text == made.document.text
    assert later.document.text.endswith("number 2")
    assert len(asked) == 2


async def test_requested_rendering_that_fails_gives_the_reason():
    async def render(address: str) -> str:
        raise Unavailable("the browser crashed")

    async with open_pages(FakeSite({"/": SiteAnswer(TIDE_HTML)}), render=render) as (pages, url):
        with pytest.raises(Unavailable, match="crashed"):
            await pages.read(url, ReadOptions(render="always"))
    async with open_pages(FakeSite({"/": SiteAnswer(TIDE_HTML)})) as (pages, url):
        with pytest.raises(NotConfigured, match="render"):
            await pages.read(url, ReadOptions(render="always"))


@pytest.mark.parametrize(("rendered", "passes"), [(TIDE_HTML, True), (CHALLENGE, False)])
async def test_a_robot_check_is_tried_in_a_browser_and_never_taken_for_the_page(rendered: str, passes: bool):
    async def render(address: str) -> str:
        return rendered

    async with open_pages(FakeSite({"/": SiteAnswer(CHALLENGE, status=403)}), render=render) as (pages, url):
        if passes:
            page = await pages.read(url)
            assert (page.document.title, page.is_rendered) == ("Tide", True)
        else:
            with pytest.raises(Unavailable, match="bot check"):
                await pages.read(url)
        with pytest.raises(Unavailable, match="bot check"):
            await pages.read(url, ReadOptions(render="never"))


async def test_a_slow_browser_does_not_delay_the_page():
    async def render(address: str) -> str:
        await anyio.sleep_forever()
        return ""

    site = FakeSite({"/": SiteAnswer("<title>App</title><script>x</script>")})
    async with open_pages(site, render=render, timeout_s=scale_to_load(1.5)) as (pages, url):
        with anyio.fail_after(EVENT_TIMEOUT_S):
            assert (await pages.read(url)).document.text == "App"


async def test_passages_come_from_the_page_at_hand():
    async with open_pages(FakeSite()) as (pages, url):
        page = await pages.read(f"{url}/article.html")
        found = await pages.find_excerpts(page, "Ada Finch and her diary", max_tokens=120)
    assert any("Ada Finch" in each.text for each in found)
    assert all(page.document.markdown[each.start : each.end] == each.text for each in found)


async def read_all(pages: Pages, addresses: list[str]) -> None:
    async with anyio.create_task_group() as tasks:
        for address in addresses:
            tasks.start_soon(pages.read, address)


async def test_simultaneous_requests_to_one_host_are_limited():
    busy, most = 0, 0

    async def app(scope, receive, send):
        nonlocal busy, most
        if scope["type"] == "lifespan":
            await FakeSite()(scope, receive, send)
            return
        busy += 1
        most = max(most, busy)
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        busy -= 1
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"hello"})

    async with open_pages(app, per_host_rate=4) as (pages, url):  # ty: ignore[invalid-argument-type]
        await read_all(pages, [f"{url}/{number}" for number in range(8)])
    assert most == 2
