"""The browser behind the whole house: crashes, reading with it, and the command as hosts start it."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from support.apps import loopback_app
from support.apps.browser_app import Desk, desk, said, site
from support.fakes import http_servers
from support.results import error

pytestmark = pytest.mark.anyio
PATIENCE = 120
SHELL = "<!doctype html><title>Shell</title><div id=app></div><script>{}</script>"
FILL = "document.getElementById('app').innerHTML = '<h1>Tides</h1><p>' + 'The tide comes in. '.repeat(40) + '</p>'"
WALL = "<title>Just a moment...</title><p>Checking your browser</p><script>setTimeout(() => {{ {} }}, 50)</script>"
PASS = "document.cookie = 'human=yes'; location.reload()"
PAGES = loopback_app.pages(
    {
        "/shell": SHELL.format(FILL),
        "/full": loopback_app.article("Full", "There is enough to read here without any script. " * 10),
        "/broken": SHELL.format("while (true) {}"),
        "/challenge": (403, {}, WALL.format(PASS).encode()),
        "/wall": (403, {}, WALL.format("").encode()),
    }
)


async def guarded(scope: Any, receive: Any, send: Any) -> None:
    """The pages; the challenge lets through who brings what its script has set."""
    headers = dict(scope.get("headers", ()))
    if scope.get("path") == "/challenge" and b"human=yes" in headers.get(b"cookie", b""):
        scope = scope | {"path": "/full"}
    await PAGES(scope, receive, send)


async def test_a_crashed_page_is_noticed_and_the_session_goes_on(tmp_path: Path):
    with anyio.fail_after(PATIENCE):
        async with desk(tmp_path) as at:
            session = await at.open("/article")
            page = at.inside(session).tabs.current
            assert page is not None
            lost = anyio.Event()
            page.on_lost(lambda _: lost.set())
            page.channel.tell("Page.crash")
            await lost.wait()
            failed = await at.call("clickElement", sessionId=session, selector="#next")
            listed = await at.call("listSessions")
            again = await at.call("navigateToUrl", sessionId=session, url=f"{at.house.site}/form")
            shown = await at.call("snapshotPage", sessionId=session)
    assert error(failed)["code"] == "page_crashed"
    assert error(failed)["details"]["reason"] == "page_crashed"
    assert f"navigateToUrl opens the session again; it was at {at.house.site}/article" in said(failed)
    assert listed.structured_content["sessions"][0]["status"] == "Error"
    assert again.structured_content["title"] == "Order form"
    assert "Remarks" in said(shown)


async def test_a_killed_browser_is_started_anew_for_the_same_session(tmp_path: Path):
    with anyio.fail_after(PATIENCE):
        async with desk(tmp_path) as at:
            session = await at.open("/article")
            inside, engine = at.inside(session), at.house.app.browsers.running[0]
            gone = anyio.Event()
            engine.connection.on_lost(lambda _: gone.set())
            os.kill(engine.running.process.pid, signal.SIGKILL)
            await gone.wait()
            failed = await at.call("snapshotPage", sessionId=session)
            again = await at.call("navigateToUrl", sessionId=session, url=f"{at.house.site}/form")
            shown = await at.call("snapshotPage", sessionId=session)
    assert error(failed)["code"] == "browser_gone"
    assert again.structured_content["title"] == "Order form"
    assert "the browser was started anew" in said(again)
    assert "Remarks" in said(shown)
    assert inside.id == session


async def test_a_page_that_hangs_is_named_in_every_answer_and_left_by_navigating(tmp_path: Path):
    with anyio.fail_after(PATIENCE):
        async with desk(tmp_path) as at:
            session = await at.open("/article")
            page = at.inside(session).tabs.current
            assert page is not None
            page.channel.tell("Runtime.evaluate", {"expression": "for (;;);"})
            clicked = await at.call("clickElement", sessionId=session, selector="#next")
            looked = await at.call("snapshotPage", sessionId=session)
            listed = await at.call("listSessions")
            tabs = await at.call("manageTabs", sessionId=session)
            again = await at.call("navigateToUrl", sessionId=session, url=f"{at.house.site}/form")
            typed = await at.call("inputText", sessionId=session, selector="[name=name]", text="Ada")
    assert (error(clicked)["code"], error(clicked)["details"]["reason"]) == ("page_hangs", "timeout")
    assert error(clicked)["details"]["selector"] == "#next"
    assert error(looked)["code"] == "page_hangs"
    assert f"navigateToUrl opens the session again; it was at {at.house.site}/article" in said(looked)
    assert listed.structured_content["sessions"][0]["status"] == "Error"
    assert f"1 (in front) {at.house.site}/article" in said(tabs)
    assert again.structured_content["title"] == "Order form"
    assert "replaced by a new one" in said(again)
    assert typed.structured_content["ok"]


async def test_a_click_that_leads_to_a_silent_server_ends_when_the_operator_says(tmp_path: Path):
    with anyio.fail_after(PATIENCE):
        async with desk(tmp_path, arrival_seconds=0.4) as at:
            session = await at.open("/article")
            await at.js(session, "document.querySelector('#next').href = '/never'")
            with anyio.fail_after(8):
                clicked = await at.call("clickElement", sessionId=session, selector="#next")
    assert f"the page is on its way to {at.house.site}/never, which has not answered yet" in said(clicked)


async def test_without_a_browser_the_answer_is_the_command_that_installs_one(tmp_path: Path):
    async with desk(tmp_path, executable="/no/such/browser") as at:
        failed = await at.call("createSession", url=f"{at.house.site}/form")
    assert error(failed)["kind"] == "not_configured"
    assert error(failed)["code"] == "no_browser"


async def test_the_house_leaves_no_browser_behind(tmp_path: Path):
    with anyio.fail_after(PATIENCE):
        async with desk(tmp_path) as at:
            await at.open("/form")
            pid = at.house.app.browsers.running[0].running.process.pid
    assert not Path(f"/proc/{pid}").exists()


async def test_the_user_signs_in_in_a_window_and_the_model_learns_no_value(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":none")
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    with anyio.fail_after(PATIENCE):
        async with desk(tmp_path, flags=["--ozone-platform=headless"]) as at:
            wish: dict[str, Any] = {"url": f"{at.house.site}/remembering", "state_id": "Shop", "seconds": 12}
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_close_when_kept, at)
                made = await at.client.call_tool("setup_browser_state", wish, progress_callback=hear)
            used = await at.call("createSession", url=f"{at.house.site}/remembering", stateId="shop")
            cookie = await at.js(used.structured_content["sessionId"], "document.cookie")
    data = made.structured_content
    facts = {"state_id": "shop", "saved": True, "cookies": 1, "origins": [at.house.site], "closed": True}
    assert {name: data[name] for name in facts} == facts
    assert said(made).startswith("Saved browser state.")
    assert "stateId=shop" in said(made)
    assert "yes" not in made.model_dump_json()
    assert heard
    assert heard == sorted(heard)
    assert cookie == "seen=yes"


async def _close_when_kept(at: Desk) -> None:
    """The user, who closes the window as soon as something is kept."""
    while not at.house.app.browsers.states.has("shop"):
        await anyio.sleep(0.01)
    at.house.app.browsers.list()[0].tabs.at(1).channel.tell("Page.close")


async def test_without_a_display_signing_in_by_hand_says_what_to_do_instead(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    async with desk(tmp_path) as at:
        failed = await at.call("setup_browser_state", url=f"{at.house.site}/login")
    assert (error(failed)["kind"], error(failed)["code"]) == ("not_configured", "no_display")
    assert "outrider browser login URL --state NAME" in said(failed)


async def test_reading_uses_the_browser_where_a_page_is_empty_without_it_and_says_so(home: Path):
    with anyio.fail_after(PATIENCE):
        async with loopback_app.opened(home, PAGES) as house:
            found = await house.app.call("web_fetch", url=f"{house.site}/shell")
            again = await house.app.call("web_fetch", url=f"{house.site}/shell")
            plain = await house.app.call("web_fetch", url=f"{house.site}/shell", render="never")
            full = await house.app.call("web_fetch", url=f"{house.site}/full")
            forced = await house.app.call("web_fetch", url=f"{house.site}/full", render="always")
            open_sessions = house.app.browsers.list()
    assert "The tide comes in." in found.text
    assert "Note: rendered in a browser" in found.text
    assert "The tide comes in." in again.text
    assert "tide" not in plain.text
    assert "rendered in a browser" not in full.text
    assert "enough to read here" in forced.text
    assert "rendered in a browser" in forced.text
    assert open_sessions == []


async def test_a_robot_check_that_lets_browsers_pass_is_passed_and_one_that_does_not_is_named(home: Path):
    with anyio.fail_after(PATIENCE):
        async with loopback_app.opened(home, guarded) as house, Client(house.app.server()) as client:
            passed = await house.app.call("web_fetch", url=f"{house.site}/challenge")
            walled = await client.call_tool("web_fetch", {"url": f"{house.site}/wall"})
            never = await client.call_tool("web_fetch", {"url": f"{house.site}/challenge", "render": "never"})
    assert "enough to read here" in passed.text
    assert "rendered in a browser" in passed.text
    assert error(walled)["code"] == "blocked_by_site"
    assert error(never)["code"] == "blocked_by_site"


async def test_a_page_that_hangs_the_browser_costs_its_time_and_nothing_else(home: Path):
    more = {"pages": {"seconds": 6}}
    with anyio.fail_after(PATIENCE):
        async with loopback_app.opened(home, PAGES, more=more) as house:
            page = await house.app.call("web_fetch", url=f"{house.site}/broken")
            after = await house.app.call("web_fetch", url=f"{house.site}/shell")
    assert "Title: Shell" in page.text
    assert "The tide comes in." in after.text


async def test_the_command_serves_a_browser_and_ends_it_when_the_host_goes(home: Path):
    async with http_servers.serve(site()) as url:
        environ = {"HOME": str(home), "PATH": os.environ["PATH"], "OUTRIDER_EGRESS__ALLOW": f'["{url[7:]}"]'}
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "outrider", "mcp", "--no-daemon", "--toolsets", "browser"],
            env=environ,
            cwd=home,
        )
        with anyio.fail_after(PATIENCE):
            async with Client(command) as client:
                tools = [tool.name for tool in (await client.list_tools()).tools]
                opened = await client.call_tool("createSession", {"url": f"{url}/form"})
                session = opened.structured_content["sessionId"]
                typed = await client.call_tool(
                    "inputText", {"sessionId": session, "selector": "[name=name]", "text": "Ada", "submit": True}
                )
                pids = _browsers_of(home)
            while any(Path(f"/proc/{pid}").exists() for pid in pids):
                await anyio.sleep(0.01)
    assert {"createSession", "clickElement", "snapshotPage"} <= set(tools)
    assert "Thanks, Ada" in said(typed)
    assert pids


def _browsers_of(home: Path) -> list[int]:
    """Processes whose home is that folder and that are browsers."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            mine = f"HOME={home}".encode() in (entry / "environ").read_bytes()
            if mine and b"--remote-debugging-pipe" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found
