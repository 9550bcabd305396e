"""The dashboard's pages of flows over HTTP, and of runs in a real browser."""

import html
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import httpx2
import pytest

from outrider.dashboard.server import DashboardServer
from support.apps import flow_pages, loopback_app
from support.timeouts import PROCESS_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(SCENARIO_TIMEOUT_S)]
RUN = "run the flows"
PAGE = """<h1>Order</h1><form><label>Name <input name=name></label></form>
<button onclick="document.title = 'Sent'">Send</button>"""


@pytest.fixture
async def pages(tmp_path: Path) -> AsyncGenerator[Callable[[str], Awaitable[str]]]:
    """Show a page of the dashboard; `RUN` runs the flows first."""
    site = loopback_app.build_page_site({"/form": PAGE})
    async with loopback_app.open_loopback_app(tmp_path, site, more={"toolsets": ["browser", "flows"]}) as loopback:
        server = DashboardServer(loopback.app.dashboard_services())
        await server.start()
        try:
            async with httpx2.AsyncClient(base_url=server.base_url, timeout=PROCESS_TIMEOUT_S) as client:
                await client.get("/", params={"token": server.sign_in_url.partition("token=")[2]})

                async def show(path: str) -> str:
                    if path == RUN:
                        await flow_pages.run_flows(loopback.app, loopback.site_url)
                        return ""
                    answer = await client.get(path, headers={"accept": "text/html"})
                    return answer.text if answer.status_code == 200 else str(answer.status_code)

                yield show
        finally:
            await server.aclose()


@pytest.mark.nightly
async def test_flows_their_versions_and_each_step_of_a_run_are_shown(pages: Callable[[str], Awaitable[str]]):
    empty, _ = await pages("/flows"), await pages(RUN)
    listed, flow = await pages("/flows"), await pages("/flows/order-tea")
    ids = re.findall(r"/flows/runs/(run_[0-9a-f]+)", flow)
    stopped, healed, right = [html.unescape(await pages(f"/flows/runs/{each}")) for each in ids]

    assert "No flow has run yet" in empty
    assert all(words in listed for words in ("order-tea", "Europe/Berlin", "stopped"))
    assert "Pay &lt;b&gt;now&lt;/b&gt;" in flow, "the page's own words are no markup"
    assert "Version 3" in flow
    assert "-  - fill: {role: textbox, name: Name" in html.unescape(flow)
    assert "+  - fill: {role: textbox, name: Full name" in html.unescape(flow)
    assert all(words in stopped for words in ("Why it stopped", "Step 3:", 'button "Send"')), stopped
    assert all(words in healed for words in ("1 healed", '"Name"'))
    assert '/picture"><img' in stopped
    assert (await pages(f"/flows/runs/{ids[0]}/picture")).startswith("\ufffdPNG")
    assert await pages(f"/flows/runs/{ids[1]}/picture") == "404"
    assert "succeeded" in right
    assert "Why it stopped" not in right
    assert [await pages(path) for path in ("/flows/none", "/flows/runs/none")] == ["404", "404"]
