"""Open the whole app with a real browser, a client and test sites."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

import browser_site
from failures.failure_site import FailureSite
from outrider.browser.session.session import Session
from outrider.core.context import Call
from support.apps import loopback_app

SERVED_TOOLSETS = ["web", "browser", "browser_script", "browser_devtools", "browser_webmcp", "flows"]


@dataclass(frozen=True)
class BrowserAppClient:
    """A client of an app with a real browser, and the tools' folder."""

    loopback: loopback_app.LoopbackApp
    client: Client
    folder: Path

    async def call_tool(self, tool: str, *, caller: Any = "", **arguments: Any) -> CallToolResult:
        """Call a tool, as another caller if one is named."""
        meta: Any = {"session_id": caller} if caller else None
        return await self.client.call_tool(tool, arguments, meta=meta)

    async def open_session(self, path: str = "/form", **options: Any) -> str:
        """Open a session at a path of the site; return its id."""
        result = await self.call_tool("createSession", url=f"{self.loopback.site_url}{path}", **options)
        assert not result.is_error, format_result_text(result)
        return result.structured_content["sessionId"]

    async def navigate_session(self, session: str, path: str) -> None:
        """Navigate to another path of the site."""
        result = await self.call_tool("navigateToUrl", sessionId=session, url=f"{self.loopback.site_url}{path}")
        assert not result.is_error, format_result_text(result)

    def find_session(self, session: str) -> Session:
        """Return the session object behind the tools."""
        return next(each for each in self.loopback.app.browsers.list_sessions() if each.id == session)

    async def evaluate_js(self, session: str, expression: str) -> Any:
        """Evaluate an expression in the page's own world."""
        async with self.find_session(session).acquire_page() as page:
            return await page.evaluate_in("", f"() => ({expression})")


def format_result_text(result: CallToolResult) -> str:
    """Return all text of a result."""
    return "\n".join(item.text for item in result.content if isinstance(item, TextContent))


def build_browser_site() -> Any:
    """Build the browser's site, with the failures below `/failures/`."""
    shop, failures = browser_site.build_site(), FailureSite()

    async def route_request(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/failures/"):
            await failures(scope | {"path": scope["path"].removeprefix("/failures")}, receive, send)
        else:
            await shop(scope, receive, send)

    return route_request


@asynccontextmanager
async def open_browser_app(folder: Path, **browser: Any) -> AsyncGenerator[BrowserAppClient]:
    """Open an app with its data in that folder; `browser` are settings of the browser."""
    with chdir(folder):
        async with (
            loopback_app.open_loopback_app(
                folder, build_browser_site(), more={"browser": browser, "toolsets": SERVED_TOOLSETS}
            ) as service,
            Client(service.app.build_server()) as client,
        ):
            yield BrowserAppClient(service, client, service.app.workspaces.ensure_workspace(Call()).directory)
