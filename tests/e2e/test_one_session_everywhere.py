"""One session is reached from the terminal, MCP, REST, Python and the dashboard."""

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters

from outrider import connect_async
from outrider.dashboard.address import list_running
from support.apps import loopback_app, shared_process
from support.apps.shared_process import HostUser
from support.fakes import http_servers
from support.processes import outrider_command
from support.results import read_first_text
from support.timeouts import LONG_SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
TEA_SHOP_HTML = """<!doctype html><title>Tea shop</title>
<label>Name <input id=name></label>
<button onclick="document.title = `Ordered by ${document.querySelector('input').value}`">Order</button>"""


@pytest.fixture
async def user(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[tuple[HostUser, str]]:
    """A user with a separate shared process, and the address of a form that the user may open."""
    async with http_servers.serve_app(loopback_app.build_page_site({"/form": TEA_SHOP_HTML})) as url:
        monkeypatch.setenv("OUTRIDER_EGRESS__ALLOW", url.removeprefix("http://"))
        with shared_process.start_host_user(home) as person:
            yield person, f"{url}/form"


async def open_rest_client(user: HostUser) -> httpx2.AsyncClient:
    """A client of the REST interface, as `outrider daemon status --json` describes it once it has started."""
    status: dict[str, Any] = {}
    while not status.get("dashboard"):
        status = await anyio.to_thread.run_sync(user.query_shared_process, b"status")
    token = Path(status["rest_token"]).read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "X-Outrider-Session": "trip"}
    return httpx2.AsyncClient(base_url=status["dashboard"], headers=headers, timeout=90)


async def test_one_session_is_used_from_terminal_host_and_dashboard(user: tuple[HostUser, str]):
    person, url = user
    async with AsyncExitStack() as stack:
        stack.enter_context(anyio.fail_after(LONG_SCENARIO_TIMEOUT_S))
        await anyio.run_process(outrider_command.build_command("browser", "open", url, "-s", "trip"))
        program, *rest = outrider_command.build_command("mcp", "--toolsets", "browser", "--session", "trip")
        started = StdioServerParameters(command=program, args=rest, env=dict(os.environ))
        host = await stack.enter_async_context(Client(started))
        typed = await host.call_tool("inputText", {"selector": "#name", "text": "Ada"})
        rest_client = await stack.enter_async_context(await open_rest_client(person))
        read = await rest_client.post("/v1/tools/snapshotPage")
        python = await stack.enter_async_context(connect_async("trip"))
        await python.call("clickElement", selector="button")
        title = await python.call("getPageTitle")
        (dashboard,) = list_running(person.home / ".outrider")
        async with httpx2.AsyncClient(follow_redirects=True, timeout=90) as watcher:
            await watcher.get(dashboard.url)
            live = await watcher.get(f"{dashboard.place}live")
            calls = await watcher.get(f"{dashboard.place}calls")
    assert '= "Ada"' in read_first_text(typed)
    assert '= "Ada"' in read.json()["text"]
    assert "Ordered by Ada" in title.text
    assert "Ordered by Ada" in live.text
    assert all(tool in calls.text for tool in ("navigateToUrl", "inputText", "snapshotPage", "clickElement"))


@pytest.mark.nightly
async def test_the_rest_interface_of_the_shared_process_needs_its_token(user: tuple[HostUser, str]):
    person, _ = user
    with anyio.fail_after(LONG_SCENARIO_TIMEOUT_S):
        await anyio.run_process(outrider_command.build_command("call", "create_goal", "goal=tea"))
        async with await open_rest_client(person) as rest_client:
            let_in = await rest_client.get("/v1/tools")
            wrong: dict[str, Any] = {"Authorization": "Bearer wrong"}
            refused = [
                await rest_client.post("/v1/tools/create_goal", json={"goal": "x"}, headers=wrong),
                await rest_client.get("/openapi.json", headers=wrong),
            ]
            forged = await rest_client.get("/v1/tools", headers={"Origin": "https://evil.example"})
            signed_out = await rest_client.get("/calls")
        token_path = Path(person.query_shared_process(b"status")["rest_token"])
    assert let_in.status_code == 200
    assert [reply.status_code for reply in refused] == [401, 401]
    assert forged.status_code == 403
    assert signed_out.status_code in {303, 401, 403}
    assert token_path.stat().st_mode & 0o777 == 0o600
