"""Toolset `flows` through a client and a real browser."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitResult

from outrider.core.text import count_tokens
from outrider.serve.protocol_results import build_tool_entry
from outrider.toolsets.flows.tools import flows
from support.apps import loopback_app
from support.apps.browser_app import BrowserAppClient, format_result_text, open_browser_app
from support.results import read_error
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(SCENARIO_TIMEOUT_S)]
PASSWORD = "lovelace"


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[BrowserAppClient]:
    async with open_browser_app(tmp_path_factory.mktemp("flows")) as opened:
        yield opened


@pytest.fixture
async def session(running: BrowserAppClient) -> AsyncGenerator[str]:
    opened = await running.open_session("/login")
    yield opened
    await running.call_tool("closeSession", sessionId=opened)


async def call_for_text(running: BrowserAppClient, tool: str, **arguments: Any) -> str:
    """Calls a tool that must not fail; its text."""
    result = await running.call_tool(tool, **arguments)
    assert not result.is_error, format_result_text(result)
    return format_result_text(result)


async def sign_in_and_order(running: BrowserAppClient, session: str) -> None:
    await call_for_text(running, "inputText", sessionId=session, selector="[name=user]", text="ada")
    await call_for_text(running, "inputText", sessionId=session, selector="[type=password]", text=PASSWORD)
    await call_for_text(running, "clickElement", sessionId=session, selector="button=Sign in")
    await running.navigate_session(session, "/form")
    missed = await running.call_tool("clickElement", sessionId=session, selector="#nothing")
    assert missed.is_error
    fields = [
        {"selector": "[name=name]", "value": "Adda"},
        {"selector": "[name=size]", "value": "Medium"},
        {"selector": "[name=gift]", "value": True},
        {"selector": "[value=bill]", "value": True},
    ]
    await call_for_text(running, "fillForm", sessionId=session, fields=fields)
    await call_for_text(running, "inputText", sessionId=session, selector="[name=name]", text="Ada")
    await call_for_text(running, "clickElement", sessionId=session, selector="button=Send")


def find_file(running: BrowserAppClient, name: str) -> Path:
    return running.loopback.app.loaded.workspace / ".outrider" / "flows" / f"{name}.yaml"


def test_the_toolset_is_not_offered_by_default_and_costs_little():
    entries = [build_tool_entry(tool, tool.name) for tool in flows.tools.values()]
    listed = {"tools": [each.model_dump(by_alias=True, exclude_none=True, mode="json") for each in entries]}
    assert count_tokens(json.dumps(listed, ensure_ascii=False, separators=(",", ":"))) <= 1_250
    assert not flows.default


async def test_a_session_is_saved_with_parameters_but_no_passwords_and_runs_again(
    running: BrowserAppClient, session: str, monkeypatch: pytest.MonkeyPatch
):
    await sign_in_and_order(running, session)
    saved = await running.call_tool("saveFlow", name="order", sessionId=session, description="Order tea")
    text = find_file(running, "order").read_text()
    without = await running.call_tool("runFlow", name="order")
    monkeypatch.setenv("OUTRIDER_FLOW_PASSWORD", PASSWORD)
    ran = await running.call_tool("runFlow", name="order", parameters={"name": "Grace"}, keepOpen=True)
    shown = await call_for_text(running, "getPageTitle", sessionId=ran.structured_content["sessionId"])
    literal = await running.call_tool("runFlow", name="order", parameters={"name": "${odd}"})
    listed = await running.call_tool("listFlows")
    wrong = await running.call_tool("runFlow", name="order", parameters={"nam": "Grace"})
    unknown = await running.call_tool("runFlow", name="ordre")
    assert saved.structured_content["parameters"] == ["user", "size", "name"]
    assert saved.structured_content["secrets"] == ["password"]
    assert "OUTRIDER_FLOW_PASSWORD" in format_result_text(saved)
    assert PASSWORD not in text + format_result_text(saved) + format_result_text(ran)
    assert "nothing" not in text
    assert "Adda" not in text
    assert "text: Thanks, ${name}" in text
    assert read_error(without)["code"] == "no_secret"
    assert ran.structured_content["ok"], format_result_text(ran)
    assert shown == "Thanks"
    assert literal.structured_content["ok"], "a value is not a placeholder"
    assert listed.structured_content["flows"] == [
        {
            "name": "order",
            "description": "Order tea",
            "parameters": ["user", "size", "name"],
            "steps": 10,
            "version": 1,
        }
    ]
    assert "its parameters: user, size, name" in format_result_text(wrong)
    assert "choose one of order" in format_result_text(unknown)


@pytest.mark.nightly
async def test_a_saved_flow_keeps_comments_and_gets_a_new_version(running: BrowserAppClient, session: str):
    await call_for_text(running, "inputText", sessionId=session, selector="[name=user]", text="ada")
    await call_for_text(running, "saveFlow", name="typing", sessionId=session)
    file = find_file(running, "typing")
    file.write_text(file.read_text().replace("  - fill:", "  # who it is\n  - fill:"))
    await call_for_text(running, "inputText", sessionId=session, selector="[name=user]", text="grace")
    again = await running.call_tool("saveFlow", name="typing", sessionId=session)
    await call_for_text(running, "saveFlow", name="typing", sessionId=session, replace=True)
    text = await call_for_text(running, "showFlow", name="typing")
    assert read_error(again)["code"] == "flow_exists"
    assert "# who it is" in text
    assert "version: 2" in text
    assert "default: grace" in text
    await call_for_text(running, "deleteFlow", name="typing")
    assert not file.exists()
    assert "unknown_flow" in str(read_error(await running.call_tool("showFlow", name="typing")))


async def test_a_password_that_is_typed_key_by_key_is_one_secret(running: BrowserAppClient, session: str):
    await call_for_text(running, "clickElement", sessionId=session, selector="[type=password]")
    for key in "qxz":
        await call_for_text(running, "pressKey", sessionId=session, key=key)
    await call_for_text(running, "pressKey", sessionId=session, key="Enter")
    await call_for_text(running, "saveFlow", name="keys", sessionId=session)
    text = find_file(running, "keys").read_text()
    assert text.count("secret: password") == 1
    assert "press: Enter" in text
    assert not {"press: q", "press: x", "press: z"} & {line.strip(" -") for line in text.splitlines()}


async def test_keys_go_to_the_focused_element_and_stop_if_it_is_gone(running: BrowserAppClient, session: str):
    await running.navigate_session(session, "/form")
    await call_for_text(running, "clickElement", sessionId=session, selector="[name=name]")
    mark = (await running.call_tool("saveFlow", name="mark", sessionId=session)).structured_content["lastAction"]
    await call_for_text(running, "pressKey", sessionId=session, key="x")
    await call_for_text(running, "saveFlow", name="focus", sessionId=session, since=mark)
    text = find_file(running, "focus").read_text()
    ran = await running.call_tool("runFlow", name="focus", keepOpen=True)
    filled = await call_for_text(running, "snapshotPage", sessionId=ran.structured_content["sessionId"])
    find_file(running, "focus").write_text(
        text.replace("name: Name", "name: Nickname").replace("{name: name", "{name: nick")
    )
    stopped = await running.call_tool("runFlow", name="focus", waitSeconds=0.5)
    assert "on:" in text
    assert "x" in next(line for line in filled.splitlines() if "textbox" in line and "Name" in line), filled
    assert "step 2: " in read_error(stopped)["message"]


def write_flow(running: BrowserAppClient, name: str, steps: str, more: str = "") -> None:
    file = find_file(running, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    site = running.loopback.site_url
    file.write_text(f"flow: 1\nname: {name}\norigins: [{site}]\n{more}steps:\n{steps.replace('SITE', site)}")


async def stop_recording(running: BrowserAppClient, name: str) -> CallToolResult:
    result = await running.call_tool("runFlow", name=name, waitSeconds=1)
    assert result.is_error, format_result_text(result)
    return result


@pytest.mark.nightly
async def test_a_handwritten_flow_stops_with_the_reason_and_continues_from_the_next_step(running: BrowserAppClient):
    steps = "  - open: SITE/form\n  - fill: Name\n    text: Ada\n  - click: {role: button, name: Order}\n"
    write_flow(running, "stops", steps + "  - check: Gift\n")
    stopped = await stop_recording(running, "stops")
    error = read_error(stopped)
    session = error["details"]["sessionId"]
    onward = await running.call_tool("runFlow", name="stops", sessionId=session, fromStep=4)
    assert (error["code"], error["details"]["step"]) == ("not_found", 3)
    assert 'button "Order" is not on the page' in error["message"]
    assert "fromStep=4" in error["hint"]
    assert 'button "Send"' in format_result_text(stopped)
    assert onward.structured_content["ok"]


async def test_a_flow_acts_only_on_the_origins_that_it_names(running: BrowserAppClient):
    write_flow(running, "elsewhere", "  - open: http://localhost:9/\n")
    opened = await stop_recording(running, "elsewhere")
    write_flow(running, "led-away", "  - open: SITE/to?url=http://10.1.1.1/\n")
    redirected = await stop_recording(running, "led-away")
    assert read_error(opened)["code"] == "origin_refused"
    assert read_error(redirected)["code"] in ("origin_refused", "failed")


async def test_mistakes_in_a_file_are_named(running: BrowserAppClient):
    cases = {
        "  - clik: Save\n": "line 5: step 1, clik",
        "  - click: Save\n    press: Enter\n": "exactly one of",
        "  - fill: Name\n": "fill needs text or secret",
        "  - fill: Name\n    secret: token\n": "secret 'token'",
        "  - wait: {}\n": "needs url, title, text or gone",
        "  - [": "not valid YAML",
    }
    for steps, expected in cases.items():
        write_flow(running, "wrong", steps)
        assert expected in format_result_text(await stop_recording(running, "wrong")), steps
    write_flow(running, "wrong", "  - fill: Name\n    secret: key\n", "secrets: {key: {env: ANTHROPIC_API_KEY}}\n")
    assert "secrets.key.env" in format_result_text(await stop_recording(running, "wrong"))


async def test_a_new_consent_banner_stops_presses_and_keys_and_is_named(tmp_path: Path):
    banner = "<div style='position:fixed;inset:0;background:#fff'><h2>Cookies</h2><button>Accept</button></div>"
    form = "<title>Shop</title><label>Name <input name=name></label><button onclick='document.title=1'>Buy</button>"
    site = loopback_app.build_page_site({"/shop": form + banner})
    async with (
        loopback_app.open_loopback_app(tmp_path, site, more={"toolsets": ["browser", "flows"]}) as service,
        Client(service.app.build_server()) as client,
    ):
        folder = tmp_path / ".outrider" / "flows"
        folder.mkdir(parents=True)
        for step in ("click: Buy", "fill: Name\n    text: Ada", "press: Enter\n    on: Name"):
            head = f"flow: 1\nname: buy\norigins: [{service.site_url}]\nsteps:\n  - open: {service.site_url}/shop\n"
            (folder / "buy.yaml").write_text(f"{head}  - {step}\n")
            stopped = await client.call_tool("runFlow", {"name": "buy", "keepOpen": True, "waitSeconds": 1})
            error = read_error(stopped)
            assert (error["code"], error["details"]["step"]) == ("blocked", 2), step
            assert "Cookies" in error["message"], error["message"]
        titles = {await each.read_title() for each in service.app.browsers.list_sessions()}
    assert titles == {"Shop"}


async def test_steps_with_high_stakes_ask_a_person_each_time(tmp_path: Path):
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"allow": len(asked) < 3})

    page = "<title>Shop</title><h1>Shop</h1><button onclick='document.title += 1'>Buy</button>"
    site = loopback_app.build_page_site({"/shop": page})
    async with (
        loopback_app.open_loopback_app(tmp_path, site, more={"toolsets": ["browser", "flows"]}) as service,
        Client(service.app.build_server(), elicitation_callback=answer) as client,
    ):
        folder = tmp_path / ".outrider" / "flows"
        folder.mkdir(parents=True)
        steps = f"  - open: {service.site_url}/shop\n  - click: Buy\n    ask: true\n  - click: Buy\n    ask: true\n"
        (folder / "buy.yaml").write_text(f"flow: 1\nname: buy\norigins: [{service.site_url}]\nsteps:\n{steps}")
        both = await client.call_tool("runFlow", {"name": "buy", "keepOpen": True})
        refused = await client.call_tool("runFlow", {"name": "buy", "keepOpen": True})
        titles = [await each.read_title() for each in service.app.browsers.list_sessions()]
    assert not both.is_error, format_result_text(both)
    assert "step 2, click" in asked[0]
    assert "step 3, click" in asked[1]
    assert "did not allow step 2" in format_result_text(refused)
    assert titles == ["Shop11", "Shop"]
