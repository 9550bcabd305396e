"""Operate applications through agent-browser's MCP server, which shows trees of roles and names."""

import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.apps.install import install_node
from tests.apps.outline import Outline, Part
from tests.apps.person import Person
from tests.apps.trees import parse_agent_browser

from outrider.browser.process.find import find_browser

VERSION = "0.41.2"


class AgentBrowserPerson(Person):
    """A session of agent-browser; its shorter snapshot of controls is used where it is enough."""

    server = "agent-browser"

    def parse(self, text: str) -> Outline:
        return parse_agent_browser(text)

    def is_whole(self, text: str) -> bool:
        """Whether an answer makes older outlines invalid: all but those to typing, after which references stay."""
        return not any(f'"{word}"' in text for word in ("filled", "selected", "checked"))

    async def look(self) -> Outline:
        return await self._look(interactive=False, compact=True)

    async def look_at_controls(self) -> Outline:
        return await self._look()

    async def _look(self, **options: bool) -> Outline:
        outline = self.parse(await self.call("agent_browser_snapshot", **options))
        self._seen = [outline]
        return outline

    async def open(self, url: str) -> None:
        self._seen = []
        self.hear(await self.call("agent_browser_open", url=url))

    async def act(self, action: str, part: Part, *values: Any) -> str:
        first, target = values[0] if values else "", f"@{part.ref}"
        if action == "drag":
            return await self._call("drag", source=target, target=f"@{getattr(first, 'ref', '')}")
        if action == "slide":  # it has no tool that sets one
            await self._call("click", selector=target)
            await self.press("Home", *["ArrowRight"] * values[1])
            return (await self.look()).text
        if action == "submit":
            await self._call("fill", selector=target, text=first)
            return await self._call("press", key="Enter")
        tool, arguments = {
            "click": ("click", {}),
            "double-click": ("dblclick", {}),
            "hover": ("hover", {}),
            "choose": ("select", {"values": list(values)}),
            "check": ("check", {}),
            "uncheck": ("uncheck", {}),
            "type": ("fill", {"text": first}),
            "upload": ("upload", {"files": [str(first)]}),
        }[action]
        return await self._call(tool, selector=target, **arguments)

    async def press(self, *chords: str) -> None:
        for chord in chords:
            self.hear(await self._call("press", key=chord.replace("Ctrl+", "Control+")))

    async def _call(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and accept the dialog that it has opened."""
        answer = await self.call(f"agent_browser_{tool}", **arguments)
        if '"dialogOpened": true' in answer:
            return await self.call("agent_browser_dialog_accept")
        return answer

    async def accept_next_dialog(self) -> None:
        """Do nothing: an action returns while its dialog is open, and the caller then accepts the dialog."""


@asynccontextmanager
async def open_agent_browser(urls: list[str], folder: Path) -> AsyncGenerator[AgentBrowserPerson]:
    """Start the server with all of its tools, because its default set lacks hovering and uploading."""
    program = install_node("agent-browser", f"agent-browser@{VERSION}") / "agent-browser/bin/agent-browser.js"
    name = f"apps{secrets.token_hex(4)}"
    values = {"EXECUTABLE_PATH": str(find_browser().path), "SESSION": name, "NAMESPACE": name}
    values |= {"DEFAULT_TIMEOUT": "60000"}  # its own 25 seconds fail under load
    values |= {"ARGS": "--no-sandbox"} if os.geteuid() == 0 else {}  # Chromium's sandbox refuses root
    environ = {**os.environ, **{f"AGENT_BROWSER_{key}": value for key, value in values.items()}}
    command = StdioServerParameters(command="node", args=[str(program), "mcp", "--tools", "all"], env=environ)
    async with Client(stdio_client(command)) as client:
        try:
            yield AgentBrowserPerson(client, folder)
        finally:
            await client.call_tool("agent_browser_close", {})
