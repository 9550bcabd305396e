"""Operate applications through chrome-devtools-mcp, which shows Chromium's accessibility tree."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.apps.install import install_node
from tests.apps.outline import Outline, Part
from tests.apps.person import Person
from tests.apps.trees import parse_devtools

from outrider.browser.process.find import find_browser

VERSION = "1.11.0"
PAGE = 1


class DevtoolsPerson(Person):
    """A session of chrome-devtools-mcp.

    Its actions could return the whole page; the person takes a snapshot only when the page is needed.
    """

    server = "chrome-devtools-mcp"

    def parse(self, text: str) -> Outline:
        return parse_devtools(text)

    def is_whole(self, text: str) -> bool:
        """Whether an answer makes older outlines invalid: all but those to typing, after which uids stay."""
        return "Successfully filled" not in text

    async def look(self) -> Outline:
        outline = self.parse(await self.call("take_snapshot", pageId=PAGE))
        self._seen = [outline]
        return outline

    async def open(self, url: str) -> None:
        self._seen = []
        self.hear(await self.call("navigate_page", pageId=PAGE, type="url", url=url, timeout=120_000))

    async def act(self, action: str, part: Part, *values: Any) -> str:
        first = values[0] if values else ""
        if action == "drag":
            return await self._call("drag", from_uid=part.ref, to_uid=getattr(first, "ref", ""))
        if action == "slide":  # it has no tool that sets one
            await self._call("click", uid=part.ref)
            await self.press("Home", *["ArrowRight"] * values[1])
            return (await self.look()).text
        if action == "submit":
            await self._call("fill", uid=part.ref, value=first)
            return await self._call("press_key", key="Enter")
        is_box = part.role in ("checkbox", "radio", "switch")
        ticked = {True: ("fill", {"value": "true"}), False: ("click", {})}[is_box]
        tool, arguments = {
            "click": ("click", {}),
            "double-click": ("click", {"dblClick": True}),
            "hover": ("hover", {}),
            "choose": ("fill", {"value": first}),
            "check": ticked,
            "uncheck": ("fill", {"value": "false"}) if is_box else ticked,
            "type": ("fill", {"value": first}),
            "upload": ("upload_file", {"filePaths": [str(first)]}),
        }[action]
        return await self._call(tool, uid=part.ref, **arguments)

    async def press(self, *chords: str) -> None:
        for chord in chords:
            self.hear(await self._call("press_key", key=chord.replace("Ctrl+", "Control+")))

    async def _call(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and accept the dialog that it has opened."""
        answer = await self.call(tool, pageId=PAGE, **arguments)
        if "# Open dialog" in answer:
            return await self.call("handle_dialog", pageId=PAGE, action="accept")
        return answer

    async def accept_next_dialog(self) -> None:
        """Do nothing: an action returns while its dialog is open, and the caller then accepts the dialog."""


@asynccontextmanager
async def open_devtools(urls: list[str], folder: Path) -> AsyncGenerator[DevtoolsPerson]:
    """Start the server and yield a person with its browser."""
    program = install_node("chrome-devtools-mcp", f"chrome-devtools-mcp@{VERSION}")
    script = program / "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
    flags = ["--headless", "--isolated", "--executablePath", str(find_browser().path), "--viewport", "1200x800"]
    flags += ["--no-usage-statistics", "--no-performance-crux"]
    bare = ["--chromeArg=--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    parameters = StdioServerParameters(command="node", args=[str(script), *flags, *bare], cwd=folder)
    async with Client(stdio_client(parameters)) as client:
        yield DevtoolsPerson(client, folder)
