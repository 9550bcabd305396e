"""Operate applications by Outrider's browser toolset."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp import Client
from tests.apps.outline import Outline, Part, parse_outrider
from tests.apps.person import Person

from outrider.app import open_app
from outrider.core.context import Call
from outrider.settings import load


class OutriderPerson(Person):
    """A session of the browser toolset; `sessionId` is left out, as a caller with one session may."""

    server = "outrider mcp"
    look_timeout_s = 120.0  # it answers before a page has loaded, while the other servers wait that long for it

    def parse(self, text: str) -> Outline:
        return parse_outrider(text)

    def is_whole(self, text: str) -> bool:
        return re.search(r"^<untrusted[^>]*>\n.* · https?://", text, re.MULTILINE) is not None

    async def look(self) -> Outline:
        text = await self.call("snapshotPage", mode="full")
        while more := re.search(r"read on with offset=(\d+)", text.rsplit("\n", 3)[-1] + text[-300:]):
            text += "\n" + await self.call("snapshotPage", mode="full", offset=int(more[1]))
            if len(text) > 400_000:
                break
        outline = self.parse(text)
        self._seen = [outline]
        return outline

    async def open(self, url: str) -> None:
        self._seen = []
        self.hear(await self.call("navigateToUrl", url=url))

    async def act(self, action: str, part: Part, *values: Any) -> str:
        first = values[0] if values else ""
        tool, arguments = {
            "click": ("clickElement", {}),
            "double-click": ("clickElement", {"clicks": 2}),
            "hover": ("hoverElement", {}),
            "choose": ("selectOption", {"options": list(values)}),
            "check": ("selectOption", {"checked": True}),
            "uncheck": ("selectOption", {"checked": False}),
            "type": ("inputText", {"text": first}),
            "submit": ("inputText", {"text": first, "submit": True}),
            "slide": ("inputText", {"text": first}),
            "drag": ("dragElement", {"to": getattr(first, "ref", "")}),
            "upload": ("uploadFiles", {"paths": [Path(str(first)).name]}),
        }[action]
        return await self.call(tool, selector=part.ref, **arguments)

    async def press(self, *chords: str) -> None:
        for chord in chords:
            self.hear(await self.call("pressKey", key=chord))

    async def accept_next_dialog(self) -> None:
        await self.call("answerDialog", accept=True)


@asynccontextmanager
async def open_outrider(urls: list[str], folder: Path) -> AsyncGenerator[OutriderPerson]:
    """Serve the browser toolset for these applications and yield a person with a session of it."""
    values = {
        "toolsets": ["browser"],
        "egress": {"allow": [urlsplit(url).netloc for url in urls]},
        "data_dir": str(folder / "data"),
    }
    loaded = load(values, environ={}, home=folder, workspace=folder)
    async with open_app(loaded) as app, Client(app.build_server()) as client:
        yield OutriderPerson(client, app.workspaces.ensure_workspace(Call()).directory)
