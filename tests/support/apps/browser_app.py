"""The whole house with its real browser, one client, and all pages of the browser's own site and of the zoo."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

import browser_site
from outrider.browser import Session
from support.apps import loopback_app
from zoo.visiting import Zoo

SERVED = ["web", "browser", "browser_script"]


@dataclass(frozen=True)
class Desk:
    """A client of a house whose browser is real, and the folder that the tools may write to."""

    house: loopback_app.House
    client: Client
    folder: Path

    async def call(self, tool: str, *, caller: Any = "", **arguments: Any) -> CallToolResult:
        """Calls a tool, as another caller if one is named."""
        meta: Any = {"session_id": caller} if caller else None
        return await self.client.call_tool(tool, arguments, meta=meta)

    async def open(self, path: str = "/form", **options: Any) -> str:
        """Opens a session at a path of the site; its id."""
        result = await self.call("createSession", url=f"{self.house.site}{path}", **options)
        assert not result.is_error, said(result)
        return result.structured_content["sessionId"]

    async def go(self, session: str, path: str) -> None:
        """Goes to another path of the site."""
        result = await self.call("navigateToUrl", sessionId=session, url=f"{self.house.site}{path}")
        assert not result.is_error, said(result)

    def inside(self, session: str) -> Session:
        """The session itself, behind the tools."""
        return next(each for each in self.house.app.browsers.list() if each.id == session)

    async def js(self, session: str, expression: str) -> Any:
        """What an expression is in the page's own world."""
        async with self.inside(session).use() as page:
            return await page.evaluate_in("", f"() => ({expression})")


def said(result: CallToolResult) -> str:
    """All that can be read."""
    return "\n".join(item.text for item in result.content if isinstance(item, TextContent))


def site() -> Any:
    """The browser's site, with the zoo below `/zoo/`."""
    shop, zoo = browser_site.site(), Zoo()

    async def both(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/zoo/"):
            await zoo(scope | {"path": scope["path"].removeprefix("/zoo")}, receive, send)
        else:
            await shop(scope, receive, send)

    return both


@asynccontextmanager
async def desk(folder: Path, **browser: Any) -> AsyncGenerator[Desk]:
    """A desk whose workspace is that folder; `browser` are settings of the browser."""
    with chdir(folder):
        async with (
            loopback_app.opened(folder, site(), more={"browser": browser, "toolsets": SERVED}) as house,
            Client(house.app.server()) as client,
        ):
            yield Desk(house, client, folder)
