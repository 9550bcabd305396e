"""A browser that another program has started is used, and left unchanged."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from pydantic import SecretStr

from outrider.browser.process.find import find_browser
from outrider.browser.process.flags import can_sandbox
from outrider.browser.session.browsers import Browsers
from outrider.browser.session.options import SessionOptions
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import NotConfigured, Refused, Unavailable
from support.fakes import http_servers
from support.timeouts import EVENT_TIMEOUT_S, SCENARIO_TIMEOUT_S


@dataclass(frozen=True)
class Stranger:
    """A running browser of another program: its address and its profile."""

    port: int
    path: str
    profile: Path


@pytest.fixture
async def running_browser(temporary: Path) -> AsyncGenerator[Stranger]:
    flags = ["--headless=new", "--remote-debugging-port=0", f"--user-data-dir={temporary}", "--no-first-run"]
    flags += [] if can_sandbox() else ["--no-sandbox"]
    program = str(find_browser().path)
    with subprocess.Popen([program, *flags, "about:blank"], stderr=subprocess.DEVNULL) as process:
        told = temporary / "DevToolsActivePort"
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while not told.exists() or len(told.read_text().split()) < 2:
                await anyio.sleep(0.02)
        port, path = told.read_text().split()
        yield Stranger(int(port), path, temporary)
        process.terminate()


async def count_pages(browsers: Browsers) -> int:
    got = await browsers.running_browsers[0].connection.send("Target.getTargets")
    return sum(each["type"] == "page" for each in got["targetInfos"])


async def only_the_strangers_page_is_left(browsers: Browsers) -> bool:
    with anyio.move_on_after(5):
        while await count_pages(browsers) > 1:
            await anyio.sleep(0.01)
    return await count_pages(browsers) == 1


@pytest.mark.parametrize("form", ["ws", "http"])
@pytest.mark.nightly
async def test_a_remote_browser_is_used_in_our_own_contexts_and_keeps_running(running_browser, site, tmp_path, form):
    address = f"{form}://127.0.0.1:{running_browser.port}" + (running_browser.path if form == "ws" else "")
    browsers = Browsers(BrowserSettings(cdp_urls=[SecretStr(address)]), site.guard, tmp_path)
    try:
        session, there = await browsers.open_session("test", f"{site.here}/popup")
        assert there.title == "Opener"
        assert await count_pages(browsers) == 2
        async with session.acquire_page() as page:
            box = (
                "() => { const box = document.getElementById('blank').getBoundingClientRect(); return [box.x, box.y] }"
            )
            x, y = await page.evaluate_in("test", box)
            await page.dispatch_mouse("click", x + 5, y + 5)
            assert await session.tabs.wait_until(lambda: len(session.tabs) == 2, EVENT_TIMEOUT_S)
        with pytest.raises(Refused):
            await session.goto("http://127.0.0.1:1/")
        assert "egress guard" in browsers.collect_status()["warnings"][0]
        await browsers.close_session("test", session.id)
        assert await only_the_strangers_page_is_left(browsers)
    finally:
        await browsers.aclose()
    assert os.path.exists(running_browser.profile / "DevToolsActivePort")  # noqa: PTH110


async def test_the_users_own_browser_is_used_with_its_sign_ins(running_browser, site, tmp_path, monkeypatch):
    monkeypatch.setenv("CHROME_USER_DATA_DIR", str(running_browser.profile))
    browsers = Browsers(BrowserSettings(cdp_urls=[SecretStr("chrome")]), site.guard, tmp_path)
    try:
        first, _ = await browsers.open_session("test", f"{site.here}/form")
        async with first.acquire_page() as page:
            await page.evaluate_in("", "() => { document.cookie = 'mine=1; max-age=100' }")
        await browsers.close_session("test", first.id)
        assert await only_the_strangers_page_is_left(browsers)
        second, _ = await browsers.open_session("test", f"{site.here}/form")
        async with second.acquire_page() as page:
            assert await page.evaluate_in("", "() => document.cookie") == "mine=1"
        other = {"name": "theirs", "value": "2", "domain": "other.example", "path": "/"}
        await browsers.running_browsers[0].connection.send("Storage.setCookies", {"cookies": [other]})
        assert (await browsers.save_state(second, "shop")).cookies == 1, "only of the site that was visited"
    finally:
        await browsers.aclose()
    isolated = Browsers(BrowserSettings(), site.guard, tmp_path, warm=0)
    try:
        options = SessionOptions(state_id="shop")
        later, _ = await isolated.open_session("test", f"{site.here}/form", options=options)
        async with later.acquire_page() as page:
            assert await page.evaluate_in("", "() => document.cookie") == "mine=1"
    finally:
        await isolated.aclose()


@pytest.mark.nightly
async def test_an_endpoint_on_the_command_line_is_the_users_browser_and_stays(running_browser, site, tmp_path):
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    environ["OUTRIDER_EGRESS__ALLOW"] = json.dumps([site.here.removeprefix("http://")])
    endpoint = ["--browser-endpoint", f"http://127.0.0.1:{running_browser.port}"]
    arguments = ["-m", "outrider", "mcp", "--no-daemon", "--toolsets", "browser", *endpoint]
    command = StdioServerParameters(command=sys.executable, args=arguments, env=environ, cwd=tmp_path)
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with Client(command) as client:
            opened = await client.call_tool("createSession", {"url": f"{site.here}/form"})
            shown = await client.call_tool("snapshotPage", {})
            clicked = await client.call_tool("clickElement", {"selector": "[name=name]"})
            for answer in (opened, shown, clicked):
                assert not answer.is_error, answer
                assert "the egress guard does not cover it" in str(answer.content), answer
        watcher = Browsers(BrowserSettings(cdp_urls=[SecretStr(endpoint[1])]), site.guard, tmp_path / "watcher")
        try:
            session, _ = await watcher.open_session("test")
            await watcher.close_session("test", session.id)
            assert await only_the_strangers_page_is_left(watcher)
        finally:
            await watcher.aclose()


@pytest.mark.nightly
async def test_an_endpoint_is_used_with_the_users_sign_ins_if_asked(running_browser, site, tmp_path):
    address = SecretStr(f"http://127.0.0.1:{running_browser.port}")
    for profile, cookie in (("own", ""), ("own", "mine=1"), ("new", "")):
        browsers = Browsers(BrowserSettings(cdp_urls=[address], cdp_profile=profile), site.guard, tmp_path / profile)
        try:
            session, _ = await browsers.open_session("test", f"{site.here}/form")
            async with session.acquire_page() as page:
                assert await page.evaluate_in("", "() => document.cookie") == cookie, profile
                await page.evaluate_in("", "() => { document.cookie = 'mine=1; max-age=100' }")
            await browsers.close_session("test", session.id)
            assert await only_the_strangers_page_is_left(browsers)
        finally:
            await browsers.aclose()


async def test_a_missing_running_browser_of_the_user_is_not_configured(site, tmp_path):
    browsers = Browsers(BrowserSettings(cdp_urls=[SecretStr("chrome")]), site.guard, tmp_path)
    with pytest.raises(NotConfigured, match="no running Chrome"):
        await browsers.open_session("test")
    await browsers.aclose()


async def test_an_address_without_a_browser_is_unavailable(site, tmp_path):
    async def teapot(reader, writer):
        await reader.read(1_000)
        writer.write(b"HTTP/1.1 418 I'm a teapot\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    async with http_servers.serve_raw_tcp(teapot) as url:
        for address in (url, url.replace("http", "ws") + "/devtools/browser/1"):
            browsers = Browsers(BrowserSettings(cdp_urls=[SecretStr(address)]), site.guard, tmp_path)
            with pytest.raises(Unavailable):
                await browsers.open_session("test")
            await browsers.aclose()
