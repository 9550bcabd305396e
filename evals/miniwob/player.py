"""Use a page with the browser's tools alone: look, click, type, and read the answers."""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.types import ImageContent, TextContent

REF_PATTERN = r"(?:e[a-z]*|f[a-z]+)[1-9]\d*"
CONTROL_PATTERN = re.compile(
    rf'(?P<role>[a-z]+) (?:"(?P<name>[^"]*)" |(?P<hint>[^\s"<>\[\]]+) )?(?P<a>{REF_PATTERN})'
    rf"|<(?:(?P<text>[^<>]*?) )?(?P<b>{REF_PATTERN})(?P<states>(?: [^<>]*)?)>"
    rf"|\[(?:(?P<link>(?:[^\[\]]|\[[^\[\]]*\])*?) )?(?P<c>{REF_PATTERN})(?: [^\[\]]*)?\]"
)
MARK_PATTERN = re.compile(r"</?untrusted-[^>]*>|^… .*$")


@dataclass(frozen=True)
class Control:
    """A control with a reference.

    Attributes:
        ref: The reference.
        role: Its role; empty if the snapshot names none.
        name: Its name, or another text that identifies it.
        after: States and value, as written after the reference.
        line: The number of its line in the view.
    """

    ref: str
    role: str
    name: str
    after: str
    line: int


@dataclass
class View:
    """The lines of a snapshot, and its controls in reading order."""

    lines: list[str]
    things: list[Control] = field(init=False)

    def __post_init__(self) -> None:
        self.things = [thing for at, line in enumerate(self.lines) for thing in _parse_controls(line, at)]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def find_all(self, name: str | re.Pattern[str] = "", role: str = "") -> list[Control]:
        """Return the controls of a role whose name equals the text or matches the pattern."""
        return [each for each in self.things if (not role or each.role == role) and _is_called(each, name)]

    def find_one(self, name: str | re.Pattern[str] = "", role: str = "") -> Control:
        """Return the first of them. Raises LookupError."""
        for each in self.find_all(name, role):
            return each
        raise LookupError(f"the snapshot has no {role or 'control'} {name!r}")

    def has_control(self, name: str | re.Pattern[str] = "", role: str = "") -> bool:
        return bool(self.find_all(name, role))

    def find_line(self, text: str) -> int:
        """Return the number of the first line with a text. Raises LookupError."""
        for number, line in enumerate(self.lines):
            if text in line:
                return number
        raise LookupError(f"no line has {text!r}")

    def find_below(self, line: int, name: str | re.Pattern[str] = "", role: str = "") -> Control:
        """Return the first control with a name and role, starting at a line. Raises LookupError."""
        for each in self.find_all(name, role):
            if each.line >= line:
                return each
        raise LookupError(f"the snapshot has no {role or 'control'} {name!r} below line {line}")


def _parse_controls(line: str, at: int) -> list[Control]:
    found, matches = [], list(CONTROL_PATTERN.finditer(line))
    ends = [each.start() for each in matches] + [len(line)]
    for match, end in zip(matches, ends[1:], strict=True):
        part = match.groupdict()
        if part["a"]:
            name = part["name"] or part["hint"] or ""
            found.append(Control(part["a"], part["role"], name, line[match.end() : end].strip(), at))
        elif part["b"]:
            found.append(Control(part["b"], "", part["text"] or "", part["states"].strip(), at))
        else:
            found.append(Control(part["c"], "link", part["link"] or "", "", at))
    marked = re.fullmatch(rf"\s*- <({REF_PATTERN})> ([^<>\[\]]+)", line)
    return [Control(marked.group(1), "listitem", marked.group(2), "", at)] if marked and len(found) == 1 else found


def _is_called(thing: Control, name: str | re.Pattern[str]) -> bool:
    return thing.name == name or not name if isinstance(name, str) else name.search(thing.name) is not None


class ToolError(Exception):
    """Raised if a tool refuses, with its text."""


class Player:
    """One session of the browser, through a client.

    Args:
        client: The client of the server.
        session: The session's id.
    """

    def __init__(self, client: Client, session: str) -> None:
        self._client = client
        self.session = session
        self.goal = ""

    async def call_tool(self, tool: str, **arguments: Any) -> Any:
        """Return a tool's answer. Raises ToolError."""
        result = await self._client.call_tool(tool, {"sessionId": self.session} | arguments)
        text = "\n".join(item.text for item in result.content if isinstance(item, TextContent))
        if result.is_error:
            raise ToolError(text)
        return result.structured_content if result.structured_content is not None else text

    async def read_goal(self) -> str:
        """Read the task in words from the page."""
        told = await self.call_tool("extractPageContent", format="text", selector="#query", mainContentOnly=False)
        self.goal = " ".join(told["content"].split())
        return self.goal

    async def take_snapshot(self, mode: str = "full", **options: Any) -> View:
        """Take a snapshot, without its head."""
        text = await self.call_tool("snapshotPage", mode=mode, **options)
        if isinstance(text, dict):
            text = text["result"]
        lines = [line for line in text.split("\n") if line.strip() and not MARK_PATTERN.match(line)]
        return View(lines if options.get("offset") else lines[1:])

    async def wait_for_control(self, name: str | re.Pattern[str], role: str = "") -> Control:
        """Wait up to three seconds for a control. Raises LookupError."""
        deadline = time.monotonic() + 3
        while not (view := await self.take_snapshot()).has_control(name, role) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return view.find_one(name, role)

    async def click_control(self, what: Control | str, **options: Any) -> Any:
        return await self.call_tool("clickElement", selector=_build_selector(what), **options)

    async def press_button(self, name: str = "Submit") -> Any:
        """Press the control with a name on the current page."""
        return await self.click_control((await self.take_snapshot()).find_one(name))

    async def press_submit(self) -> Any:
        """Press the button that submits the task."""
        return await self.click_control(
            (await self.take_snapshot()).find_one(re.compile(r"^(Submit|Search|Order!|OK|Go!?|Find)$", re.IGNORECASE))
        )

    async def type_text(self, what: Control | str, text: str, **options: Any) -> Any:
        return await self.call_tool("inputText", selector=_build_selector(what), text=text, **options)

    async def choose_options(self, what: Control | str, *options: str) -> Any:
        return await self.call_tool("selectOption", selector=_build_selector(what), options=list(options))

    async def set_checked(self, what: Control | str, *, checked: bool = True) -> Any:
        return await self.call_tool("selectOption", selector=_build_selector(what), checked=checked)

    async def press_keys(self, *chords: str) -> None:
        for chord in chords:
            await self.call_tool("pressKey", key=chord)

    async def hover_control(self, what: Control | str) -> Any:
        return await self.call_tool("hoverElement", selector=_build_selector(what))

    async def drag_control(self, what: Control | str, to: Control | str) -> Any:
        return await self.call_tool("dragElement", selector=_build_selector(what), to=_build_selector(to))

    async def scroll_control(self, what: Control | str, direction: str = "down", amount: float = 5_000) -> Any:
        return await self.call_tool("scrollPage", selector=_build_selector(what), direction=direction, amount=amount)

    async def wait_for(self, **wish: Any) -> Any:
        return await self.call_tool("waitFor", **wish)

    async def take_picture(self, selector: str) -> str:
        """Take a picture of a part of the page, in base64."""
        result = await self._client.call_tool("takeScreenshot", {"sessionId": self.session, "selector": selector})
        return next(item.data for item in result.content if isinstance(item, ImageContent))

    async def list_elements(self, selector: str = "body") -> list[dict[str, Any]]:
        """List elements as data, with their boxes."""
        return (await self.call_tool("extractInteractable", selector=selector))["elements"]

    async def read_html(self, selector: str) -> str:
        """Read the rendered source of a part of the page."""
        told = await self.call_tool("extractPageContent", format="html", selector=selector, mainContentOnly=False)
        return told["content"]


def _build_selector(what: Control | str) -> str:
    return what if isinstance(what, str) else what.ref


Solver = Callable[[Player, str], Coroutine[Any, Any, None]]
SOLVERS: dict[str, Solver] = {}


def solves(*tasks: str) -> Callable[[Solver], Solver]:
    """Declare the tasks that a function solves; it takes a player and the task in words."""

    def add_solver(solver: Solver) -> Solver:
        SOLVERS.update(dict.fromkeys(tasks, solver))
        return solver

    return add_solver


def find_quotes(goal: str) -> list[str]:
    """Return the texts in quotation marks."""
    return re.findall(r'"(.*?)"', goal)
