"""Tools that pages offer, through a client and a real browser."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, Refused
from support.apps.browser_app import BrowserAppClient, format_result_text, open_browser_app
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
REGISTER = """(async () => {
  const number = { type: 'number' };
  const offer = (name, execute, more = {}) =>
    document.modelContext.registerTool({ name, description: `Does ${name}`, execute, ...more });
  await offer('add', ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }), {
    inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    annotations: { readOnlyHint: true },
  });
  await offer('write', async ({ text }) => {
    document.body.insertAdjacentHTML('beforeend', `<p>${text}</p>`);
    return 'written';
  });
  await offer('fail', () => { throw new Error('out of stock') });
  await offer('leave', () => { location.href = '/form'; return new Promise(() => {}) });
  await offer('odd', () => 'odd', { inputSchema: { type: 'object', properties: { x: 7 }, required: 5 } });
  await offer('talk', () => 'x'.repeat(100_000));
  return true;
})()"""


@pytest.fixture(scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[BrowserAppClient]:
    async with open_browser_app(tmp_path_factory.mktemp("desk"), web_mcp=True) as opened:
        yield opened


async def open_offering_page(client: BrowserAppClient) -> str:
    session = await client.open_session("/article")
    assert await client.evaluate_js(session, REGISTER)
    return session


async def call_page_tool(client: BrowserAppClient, session: str, name: str, **more: Any) -> tuple[bool, str]:
    """Call a tool of the site's page; whether it failed, and the text."""
    arguments = {"origin": client.loopback.site_url, "sessionId": session, "name": name} | more
    result = await client.call_tool("callPageTool", **arguments)
    return bool(result.is_error), format_result_text(result)


async def test_tools_of_a_page_are_listed_with_the_outline(client: BrowserAppClient):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        session = await open_offering_page(client)
        shown = format_result_text(await client.call_tool("snapshotPage", sessionId=session))
        origin = client.loopback.site_url
        assert "tools of this page, for callPageTool:" in shown
        assert f" add(a: number, b: number) · reads only · {origin} · Does add" in shown
        assert f" write() · {origin} · Does write" in shown
        assert f" odd(x?: any) · {origin} · Does odd" in shown
        await client.navigate_session(session, "/form")
        shown = format_result_text(await client.call_tool("snapshotPage", sessionId=session))
        assert "tools of this page" not in shown
        await client.call_tool("closeSession", sessionId=session)


async def test_a_tool_of_a_page_is_called_and_its_effect_reported(client: BrowserAppClient):
    cases = [
        ("add", {"a": 2, "b": 3}, False, "5"),
        ("add", {"a": 2}, True, "'b' is a required property"),
        ("add", {"a": 2, "b": "x"}, True, "arguments.b: 'x' is not of type 'number'"),
        ("write", {"text": "Ordered two lamps"}, False, "+ Ordered two lamps"),
        ("fail", {}, True, "the page's tool failed: Error: out of stock"),
        ("gone", {}, True, "the page offers no tool of that name"),
        ("talk", {}, False, "… cut: 100000 characters in all"),
    ]
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        session = await open_offering_page(client)
        for name, arguments, fails, told in cases:
            failed, text = await call_page_tool(client, session, name, arguments=arguments)
            assert (failed, told in text) == (fails, True), text
            assert len(text) < 30_000
        _, text = await call_page_tool(client, session, "write", arguments={"text": "more"})
        assert "<untrusted-" in text
        failed, text = await call_page_tool(client, session, "add", origin="https://bank.example")
        assert failed
        assert f"the tool of that name belongs to {client.loopback.site_url}" in text
        _, text = await call_page_tool(client, session, "leave")
        assert "navigated away before its tool answered" in text, text
        await client.call_tool("closeSession", sessionId=session)


async def test_a_tool_that_the_page_calls_consequential_asks_a_person(client: BrowserAppClient):
    register = """document.modelContext.registerTool({ name: 'pay', description: 'Pays', execute: () => 'paid',
        annotations: { consequentialHint: true } }).then(() => true)"""
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        session = await client.open_session("/article")
        assert await client.evaluate_js(session, register)
        toolbox = client.loopback.app.toolbox
        values = {"sessionId": session, "origin": client.loopback.site_url, "name": "pay", "arguments": {"sum": 5}}
        with pytest.raises(AnswerNeeded, match="run its tool pay with"):
            await toolbox.call("callPageTool", values, Call())
        with pytest.raises(Refused, match="the user did not allow"):
            await toolbox.call("callPageTool", values, Call(answer=False))
        assert "paid" in str(await toolbox.call("callPageTool", values, Call(answer=True)))
        await client.call_tool("closeSession", sessionId=session)


async def test_without_the_setting_pages_offer_nothing(tmp_path: Any):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with open_browser_app(tmp_path) as at:
            session = await at.open_session("/article")
            assert await at.evaluate_js(session, "'modelContext' in document") is False
            failed, text = await call_page_tool(at, session, "add")
            assert failed
            assert "tools of pages are off (setting browser.web_mcp)" in text
