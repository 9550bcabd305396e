"""Toolset `browser_devtools` through a client and a real browser."""

import base64
import json
import re
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult

from outrider.core.text import count_tokens
from outrider.serve.protocol_results import build_tool_entry
from outrider.toolsets.browser.network import browser_devtools
from support.apps.browser_app import BrowserAppClient, format_result_text, open_browser_app
from support.timeouts import BROWSER_TIMEOUT_S, EVENT_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(BROWSER_TIMEOUT_S)]


@pytest.fixture(scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[BrowserAppClient]:
    async with open_browser_app(tmp_path_factory.mktemp("desk")) as opened:
        yield opened


@pytest.fixture
async def session(client: BrowserAppClient) -> AsyncGenerator[str]:
    opened = await client.open_session("/article")
    yield opened
    await client.call_tool("closeSession", sessionId=opened)


async def call_for_text(client: BrowserAppClient, tool: str, **arguments: Any) -> str:
    """Calls a tool that must not fail; its text."""
    result = await client.call_tool(tool, **arguments)
    assert not result.is_error, format_result_text(result)
    return format_result_text(result)


def get_error(result: CallToolResult) -> str:
    assert result.is_error, format_result_text(result)
    return format_result_text(result)


FETCH = "fetch({url}, {options}).then(answer => answer.text(), error => String(error))"


async def fetch_in_page(client: BrowserAppClient, session: str, url: str, **options: Any) -> str:
    """Fetch an address in the page; return the text or the error."""
    script = FETCH.format(url=json.dumps(url), options=json.dumps(options))
    return await client.evaluate_js(session, script)


def test_the_toolset_is_not_offered_by_default_and_costs_little():
    entries = [build_tool_entry(tool, tool.name) for tool in browser_devtools.tools.values()]
    listed = {"tools": [each.model_dump(by_alias=True, exclude_none=True, mode="json") for each in entries]}
    assert count_tokens(json.dumps(listed, ensure_ascii=False, separators=(",", ":"))) <= 3_000
    assert not browser_devtools.default


async def test_requests_are_listed_awaited_and_shown_without_credentials(client: BrowserAppClient, session: str):
    first = await call_for_text(client, "inspectRequests", sessionId=session)
    assert "/article document 200" in first
    assert "without headers and body" in first
    asked = "/account?page=2&access_token=hunter2"
    secrets = {"password": "hunter2", "name": "Ada"}
    options = {"method": "POST", "body": json.dumps(secrets), "headers": {"authorization": "Bearer hunter2"}}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: fetch_in_page(client, session, asked, **options))
        shown = await call_for_text(client, "inspectRequests", sessionId=session, pattern="/account?*", waitSeconds=10)
    assert "hunter2" not in shown
    assert "page=2" in shown
    assert '"name": "Ada"' in shown
    assert "Request headers:" in shown
    await fetch_in_page(client, session, "/api/items?path=x")
    listed = await call_for_text(client, "inspectRequests", sessionId=session, pattern="/items")
    number = int(re.findall(r"#(\d+) GET", listed)[-1])
    body = await call_for_text(client, "inspectRequests", sessionId=session, number=number)
    assert '"items":["one","two"]' in body
    assert re.search(r"wait [\d.]+ ms", body)
    failed = await call_for_text(client, "inspectRequests", sessionId=session, failedOnly=True)
    assert "/items" not in failed
    late = get_error(await client.call_tool("inspectRequests", sessionId=session, pattern="/never", waitSeconds=0.1))
    unknown = get_error(await client.call_tool("inspectRequests", sessionId=session, number=9_999))
    assert "ended within 0.1 s" in late
    assert "number: no request 9999" in unknown


async def test_requests_can_be_blocked_mocked_and_delayed_but_not_around_the_guard(
    client: BrowserAppClient, session: str
):
    site = client.loopback.site_url

    async def route(**arguments: Any) -> str:
        return await call_for_text(client, "routeRequests", sessionId=session, **arguments)

    await route(action="mock", pattern="/items", body='{"items": []}')
    assert await fetch_in_page(client, session, "/api/items?path=x") == '{"items": []}'
    await route(action="mock", pattern="http://10.1.1.1/*", body="mocked", contentType="text/plain")
    assert await fetch_in_page(client, session, "http://10.1.1.1/x", headers={"x-mine": "1"}) == "mocked"
    await route(action="block", pattern="/items")
    assert "Failed to fetch" in await fetch_in_page(client, session, "/api/items?path=x")
    await route(action="delay", pattern="http://10.1.1.1/*", delayMs=100)
    assert "Failed to fetch" in await fetch_in_page(client, session, "http://10.1.1.1/x")
    await route(action="mock", pattern="/form", body="<script>1</script>", contentType="text/html")
    arrived = await call_for_text(client, "navigateToUrl", sessionId=session, url=f"{site}/form")
    assert "Title: Order form" in arrived
    assert "Failed to fetch" in await fetch_in_page(client, session, "/api/items?path=x")
    listed = await route()
    assert listed.startswith("3 routes")
    assert "block /items (used 2 times)" in listed
    assert await route(action="remove") == "No routes."
    assert "two" in await fetch_in_page(client, session, "/api/items?path=x")
    missing = get_error(await client.call_tool("routeRequests", sessionId=session, action="block"))
    assert "pattern:" in missing


async def test_requests_are_exported_as_har(client: BrowserAppClient, session: str):
    await call_for_text(client, "inspectRequests", sessionId=session)
    await client.navigate_session(session, "/article?secret=hunter2")
    await fetch_in_page(client, session, "/api/items?path=x")
    saved = await client.call_tool("exportHar", sessionId=session)
    path = re.search(r"Saved (\S+\.har)", format_result_text(saved))
    assert path
    text = (client.folder / path[1]).read_text(encoding="utf-8")
    log = json.loads(text)["log"]
    entries = {entry["request"]["url"].partition("?")[0].rpartition("/")[2]: entry for entry in log["entries"]}
    assert log["version"] == "1.2"
    assert entries["article"]["response"]["status"] == 200
    assert '"one"' in entries["items"]["response"]["content"]["text"]
    assert entries["items"]["request"]["queryString"] == [{"name": "path", "value": "x"}]
    assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= set(entries["items"])
    assert "hunter2" not in text


SEEN = """({
  size: [innerWidth, innerHeight, devicePixelRatio], touch: navigator.maxTouchPoints > 0,
  language: navigator.language, zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  agent: navigator.userAgent, online: navigator.onLine,
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  calm: matchMedia('(prefers-reduced-motion: reduce)').matches,
})"""
PLACE = (
    "new Promise(done => navigator.geolocation.getCurrentPosition(at => done(at.coords.latitude), no => done(no.code)))"
)


async def test_emulation_survives_navigation_and_is_reset_by_one_call(client: BrowserAppClient, session: str):
    before = await client.evaluate_js(session, SEEN)
    device = {"device": "iphone", "locale": "de-AT", "timezone": "Asia/Tokyo", "geolocation": "48.2,16.4"}
    wish = {"colorScheme": "dark", "reducedMotion": True, "headers": {"X-Mine": "seven"}, "cpuSlowdown": 2}
    told = await call_for_text(client, "emulateDevice", sessionId=session, **device, **wish)
    assert "viewport 390x844, device pixel ratio 3" in told
    assert "X-Mine" in told
    assert "seven" not in told
    await client.navigate_session(session, "/headers")
    sent = json.loads(await client.evaluate_js(session, "document.body.innerText"))
    seen = await client.evaluate_js(session, SEEN)
    assert sent["x-mine"] == "seven"
    assert seen["size"][2] == 3
    assert "iPhone" in seen["agent"]
    assert (seen["touch"], seen["language"], seen["zone"]) == (True, "de-AT", "Asia/Tokyo")
    assert (seen["dark"], seen["calm"]) == (True, True)
    assert await client.evaluate_js(session, PLACE) == 48.2
    await call_for_text(client, "emulateDevice", sessionId=session, network="offline")
    assert not (await client.evaluate_js(session, SEEN))["online"]
    assert "Failed to fetch" in await fetch_in_page(client, session, "/article")
    told = await call_for_text(client, "emulateDevice", sessionId=session, reset=True)
    await client.navigate_session(session, "/article")
    assert await client.evaluate_js(session, SEEN) == before
    assert await client.evaluate_js(session, PLACE) == 1  # denied
    assert told.startswith("Emulated: viewport 1200x800, device pixel ratio 1")


async def test_impossible_emulation_names_the_field(client: BrowserAppClient, session: str):
    cases: dict[str, dict[str, Any]] = {
        "geolocation:": {"geolocation": "north"},
        "timezone:": {"timezone": "Mars/Olympus"},
        "viewport:": {"viewport": "big"},
        "headers: 'Cookie'": {"headers": {"Cookie": "a=b"}},
        "headers: 'Proxy-Authorization'": {"headers": {"Proxy-Authorization": "x"}},
    }
    for expected, arguments in cases.items():
        assert expected in get_error(await client.call_tool("emulateDevice", sessionId=session, **arguments))
    assert await call_for_text(client, "emulateDevice", sessionId=session) == (
        "Emulated: viewport 1200x800, device pixel ratio 1"
    )


async def test_cookies_and_storage_are_listed_set_and_cleared_without_credentials(
    client: BrowserAppClient, session: str
):
    async def manage(area: str, action: str = "list", **arguments: str) -> str:
        return await call_for_text(client, "manageStorage", sessionId=session, area=area, action=action, **arguments)

    for area in ("cookies", "localStorage", "sessionStorage"):
        await manage(area, "set", name="theme", value="dark")
        listed = await manage(area, "set", name="session_token", value="hunter2")
        assert "theme=dark" in listed, area
        assert "session_token=[removed]" in listed, area
        assert "theme" not in await manage(area, "delete", name="theme")
        assert (await manage(area, "clear")).startswith("Removed 1. 0"), area
    await manage("cookies", "set", name="seen", value="twice")
    assert await client.evaluate_js(session, "document.cookie") == "seen=twice"
    missing = get_error(await client.call_tool("manageStorage", sessionId=session, action="set"))
    assert "name: is required" in missing


async def test_pictures_are_compared_with_a_saved_one(client: BrowserAppClient, session: str):
    async def compare(**arguments: Any) -> str:
        return await call_for_text(client, "compareScreenshot", sessionId=session, name="article", **arguments)

    assert (await compare()).startswith("Saved downloads/article.png, 1200×800")
    assert await compare() == "No pixel differs from downloads/article.png."
    box = "position:fixed;left:100px;top:50px;width:120px;height:80px;background:red"
    await client.evaluate_js(session, f"document.body.insertAdjacentHTML('beforeend', '<p style=\"margin:0;{box}\">')")
    assert (await compare()).startswith(
        "1.00% of the pixels differ, within 120×80 at 100,50, from downloads/article.png"
    )
    assert (client.folder / "downloads/article-difference.png").read_bytes().startswith(b"\x89PNG")
    assert (await compare(replace=True)).startswith("Saved")
    assert (await compare()).startswith("No pixel")
    assert "instead of 1200×800" in await compare(selector="h1")


async def test_performance_has_a_sentence_for_each_finding(client: BrowserAppClient, session: str):
    told = await call_for_text(client, "measurePerformance", sessionId=session)
    for expected in (
        "The first byte came after",
        "LCP: the largest content",
        "CLS: the layout shifted by 0.000 (good)",
    ):
        assert expected in told
    assert "INP: not seen yet" in told
    await client.evaluate_js(session, "fetch('/api/items?path=x&token=hunter2').then(answer => answer.text())")
    await client.evaluate_js(session, "(() => { const end = Date.now() + 120; while (Date.now() < end); })()")
    again = await call_for_text(client, "measurePerformance", sessionId=session)
    assert "/api/items?path=x&token=[removed]" in again
    assert "; the slowest:" in again
    # It changes the display: Chromium reports an interaction when the next frame is painted.
    slow = "<button onclick='const end = Date.now() + 250; while (Date.now() < end); this.append(1)'>Slow</button>"
    await client.evaluate_js(session, f"document.body.insertAdjacentHTML('beforeend', {json.dumps(slow)})")
    await call_for_text(client, "clickElement", sessionId=session, selector="button=Slow")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while not re.search(
            r"INP: the slowest interaction took \d{3,} ms",
            await call_for_text(client, "measurePerformance", sessionId=session),
        ):
            pass


async def test_accessibility_is_audited_by_rules_with_elements(client: BrowserAppClient, session: str):
    bad = '<main id=bad><img src="/x.png"><button></button></main>'
    await client.evaluate_js(session, f"document.body.insertAdjacentHTML('beforeend', {json.dumps(bad)})")
    told = await call_for_text(client, "auditAccessibility", sessionId=session, selector="#bad")
    assert told.startswith("rules: 2 broken")
    assert "critical: Images must have alternative text (image-alt, https://dequeuniversity.com" in told
    assert "button" in told
    assert not await client.evaluate_js(session, "'axe' in globalThis")
    missing = get_error(await client.call_tool("auditAccessibility", sessionId=session, selector="#nothing"))
    assert "selector: nothing matches '#nothing'" in missing


async def test_a_trace_replays_the_steps_without_typed_text(client: BrowserAppClient, session: str):
    not_started = get_error(await client.call_tool("recordTrace", sessionId=session, action="stop"))
    assert "action: nothing is being recorded" in not_started
    await call_for_text(client, "recordTrace", sessionId=session, action="start")
    await client.navigate_session(session, "/form")
    await call_for_text(client, "inputText", sessionId=session, selector="[name=name]", text="hunter2</script>")
    await call_for_text(client, "snapshotPage", sessionId=session)
    saved = await call_for_text(client, "recordTrace", sessionId=session, action="stop", video=True)
    assert saved.startswith("Saved downloads/trace.html and downloads/trace.webp, 3 steps")
    page = (client.folder / "downloads/trace.html").read_text(encoding="utf-8")
    data = re.search(r'id="steps">(.*?)</script>', page)
    assert data
    steps = json.loads(data[1])
    assert [step["label"].split()[0] for step in steps] == ["navigateToUrl", "inputText", "snapshotPage"]
    assert "hunter2" not in steps[1]["label"]
    assert "Order form" in steps[0]["title"]
    assert all(step["picture"].startswith("data:image/webp") and step["outline"] for step in steps)
    picture = base64.b64encode((client.folder / "downloads/trace.webp").read_bytes()).decode()
    script = """(async (data) => {
      const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt());
      const decoder = new ImageDecoder({ type: "image/webp", data: bytes });
      await decoder.completed;
      const images = [0, 1, 2].map(async (frameIndex) => (await decoder.decode({ frameIndex })).image);
      const sizes = (await Promise.all(images)).map((i) => [i.displayWidth, i.displayHeight, i.duration >= 400000]);
      return [decoder.tracks.selectedTrack.frameCount, sizes];
    })"""
    video = await client.evaluate_js(session, f"{script}('{picture}')")
    assert video == [3, [[1200, 800, True]] * 3]
