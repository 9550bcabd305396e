"""Frames, worlds, scripts and trusted input in a real browser."""

import math
from collections.abc import Iterable

import anyio
import pytest

from outrider.browser.page.settle import capture_baseline, wait_until_settled
from outrider.browser.protocol.cdp import CommandTimeout, ContextGone
from outrider.browser.protocol.frames import MAIN_WORLD, Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import PageScripts
from outrider.browser.protocol.values import ScriptError
from outrider.core.errors import InvalidInput
from support.timeouts import EVENT_TIMEOUT_S

WORLD = "test"


async def test_values_survive_a_round_trip_through_the_page(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        for value in (None, True, 3, 2.5, "ü\n'\"</script>", [1, [2]], {"a": {"b": None}}, math.inf):
            assert await page.evaluate_in(WORLD, "(value) => value", value) == value
        assert math.isnan(await page.evaluate_in(WORLD, "() => NaN"))
        assert await page.evaluate_in(WORLD, "() => undefined") is None
        assert await page.evaluate_in(WORLD, "async () => { await 1; return 7 }") == 7


async def test_an_exception_thrown_by_a_script_is_named(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        with pytest.raises(ScriptError, match="TypeError: no such thing"):
            await page.evaluate_in(WORLD, "() => { throw new TypeError('no such thing') }")
        with pytest.raises(ScriptError, match="just text"):
            await page.evaluate_in(WORLD, "() => { throw 'just text' }")


async def test_handles_can_be_passed_back_to_the_page(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        handle = await page.evaluate_handle_in(WORLD, "() => document.querySelector('h1')")
        assert handle.kind == "node"
        assert await page.evaluate_in(WORLD, "(element) => element.textContent", handle) == "Order"


async def test_the_page_sees_nothing_of_an_isolated_world(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        await page.evaluate_in(WORLD, "() => { globalThis.ours = 1 }")
        assert await page.evaluate_in(MAIN_WORLD, "() => typeof ours") == "undefined"
        assert await page.evaluate_in(WORLD, "() => ours") == 1
        assert await page.evaluate_in(MAIN_WORLD, "() => heard.length") == 0
        assert await page.evaluate_in(WORLD, "() => typeof heard") == "undefined"


async def test_an_installed_script_is_in_every_frame_and_every_later_document(open_session, site):
    session = await open_session("/frames")
    async with session.acquire_page() as page:
        await page.install_script(WORLD, "globalThis.greet = () => 'hello ' + location.pathname")
        assert await page.evaluate_in(WORLD, "() => greet()") == "hello /frames"
        far = next(frame for frame in page.frames if "/middle" in frame.url)
        assert await far.evaluate(WORLD, "() => greet()") == "hello /middle"
    await session.goto(f"{site.here}/article")
    async with session.acquire_page() as page:
        assert await page.evaluate_in(WORLD, "() => greet()") == "hello /article"
    await session.goto(f"{site.there}/form")  # another process
    async with session.acquire_page() as page:
        assert await page.evaluate_in(WORLD, "() => greet()") == "hello /form"


async def wait_for_condition(page, condition):
    """Waits until a condition holds on the page; false if it never does."""
    look = f"const look = () => ({condition})() ? done(true) : setTimeout(look, 5)"
    wait = f"() => new Promise(done => {{ {look}; look() }})"
    return await page.evaluate_in(WORLD, wait, timeout=EVENT_TIMEOUT_S)


async def frames_of(page):
    """The page's frames by path, once all have loaded."""
    assert await page.loading.wait_until(
        lambda: sum(frame.url.startswith("http") for frame in page.frames) == 4, EVENT_TIMEOUT_S
    )
    return {frame.url.rpartition("/")[2] or "frames": frame for frame in page.frames}


async def test_frames_of_other_origins_are_followed_into_their_processes(open_session):
    session = await open_session("/frames")
    async with session.acquire_page() as page:
        frames = await frames_of(page)
        far, near, deep = frames["middle"], frames["inner?near"], frames["inner?deep"]
        assert near.channel is page.channel
        assert far.channel is not page.channel
        assert deep.parent is far
        assert far.parent is page.main
        assert await deep.evaluate(WORLD, "() => document.title") == "Inner"
        owner = await page.find_frame_owner(far, WORLD)
        assert await page.evaluate_in(WORLD, "(element) => element.id", owner) == "far"


async def test_input_reaches_a_frame_of_another_process(open_session):
    session = await open_session("/frames")
    async with session.acquire_page() as page:
        frames = await frames_of(page)
        for name in ("inner?near", "inner?deep"):
            frame = frames[name]
            before = capture_baseline(page)
            await wait_until_settled(page, before)
            x, y = await page.measure_offset(frame)
            await page.dispatch_mouse("click", x + 20, y + 15)
            await page.dispatch_mouse("click", x + 20, y + 40)
            await page.insert_text("grüß")
            await page.dispatch_key("!")
            told = "() => [document.querySelector('button').textContent, document.querySelector('input').value]"
            assert await frame.evaluate(MAIN_WORLD, told) == ["Pressed", "grüß!"]


@pytest.mark.nightly
async def test_removing_or_moving_a_frame_between_processes_is_noticed(open_session, site):
    session = await open_session("/frames")
    async with session.acquire_page() as page:
        frames = await frames_of(page)
        go = "(url) => { document.getElementById('near').src = url }"
        near = frames["inner?near"]
        await page.evaluate_in(MAIN_WORLD, go, f"{site.there}/inner?moved")
        moved = lambda: near.url.endswith("?moved") and near.channel is not page.channel  # noqa: E731
        assert await page.loading.wait_until(moved, EVENT_TIMEOUT_S)
        assert await near.evaluate(WORLD, "() => location.search") == "?moved"
        await page.evaluate_in(MAIN_WORLD, go, f"{site.here}/inner?back")
        assert await page.loading.wait_until(
            lambda: near.url.endswith("?back") and near.channel is page.channel, EVENT_TIMEOUT_S
        )
        assert await near.evaluate(WORLD, "() => location.search") == "?back"
        await page.evaluate_in(MAIN_WORLD, "() => document.getElementById('far').remove()")
        assert await page.loading.wait_until(lambda: frames["inner?deep"].detached, EVENT_TIMEOUT_S)
        assert "middle" not in {frame.url.rpartition("/")[2] for frame in page.frames}


async def test_mouse_and_key_events_are_trusted_and_complete(open_session):
    session = await open_session("/form")
    async with session.acquire_page() as page:
        box = """() => { const box = document.querySelector('[name=name]').getBoundingClientRect();
          return [box.x + 5, box.y + 5] }"""
        x, y = await page.evaluate_in(WORLD, box)
        await page.dispatch_mouse("click", x, y)
        for chord in ("a", "Shift+b", "C", "1", "!", "Space", "ß", "ArrowLeft", "Delete"):
            await page.dispatch_key(chord)
        assert await page.evaluate_in(WORLD, "() => document.querySelector('[name=name]').value") == "aBC1! "
        await page.dispatch_key("Control+a")
        await page.insert_text("Ada")
        assert await page.evaluate_in(WORLD, "() => document.querySelector('[name=name]').value") == "Ada"
        heard = await page.evaluate_in(MAIN_WORLD, "() => heard")
        assert all(trusted for _, _, trusted in heard)
        assert [kind for kind, _, _ in heard][:3] == ["mousedown", "mouseup", "click"]
        await page.evaluate_in(MAIN_WORLD, "() => { heard.length = 0 }")
        await page.dispatch_mouse("click", x, y, count=2)
        await page.dispatch_mouse("click", x, y, button="right")
        kinds = [kind for kind, _, _ in await page.evaluate_in(MAIN_WORLD, "() => heard")]
        assert {"dblclick", "contextmenu"} <= set(kinds)


async def test_an_unknown_key_is_refused(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        for chord in ("Enterr", "Hyper+a", ""):
            with pytest.raises(InvalidInput, match="keys:"):
                await page.dispatch_key(chord)


async def test_the_wheel_scrolls(open_session):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        await page.dispatch_mouse("wheel", 100, 100, delta=(0, 300))
        assert await wait_for_condition(page, "() => scrollY > 200")


async def test_an_endless_script_is_stopped_at_its_deadline(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        with pytest.raises(CommandTimeout):
            await page.evaluate_in(WORLD, "() => new Promise(() => {})", timeout=0.2)
        assert await page.evaluate_in(WORLD, "() => 1") == 1


async def test_a_script_whose_document_disappears_fails_at_once(open_session, site):
    session = await open_session()
    async with session.acquire_page() as page:
        with pytest.raises(ContextGone), anyio.fail_after(EVENT_TIMEOUT_S):
            await page.evaluate_in(
                WORLD, "(url) => { location = url; return new Promise(() => {}) }", f"{site.here}/spa"
            )


class SlowScripts(PageScripts):
    """A session whose page shows the next of some documents at each installation."""

    def __init__(self, page: BrowserPage, urls: Iterable[str]) -> None:
        super().__init__(page)
        self.urls = list(urls)

    async def ensure_installed(self, frame: Frame) -> None:
        await super().ensure_installed(frame)
        if self.urls:
            await self.page.send("Page.navigate", {"url": self.urls.pop(0)})


async def test_a_page_navigating_during_script_installation_is_read_at_its_destination(open_session, site):
    session = await open_session()
    async with session.acquire_page() as page:
        thrice = SlowScripts(page, (f"{site.here}/form?{number}" for number in range(3)))
        without_end = SlowScripts(page, (f"{site.here}/form?again={number}" for number in range(9)))

        milestones = await thrice.invoke(page.main, "readMilestones")
        await page.send("Page.navigate", {"url": f"{site.here}/spa"})
        with pytest.raises(ContextGone, match="all the time"):
            await without_end.invoke(page.main, "readMilestones")

    assert milestones["url"].endswith("/form?2")


WORKERS = {
    "worker": "const w = new Worker(url('postMessage(1)')); w.onmessage = event => done(event.data)",
    "nested worker": """const inner = "const w = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));"
      + "w.onmessage = event => postMessage(event.data)";
      const w = new Worker(url(inner)); w.onmessage = event => done(event.data)""",
    "shared worker": """const w = new SharedWorker(url('onconnect = event => event.ports[0].postMessage(1)'));
      w.port.onmessage = event => done(event.data)""",
    "service worker": """navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready)
      .then(() => done(1))""",
    "worklet": """const audio = new AudioContext();
      audio.audioWorklet.addModule(url('1')).then(() => done(1))""",
}


@pytest.mark.parametrize("kind", WORKERS)
@pytest.mark.nightly
async def test_workers_of_every_kind_start(open_session, kind):
    session = await open_session()
    async with session.acquire_page() as page:
        url = "const url = text => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}))"
        script = f"() => new Promise(done => {{ {url}; {WORKERS[kind]} }})"
        assert await page.evaluate_in(MAIN_WORLD, script, timeout=EVENT_TIMEOUT_S) == 1


async def test_many_calls_at_once_get_their_own_answers(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        got: dict[int, int] = {}

        async def ask(number: int) -> None:
            got[number] = await page.evaluate_in(WORLD, "(number) => number * 2", number)

        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(ask, number)
        assert got == {number: number * 2 for number in range(100)}


@pytest.mark.nightly
async def test_a_message_of_many_megabytes_passes_both_ways(open_session):
    session = await open_session()
    async with session.acquire_page() as page:
        text = "ä€" * 2_000_000
        assert await page.evaluate_in(WORLD, "(text) => text + '!'", text) == text + "!"


async def test_settling_waits_only_as_long_as_the_page_is_active(open_session):
    session = await open_session("/spa")
    async with session.acquire_page() as page:
        assert await wait_for_condition(page, "() => document.getElementById('more')")
        before = capture_baseline(page)
        await page.evaluate_in(MAIN_WORLD, "() => document.getElementById('more').click()")
        rest = await wait_until_settled(page, before)
        assert rest.quiet
        assert not rest.navigated
        assert await page.evaluate_in(WORLD, "() => [document.title, location.pathname]") == ["More", "/spa/more"]


async def test_settling_on_a_restless_page_ends_at_its_limit(open_session):
    session = await open_session("/form")
    async with session.acquire_page() as page:
        await page.evaluate_in(MAIN_WORLD, "() => { setInterval(() => document.body.append('x'), 10) }")
        with anyio.fail_after(EVENT_TIMEOUT_S):
            rest = await wait_until_settled(page, capture_baseline(page), limit=0.4)
        assert not rest.quiet


async def test_settling_follows_a_navigation(open_session):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        before = capture_baseline(page)
        await page.evaluate_in(MAIN_WORLD, "() => { setTimeout(() => document.getElementById('next').click(), 20) }")
        rest = await wait_until_settled(page, before)
        assert rest.navigated
        assert page.url.endswith("page=2")
