"""Operate an application through a browser server's tools, knowing only their answers."""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.types import TextContent
from tests.apps.outline import Name, Outline, Part

from outrider.core.text import count_tokens

FIRST_POLL_INTERVAL_S, LAST_POLL_INTERVAL_S = 1.0, 5.0


class ToolError(Exception):
    """A tool refused; the text is its answer."""


ANY_NAME = re.compile("")  # finds a control by role and place alone


class Person(ABC):
    """One browser session, with the calls and tokens that it took.

    Attributes:
        calls: Number of calls.
        tokens: o200k tokens of the texts of all answers.
        refusals: Answers that were errors, even if a second snapshot helped.
        transcript: Calls and answers, to find the cause of a failure.
        look_timeout_s: Time in which the page must show the wanted part.
    """

    server = ""
    look_timeout_s = 30.0

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self.folder = folder
        self._seen: list[Outline] = []
        self.calls = self.tokens = 0
        self.refusals: list[str] = []
        self.transcript: list[str] = []

    async def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return the text of its answer.

        Raises:
            ToolError: the answer is an error.
        """
        result = await self._client.call_tool(tool, arguments)
        text = "\n".join(item.text for item in result.content if isinstance(item, TextContent))
        self.calls += 1
        self.tokens += count_tokens(text)
        self.transcript.append(f">>> {tool} {arguments}\n{text}")
        if result.is_error:
            self.refusals.append(f"{tool} {arguments}: {text[:300]}")
            raise ToolError(text)
        return text

    @abstractmethod
    def parse(self, text: str) -> Outline: ...

    @abstractmethod
    def is_whole(self, text: str) -> bool:
        """Whether an action's answer shows a whole page, so that older outlines no longer hold."""

    @abstractmethod
    async def look(self) -> Outline:
        """Return an outline of the whole page."""

    async def look_at_controls(self) -> Outline:
        """Return an outline of at least the controls, if the server has such a shorter outline."""
        return await self.look()

    @abstractmethod
    async def open(self, url: str) -> None: ...

    @abstractmethod
    async def act(self, action: str, part: Part, *values: Any) -> str:
        """Do one of click, double-click, type, submit, choose, check, uncheck, hover, slide, upload and drag."""

    @abstractmethod
    async def press(self, *chords: str) -> None:
        """Press keys in the focused element."""

    @abstractmethod
    async def accept_next_dialog(self) -> None: ...

    def write_file(self, name: str, text: str) -> None:
        """Put a file into a folder from which the server may upload."""
        (self.folder / name).write_text(text)

    def hear(self, text: str) -> None:
        """Remember the parts of the page that an answer shows."""
        outline = self.parse(text)
        self._seen = [outline] if self.is_whole(text) else [outline, *self._seen]

    async def find(self, name: Name, role: str = "", **where: Any) -> Part:
        """Find a part in the outlines since the last whole one, else take snapshots until it appears.

        Raises:
            LookupError: the page did not show it in time.
        """
        for outline in self._seen:
            with suppress(LookupError):
                return outline.find(name, role, **where)
        missing = LookupError(f"the page shows no {name}")
        async for shown in self._keep_looking(
            self.look if where.keys() & {"after", "before"} else self.look_at_controls
        ):
            try:
                return shown.find(name, role, **where)
            except LookupError as error:
                missing = error
        raise missing

    async def _keep_looking(self, look: Callable[[], Awaitable[Outline]]) -> AsyncGenerator[Outline]:
        """Yield one outline, and then whole outlines at growing intervals until the time is over."""
        deadline, interval_s = time.monotonic() + self.look_timeout_s, FIRST_POLL_INTERVAL_S
        while True:
            try:
                yield await look()
            except ToolError:  # also retry a page that does not answer yet
                if time.monotonic() > deadline:
                    raise
            if time.monotonic() > deadline:
                return
            await anyio.sleep(interval_s)
            look, interval_s = self.look, min(interval_s * 1.5, LAST_POLL_INTERVAL_S)

    async def _act(self, action: str, name: Name, role: str, where: dict[str, Any], *values: Any) -> None:
        """Act on a part; if that is refused, take a snapshot and try once more, as a model does."""
        try:
            self.hear(await self.act(action, await self.find(name, role, **where), *values))
        except ToolError:
            self._seen = []
            self.hear(await self.act(action, await self.find(name, role, **where), *values))

    async def click(self, name: Name, role: str = "", **where: Any) -> None:
        await self._act("click", name, role, where)

    async def double_click(self, name: Name, role: str = "", **where: Any) -> None:
        await self._act("double-click", name, role, where)

    async def hover(self, name: Name, role: str = "", **where: Any) -> None:
        await self._act("hover", name, role, where)

    async def type(self, name: Name, text: str, role: str = "field", **where: Any) -> None:
        await self._act("type", name, role, where, text)

    async def submit(self, name: Name, text: str, role: str = "field", **where: Any) -> None:
        """Type and press Enter."""
        await self._act("submit", name, role, where, text)

    async def choose(self, name: Name, option: str, role: str = "", **where: Any) -> None:
        await self._act("choose", name, role, where, option)

    async def rewrite(self, text: Name, new_text: str) -> None:
        """Replace the text of the editor that shows a text."""
        await self._act("type", ANY_NAME, "editor", {"after": text}, new_text)

    async def check(self, name: Name, role: str = "", **where: Any) -> None:
        await self._act("check", name, role, where)

    async def uncheck(self, name: Name, role: str = "", **where: Any) -> None:
        await self._act("uncheck", name, role, where)

    async def upload(self, name: Name, file: str, **where: Any) -> None:
        await self._act("upload", name, "", where, str(self.folder / file))

    async def slide(self, name: Name, value: int, steps: int, **where: Any) -> None:
        """Set a slider to a value by pressing an arrow key, starting at its minimum."""
        await self._act("slide", name, "slider", where, str(value), steps)

    async def drag(self, name: Name, target: Name) -> None:
        await self._act("drag", name, "", {}, await self.find(target))

    async def read(self, text: str) -> Outline:
        """Return the first outline that contains a text.

        Raises:
            LookupError: the page did not show it in time.
        """
        wanted = re.compile(rf"(?<!\w){re.escape(text)}" if text[0].isalnum() else re.escape(text))  # not inside `e55`
        async for outline in self._keep_looking(self.look):
            if wanted.search(outline.text):
                return outline
        raise LookupError(f"the page does not show {text!r}")
