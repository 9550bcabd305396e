"""Navigation: refused addresses, waiting, and the final address."""

import anyio
import pytest

from outrider.browser.page.navigate import navigate_page, resolve_address
from outrider.core.egress import EgressGuard
from outrider.core.errors import InvalidInput, Refused, Unavailable
from support.timeouts import EVENT_TIMEOUT_S


async def test_a_navigation_reports_address_title_and_status(open_session, site):
    session = await open_session("/form")
    there = await session.goto(f"{site.here}/article#fog")
    assert (there.url, there.title, there.status, there.ready) == (
        f"{site.here}/article#fog",
        "On lighthouses",
        200,
        "load",
    )
    missing = await session.goto(f"{site.here}/nowhere")
    assert missing.status == 404
    assert (await session.goto(f"{site.here}/status/503")).status == 503


async def test_redirects_are_followed_to_their_target(open_session, site):
    session = await open_session()
    there = await session.goto(f"{site.here}/to?url=/to?url=/article")
    assert (there.url, there.status) == (f"{site.here}/article", 200)


NO_PAGES = [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,hi",
    "chrome://settings",
    "about:config",
    "ftp://a.example/",
    "view-source:https://a.example",
    "blob:https://a.example/1",
    "JAVASCRIPT:alert(1)",
    "chrome-extension://abc/",
    "devtools://devtools/",
    "ws://a.example",
    "https://user:pass@a.example/",
    "http://",
]


async def test_addresses_that_are_not_web_pages_are_refused(open_session, subtests):
    session = await open_session()
    before = session.url
    for url in [*NO_PAGES, " \tfile:///etc/passwd", ""]:
        with subtests.test(url):
            with pytest.raises((InvalidInput, Refused)):
                await session.goto(url)
            assert session.url == before


async def test_addresses_that_the_guard_refuses_are_refused_with_its_reason(open_session, subtests):
    session = await open_session()
    for url in ("http://127.0.0.1:1/", "http://169.254.169.254/latest", "http://10.0.0.1", "http://0x7f.1/"):
        with subtests.test(url):
            with pytest.raises(Refused) as refused:
                await session.goto(url)
            assert refused.value.code == "egress"


async def test_a_redirect_to_a_forbidden_address_is_refused_with_the_guards_reason(open_session, site):
    session = await open_session()
    with pytest.raises(Refused, match=r"127\.0\.0\.2") as refused:
        await session.goto(f"{site.here}/to?url=http://127.0.0.2/secret")
    assert refused.value.code == "egress"
    assert "egress.allow" in refused.value.hint


@pytest.mark.nightly
async def test_a_name_that_does_not_exist_is_unavailable(open_session):
    session = await open_session()
    with pytest.raises(Unavailable, match=r"nothing-here\.invalid"):
        await session.goto("https://nothing-here.invalid/")
    with pytest.raises(Unavailable, match=r"the name nothing-here\.invalid does not resolve"):
        await session.goto("http://nothing-here.invalid/")


def test_a_bare_host_means_https():
    assert resolve_address("example.com/a?b#c", None) == "https://example.com/a?b#c"
    assert resolve_address("example.com:443/a", None) == "https://example.com:443/a"
    assert resolve_address("about:blank", EgressGuard()) == "about:blank"


async def test_history_is_navigated_in_both_directions_to_its_ends(open_session, site):
    session = await open_session("/form")
    await session.goto(f"{site.here}/article")
    back = await session.go_back()
    assert (back.moved, back.url, back.title) == (True, f"{site.here}/form", "Order form")
    assert not (await session.go_back()).moved
    forward = await session.go_forward()
    assert (forward.moved, forward.url) == (True, f"{site.here}/article")
    assert not (await session.go_forward()).moved


async def test_history_within_a_document_counts_as_moving(open_session, site):
    session = await open_session("/article")
    await session.goto(f"{site.here}/article#fog")
    back = await session.go_back()
    assert (back.moved, back.url) == (True, f"{site.here}/article")


async def test_reloading_loads_again(open_session):
    session = await open_session("/form")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => { document.title = 'Changed' }")
    again = await session.reload()
    assert (again.title, again.status, again.ready) == ("Order form", 200, "load")


@pytest.mark.nightly
async def test_a_script_that_never_loads_is_not_waited_for(open_session, site):
    session = await open_session()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        there = await session.goto(f"{site.here}/slow")
    assert (there.title, there.ready) == ("Slow", "DOMContentLoaded")


async def test_an_endless_document_is_left_at_the_deadline(open_session, site):
    session = await open_session()
    async with session.acquire_page() as page:
        with anyio.fail_after(EVENT_TIMEOUT_S):
            there = await navigate_page(page, f"{site.here}/endless", seconds=1.0)
        assert there.ready == "commit"
    assert (await session.goto(f"{site.here}/form")).title == "Order form"


async def test_a_server_that_never_answers_is_unavailable_at_the_deadline(open_session, site):
    session = await open_session()
    async with session.acquire_page() as page:
        with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(Unavailable, match=r"within 0\.5 s"):
            await navigate_page(page, f"{site.here}/never", seconds=0.5)
    assert (await session.goto(f"{site.here}/article")).status == 200


@pytest.mark.parametrize("first", ["article", "about:blank"])
@pytest.mark.nightly
async def test_a_navigation_that_is_cancelled_leaves_the_page_as_it_was(open_session, site, first):
    session = await open_session()
    await session.goto(first if ":" in first else f"{site.here}/{first}")
    before, loading = session.url, session.tabs.current.loading
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.goto, f"{site.here}/never")
            assert await loading.wait_until(lambda: loading.navigating is not None, EVENT_TIMEOUT_S)
            tasks.cancel_scope.cancel()
        async with session.acquire_page() as page:
            assert await page.evaluate_in("", "() => location.href") == before
        assert (session.status, session.notes, loading.navigating) == ("active", [], None)
        assert (await session.goto(f"{site.here}/form")).title == "Order form"


async def test_reloading_an_unresponsive_page_can_be_cancelled(open_session, site):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => { history.replaceState(null, '', '/never') }")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.reload)
            assert await page.loading.wait_until(lambda: page.loading.navigating is not None, EVENT_TIMEOUT_S)
            tasks.cancel_scope.cancel()
        async with session.acquire_page() as page:
            assert await page.evaluate_in("", "() => document.title") == "On lighthouses"


async def test_a_link_to_an_unresponsive_server_is_abandoned_and_the_page_shown(open_session, site):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        page.channel.send_and_forget("Runtime.evaluate", {"expression": "location.href = '/never'"})
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while await page.is_responsive(0.2):  # the page asks to go before the browser lets it
                pass
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with session.acquire_page() as page:
            assert await page.evaluate_in("", "() => document.title") == "On lighthouses"
    assert "did not answer: loading was stopped" in session.notes[-1]
    assert (session.status, len(session.tabs)) == ("active", 1)


async def test_navigating_to_a_download_keeps_the_current_page(open_session, site):
    session = await open_session("/downloads")
    there = await session.goto(f"{site.here}/file/report.csv")
    assert there.download
    assert there.url == f"{site.here}/downloads"
    assert (await session.downloads.wait_until_finished()).state == "done"
