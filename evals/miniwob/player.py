"""Somebody who sits before a page and has only the browser's tools: looks, presses, types, and reads the answers."""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.types import ImageContent, TextContent

REF = r"(?:e[a-z]*|f[a-z]+)[1-9]\d*"
THING = re.compile(
    rf'(?P<role>[a-z]+) (?:"(?P<name>[^"]*)" |(?P<hint>[^\s"<>\[\]]+) )?(?P<a>{REF})'
    rf"|<(?:(?P<text>[^<>]*?) )?(?P<b>{REF})(?P<told>(?: [^<>]*)?)>"
    rf"|\[(?:(?P<link>(?:[^\[\]]|\[[^\[\]]*\])*?) )?(?P<c>{REF})(?: [^\[\]]*)?\]"
)
MARK = re.compile(r"</?untrusted-[^>]*>|^… .*$")


@dataclass(frozen=True)
class Thing:
    """Something with a reference.

    Attributes:
        ref: The reference.
        role: Its role; empty where the snapshot names none.
        name: What it is called, or what it can be recognised by.
        after: States and value, as they stand behind the reference.
        line: The number of its line in the view.
    """

    ref: str
    role: str
    name: str
    after: str
    line: int


@dataclass
class View:
    """What a snapshot says: its lines, and the things in them in reading order."""

    lines: list[str]
    things: list[Thing] = field(init=False)

    def __post_init__(self) -> None:
        self.things = [thing for at, line in enumerate(self.lines) for thing in _things(line, at)]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def all(self, name: str | re.Pattern[str] = "", role: str = "") -> list[Thing]:
        """The things of a name (the whole of it, or a pattern to be found in it) and a role."""
        return [each for each in self.things if (not role or each.role == role) and _is_called(each, name)]

    def one(self, name: str | re.Pattern[str] = "", role: str = "") -> Thing:
        """The first of them. Raises LookupError."""
        for each in self.all(name, role):
            return each
        raise LookupError(f"there is no {role or 'thing'} {name!r}")

    def has(self, name: str | re.Pattern[str] = "", role: str = "") -> bool:
        return bool(self.all(name, role))

    def at(self, text: str) -> int:
        """The number of the first line that holds a text. Raises LookupError."""
        for number, line in enumerate(self.lines):
            if text in line:
                return number
        raise LookupError(f"there is no line with {text!r}")

    def below(self, line: int, name: str | re.Pattern[str] = "", role: str = "") -> Thing:
        """The first thing of a name and role from a line on. Raises LookupError."""
        for each in self.all(name, role):
            if each.line >= line:
                return each
        raise LookupError(f"there is no {role or 'thing'} {name!r} below line {line}")


def _things(line: str, at: int) -> list[Thing]:
    found, matches = [], list(THING.finditer(line))
    ends = [each.start() for each in matches] + [len(line)]
    for match, end in zip(matches, ends[1:], strict=True):
        part = match.groupdict()
        if part["a"]:
            name = part["name"] or part["hint"] or ""
            found.append(Thing(part["a"], part["role"], name, line[match.end() : end].strip(), at))
        elif part["b"]:
            found.append(Thing(part["b"], "", part["text"] or "", part["told"].strip(), at))
        else:
            found.append(Thing(part["c"], "link", part["link"] or "", "", at))
    marked = re.fullmatch(rf"\s*- <({REF})> ([^<>\[\]]+)", line)
    return [Thing(marked.group(1), "listitem", marked.group(2), "", at)] if marked and len(found) == 1 else found


def _is_called(thing: Thing, name: str | re.Pattern[str]) -> bool:
    return thing.name == name or not name if isinstance(name, str) else name.search(thing.name) is not None


class ToolError(Exception):
    """A tool has refused; the text is what it said."""


class Player:
    """One session of the browser, through a client.

    Args:
        client: Of the server.
        session: The session's id.
    """

    def __init__(self, client: Client, session: str) -> None:
        self._client = client
        self.session = session
        self.goal = ""

    async def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers. Raises ToolError."""
        result = await self._client.call_tool(tool, {"sessionId": self.session} | arguments)
        text = "\n".join(item.text for item in result.content if isinstance(item, TextContent))
        if result.is_error:
            raise ToolError(text)
        return result.structured_content if result.structured_content is not None else text

    async def read_goal(self) -> str:
        """The task in words, from the page."""
        told = await self.call("extractPageContent", format="text", selector="#query", mainContentOnly=False)
        self.goal = " ".join(told["content"].split())
        return self.goal

    async def look(self, mode: str = "full", **options: Any) -> View:
        """A snapshot, without its head."""
        text = await self.call("snapshotPage", mode=mode, **options)
        if isinstance(text, dict):
            text = text["result"]
        lines = [line for line in text.split("\n") if line.strip() and not MARK.match(line)]
        return View(lines if options.get("offset") else lines[1:])

    async def look_for(self, name: str | re.Pattern[str], role: str = "") -> Thing:
        """What comes only after a while. Raises LookupError: it did not come in three seconds."""
        deadline = time.monotonic() + 3
        while not (view := await self.look()).has(name, role) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return view.one(name, role)

    async def click(self, what: Thing | str, **options: Any) -> Any:
        return await self.call("clickElement", selector=_selector(what), **options)

    async def press_button(self, name: str = "Submit") -> Any:
        """Presses what bears a name, as the page is now."""
        return await self.click((await self.look()).one(name))

    async def submit(self) -> Any:
        """Presses the button that hands in what was done."""
        return await self.click(
            (await self.look()).one(re.compile(r"^(Submit|Search|Order!|OK|Go!?|Find)$", re.IGNORECASE))
        )

    async def type(self, what: Thing | str, text: str, **options: Any) -> Any:
        return await self.call("inputText", selector=_selector(what), text=text, **options)

    async def choose(self, what: Thing | str, *options: str) -> Any:
        return await self.call("selectOption", selector=_selector(what), options=list(options))

    async def tick(self, what: Thing | str, *, checked: bool = True) -> Any:
        return await self.call("selectOption", selector=_selector(what), checked=checked)

    async def key(self, *chords: str) -> None:
        for chord in chords:
            await self.call("pressKey", key=chord)

    async def hover(self, what: Thing | str) -> Any:
        return await self.call("hoverElement", selector=_selector(what))

    async def drag(self, what: Thing | str, to: Thing | str) -> Any:
        return await self.call("dragElement", selector=_selector(what), to=_selector(to))

    async def scroll(self, what: Thing | str, direction: str = "down", amount: float = 5_000) -> Any:
        return await self.call("scrollPage", selector=_selector(what), direction=direction, amount=amount)

    async def wait(self, **wish: Any) -> Any:
        return await self.call("waitFor", **wish)

    async def picture(self, selector: str) -> str:
        """A picture of a part of the page in base64."""
        result = await self._client.call_tool("takeScreenshot", {"sessionId": self.session, "selector": selector})
        return next(item.data for item in result.content if isinstance(item, ImageContent))

    async def elements(self, selector: str = "body") -> list[dict[str, Any]]:
        """Elements as data, with their places."""
        return (await self.call("extractInteractable", selector=selector))["elements"]

    async def html(self, selector: str) -> str:
        """The rendered source of a part of the page."""
        told = await self.call("extractPageContent", format="html", selector=selector, mainContentOnly=False)
        return told["content"]


def _selector(what: Thing | str) -> str:
    return what if isinstance(what, str) else what.ref


Solver = Callable[[Player, str], Coroutine[Any, Any, None]]
SOLVERS: dict[str, Solver] = {}


def solves(*tasks: str) -> Callable[[Solver], Solver]:
    """Declares what a function can solve; it gets a player and the task in words."""

    def keep(solver: Solver) -> Solver:
        SOLVERS.update(dict.fromkeys(tasks, solver))
        return solver

    return keep


def quotes(goal: str) -> list[str]:
    """What stands in quotation marks."""
    return re.findall(r'"(.*?)"', goal)
