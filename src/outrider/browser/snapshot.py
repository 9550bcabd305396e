"""What a page shows, as an outline that a model can read and act on; and what has changed in it.

One script walks each document; here frames are put in their places, closed shadow roots opened, and
the outline is cut to size. The same element keeps its reference for as long as it lives.
"""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from outrider.browser.cdp import PageGone, ProtocolError
from outrider.browser.difference import Difference, difference
from outrider.browser.frames import Frame
from outrider.browser.listeners import Listeners
from outrider.browser.outline import DEFAULT_CHARS, Piece, depth, found, interactive, limited
from outrider.browser.page import Page
from outrider.browser.scripts import WORLD, Scripts
from outrider.browser.values import Handle, ScriptError
from outrider.core.errors import NotFound

Mode = Literal["viewport", "full", "interactive"]
LARGE = 6_000  # elements from which on differences are taken of the viewport only
FRAME = re.compile("\x01(.*?)\x01")
DEEPEST = 5  # frames in frames
PASSING = (ProtocolError, PageGone, ScriptError, NotFound)  # what a frame that goes away fails with


@dataclass
class Seen:
    """One look at a page.

    Attributes:
        lines: The outline.
        position: Where it was looked at: title, url, x, y, width, height, scrollWidth, scrollHeight, elements, state.
        rest: What lies above and below the viewport, where only that was looked at.
        loader: The document.
        mode: What was looked at.
    """

    lines: list[str]
    position: dict[str, Any]
    rest: dict[str, str] = field(default_factory=dict)
    loader: str = ""
    mode: Mode = "full"


@dataclass(frozen=True)
class Snapshot:
    """An outline, cut to its budget.

    Attributes:
        piece: The lines that fit.
        position: As in `Seen`.
        rest: As in `Seen`.
    """

    piece: Piece
    position: dict[str, Any]
    rest: dict[str, str]

    def __str__(self) -> str:
        return self.text()

    def text(self, *, address: bool = True) -> str:
        """The title, the address if it is not told elsewhere, the lines, and what lies above and below."""
        above, below = self.rest.get("above"), self.rest.get("below")
        parts = [_head(self.position, self.piece.text, address=address)] if self.piece.offset == 0 else []
        parts += [f"… above: {above}"] if above else []
        parts.append(str(self.piece))
        parts += [f"… below: {below}"] if below else []
        return "\n".join(part for part in parts if part)


def _head(position: dict[str, Any], text: str, *, address: bool) -> str:
    """Title, address and place; no title that is also the first heading."""
    title = " ".join(position["title"].split())[:200]
    title = "" if re.search(rf"^ *# {re.escape(title)}$", text, re.MULTILINE) else title
    down, high, tall = position["y"], position["height"], position["scrollHeight"]
    where = (
        f" (scrolled {down} of {max(tall - high, 0)})"
        if down
        else f" ({tall / high:.1f} screens)"
        if tall > 1.2 * high
        else ""
    )
    return f"{title}{' · ' if title and address else ''}{position['url'][:300] if address else ''}{where}".strip()


class Eyes:
    """Looks at one page.

    Args:
        page: Which.
        scripts: Its scripts.
    """

    def __init__(self, page: Page, scripts: Scripts | None = None) -> None:
        self.page = page
        self.scripts = scripts or Scripts(page)
        self._listeners = Listeners()
        self._seen: Seen | None = None
        self._reading: tuple[tuple[object, ...], Seen] | None = None
        self._afresh = False

    async def snapshot(
        self,
        mode: Mode = "viewport",
        *,
        root: str = "",
        find: str = "",
        urls: bool = False,
        limit: int = DEFAULT_CHARS,
        offset: int = 0,
    ) -> Snapshot:
        """An outline of what the page shows.

        Args:
            mode: `viewport` (what can be seen now, and an outline of the rest), `full`, or `interactive`
                (full, but only the lines that something can be done with).
            root: A reference: only what is inside that element, its options and its whole value included.
            find: Only the lines that hold this text, with their headings.
            urls: Links with their addresses.
            limit: Characters.
            offset: The line to begin with, from a former answer; read on in what was seen then, as long as nobody
                has acted since.

        Raises:
            NotFound: `root` is no longer on the page.
        """
        looked: Mode = "viewport" if mode == "viewport" and not (root or find) else "full"
        asked = (looked, root, urls, self.page.main.loader)
        if self._reading is None or self._reading[0] != asked or not offset:
            seen = await self._seen_and_kept(looked) if not (root or urls or find) else None
            self._reading = asked, seen or await self.look(looked, root=root, urls=urls)
        seen = self._reading[1]
        lines = found(seen.lines, find) if find else seen.lines
        lines = interactive(lines) if mode == "interactive" else lines
        return Snapshot(limited(lines, limit, offset), seen.position, seen.rest)

    async def look(self, mode: Mode, *, root: str = "", urls: bool = False, telling: bool = True) -> Seen:
        """The whole outline, not cut. Raises NotFound."""
        return (await self._look(mode, root=root, urls=urls, telling=telling))[0]

    async def _look(
        self, mode: Mode, *, root: str = "", urls: bool = False, telling: bool = True, both: bool = False
    ) -> tuple[Seen, Seen | None]:
        """The outline; with `both` also that which later ones are compared with, if it came in the same breath."""
        frame = self.scripts.frame_of(root) if root else self.page.main
        if frame is None:
            raise NotFound(f"{root} is no longer on the page", hint="take a snapshot", code="not_found")
        loader = frame.loader
        options = {"mode": mode, "root": root, "urls": urls, "telling": telling, "both": both}
        told, inside = await asyncio.gather(self._told(frame, options), self._inside(frame, options | {"root": ""}))
        if told.get("gone"):
            raise NotFound(f"{root} is no longer on the page", hint="take a snapshot", code="not_found")
        rest = {name: told[name] for name in ("above", "below") if told.get(name)}
        seen = Seen(await self._joined(frame, told, inside, "lines"), told, rest, loader, mode)
        wanted = _kept_mode(seen)
        if wanted == mode:
            return seen, seen
        if not both or any("kept" not in each for each in (told, *inside.values())):
            return seen, None
        return seen, Seen(await self._joined(frame, told, inside, "kept"), told, {}, loader, wanted)

    async def remember(self) -> None:
        """Makes sure that there is something to compare with later: a first look, if there was none."""
        if self._seen is None or self._seen.loader != self.page.main.loader:
            await self._keep(await self.look("full", telling=False) if await self._is_small() else None)

    async def difference(self) -> tuple[Difference, Seen]:
        """What has changed since the last look, and the new one. Another document is `whole`."""
        before, self._reading = self._seen, None
        mode: Mode = before.mode if before else "viewport"
        after = await self.look(mode)
        self._seen = after
        afresh, self._afresh = self._afresh, False
        if afresh or before is None or before.loader != after.loader:
            return Difference((), whole=True), after
        return difference(before.lines, after.lines), after

    def forget(self) -> None:
        """Somebody else has acted here: the next difference is the whole, and nothing is read on."""
        self._reading, self._afresh = None, True

    async def prepare(self, frame: Frame) -> int:
        """Tells the scripts in a frame which elements the page listens on; how many they did not know of."""
        marked = await self._listeners.mark(frame)
        if marked is None:
            await self.scripts.install(frame)
            marked = await self._listeners.mark(frame)
        return marked or 0

    async def _is_small(self) -> bool:
        return (await self.scripts.call(self.page.main, "position"))["elements"] < LARGE

    async def _seen_and_kept(self, mode: Mode) -> Seen:
        """A look that later ones are compared with; on a small page with the whole of it."""
        self._afresh = False
        seen, kept = await self._look(mode, both=True)
        self._seen = kept or await self.look(_kept_mode(seen))
        return seen

    async def _keep(self, seen: Seen | None) -> None:
        """Keeps a look to compare with: of a small page the whole, of a large one the viewport."""
        if seen is None:
            seen = await self.look("viewport", telling=False)
        wanted = _kept_mode(seen)
        self._seen = seen if seen.mode == wanted else await self.look(wanted)

    async def _told(self, frame: Frame, options: dict[str, Any]) -> dict[str, Any]:
        """What the script in a frame says of it."""
        told = await self._first_told(frame, options)
        opened = await self._open_roots(frame) if told.get("suspects") else 0
        if opened or (told.get("shadows") and not self._listeners.has_shadows(frame)):
            self._listeners.look_into_shadows(frame)
            await self._listeners.mark(frame)
            told = await self.scripts.call(frame, "snapshot", options)
        return told

    async def _first_told(self, frame: Frame, options: dict[str, Any]) -> dict[str, Any]:
        """In a known document both are asked for at once: hardly ever anything new listens."""
        if await self._listeners.knows(frame):
            fresh, told = await asyncio.gather(self.prepare(frame), self.scripts.call(frame, "snapshot", options))
            if not fresh:
                return told
        else:
            await self.prepare(frame)
        return await self.scripts.call(frame, "snapshot", options)

    async def _open_roots(self, frame: Frame) -> int:
        """Opens closed shadow roots for the scripts: the browser knows them. Returns how many there were."""
        suspects = await frame.handle(WORLD, "() => outrider.suspects()")
        listed = await frame.channel.send(
            "Runtime.getProperties", {"objectId": suspects.object_id, "ownProperties": True}
        )
        hosts = [
            Handle(each["value"]["objectId"], "node")
            for each in listed["result"]
            if each["name"].isdigit() and "objectId" in each.get("value", {})
        ]
        return sum(await asyncio.gather(*(self._open_root(frame, host) for host in hosts)))

    async def _open_root(self, frame: Frame, host: Handle) -> int:
        asked = {"objectId": host.object_id, "depth": 1, "pierce": True}
        node = (await frame.channel.send("DOM.describeNode", asked))["node"]
        closed = [each for each in node.get("shadowRoots", ()) if each["shadowRootType"] == "closed"]
        for root in closed:
            where = {"backendNodeId": root["backendNodeId"], "executionContextId": await frame.context(WORLD)}
            answer = await frame.channel.send("DOM.resolveNode", where)
            opened = Handle(answer["object"]["objectId"], "node")
            await frame.evaluate(WORLD, "(host, root) => outrider.openRoot(host, root)", host, opened)
        return len(closed)

    async def _inside(self, frame: Frame, options: dict[str, Any]) -> dict[Frame, dict[str, Any]]:
        """What the scripts say in all frames inside another.

        One that goes away or hangs while it is looked at is left out; the page is still told.
        """
        frames = self._below(frame)
        answers = await asyncio.gather(*(self._told(each, options) for each in frames), return_exceptions=True)
        found = zip(frames, answers, strict=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, PASSING):
                raise answer
        return {each: answer for each, answer in found if isinstance(answer, dict)}

    def _below(self, frame: Frame, level: int = 0) -> list[Frame]:
        children = self.page.frames.children(frame) if level < DEEPEST else []
        return [found for child in children for found in (child, *self._below(child, level + 1))]

    async def _joined(
        self, frame: Frame, told: dict[str, Any], inside: dict[Frame, dict[str, Any]], what: str
    ) -> list[str]:
        """The lines of a frame, with those of the frames inside it in their places."""
        text: str = told.get(what, "")
        lines = text.split("\n") if text else []
        if "\x01" not in text:
            return lines
        children = {await self._owner(each): each for each in inside if each.parent is frame}
        joined: list[str] = []
        for line in lines:
            joined.append(FRAME.sub("", line))
            match = FRAME.search(line)
            child = children.get(match.group(1)) if match else None
            if child is not None:
                indent = " " * (depth(line) + 1)
                joined += [indent + each for each in await self._joined(child, inside[child], inside, what)]
        return joined

    async def _owner(self, frame: Frame) -> str:
        try:
            return await self.scripts.owner_ref(frame)
        except PASSING:
            return ""


def _kept_mode(seen: Seen) -> Mode:
    return "full" if seen.position["elements"] < LARGE else "viewport"
