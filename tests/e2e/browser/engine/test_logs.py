"""Dialogs, console messages and requests are kept as documented."""

import anyio
import pytest

from outrider.core.errors import NotFound
from support.timeouts import EVENT_TIMEOUT_S

CLICK = "(id) => { document.getElementById(id).click(); return document.querySelector('output').textContent }"


@pytest.mark.nightly
async def test_alerts_are_accepted_and_confirms_dismissed_unless_told_otherwise(open_session):
    session = await open_session("/dialogs")
    async with session.acquire_page() as page:
        assert await page.evaluate_in("", CLICK, "alert") == "alert"
        assert await page.evaluate_in("", CLICK, "confirm") == "confirm false"
        assert await page.evaluate_in("", CLICK, "prompt") == "prompt null"
    told = [(each.kind, each.message, each.answer) for each in session.dialogs.history]
    assert told == [
        ("alert", "Saved", "accepted"),
        ("confirm", "Delete everything?", "dismissed"),
        ("prompt", "Your name?", "dismissed"),
    ]
    assert [each.kind for each in session.dialogs.list_since(2)] == ["prompt"]


async def test_the_next_dialog_can_be_answered_beforehand(open_session):
    session = await open_session("/dialogs")
    async with session.acquire_page() as page:
        session.dialogs.preset_answer(accept=True, text="Ada")
        assert await page.evaluate_in("", CLICK, "prompt") == "prompt Ada"
        assert await page.evaluate_in("", CLICK, "prompt") == "prompt null"


async def test_dialogs_may_be_accepted_always(open_session):
    session = await open_session("/dialogs", dialogs="accept")
    async with session.acquire_page() as page:
        assert await page.evaluate_in("", CLICK, "confirm") == "confirm true"
        assert await page.evaluate_in("", CLICK, "prompt") == "prompt nobody"


async def test_an_open_dialog_waits_for_its_answer(open_session):
    session = await open_session("/dialogs", dialogs="ask")
    async with session.acquire_page() as page:
        async with anyio.create_task_group() as tasks:
            shown = anyio.Event()
            session.dialogs.on_open(lambda _: shown.set())
            tasks.start_soon(page.evaluate_in, "", CLICK, "confirm")
            with anyio.fail_after(EVENT_TIMEOUT_S):
                await shown.wait()
            assert session.dialogs.open_dialog
            assert session.dialogs.open_dialog.message == "Delete everything?"
            await session.dialogs.answer(accept=True)
        assert await page.evaluate_in("", "() => document.querySelector('output').textContent") == "confirm true"
    with pytest.raises(NotFound, match="no dialog"):
        await session.dialogs.answer(accept=True)


@pytest.mark.nightly
async def test_a_page_with_a_leave_confirmation_can_be_left(open_session, site):
    session = await open_session("/dialogs")
    async with session.acquire_page() as page:
        place = (
            "() => { const b = document.getElementById('guard').getBoundingClientRect(); return [b.x + 5, b.y + 5] }"
        )
        await page.dispatch_mouse("click", *await page.evaluate_in("", place))
    assert (await session.goto(f"{site.here}/article")).title == "On lighthouses"
    assert session.dialogs.history[-1].kind == "beforeunload"


async def test_console_messages_are_recorded_without_secrets(open_session):
    session = await open_session("/console")
    async with session.acquire_page() as page:
        assert await page.loading.wait_until(
            lambda: any("boom" in each.text for each in session.console.messages), EVENT_TIMEOUT_S
        )
    texts = [each.text for each in session.console.messages]
    assert "hello {a: 1} 3" in texts
    assert not any("hunter2" in text or "abcdefghijklmnop" in text or "abc123" in text for text in texts)
    levels = {each.level for each in session.console.messages}
    assert {"log", "warning", "error", "exception", "debug"} <= levels
    boom = next(each for each in session.console.messages if "boom" in each.text)
    assert boom.is_error
    assert (boom.line, boom.url.endswith("/console")) == (7, True)


async def test_errors_and_warnings_are_recorded_with_their_call_stacks(open_session, site):
    session = await open_session()
    async with session.acquire_page() as page:
        await page.evaluate_in(
            "",
            """() => { function inner(level) { console[level]('mine') }
            function outer() { inner('error'); inner('log'); setTimeout(() => { inner('warn'); throw 'text' }) }
            outer() }""",
        )
        assert await page.loading.wait_until(
            lambda: any(each.level == "exception" for each in session.console.messages), 5
        )
    stacks = {
        each.level: [call.split()[0] for call in each.stack[:2]]
        for each in session.console.messages
        if each.text in ("mine", "Uncaught text")
    }
    assert stacks == {"error": ["inner", "outer"], "log": [], "warning": ["inner", "(anonymous)"], "exception": []}


@pytest.mark.nightly
async def test_the_console_keeps_the_newest_of_very_many(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => { for (let i = 0; i < 1000; i++) console.log('x'.repeat(10000), i) }")
        assert await page.loading.wait_until(lambda: session.console.total >= 1_000, EVENT_TIMEOUT_S)
    assert len(session.console.messages) == 200
    assert max(len(each.text) for each in session.console.messages) <= 2_000
    assert len(session.console.list_since(session.console.total - 3)) == 3


async def test_requests_are_recorded_with_their_outcomes_and_without_queries(open_session, site):
    session = await open_session("/console?secret=1")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "(url) => fetch(url).catch(() => 0)", f"{site.here}/status/500?key=2")
        await page.evaluate_in("", "() => fetch('http://10.1.1.1/x', {mode: 'no-cors'}).catch(() => 0)")
        await page.evaluate_in("", "() => fetch('https://10.1.1.2/x', {mode: 'no-cors'}).catch(() => 0)")
        await page.evaluate_in("", "() => fetch('/to?url=/article')")
        done = lambda: sum(each.milliseconds is not None for each in session.network.requests) >= 7  # noqa: E731
        assert await page.loading.wait_until(done, EVENT_TIMEOUT_S)
    ends = {each.url: (each.status, each.kind, bool(each.error)) for each in session.network.requests}
    assert ends[f"{site.here}/console"] == (200, "document", False)
    assert ends[f"{site.here}/status/500"] == (500, "fetch", False)
    assert ends[f"{site.here}/to"][0] == 307
    assert ends[f"{site.here}/article"][0] == 200
    assert "10.1.1.1 is not public" in next(each.error for each in session.network.requests if "10.1.1.1" in each.url)
    assert "10.1.1.2 is not public" in next(each.error for each in session.network.requests if "10.1.1.2" in each.url)
    assert f"{site.here}/missing.png" in {each.url for each in session.network.list_failed()}
    assert not any("?" in each.url for each in session.network.requests)
