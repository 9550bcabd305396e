"""Operate applications through agent-browser's MCP server, which shows trees of roles and names."""

import itertools
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.apps.install import install_node
from tests.apps.outline import Name, Outline, Part, measure_indent
from tests.apps.person import Person, ToolError
from tests.apps.trees import parse_agent_browser

from outrider.browser.process.find import find_browser

VERSION = "0.41.2"
SETTLING_TIME_S = 3.0  # it presses what a page moves away while it loads; a model's next call comes no sooner


class AgentBrowserPerson(Person):
    """A session of agent-browser; its shorter snapshot of controls is used where it is enough."""

    server = "agent-browser"

    def parse(self, text: str) -> Outline:
        return parse_agent_browser(text)

    def is_whole(self, text: str) -> bool:
        """Whether an answer makes older outlines invalid: all but those to typing, after which references stay."""
        return not any(f'"{word}"' in text for word in ("filled", "selected", "checked"))

    async def look(self) -> Outline:
        outline = await self._look(interactive=False, compact=True)
        lines = list(outline.lines)
        for number, ref in reversed(find_cut_frames(outline)):
            await self._call("frame_switch", frame=f"@{ref}")
            inside = await self.call("agent_browser_snapshot", interactive=False, compact=True)
            await self._call("frame_main")
            await self.call("agent_browser_snapshot")  # the frame's own has ended the page's references
            indent = " " * (measure_indent(lines[number]) + 2)
            lines[number + 1 : number + 1] = [f"{indent}{line}" for line in inside.split("\n")]
        self._seen = [self.parse("\n".join(lines))]
        return self._seen[0]

    async def look_at_controls(self) -> Outline:
        return await self._look()

    async def _look(self, **options: bool) -> Outline:
        await anyio.sleep(SETTLING_TIME_S)
        outline = self.parse(await self.call("agent_browser_snapshot", **options))
        self._seen = [outline]
        return outline

    async def open(self, url: str) -> None:
        self._seen = []
        try:
            self.hear(await self.call("agent_browser_open", url=url))
        except ToolError:  # a page that is just being left may cancel it
            self.hear(await self.call("agent_browser_open", url=url))

    async def act(self, action: str, part: Part, *values: Any) -> str:
        first, target = values[0] if values else "", f"@{part.ref}"
        if action == "drag":
            return await self._call("drag", source=target, target=f"@{getattr(first, 'ref', '')}")
        if action == "slide":  # it has no tool that sets one
            await self._call("click", selector=target)
            await self.press("Home", *["ArrowRight"] * values[1])
            return (await self.look()).text
        if action == "type" and part.role == "iframe":  # an editor without a reference: it is typed where it is clicked
            await self._call("click", selector=target)
            await self.press("Ctrl+A")
            return await self._call("keyboard_type", text=first)
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

    async def upload(self, name: Name, file: str, **where: Any) -> None:
        """Upload by a part, or by the page's file input if the part only opens a dialog for files."""
        try:
            await super().upload(name, file, **where)
        except ToolError:
            self.hear(await self._call("upload", selector="input[type=file]", files=[str(self.folder / file)]))

    async def _call(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and accept the dialog that it has opened."""
        answer = await self.call(f"agent_browser_{tool}", **arguments)
        if '"dialogOpened": true' in answer:
            return await self.call("agent_browser_dialog_accept")
        return answer

    async def accept_next_dialog(self) -> None:
        """Do nothing: an action returns while its dialog is open, and the caller then accepts the dialog."""


def find_cut_frames(outline: Outline) -> list[tuple[int, str]]:
    """Return the lines and references of frames in frames, whose content a snapshot leaves out."""
    frames = [part for part in outline.parts if part.role == "iframe"]
    return [
        (inner.line, inner.ref)
        for outer, inner in itertools.pairwise(frames)
        if measure_indent(outline.lines[inner.line]) > measure_indent(outline.lines[outer.line])
    ]


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
