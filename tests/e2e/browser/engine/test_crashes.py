"""Crashed and hanging pages and browsers are noticed at once, reported, and replaced."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from outrider.browser.process.launch import launch_browser, remove_stale_profiles
from outrider.browser.protocol.cdp import BrowserGone, CommandTimeout, PageGone
from outrider.browser.session.browsers import Browsers
from outrider.browser.session.options import SessionOptions
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import NotConfigured, Refused, Unavailable
from support.timeouts import EVENT_TIMEOUT_S

WORLD = "test"


@pytest.mark.nightly
async def test_a_crashed_page_fails_pending_calls_at_once_and_names_its_address(open_session, browsers, site):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        page.channel.send_and_forget("Page.crash")
        with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(PageGone, match="crashed"):
            await page.evaluate_in(WORLD, "() => new Promise(() => {})")
    assert session.status == "crashed"
    with pytest.raises(Unavailable) as lost:
        async with session.acquire_page():
            pass
    assert lost.value.code == "page_crashed"
    assert lost.value.details["url"] == f"{site.here}/article"
    back = await browsers.reopen_session(session)
    assert (back.url, back.title, session.status) == (f"{site.here}/article", "On lighthouses", "active")


@pytest.mark.nightly
async def test_navigating_is_enough_to_revive_a_crashed_session(open_session, site):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => { document.cookie = 'kept=1' }")
        page.channel.send_and_forget("Page.crash")
        await page.loading.wait_until(lambda: page.crashed, EVENT_TIMEOUT_S)
    assert (await session.goto(f"{site.here}/form")).title == "Order form"
    async with session.acquire_page() as page:
        assert await page.evaluate_in("", "() => document.cookie") == "kept=1"


async def test_a_crashed_frame_leaves_the_page_alone(open_session):
    session = await open_session("/frames")
    async with session.acquire_page() as page:
        await page.loading.wait_until(lambda: any("/middle" in frame.url for frame in page.frames), EVENT_TIMEOUT_S)
        far = next(frame for frame in page.frames if "/middle" in frame.url)
        far.channel.send_and_forget("Page.crash")
        with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(PageGone):
            await far.evaluate(WORLD, "() => new Promise(() => {})")
        assert await page.evaluate_in(WORLD, "() => document.title") == "Frames"


async def test_a_hanging_page_is_replaced_at_its_address(open_session, browsers, site):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        page.channel.send_and_forget("Runtime.evaluate", {"expression": "for (;;);"})
        with pytest.raises(CommandTimeout):
            await page.evaluate_in(WORLD, "() => 1", timeout=0.3)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        assert (await browsers.reopen_session(session)).title == "On lighthouses"
    async with session.acquire_page() as page:
        assert await page.evaluate_in(WORLD, "() => 2") == 2


@pytest.mark.nightly
async def test_a_page_that_hangs_is_named_within_seconds_and_left_by_navigating(open_session, site):
    session = await open_session("/article")
    async with session.acquire_page() as page:
        page.channel.send_and_forget("Runtime.evaluate", {"expression": "for (;;);"})
    with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(Unavailable) as hangs:
        async with session.acquire_page():
            pass
    assert hangs.value.code == "page_hangs"
    assert hangs.value.details["url"] == f"{site.here}/article"
    assert session.status == "crashed"
    with anyio.fail_after(EVENT_TIMEOUT_S):
        there = await session.goto(f"{site.here}/form")
    assert (there.title, session.status, len(session.tabs)) == ("Order form", "active", 1)
    assert "replaced by a new one" in session.notes[-1]


async def test_a_page_without_processor_time_is_waited_for(site, temporary):
    # In a separate browser, because the work of another test's page would count.
    browsers = Browsers(BrowserSettings(), site.guard, temporary)
    session, _ = await browsers.open_session("test", f"{site.here}/article", SessionOptions(workspace=temporary))
    async with session.acquire_page() as page:
        await page.evaluate_in(WORLD, "() => 1")
        answer = await page.channel.connection.send("SystemInfo.getProcessInfo")
    renderers = [each["id"] for each in answer["processInfo"] if each["type"] == "renderer"]
    for renderer in renderers:
        os.kill(renderer, signal.SIGSTOP)

    def go_on() -> None:
        for renderer in renderers:
            os.kill(renderer, signal.SIGCONT)

    longer_than_a_hang_s = 8.0
    asyncio.get_running_loop().call_later(longer_than_a_hang_s, go_on)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with session.acquire_page() as page:
            assert await page.evaluate_in(WORLD, "() => 2") == 2
    await browsers.aclose()


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="needs Linux, where a process can be starved")
async def test_a_computing_page_starved_of_processor_time_is_waited_for(site, temporary):
    browsers = Browsers(BrowserSettings(), site.guard, temporary)
    session, _ = await browsers.open_session("test", f"{site.here}/article", SessionOptions(workspace=temporary))
    async with session.acquire_page() as page:
        answer = await page.channel.connection.send("SystemInfo.getProcessInfo")
        core = min(os.sched_getaffinity(0))
        for renderer in [each["id"] for each in answer["processInfo"] if each["type"] == "renderer"]:
            for thread in Path(f"/proc/{renderer}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {core})
                os.sched_setscheduler(int(thread.name), os.SCHED_IDLE, os.sched_param(0))
        page.channel.send_and_forget("Runtime.evaluate", {"expression": "for (let n = 0; n < 1e9; n++);"})
    longer_than_a_blocked_page_may_be = (
        "import os, signal; os.sched_setaffinity(0, {%d}); signal.alarm(20)\nwhile 1: pass"
    )
    with subprocess.Popen([sys.executable, "-c", longer_than_a_blocked_page_may_be % core]):
        async with session.acquire_page() as page:
            assert await page.evaluate_in(WORLD, "() => 2") == 2
    await browsers.aclose()


async def test_a_tab_that_hangs_is_closed_and_the_others_continue(open_session, site):
    session = await open_session("/article")
    await session.open_tab(f"{site.there}/form")
    async with session.acquire_page() as page:
        page.channel.send_and_forget("Runtime.evaluate", {"expression": "for (;;);"})
    with anyio.fail_after(EVENT_TIMEOUT_S):
        await session.close_tab(2)
        async with session.acquire_page() as page:
            assert page.url == f"{site.here}/article"


async def test_a_page_with_endless_dialogs_can_be_used_and_left(open_session, site):
    session = await open_session("/form")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => { setInterval(() => alert('again'), 10) }")
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while session.dialogs.total < 5:
                await page.evaluate_in(WORLD, "() => 1")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        assert (await session.goto(f"{site.here}/article")).title == "On lighthouses"


@pytest.mark.nightly
async def test_a_loop_of_alerts_is_named_within_seconds_and_left_by_navigating(open_session, site):
    session = await open_session("/form")
    async with session.acquire_page() as page:
        await page.evaluate_in("", "() => { setTimeout(() => { for (;;) alert('again') }) }")
        while not session.dialogs.is_storm:
            await anyio.lowlevel.checkpoint()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        with pytest.raises(Unavailable, match="opens one dialog after another"):
            async with session.acquire_page():
                pass
        assert (await session.goto(f"{site.here}/article")).title == "On lighthouses"


@pytest.mark.nightly
async def test_an_endlessly_reloading_page_can_be_left(open_session, site):
    """Opening the address that is being reloaded succeeds, too."""
    session = await open_session("/form")
    async with session.acquire_page() as page:
        await page.install_script("", "setTimeout(() => { if (location.pathname === '/form') location.reload() }, 20)")
        commits = page.loading.commits
        assert await page.loading.wait_until(lambda: page.loading.commits > commits + 3, EVENT_TIMEOUT_S)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        for _ in range(8):
            assert (await session.goto(f"{site.here}/form")).url == f"{site.here}/form"
        while (await session.goto(f"{site.here}/article")).url != f"{site.here}/article":
            assert session.url == f"{site.here}/form"


@pytest.mark.nightly
async def test_calls_fail_at_once_if_their_browser_dies(site, tmp_path):
    browsers = Browsers(BrowserSettings(), site.guard, tmp_path, warm=0)
    try:
        session, _ = await browsers.open_session("test", f"{site.here}/article")
        other, _ = await browsers.open_session("test", f"{site.here}/form")
        process = browsers.running_browsers[0].running.process
        async with session.acquire_page() as page:
            os.kill(process.pid, signal.SIGKILL)
            with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(BrowserGone):
                await page.evaluate_in(WORLD, "() => new Promise(() => {})")
        assert [session.status, other.status] == ["crashed", "crashed"]
        with pytest.raises(Unavailable) as lost:
            async with other.acquire_page():
                pass
        assert lost.value.code == "browser_gone"
        assert lost.value.details["url"] == f"{site.here}/form"
        back = await browsers.reopen_session(session)
        assert (back.url, session.status) == (f"{site.here}/article", "active")
        assert "was restarted" in session.notes[-1]
        assert (await browsers.reopen_session(other)).title == "Order form"
    finally:
        await browsers.aclose()


@pytest.mark.nightly
async def test_a_sign_in_survives_the_death_of_the_browser(site, tmp_path):
    browsers = Browsers(BrowserSettings(), site.guard, tmp_path, warm=0)
    try:
        session, _ = await browsers.open_session("test", f"{site.here}/login")
        async with session.acquire_page() as page:
            script = """() => { document.querySelector('[name=user]').value = 'ada';
              document.querySelector('[name=password]').value = 'lovelace';
              document.querySelector('button').click() }"""
            await page.evaluate_in("", script)
            assert await page.loading.wait_until(lambda: page.url.endswith("/account"), EVENT_TIMEOUT_S)
            assert await page.loading.wait_until(
                lambda: "load" in page.loading.get_load(page.main.loader).milestones, 5
            )
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while not (session.stored_state and session.stored_state["cookies"] and session.stored_state["origins"]):
                await anyio.sleep(0.01)
        os.kill(browsers.running_browsers[0].running.process.pid, signal.SIGKILL)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while not session.browser_gone:
                await anyio.sleep(0.01)
        there = await browsers.reopen_session(session)
        assert (there.url, there.title) == (f"{site.here}/account", "Account")
        assert "were restored" in session.notes[-1]
        async with session.acquire_page() as page:
            assert await page.evaluate_in("", "() => localStorage.visits") == "2"
    finally:
        await browsers.aclose()


async def test_an_unresponsive_browser_is_not_waited_for_forever(site, tmp_path):
    browsers = Browsers(BrowserSettings(), site.guard, tmp_path, warm=0)
    try:
        session, _ = await browsers.open_session("test", f"{site.here}/article")
        process = browsers.running_browsers[0].running.process
        async with session.acquire_page() as page:
            os.killpg(process.pid, signal.SIGSTOP)
            with pytest.raises(CommandTimeout):
                await page.evaluate_in(WORLD, "() => 1", timeout=0.3)
    finally:
        with anyio.fail_after(EVENT_TIMEOUT_S):
            await browsers.aclose()
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


@pytest.mark.nightly
async def test_a_restarted_network_process_uses_the_proxy_again(site, tmp_path):
    browsers = Browsers(BrowserSettings(), site.guard, tmp_path, warm=0)
    try:
        session, _ = await browsers.open_session("test", f"{site.here}/article")
        told = await browsers.running_browsers[0].connection.send("SystemInfo.getProcessInfo")
        for process in told["processInfo"]:
            if process["type"] == "utility" and "network" in Path(f"/proc/{process['id']}/cmdline").read_text():
                os.kill(process["id"], signal.SIGKILL)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            assert (await session.goto(f"{site.here}/form")).title == "Order form"
        with pytest.raises(Refused):
            await session.goto(f"{site.here}/to?url=http://127.0.0.2/")
    finally:
        await browsers.aclose()


ORPHANS = """
import anyio, os, sys
from outrider.browser.process.launch import launch_browser
async def main():
    running = await launch_browser()
    print(running.process.pid, running.profile.path, flush=True)
    await anyio.sleep(60)
anyio.run(main)
"""


@pytest.mark.nightly
async def test_a_killed_owner_leaves_no_browser_and_its_profile_is_deleted(temporary):
    environ = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True, env=environ) as owner:
        assert owner.stdout
        pid, _, profile = (await anyio.to_thread.run_sync(owner.stdout.readline)).strip().partition(" ")
        owner.kill()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while Path(f"/proc/{pid}").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
            await anyio.sleep(0.02)
    assert Path(profile).exists()
    assert remove_stale_profiles(temporary) == 1
    assert not Path(profile).exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, which only Linux has")
async def test_stuck_crash_reporters_end_with_their_browser(temporary):
    running = await launch_browser(folder=temporary)
    reporters = find_processes("chrome_crashpad_handler", str(running.profile.path))
    for pid in reporters:
        os.kill(pid, signal.SIGSTOP)
    await running.aclose()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while find_processes(str(running.profile.path)):
            await anyio.sleep(0.02)


def find_processes(*words: str) -> list[int]:
    """The processes whose command line has the words."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            line = (process / "cmdline").read_text(errors="replace")
            if all(word in line for word in words):
                found.append(int(process.name))
    return found


def test_living_profiles_are_not_deleted(tmp_path):
    from outrider.browser.process.launch import BrowserProfile

    mine = BrowserProfile(tmp_path)
    assert remove_stale_profiles(tmp_path) == 0
    mine.remove()
    assert not mine.path.exists()
    assert tempfile.gettempdir()


async def test_a_program_that_is_not_a_browser_is_unavailable_with_its_last_words(site, tmp_path):
    fake = tmp_path / "browser"
    fake.write_text("#!/bin/sh\necho 'cannot open shared object file' >&2\nexit 1\n")
    fake.chmod(0o755)
    browsers = Browsers(BrowserSettings(executable=str(fake)), site.guard, tmp_path)
    try:
        with pytest.raises(Unavailable, match="shared object"):
            await browsers.open_session("test")
    finally:
        await browsers.aclose()


async def test_a_missing_browser_is_not_configured(site, tmp_path):
    browsers = Browsers(BrowserSettings(executable="/nowhere/chromium"), site.guard, tmp_path)
    with pytest.raises(NotConfigured, match="/nowhere/chromium"):
        await browsers.open_session("test")
    await browsers.aclose()


async def test_a_window_without_a_display_is_not_configured(browsers, monkeypatch):
    from outrider.browser.session.options import SessionOptions

    with pytest.raises(NotConfigured, match="no display"):
        await browsers.open_session("test", options=SessionOptions(headless=False))
