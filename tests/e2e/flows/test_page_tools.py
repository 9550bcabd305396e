"""Tools of a page become steps of flows; if the page no longer offers them, its form is used instead."""

from collections.abc import AsyncGenerator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded
from support.apps import loopback_app
from support.apps.loopback_app import LoopbackApp
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(SCENARIO_TIMEOUT_S)]
FORM = """<h1>Shop</h1><form OFFER onsubmit="event.preventDefault();
  const said = `${event.agentInvoked ? 'called' : 'pressed'}: ${this.tea.value}, ${this.size.value}`;
  document.querySelector('p').textContent = said;
  event.agentInvoked && event.respondWith(Promise.resolve('ordered'))">
<label>Tea <input name=tea required></label>
<label>Size <select name=size><option>small<option value=big>Large</select></label>
<button type=button>Help</button><button>Order</button><input type=hidden name=querySelector></form>
<p role=status></p>"""
OFFER = 'toolname="order-tea" tooldescription="Orders tea" toolautosubmit'
SCRIPT = """<h1>Shop</h1><p role=status></p><script>document.modelContext.registerTool({
  name: 'pay', description: 'Pays' HINTS,
  execute: ({ pin }) => { document.querySelector('p').textContent = `Paid ${pin.length}`; return 'paid' } })</script>"""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncGenerator[tuple[LoopbackApp, dict[str, str]]]:
    pages: dict[str, str] = {"/order": FORM.replace("OFFER", OFFER), "/pay": SCRIPT.replace("HINTS", "")}
    more = {"toolsets": ["browser", "browser_webmcp", "flows"], "browser": {"web_mcp": True}}
    with chdir(tmp_path):
        async with loopback_app.open_loopback_app(tmp_path, loopback_app.build_page_site(pages), more=more) as opened:
            yield opened, pages


async def record(shop: LoopbackApp, page: str, tool: str, **arguments: Any) -> str:
    """Call a tool of a page, save that, and return the flow's file."""
    url = f"{shop.site_url}{page}"
    session = (await shop.app.call("createSession", url=url)).data["sessionId"]
    given = {"sessionId": session, "origin": shop.site_url, "name": tool, "arguments": arguments}
    await shop.app.toolbox.call("callPageTool", given)
    await shop.app.call("saveFlow", sessionId=session, name=page[1:])
    await shop.app.call("closeSession", sessionId=session)
    return (shop.app.loaded.workspace / ".outrider" / "flows" / f"{page[1:]}.yaml").read_text()


async def run(shop: LoopbackApp, name: str, call: Call | None = None, **parameters: str) -> tuple[str, str]:
    """Run a flow; return its answer and the page's text afterwards."""
    given = {"name": name, "parameters": parameters, "waitSeconds": 2, "keepOpen": True}
    try:
        ran = await shop.app.toolbox.call("runFlow", given, call or Call())
    except AnswerNeeded as asked:
        return asked.question, ""
    shown = await shop.app.call("snapshotPage", sessionId=ran.data["sessionId"])
    await shop.app.call("closeSession", sessionId=ran.data["sessionId"])
    return ran.text, shown.text


async def test_a_page_tool_is_called_again_or_else_its_form_is_filled(shop: tuple[LoopbackApp, dict[str, str]]):
    app, pages = shop
    text = await record(app, "/order", "order-tea", tea="Green", size="big")
    called, called_page = await run(app, "order", tea="Black")
    pages["/order"] = FORM.replace("OFFER", "")
    pressed, pressed_page = await run(app, "order", tea="Black")

    assert "called: Black, big" in called_page
    assert "offers no tool" not in called
    assert "pressed: Black, big" in pressed_page
    assert "Note: step 2: the page offers no tool order-tea" in pressed
    assert "- Large" in text, "the option of the argument's value"
    assert "name: Help" not in text, "the button that sends"


async def test_a_page_tool_without_a_form_asks_as_declared_and_stores_no_secret(
    shop: tuple[LoopbackApp, dict[str, str]],
):
    app, pages = shop
    text = await record(app, "/pay", "pay", pin="48151")
    paid, paid_page = await run(app, "pay", pin="4815162")
    pages["/pay"] = SCRIPT.replace("HINTS", ", annotations: { consequentialHint: true }")
    asked, _ = await run(app, "pay", pin="4815162")
    pages["/pay"] = "<h1>Closed</h1>"
    gone, _ = await run(app, "pay", pin="4815162")

    assert "48151" not in text
    assert "secret: true" in text
    assert "Paid 7" in paid_page
    assert "4815162" not in paid
    assert "do step 2, tool pay with" in asked
    assert "4815162" not in asked
    assert "the page offers no tool pay" in gone
    assert "not_found" in gone
