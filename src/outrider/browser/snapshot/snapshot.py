"""Take snapshots of a page as outlines for models.

A script walks each document. This module inserts the outlines of frames, opens closed shadow roots, and cuts the result
to size. An element keeps its reference while it exists.
"""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from outrider.browser.protocol.cdp import PageGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.refs import escape_refs
from outrider.browser.protocol.scripts import ISOLATED_WORLD, PageScripts
from outrider.browser.protocol.values import Handle, ScriptError
from outrider.browser.snapshot.internals import ComponentInternals
from outrider.browser.snapshot.listeners import Listeners
from outrider.browser.snapshot.outline import (
    DEFAULT_SNAPSHOT_CHARS,
    OutlineDiff,
    OutlineSlice,
    diff_outlines,
    filter_interactive,
    filter_matching,
    limit_lines,
    measure_depth,
)
from outrider.core.errors import NotFound
from outrider.core.untrusted import clean_untrusted

SnapshotMode = Literal["viewport", "full", "interactive"]
# The outline script marks the place of a frame with its reference between two control characters.
FRAME_MARKER_PATTERN = re.compile("\x01(.*?)\x01")
# Stop reading huge pages after this time, because the page would seem to hang.
WALK_BUDGET_S = 8.0
# Errors of reading a frame that is being removed.
TRANSIENT_ERRORS = (ProtocolError, PageGone, ScriptError, NotFound)


@dataclass
class OutlineCapture:
    """The whole outline of a page at one moment.

    Attributes:
        lines: The outline.
        position: title, url, x, y, width, height, scrollWidth, scrollHeight, elements, state, focus (a reference).
        outside: Summaries of what is `above` and `below` the viewport, in viewport mode.
        loader: The loader id of the document.
        mode: The part of the page that was captured.
        stopped: The number of elements read when the time was over; 0 if all were read.
        frames: The number of inner frames.
        unread_frames: The number of frames that did not answer in time.
    """

    lines: list[str]
    position: dict[str, Any]
    outside: dict[str, str] = field(default_factory=dict)
    loader: str = ""
    mode: SnapshotMode = "full"
    stopped: int = 0
    frames: int = 0
    unread_frames: int = 0

    def explain_gaps(self) -> str:
        """Describe what is missing and how to see it; empty if nothing is."""
        gaps = []
        if self.stopped:
            read, total = f"{self.stopped:,}", f"{self.position['elements']:,}"
            further = f"read on with offset={len(self.lines)}, or scroll" if self.mode == "full" else "scroll"
            missing = f"… incomplete: only {read} of {total} elements were read in time"
            gaps.append(f"{missing}; {further}, or name a root")
        if self.unread_frames:
            counts = f"{self.unread_frames} of {self.frames} frames"
            gaps.append(f"… {counts} did not answer in time: take the snapshot again, or name one as root")
        return "\n".join(gaps)


@dataclass(frozen=True)
class Snapshot:
    """An outline, cut to its limit.

    Attributes:
        piece: The lines that fit.
        position: See `OutlineCapture`.
        outside: See `OutlineCapture`.
        gaps: What is missing and how to see it, if the page was too large to be read in time.
    """

    piece: OutlineSlice
    position: dict[str, Any]
    outside: dict[str, str]
    gaps: str = ""

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, address: bool = True) -> str:
        """Return title, address, lines and the summaries above and below; `address` False leaves the address out."""
        above, below = self.outside.get("above"), self.outside.get("below")
        parts = [_format_header(self.position, self.piece.text, address=address)] if self.piece.offset == 0 else []
        parts += [f"… above: {above}"] if above else []
        parts.append(str(self.piece))
        parts += [f"… below: {below}"] if below else []
        parts += [self.gaps] if self.gaps else []
        return "\n".join(part for part in parts if part)


def _format_header(position: dict[str, Any], text: str, *, address: bool) -> str:
    """Return title, address and scroll position; omit a title that is also the first heading."""
    title = escape_refs(" ".join(clean_untrusted(position["title"]).split())[:200])
    title = "" if re.search(rf"^ *# {re.escape(title)}$", text, re.MULTILINE) else title
    scrolled, height, scroll_height = position["y"], position["height"], position["scrollHeight"]
    if scrolled:
        extent = f" (scrolled {scrolled} of {max(scroll_height - height, 0)})"
    else:
        extent = f" ({scroll_height / height:.1f} screens)" if scroll_height > 1.2 * height else ""
    url = escape_refs(position["url"][:300]) if address else ""
    focus = f" · focus on {position['focus']}" if position.get("focus") else ""
    return f"{title}{' · ' if title and url else ''}{url}{extent}{focus}".strip()


class Snapshotter:
    """Takes snapshots of one page and reports what has changed since the last one.

    Args:
        page: The page.
        scripts: Its scripts; None creates them.
    """

    def __init__(self, page: BrowserPage, scripts: PageScripts | None = None) -> None:
        self.page = page
        self.scripts = scripts or PageScripts(page)
        self._listeners = Listeners()
        self.internals = ComponentInternals()
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
        """Return an outline of the page.

        Args:
            mode: `viewport` (the visible part, with a summary of the rest), `full`, or `interactive`
                (full, but only the lines of elements that can be acted on).
            root: A reference: only the content of that element, with all its options and its whole value.
            find: Only the lines that contain this text, with their headings.
            urls: Show the addresses of links.
            limit: Characters.
            offset: The line to start with, from an earlier answer. Continues that outline for as long as
                there was no action since.

        Raises:
            NotFound: `root` has left the page.
        """
        captured_mode: SnapshotMode = "viewport" if mode == "viewport" and not (root or find) else "full"
        request = (captured_mode, root, urls, self.page.main.loader)
        if self._paged_capture is None or self._paged_capture[0] != request or not offset:
            if root or urls or find:
                capture = await self.capture_outline(captured_mode, root=root, urls=urls)
            else:
                capture = await self._capture_with_baseline(captured_mode)
            self._paged_capture = request, capture
        elif self._paged_capture[1].stopped and offset >= len(self._paged_capture[1].lines):
            budget_s = 20.0  # longer, because the caller reads on
            longer = await self.capture_outline(captured_mode, root=root, urls=urls, budget_s=budget_s)
            self._paged_capture = request, longer
        capture = self._paged_capture[1]
        lines = filter_matching(capture.lines, find) if find else capture.lines
        lines = filter_interactive(lines) if mode == "interactive" else lines
        piece = limit_lines(lines, limit, offset)
        return Snapshot(piece, capture.position, capture.outside, capture.explain_gaps())

    async def capture_outline(
        self,
        mode: SnapshotMode,
        *,
        root: str = "",
        urls: bool = False,
        shown: bool = True,
        budget_s: float = WALK_BUDGET_S,
    ) -> OutlineCapture:
        """Return the whole outline.

        `shown` False means that no model reads it, so the names last shown for references stay recorded.

        Raises NotFound: `root` has left the page.
        """
        options = {"root": root, "urls": urls, "shown": shown, "budgetMs": budget_s * 1e3}
        return (await self._capture_outlines(mode, options))[0]

    async def ensure_baseline(self) -> None:
        """Capture an outline for later differences, unless there is one of this document."""
        if self._baseline is not None and self._baseline.loader == self.page.main.loader:
            return
        mode = _choose_baseline_mode(await self.scripts.invoke(self.page.main, "readPosition"))
        baseline = await self.capture_outline(mode, shown=False)
        mode = _choose_baseline_mode(baseline.position)  # the page may have grown in the meantime
        self._baseline = baseline if baseline.mode == mode else await self.capture_outline(mode, shown=False)

    async def diff_since_last(self) -> tuple[OutlineDiff, OutlineCapture]:
        """Return the changes since the last capture, and the new capture.

        If the document is another one, the changes are its whole outline.
        """
        before, self._paged_capture = self._baseline, None
        mode: SnapshotMode = before.mode if before else "viewport"
        after = await self.capture_outline(mode)
        self._baseline = after
        was_invalidated, self._is_invalidated = self._is_invalidated, False
        if was_invalidated or before is None or before.loader != after.loader:
            return OutlineDiff((), whole=True), after
        return diff_outlines(before.lines, after.lines), after

    def invalidate_baseline(self) -> None:
        """Make the next difference the whole outline, because a person has acted on the page."""
        self._paged_capture, self._is_invalidated = None, True

    async def prepare_frame(self, frame: Frame) -> int:
        """Pass the elements with listeners to the scripts of a frame; return the number of new ones."""
        marked = await self._listeners.mark_new(frame)
        if marked is None:
            await self.scripts.ensure_installed(frame)
            marked = await self._listeners.mark_new(frame)
        return marked or 0

    async def _capture_with_baseline(self, mode: SnapshotMode) -> OutlineCapture:
        """Capture an outline, and one for later differences: of a small page in full, else of the viewport."""
        self._is_invalidated = False
        capture, baseline = await self._capture_outlines(mode, {"withBaseline": True})
        self._baseline = baseline or await self.capture_outline(_choose_baseline_mode(capture.position))
        return capture

    async def _capture_outlines(
        self, mode: SnapshotMode, options: dict[str, Any]
    ) -> tuple[OutlineCapture, OutlineCapture | None]:
        """Capture the outline, and on request the baseline.

        The baseline needs the report of every frame.

        `options` are those of `takeSnapshot` in scripts/snapshot.js.
        """
        root = options.get("root", "")
        frame = self.scripts.find_frame(root) if root else self.page.main
        if frame is None:
            raise _build_gone_error(root)
        loader = frame.loader
        options = {"budgetMs": WALK_BUDGET_S * 1e3} | options | {"mode": mode}
        frames = self._list_descendants(frame)
        report, child_reports = await asyncio.gather(
            self._read_frame(frame, options), self._read_child_frames(frames, options | {"root": ""})
        )
        if report.get("gone"):
            raise _build_gone_error(root)
        outside = {name: report[name] for name in ("above", "below") if report.get(name)}
        lines = await self._merge_frames(frame, report, child_reports, "lines")
        unread = len(frames) - len(child_reports)
        capture = OutlineCapture(lines, report, outside, loader, mode, report.get("stopped", 0), len(frames), unread)
        baseline_mode = _choose_baseline_mode(report)
        if baseline_mode == mode:
            return capture, capture
        if not options.get("withBaseline") or any("baseline" not in each for each in (report, *child_reports.values())):
            return capture, None
        baseline_lines = await self._merge_frames(frame, report, child_reports, "baseline")
        return capture, OutlineCapture(baseline_lines, report, {}, loader, baseline_mode)

    async def _read_frame(self, frame: Frame, options: dict[str, Any]) -> dict[str, Any]:
        """Return the snapshot script's report on one frame."""
        if self.internals.is_known(frame):
            await self.internals.refresh(frame)
        if await self._listeners.is_known(frame):
            # A known document rarely has new listeners, so request both at once.
            new_listeners, report = await asyncio.gather(
                self.prepare_frame(frame), self.scripts.invoke(frame, "takeSnapshot", options)
            )
            if new_listeners:
                report = await self.scripts.invoke(frame, "takeSnapshot", options)
        else:
            await self.prepare_frame(frame)
            report = await self.scripts.invoke(frame, "takeSnapshot", options)
        opened = await self.open_shadow_roots(frame) if report.get("suspects") else 0
        if opened or (report.get("shadows") and not self._listeners.has_shadows(frame)):
            self._listeners.include_shadows(frame)
            await self._listeners.mark_new(frame)
            report = await self.scripts.invoke(frame, "takeSnapshot", options)
        if report.get("components") and await self.internals.refresh(frame):
            report = await self.scripts.invoke(frame, "takeSnapshot", options)
        return report

    async def open_shadow_roots(self, frame: Frame) -> int:
        """Give the scripts the closed shadow roots, which only the browser knows; return how many there are."""
        suspects = await frame.evaluate_handle(ISOLATED_WORLD, "() => outrider.findSuspects()")
        properties = await frame.channel.send(
            "Runtime.getProperties", {"objectId": suspects.object_id, "ownProperties": True}
        )
        hosts = [
            Handle(item["value"]["objectId"], "node")
            for item in properties["result"]
            if item["name"].isdigit() and "objectId" in item.get("value", {})
        ]
        return sum(await asyncio.gather(*(self._open_shadow_root(frame, host) for host in hosts)))

    async def _open_shadow_root(self, frame: Frame, host: Handle) -> int:
        params = {"objectId": host.object_id, "depth": 1, "pierce": True}
        node = (await frame.channel.send("DOM.describeNode", params))["node"]
        closed = [root for root in node.get("shadowRoots", ()) if root["shadowRootType"] == "closed"]
        for root in closed:
            context = await frame.ensure_context(ISOLATED_WORLD)
            params = {"backendNodeId": root["backendNodeId"], "executionContextId": context}
            answer = await frame.channel.send("DOM.resolveNode", params)
            opened = Handle(answer["object"]["objectId"], "node")
            await frame.evaluate(ISOLATED_WORLD, "(host, root) => outrider.openRoot(host, root)", host, opened)
        return len(closed)

    async def _read_child_frames(self, frames: list[Frame], options: dict[str, Any]) -> dict[Frame, dict[str, Any]]:
        """Return the reports on these frames, except those that vanish, hang or are late."""
        max_frames_at_once = 16  # if hundreds ran at once, none would be ready in time
        deadline_s = 10.0
        if not frames:
            return {}
        with suppress(*TRANSIENT_ERRORS):  # otherwise each frame installs the scripts itself
            await self.scripts.install_in_many(frames)
        slots = asyncio.Semaphore(max_frames_at_once)

        async def read_in_turn(frame: Frame) -> dict[str, Any]:
            async with slots:
                return await self._read_frame(frame, options)

        tasks = {frame: asyncio.create_task(read_in_turn(frame)) for frame in frames}
        try:
            await asyncio.wait(tasks.values(), timeout=deadline_s)
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        reports = {}
        for frame, task in tasks.items():
            if task.cancelled():
                continue
            error = task.exception()
            if error is None:
                reports[frame] = task.result()
            elif not isinstance(error, TRANSIENT_ERRORS):
                raise error
        return reports

    def _list_descendants(self, frame: Frame, level: int = 0) -> list[Frame]:
        max_depth = 20  # of frames inside frames
        children = self.page.frames.list_children(frame) if level < max_depth else []
        return [each for child in children for each in (child, *self._list_descendants(child, level + 1))]

    async def _merge_frames(
        self, frame: Frame, report: dict[str, Any], child_reports: dict[Frame, dict[str, Any]], lines_key: str
    ) -> list[str]:
        """Return the lines of a frame, with those of its child frames in their places."""
        text: str = report.get(lines_key, "")
        lines = text.split("\n") if text else []
        if "\x01" not in text:
            return lines
        inside = [child for child in child_reports if child.parent is frame]
        children: dict[str, Frame] = {}
        with suppress(*TRANSIENT_ERRORS):
            children = {owner: child for child, owner in (await self.scripts.find_owner_refs(inside)).items()}
        merged: list[str] = []
        for line in lines:
            merged.append(FRAME_MARKER_PATTERN.sub("", line))
            marker = FRAME_MARKER_PATTERN.search(line)
            child = children.get(marker.group(1)) if marker else None
            if child is not None:
                indent = " " * (measure_depth(line) + 1)
                inner = await self._merge_frames(child, child_reports[child], child_reports, lines_key)
                merged += [indent + inner_line for inner_line in inner]
        return merged


def _build_gone_error(root: str) -> NotFound:
    return NotFound(f"{root} has left the page", hint="take a snapshot", code="not_found")


def _choose_baseline_mode(position: dict[str, Any]) -> SnapshotMode:
    # The same number as LARGE_PAGE_ELEMENTS in scripts/snapshot.js.
    large_page_elements = 6_000
    return "full" if position["elements"] < large_page_elements else "viewport"
