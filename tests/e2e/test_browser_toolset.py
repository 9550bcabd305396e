"""The browser in the whole app: crashes, rendering, and the command as hosts start it."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from support.apps import loopback_app
from support.apps.browser_app import BrowserAppClient, build_browser_site, format_result_text, open_browser_app
from support.fakes import http_servers
from support.results import read_error
from support.timeouts import EVENT_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
SHELL = "<!doctype html><title>Shell</title><div id=app></div><script>{}</script>"
FILL = "document.getElementById('app').innerHTML = '<h1>Tides</h1><p>' + 'The tide comes in. '.repeat(40) + '</p>'"
WALL = "<title>Just a moment...</title><p>Checking your browser</p><script>setTimeout(() => {{ {} }}, 50)</script>"
PASS = "document.cookie = 'human=yes'; location.reload()"
CHALLENGE_SITE = loopback_app.build_page_site(
    {
        "/shell": SHELL.format(FILL),
        "/full": loopback_app.build_article_html("Full", "There is enough to read here without any script. " * 10),
        "/broken": SHELL.format("while (true) {}"),
        "/challenge": (403, {}, WALL.format(PASS).encode()),
        "/wall": (403, {}, WALL.format("").encode()),
    }
)


async def serve_challenge(scope: Any, receive: Any, send: Any) -> None:
    """The pages; the challenge accepts requests with the cookie that its script sets."""
    headers = dict(scope.get("headers", ()))
    if scope.get("path") == "/challenge" and b"human=yes" in headers.get(b"cookie", b""):
        scope = scope | {"path": "/full"}
    await CHALLENGE_SITE(scope, receive, send)


@pytest.mark.nightly
async def test_a_crashed_page_is_noticed_and_the_session_continues(tmp_path: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_browser_app(tmp_path) as at:
            session = await at.open_session("/article")
            page = at.find_session(session).tabs.current
            assert page is not None
            lost = anyio.Event()
            page.on_lost(lambda _: lost.set())
            page.channel.send_and_forget("Page.crash")
            await lost.wait()
            failed = await at.call_tool("clickElement", sessionId=session, selector="#next")
            listed = await at.call_tool("listSessions")
            again = await at.call_tool("navigateToUrl", sessionId=session, url=f"{at.loopback.site_url}/form")
            shown = await at.call_tool("snapshotPage", sessionId=session)
    assert read_error(failed)["code"] == "page_crashed"
    assert read_error(failed)["details"]["reason"] == "page_crashed"
    assert f"navigateToUrl opens the session again; it was at {at.loopback.site_url}/article" in format_result_text(
        failed
    )
    assert listed.structured_content["sessions"][0]["status"] == "Error"
    assert again.structured_content["title"] == "Order form"
    assert "Remarks" in format_result_text(shown)


async def test_a_killed_browser_is_restarted_for_the_same_session(tmp_path: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_browser_app(tmp_path) as at:
            session = await at.open_session("/article")
            inside, engine = at.find_session(session), at.loopback.app.browsers.running_browsers[0]
            gone = anyio.Event()
            engine.connection.on_lost(lambda _: gone.set())
            os.kill(engine.running.process.pid, signal.SIGKILL)
            await gone.wait()
            failed = await at.call_tool("snapshotPage", sessionId=session)
            again = await at.call_tool("navigateToUrl", sessionId=session, url=f"{at.loopback.site_url}/form")
            shown = await at.call_tool("snapshotPage", sessionId=session)
    assert read_error(failed)["code"] == "browser_gone"
    assert again.structured_content["title"] == "Order form"
    assert "the browser was restarted" in format_result_text(again)
    assert "Remarks" in format_result_text(shown)
    assert inside.id == session


async def test_a_hanging_page_is_reported_by_every_tool_and_left_by_navigating(tmp_path: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_browser_app(tmp_path) as at:
            session = await at.open_session("/article")
            page = at.find_session(session).tabs.current
            assert page is not None
            page.channel.send_and_forget("Runtime.evaluate", {"expression": "for (;;);"})
            clicked = await at.call_tool("clickElement", sessionId=session, selector="#next")
            looked = await at.call_tool("snapshotPage", sessionId=session)
            listed = await at.call_tool("listSessions")
            tabs = await at.call_tool("manageTabs", sessionId=session)
            again = await at.call_tool("navigateToUrl", sessionId=session, url=f"{at.loopback.site_url}/form")
            typed = await at.call_tool("inputText", sessionId=session, selector="[name=name]", text="Ada")
    assert (read_error(clicked)["code"], read_error(clicked)["details"]["reason"]) == ("page_hangs", "timeout")
    assert read_error(clicked)["details"]["selector"] == "#next"
    assert read_error(looked)["code"] == "page_hangs"
    assert f"navigateToUrl opens the session again; it was at {at.loopback.site_url}/article" in format_result_text(
        looked
    )
    assert listed.structured_content["sessions"][0]["status"] == "Error"
    assert f"1 (in front) {at.loopback.site_url}/article" in format_result_text(tabs)
    assert again.structured_content["title"] == "Order form"
    assert "replaced by a new one" in format_result_text(again)
    assert typed.structured_content["ok"]


@pytest.mark.nightly
async def test_a_click_on_a_link_to_a_silent_server_ends(tmp_path: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_browser_app(tmp_path) as at:
            session = await at.open_session("/article")
            await at.evaluate_js(session, "document.querySelector('#next').href = '/never'")
            with anyio.fail_after(EVENT_TIMEOUT_S):
                clicked = await at.call_tool("clickElement", sessionId=session, selector="#next")
    assert f"the page is loading {at.loopback.site_url}/never, which has not answered yet" in format_result_text(
        clicked
    )


async def test_without_a_browser_the_answer_is_the_command_that_installs_one(tmp_path: Path):
    async with open_browser_app(tmp_path, executable="/no/such/browser") as at:
        failed = await at.call_tool("createSession", url=f"{at.loopback.site_url}/form")
    assert read_error(failed)["kind"] == "not_configured"
    assert read_error(failed)["code"] == "no_browser"


@pytest.mark.parametrize(
    ("complaint", "code", "remedy"),
    [
        ("FATAL: No usable sandbox! Update your kernel", "no_sandbox", "allow unprivileged user namespaces"),
        ("error while loading shared libraries: libnss3.so", "browser_start", "install what it lacks"),
        ("", "browser_start", "outrider browser install"),
    ],
)
async def test_a_browser_that_does_not_start_says_why_in_one_error(
    tmp_path: Path, complaint: str, code: str, remedy: str
):
    broken = tmp_path / "chromium"
    broken.write_text(f"#!/bin/sh\necho '{complaint}' >&2\nexit 1\n")
    broken.chmod(0o755)
    async with open_browser_app(tmp_path, executable=str(broken)) as at:
        failed = await at.call_tool("createSession", url=f"{at.loopback.site_url}/form")
        listed = await at.call_tool("listSessions")
    assert read_error(failed)["code"] == code
    assert remedy in format_result_text(failed)
    assert listed.structured_content["sessions"] == []


@pytest.mark.nightly
async def test_the_app_leaves_no_browser_behind(tmp_path: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_browser_app(tmp_path) as at:
            await at.open_session("/form")
            pid = at.loopback.app.browsers.running_browsers[0].running.process.pid
    assert not Path(f"/proc/{pid}").exists()


async def test_the_user_signs_in_in_a_window_and_the_model_learns_no_value(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":none")
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_browser_app(tmp_path, flags=["--ozone-platform=headless"]) as at:
            wish: dict[str, Any] = {"url": f"{at.loopback.site_url}/remembering", "state_id": "Shop", "seconds": 12}
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_close_when_kept, at)
                made = await at.client.call_tool("setup_browser_state", wish, progress_callback=hear)
            used = await at.call_tool("createSession", url=f"{at.loopback.site_url}/remembering", stateId="shop")
            cookie = await at.evaluate_js(used.structured_content["sessionId"], "document.cookie")
    data = made.structured_content
    facts = {"state_id": "shop", "saved": True, "cookies": 1, "origins": [at.loopback.site_url], "closed": True}
    assert {name: data[name] for name in facts} == facts
    assert format_result_text(made).startswith("Saved browser state.")
    assert "stateId=shop" in format_result_text(made)
    assert "yes" not in made.model_dump_json()
    assert heard
    assert heard == sorted(heard)
    assert cookie == "seen=yes"


async def _close_when_kept(at: BrowserAppClient) -> None:
    """Act as the user, who closes the window as soon as a state is saved."""
    while not at.loopback.app.browsers.states.has_state("shop"):
        await anyio.sleep(0.01)
    at.loopback.app.browsers.list_sessions()[0].tabs.get_page(1).channel.send_and_forget("Page.close")


async def test_without_a_display_the_login_command_names_an_alternative(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    async with open_browser_app(tmp_path) as at:
        failed = await at.call_tool("setup_browser_state", url=f"{at.loopback.site_url}/login")
    assert (read_error(failed)["kind"], read_error(failed)["code"]) == ("not_configured", "no_display")
    assert "outrider browser login URL --state NAME" in format_result_text(failed)


@pytest.mark.nightly
async def test_an_empty_page_is_read_with_the_browser_and_reported_so(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with loopback_app.open_loopback_app(home, CHALLENGE_SITE) as service:
            found = await service.app.call("web_fetch", url=f"{service.site_url}/shell")
            again = await service.app.call("web_fetch", url=f"{service.site_url}/shell")
            plain = await service.app.call("web_fetch", url=f"{service.site_url}/shell", render="never")
            full = await service.app.call("web_fetch", url=f"{service.site_url}/full")
            forced = await service.app.call("web_fetch", url=f"{service.site_url}/full", render="always")
            open_sessions = service.app.browsers.list_sessions()
    assert "The tide comes in." in found.text
    assert "Note: rendered in a browser" in found.text
    assert "The tide comes in." in again.text
    assert "tide" not in plain.text
    assert "rendered in a browser" not in full.text
    assert "enough to read here" in forced.text
    assert "rendered in a browser" in forced.text
    assert open_sessions == []


@pytest.mark.nightly
async def test_a_robot_check_is_passed_if_browsers_may_pass_and_reported_otherwise(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            loopback_app.open_loopback_app(home, serve_challenge) as service,
            Client(service.app.build_server()) as client,
        ):
            passed = await service.app.call("web_fetch", url=f"{service.site_url}/challenge")
            walled = await client.call_tool("web_fetch", {"url": f"{service.site_url}/wall"})
            never = await client.call_tool("web_fetch", {"url": f"{service.site_url}/challenge", "render": "never"})
    assert "enough to read here" in passed.text
    assert "rendered in a browser" in passed.text
    assert read_error(walled)["code"] == "blocked_by_site"
    assert read_error(never)["code"] == "blocked_by_site"


@pytest.mark.nightly
async def test_a_page_that_hangs_the_browser_costs_only_its_time_limit(home: Path):
    more = {"pages": {"timeout_s": 6}}
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with loopback_app.open_loopback_app(home, CHALLENGE_SITE, more=more) as service:
            page = await service.app.call("web_fetch", url=f"{service.site_url}/broken")
            after = await service.app.call("web_fetch", url=f"{service.site_url}/shell")
    assert "Title: Shell" in page.text
    assert "The tide comes in." in after.text


@pytest.mark.nightly
async def test_the_command_serves_a_browser_and_ends_it_when_the_host_goes(home: Path):
    async with http_servers.serve_app(build_browser_site()) as url:
        environ = {"HOME": str(home), "PATH": os.environ["PATH"], "OUTRIDER_EGRESS__ALLOW": f'["{url[7:]}"]'}
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "outrider", "mcp", "--no-daemon", "--toolsets", "browser"],
            env=environ,
            cwd=home,
        )
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
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
    assert "Thanks, Ada" in format_result_text(typed)
    assert pids


def _browsers_of(home: Path) -> list[int]:
    """Return the browser processes whose home is that folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            mine = f"HOME={home}".encode() in (entry / "environ").read_bytes()
            if mine and b"--remote-debugging-pipe" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found
