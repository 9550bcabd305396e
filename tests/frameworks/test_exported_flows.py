"""Exported flows run with Playwright's own runners, without Outrider or a recording."""

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from mcp import Client

from outrider.browser.process.find import find_browser
from outrider.flows.flow_file import parse_flow
from outrider.flows.playwright_export import format_python_test, format_typescript_test
from support.apps import loopback_app
from support.processes.newest_packages import INSTALLING, ROOT, install
from support.results import read_first_text

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(300)]
ORDER_PAGES = {
    "/order": (
        "<!doctype html><title>Order</title><main><h1>Order</h1><form action=/done>"
        "<label>Name <input name=name></label>"
        "<label>Size <select name=size onchange=\"say('Size ' + value)\">"
        "<option value=Large>Small<option value=l>Large</select></label>"
        "<label><input type=checkbox name=gift> Gift</label><label>PIN <input type=password name=pin></label>"
        "<label>Day <input type=date name=day></label></form>"
        "<div class=card><b>Green tea</b> <button onclick=\"say('Added green')\">Add</button></div>"
        "<div class=card><b>Black tea</b> <button onclick=\"say('Added black')\">Add</button></div>"
        "<table><tr><td>Ada<td><button onclick=\"say('Removed Ada')\">Remove</button><tr><td>Grace<td>"
        "<button onclick=\"if (confirm('Sure?')) say('Removed Grace')\">Remove</button></table>"
        "<p role=status></p></main><script>const say = (text) => {"
        "document.querySelector('[role=status]').textContent = text; }</script>"
    ),
    "/done": "<!doctype html><title>Done</title><h1>Thank you</h1>",
}
STEPS = (
    ("inputText", {"selector": "[name=name]", "text": "Ada"}),
    ("selectOption", {"selector": "[name=size]", "options": ["Large"]}),
    ("selectOption", {"selector": "[name=gift]", "checked": True}),
    ("inputText", {"selector": "[name=pin]", "text": "1234"}),
    ("inputText", {"selector": "[name=day]", "text": "2026-05-17"}),
    ("clickElement", {"selector": ".card:nth-of-type(2) button"}),
    ("clickElement", {"selector": "tr:first-child button"}),
    ("clickElement", {"selector": "[name=name]"}),
    ("pressKey", {"key": "Enter"}),
)
CONFTEST = """
import pytest

@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return browser_type_launch_args | {"executable_path": "BROWSER", "args": ["--no-sandbox"]}
"""
CONFIG = """export default { timeout: 30000, use: {
  launchOptions: { executablePath: "BROWSER", args: ["--no-sandbox"] } } };"""


@dataclass(frozen=True)
class ExportedFlow:
    """A recorded flow as the text of a test in two languages."""

    python: str
    typescript: str


@pytest.fixture
async def export(tmp_path: Path) -> AsyncGenerator[ExportedFlow]:
    site = loopback_app.build_page_site(ORDER_PAGES)
    with chdir(tmp_path):
        async with (
            loopback_app.open_loopback_app(tmp_path, site, more={"toolsets": ["browser", "flows"]}) as service,
            Client(service.app.build_server()) as client,
        ):
            opened = await client.call_tool("createSession", {"url": f"{service.site_url}/order"})
            session = opened.structured_content["sessionId"]
            for tool, arguments in STEPS:
                done = await client.call_tool(tool, {"sessionId": session, **arguments})
                assert not done.is_error, (tool, arguments, read_first_text(done))
            saved = await client.call_tool("saveFlow", {"name": "order", "sessionId": session})
            flow = parse_flow(Path(saved.structured_content["path"]).read_text(encoding="utf-8"), "order")
            yield ExportedFlow(format_python_test(flow), format_typescript_test(flow))


async def run_command(command: list[str], folder: Path) -> str:
    """Run a command that must succeed, with the flow's secret in its environment; return its output."""
    ran = await anyio.run_process(
        command, cwd=folder, env=INSTALLING | {"OUTRIDER_FLOW_PIN": "1234", "CI": "1"}, check=False
    )
    told = (ran.stdout + ran.stderr).decode()
    assert ran.returncode == 0, told
    return told


async def test_the_python_export_passes_with_pytest(export: ExportedFlow, tmp_path: Path):
    python = await anyio.to_thread.run_sync(install, "playwright", ["pytest", "pytest-playwright"])
    folder = tmp_path / "python"
    folder.mkdir()
    (folder / "conftest.py").write_text(CONFTEST.replace("BROWSER", str(find_browser().path)))
    (folder / "test_order.py").write_text(export.python)
    assert "1 passed" in await run_command([str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider"], folder)


async def test_the_typescript_export_passes_with_playwrights_runner(export: ExportedFlow, tmp_path: Path):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm: apt-get install npm")
    folder = ROOT / ".cache" / "frameworks" / "playwright-test"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
    (folder / "playwright.config.ts").write_text(CONFIG.replace("BROWSER", str(find_browser().path)))
    (folder / "order.spec.ts").write_text(export.typescript)
    with anyio.fail_after(300):
        await run_command([npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "@playwright/test"], folder)
        assert "1 passed" in await run_command([npm, "exec", "--", "playwright", "test"], folder)
