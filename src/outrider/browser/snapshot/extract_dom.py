"""The rendered document for whoever extracts from it: its HTML, its text, a map of it, what is selected."""

import re
from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import PageGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.scripts import REF_PATTERN
from outrider.browser.protocol.values import ScriptError
from outrider.browser.snapshot.snapshot import Snapshotter

MAX_HTML_CHARS = 5_000_000  # characters, of the page and of each frame
FRAME_COMMENT_PATTERN = re.compile(rf"<!--frame:({REF_PATTERN.pattern})-->")


@dataclass(frozen=True)
class RenderedHtml:
    """A rendered document.

    Attributes:
        html: With shadow trees and frames in their places; no scripts, and unless asked for nothing that is hidden.
        title: The document's title.
        url: Its address.
        truncated: It was longer than may be.
    """

    html: str
    title: str
    url: str
    truncated: bool


async def read_rendered_html(
    snapshotter: Snapshotter, *, selector: str = "", hidden: bool = False, frames: bool = True
) -> RenderedHtml:
    """The document as it is now, for an extractor.

    Args:
        snapshotter: The page's eyes.
        selector: Only what this CSS selector matches.
        hidden: Also what is not rendered.
        frames: With the documents of its frames, each in a `<div>` in the place of its frame.

    Raises:
        NotFound, InvalidInput: The selector matches nothing, or is none.
    """
    await snapshotter.prepare_frame(snapshotter.page.main)
    options = {"selector": selector, "limit": MAX_HTML_CHARS, "rendered": not hidden}
    told = await _invoke_checked(snapshotter, "composedHtml", selector, options)
    html = await _insert_frames(snapshotter, told["html"]) if frames else FRAME_COMMENT_PATTERN.sub("", told["html"])
    return RenderedHtml(html, told["title"], told["url"], told["truncated"])


async def build_dom_map(snapshotter: Snapshotter, *, selector: str = "body", depth: int = 5) -> dict[str, Any]:
    """`{title, url, domMap}`; a node is `{tag, selector, id?, class?, text?, …, children[]}`.

    Raises as `rendered_html`.
    """
    max_depth = 20
    told = await _invoke_checked(
        snapshotter, "domMap", selector, {"selector": selector, "depth": min(max(depth, 1), max_depth)}
    )
    return {name: told[name] for name in ("title", "url", "domMap")}


async def read_selection(snapshotter: Snapshotter) -> str:
    """What is selected on the page or in the field that has the focus; nothing of a password."""
    return (await snapshotter.scripts.invoke(snapshotter.page.main, "selectedText"))["text"]


async def list_boxes(snapshotter: Snapshotter) -> list[dict[str, Any]]:
    """`{ref, x, y, width, height}` of what can be acted on in the viewport, for drawing on a screenshot."""
    await snapshotter.prepare_frame(snapshotter.page.main)
    return (await snapshotter.scripts.invoke(snapshotter.page.main, "boxes"))["boxes"]


async def _invoke_checked(
    snapshotter: Snapshotter, name: str, selector: str, options: dict[str, Any]
) -> dict[str, Any]:
    told = await snapshotter.scripts.invoke(snapshotter.page.main, name, options)
    if not told["ok"]:
        raise build_action_error("extract", selector, told)
    return told


async def _insert_frames(snapshotter: Snapshotter, html: str) -> str:
    inside = {}
    for frame in snapshotter.page.frames:
        if frame.parent is snapshotter.page.main and FRAME_COMMENT_PATTERN.search(html):
            ref, inner = await _render_frame(snapshotter, frame)
            inside[ref] = f"<div>{inner}</div>" if inner else ""
    return (
        FRAME_COMMENT_PATTERN.sub(lambda match: inside.get(match.group(1), ""), html)
        .replace("<iframe", "<div")
        .replace("</iframe>", "</div>")
    )


async def _render_frame(snapshotter: Snapshotter, frame: Frame) -> tuple[str, str]:
    try:
        ref = await snapshotter.scripts.find_owner_ref(frame)
        told = await snapshotter.scripts.invoke(frame, "composedHtml", {"selector": "body", "limit": MAX_HTML_CHARS})
    except (ProtocolError, PageGone, ScriptError):
        return "", ""
    return ref, told.get("html", "")
