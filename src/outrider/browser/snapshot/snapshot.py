"""What a page shows, as an outline that a model can read and act on; and what has changed in it.

One script walks each document; here frames are put in their places, closed shadow roots opened, and
the outline is cut to size. The same element keeps its reference for as long as it lives.
"""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from outrider.browser.protocol.cdp import PageGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD, PageScripts
from outrider.browser.protocol.values import Handle, ScriptError
from outrider.browser.snapshot.difference import OutlineDiff, diff_outlines
from outrider.browser.snapshot.listeners import Listeners
from outrider.browser.snapshot.outline import (
    DEFAULT_SNAPSHOT_CHARS,
    OutlineSlice,
    filter_interactive,
    filter_matching,
    limit_lines,
    measure_depth,
)
from outrider.core.errors import NotFound

SnapshotMode = Literal["viewport", "full", "interactive"]
LARGE_PAGE_ELEMENTS = 6_000  # elements from which on differences are taken of the viewport only
FRAME_MARKER_PATTERN = re.compile("\x01(.*?)\x01")
TRANSIENT_ERRORS = (ProtocolError, PageGone, ScriptError, NotFound)  # what a frame that goes away fails with


@dataclass
class OutlineCapture:
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
    mode: SnapshotMode = "full"


@dataclass(frozen=True)
class Snapshot:
    """An outline, cut to its budget.

    Attributes:
        piece: The lines that fit.
        position: As in `Seen`.
        rest: As in `Seen`.
    """

    piece: OutlineSlice
    position: dict[str, Any]
    rest: dict[str, str]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, address: bool = True) -> str:
        """The title, the address if it is not told elsewhere, the lines, and what lies above and below."""
        above, below = self.rest.get("above"), self.rest.get("below")
        parts = [_format_header(self.position, self.piece.text, address=address)] if self.piece.offset == 0 else []
        parts += [f"… above: {above}"] if above else []
        parts.append(str(self.piece))
        parts += [f"… below: {below}"] if below else []
        return "\n".join(part for part in parts if part)


def _format_header(position: dict[str, Any], text: str, *, address: bool) -> str:
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


class Snapshotter:
    """Looks at one page.

    Args:
        page: Which.
        scripts: Its scripts.
    """

    def __init__(self, page: BrowserPage, scripts: PageScripts | None = None) -> None:
        self.page = page
        self.scripts = scripts or PageScripts(page)
        self._listeners = Listeners()
        self._baseline: OutlineCapture | None = None
        self._paged_capture: tuple[tuple[object, ...], OutlineCapture] | None = None
        self._is_invalidated = False

    async def take_snapshot(
        self,
        mode: SnapshotMode = "viewport",
        *,
        root: str = "",
        find: str = "",
        urls: bool = False,
        limit: int = DEFAULT_SNAPSHOT_CHARS,
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
        looked: SnapshotMode = "viewport" if mode == "viewport" and not (root or find) else "full"
        asked = (looked, root, urls, self.page.main.loader)
        if self._paged_capture is None or self._paged_capture[0] != asked or not offset:
            seen = await self._capture_and_keep(looked) if not (root or urls or find) else None
            self._paged_capture = asked, seen or await self.capture_outline(looked, root=root, urls=urls)
        seen = self._paged_capture[1]
        lines = filter_matching(seen.lines, find) if find else seen.lines
        lines = filter_interactive(lines) if mode == "interactive" else lines
        return Snapshot(limit_lines(lines, limit, offset), seen.position, seen.rest)

    async def capture_outline(
        self, mode: SnapshotMode, *, root: str = "", urls: bool = False, telling: bool = True
    ) -> OutlineCapture:
        """The whole outline, not cut. Raises NotFound."""
        return (await self._capture_outlines(mode, root=root, urls=urls, telling=telling))[0]

    async def _capture_outlines(
        self, mode: SnapshotMode, *, root: str = "", urls: bool = False, telling: bool = True, both: bool = False
    ) -> tuple[OutlineCapture, OutlineCapture | None]:
        """The outline; with `both` also that which later ones are compared with, if it came in the same breath."""
        frame = self.scripts.find_frame(root) if root else self.page.main
        if frame is None:
            raise NotFound(f"{root} is no longer on the page", hint="take a snapshot", code="not_found")
        loader = frame.loader
        options = {"mode": mode, "root": root, "urls": urls, "telling": telling, "both": both}
        told, inside = await asyncio.gather(
            self._read_frame(frame, options), self._read_child_frames(frame, options | {"root": ""})
        )
        if told.get("gone"):
            raise NotFound(f"{root} is no longer on the page", hint="take a snapshot", code="not_found")
        rest = {name: told[name] for name in ("above", "below") if told.get(name)}
        seen = OutlineCapture(await self._merge_frames(frame, told, inside, "lines"), told, rest, loader, mode)
        wanted = _choose_baseline_mode(seen)
        if wanted == mode:
            return seen, seen
        if not both or any("kept" not in each for each in (told, *inside.values())):
            return seen, None
        return seen, OutlineCapture(await self._merge_frames(frame, told, inside, "kept"), told, {}, loader, wanted)

    async def ensure_baseline(self) -> None:
        """Makes sure that there is something to compare with later: a first look, if there was none."""
        if self._baseline is None or self._baseline.loader != self.page.main.loader:
            await self._keep_baseline(
                await self.capture_outline("full", telling=False) if await self._is_small() else None
            )

    async def diff_since_last(self) -> tuple[OutlineDiff, OutlineCapture]:
        """What has changed since the last look, and the new one. Another document is `whole`."""
        before, self._paged_capture = self._baseline, None
        mode: SnapshotMode = before.mode if before else "viewport"
        after = await self.capture_outline(mode)
        self._baseline = after
        afresh, self._is_invalidated = self._is_invalidated, False
        if afresh or before is None or before.loader != after.loader:
            return OutlineDiff((), whole=True), after
        return diff_outlines(before.lines, after.lines), after

    def invalidate_baseline(self) -> None:
        """Somebody else has acted here: the next difference is the whole, and nothing is read on."""
        self._paged_capture, self._is_invalidated = None, True

    async def prepare_frame(self, frame: Frame) -> int:
        """Tells the scripts in a frame which elements the page listens on; how many they did not know of."""
        marked = await self._listeners.mark_new(frame)
        if marked is None:
            await self.scripts.ensure_installed(frame)
            marked = await self._listeners.mark_new(frame)
        return marked or 0

    async def _is_small(self) -> bool:
        return (await self.scripts.invoke(self.page.main, "position"))["elements"] < LARGE_PAGE_ELEMENTS

    async def _capture_and_keep(self, mode: SnapshotMode) -> OutlineCapture:
        """A look that later ones are compared with; on a small page with the whole of it."""
        self._is_invalidated = False
        seen, kept = await self._capture_outlines(mode, both=True)
        self._baseline = kept or await self.capture_outline(_choose_baseline_mode(seen))
        return seen

    async def _keep_baseline(self, seen: OutlineCapture | None) -> None:
        """Keeps a look to compare with: of a small page the whole, of a large one the viewport."""
        if seen is None:
            seen = await self.capture_outline("viewport", telling=False)
        wanted = _choose_baseline_mode(seen)
        self._baseline = seen if seen.mode == wanted else await self.capture_outline(wanted)

    async def _read_frame(self, frame: Frame, options: dict[str, Any]) -> dict[str, Any]:
        """What the script in a frame says of it."""
        told = await self._read_frame_once(frame, options)
        opened = await self._open_shadow_roots(frame) if told.get("suspects") else 0
        if opened or (told.get("shadows") and not self._listeners.has_shadows(frame)):
            self._listeners.include_shadows(frame)
            await self._listeners.mark_new(frame)
            told = await self.scripts.invoke(frame, "snapshot", options)
        return told

    async def _read_frame_once(self, frame: Frame, options: dict[str, Any]) -> dict[str, Any]:
        """In a known document both are asked for at once: hardly ever anything new listens."""
        if await self._listeners.is_known(frame):
            fresh, told = await asyncio.gather(
                self.prepare_frame(frame), self.scripts.invoke(frame, "snapshot", options)
            )
            if not fresh:
                return told
        else:
            await self.prepare_frame(frame)
        return await self.scripts.invoke(frame, "snapshot", options)

    async def _open_shadow_roots(self, frame: Frame) -> int:
        """Opens closed shadow roots for the scripts: the browser knows them. Returns how many there were."""
        suspects = await frame.evaluate_handle(ISOLATED_WORLD, "() => outrider.suspects()")
        listed = await frame.channel.send(
            "Runtime.getProperties", {"objectId": suspects.object_id, "ownProperties": True}
        )
        hosts = [
            Handle(each["value"]["objectId"], "node")
            for each in listed["result"]
            if each["name"].isdigit() and "objectId" in each.get("value", {})
        ]
        return sum(await asyncio.gather(*(self._open_shadow_root(frame, host) for host in hosts)))

    async def _open_shadow_root(self, frame: Frame, host: Handle) -> int:
        asked = {"objectId": host.object_id, "depth": 1, "pierce": True}
        node = (await frame.channel.send("DOM.describeNode", asked))["node"]
        closed = [each for each in node.get("shadowRoots", ()) if each["shadowRootType"] == "closed"]
        for root in closed:
            where = {
                "backendNodeId": root["backendNodeId"],
                "executionContextId": await frame.ensure_context(ISOLATED_WORLD),
            }
            answer = await frame.channel.send("DOM.resolveNode", where)
            opened = Handle(answer["object"]["objectId"], "node")
            await frame.evaluate(ISOLATED_WORLD, "(host, root) => outrider.openRoot(host, root)", host, opened)
        return len(closed)

    async def _read_child_frames(self, frame: Frame, options: dict[str, Any]) -> dict[Frame, dict[str, Any]]:
        """What the scripts say in all frames inside another.

        One that goes away or hangs while it is looked at is left out; the page is still told.
        """
        frames = self._list_descendants(frame)
        answers = await asyncio.gather(*(self._read_frame(each, options) for each in frames), return_exceptions=True)
        found = zip(frames, answers, strict=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, TRANSIENT_ERRORS):
                raise answer
        return {each: answer for each, answer in found if isinstance(answer, dict)}

    def _list_descendants(self, frame: Frame, level: int = 0) -> list[Frame]:
        max_depth = 5  # frames in frames
        children = self.page.frames.list_children(frame) if level < max_depth else []
        return [found for child in children for found in (child, *self._list_descendants(child, level + 1))]

    async def _merge_frames(
        self, frame: Frame, report: dict[str, Any], inside: dict[Frame, dict[str, Any]], lines_key: str
    ) -> list[str]:
        """The lines of a frame, with those of the frames inside it in their places."""
        text: str = report.get(lines_key, "")
        lines = text.split("\n") if text else []
        if "\x01" not in text:
            return lines
        children = {await self._find_owner_ref(each): each for each in inside if each.parent is frame}
        joined: list[str] = []
        for line in lines:
            joined.append(FRAME_MARKER_PATTERN.sub("", line))
            match = FRAME_MARKER_PATTERN.search(line)
            child = children.get(match.group(1)) if match else None
            if child is not None:
                indent = " " * (measure_depth(line) + 1)
                joined += [indent + each for each in await self._merge_frames(child, inside[child], inside, lines_key)]
        return joined

    async def _find_owner_ref(self, frame: Frame) -> str:
        try:
            return await self.scripts.find_owner_ref(frame)
        except TRANSIENT_ERRORS:
            return ""


def _choose_baseline_mode(seen: OutlineCapture) -> SnapshotMode:
    return "full" if seen.position["elements"] < LARGE_PAGE_ELEMENTS else "viewport"
