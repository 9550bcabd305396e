"""Operate applications through Playwright's MCP server, which shows trees of roles and names."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.apps.install import install_node
from tests.apps.outline import Outline, Part
from tests.apps.person import Person, ToolError
from tests.apps.trees import parse_playwright

from outrider.browser.process.find import find_browser

VERSION = "0.0.83"


class PlaywrightPerson(Person):
    """A session of @playwright/mcp.

    Answers to typing do not contain the page, and answers to other actions name a file that does, so the person takes a
    snapshot after the latter.
    """

    server = "@playwright/mcp"

    def parse(self, text: str) -> Outline:
        return parse_playwright(text)

    def is_whole(self, text: str) -> bool:
        """Whether an answer makes older outlines invalid: it contains the page or names a file with it."""
        return "### Page" in text

    async def look(self) -> Outline:
        outline = self.parse(await self.call("browser_snapshot"))
        self._seen = [outline]
        return outline

    async def open(self, url: str) -> None:
        self._seen = []
        try:
            answer = await self.call("browser_navigate", url=url)
        except ToolError:  # a page that is just being left may cancel it
            answer = await self.call("browser_navigate", url=url)
        if "beforeunload" in answer:
            answer = await self.call("browser_handle_dialog", accept=True)
        self.hear(answer)

    async def act(self, action: str, part: Part, *values: Any) -> str:
        first = values[0] if values else ""
        if action == "upload":
            await self.call("browser_click", target=part.ref)
            return await self.call("browser_file_upload", paths=[str(first)])
        if action == "drag":
            return await self.call("browser_drag", startTarget=part.ref, endTarget=getattr(first, "ref", ""))
        if action == "slide":  # it has no tool that sets one
            await self.call("browser_click", target=part.ref)
            await self.press("Home", *["ArrowRight"] * values[1])
            return await self.call("browser_snapshot")
        tool, arguments = {
            "click": ("browser_click", {}),
            "double-click": ("browser_click", {"doubleClick": True}),
            "hover": ("browser_hover", {}),
            "choose": ("browser_select_option", {"values": list(values)}),
            "check": ("browser_click", {}),
            "uncheck": ("browser_click", {}),
            "type": ("browser_type", {"text": first}),
            "submit": ("browser_type", {"text": first, "submit": True}),
        }[action]
        answer = await self.call(tool, target=part.ref, **arguments)
        return await self.call("browser_handle_dialog", accept=True) if "dialog with message" in answer else answer

    async def press(self, *chords: str) -> None:
        for chord in chords:
            self.hear(await self.call("browser_press_key", key=chord.replace("Ctrl+", "Control+")))

    async def accept_next_dialog(self) -> None:
        """Do nothing: an action returns while its dialog is open, and `act` accepts the dialog."""


@asynccontextmanager
async def open_playwright(urls: list[str], folder: Path) -> AsyncGenerator[PlaywrightPerson]:
    """Start the server in a folder, from which it may take uploads, and yield a person with its browser."""
    program = install_node("playwright-mcp", f"@playwright/mcp@{VERSION}") / "@playwright/mcp/cli.js"
    flags = ["--headless", "--isolated", "--executable-path", str(find_browser().path), "--output-dir", str(folder)]
    flags += ["--timeout-action", "60000", "--timeout-navigation", "120000"]  # its own five seconds fail under load
    bare = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    parameters = StdioServerParameters(command="node", args=[str(program), *flags, *bare], cwd=folder)
    async with Client(stdio_client(parameters)) as client:
        yield PlaywrightPerson(client, folder)
