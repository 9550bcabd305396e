"""Read the rendered document: HTML, DOM map, selection and element boxes."""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import PageGone, ProtocolError
from outrider.browser.protocol.refs import REF_PATTERN
from outrider.browser.protocol.values import ScriptError
from outrider.browser.snapshot.snapshot import Snapshotter

MAX_HTML_CHARS = 5_000_000  # of the page and of each frame
FRAME_COMMENT_PATTERN = re.compile(rf"<!--frame:({REF_PATTERN.pattern})-->")


@dataclass(frozen=True)
class RenderedHtml:
    """A rendered document.

    Attributes:
        html: With shadow trees and frames in place; without scripts and, unless asked for, hidden elements.
        title: The document's title.
        url: Its address.
        truncated: It exceeded the size limit.
    """

    html: str
    title: str
    url: str
    truncated: bool


async def read_rendered_html(
    snapshotter: Snapshotter, *, selector: str = "", hidden: bool = False, unseen: bool = False, frames: bool = True
) -> RenderedHtml:
    """Return the document as rendered now.

    Args:
        snapshotter: The page's snapshotter.
        selector: Only the elements that this CSS selector matches.
        hidden: Include elements that are not rendered.
        unseen: Include elements that are rendered but invisible, such as the fields of a bot check.
        frames: Include the documents of frames, each as a `<div>` in place of its frame.

    Raises:
        NotFound, InvalidInput: The selector matches nothing, or is not valid.
    """
    await snapshotter.prepare_frame(snapshotter.page.main)
    options = {"selector": selector, "limit": MAX_HTML_CHARS, "rendered": not hidden, "unseen": unseen}
    report = await _invoke_checked(snapshotter, "readComposedHtml", selector, options)
    html = report["html"]
    html = await _insert_frames(snapshotter, html, unseen=unseen) if frames else FRAME_COMMENT_PATTERN.sub("", html)
    return RenderedHtml(html, report["title"], report["url"], report["truncated"])


async def build_dom_map(snapshotter: Snapshotter, *, selector: str = "body", depth: int = 5) -> dict[str, Any]:
    """Return `{title, url, domMap}`; a node is `{tag, selector, id?, class?, text?, …, children[]}`.

    Raises NotFound or InvalidInput as `read_rendered_html`.
    """
    max_depth = 20
    report = await _invoke_checked(
        snapshotter, "buildDomMap", selector, {"selector": selector, "depth": min(max(depth, 1), max_depth)}
    )
    return {name: report[name] for name in ("title", "url", "domMap")}


async def read_selection(snapshotter: Snapshotter) -> str:
    """Return the selected text of the page or the focused field, except of passwords."""
    return (await snapshotter.scripts.invoke(snapshotter.page.main, "readSelection"))["text"]


async def list_boxes(snapshotter: Snapshotter) -> list[dict[str, Any]]:
    """Return `{ref, x, y, width, height}` of the actionable elements in the viewport."""
    await snapshotter.prepare_frame(snapshotter.page.main)
    return (await snapshotter.scripts.invoke(snapshotter.page.main, "listBoxes"))["boxes"]


async def _invoke_checked(
    snapshotter: Snapshotter, name: str, selector: str, options: dict[str, Any]
) -> dict[str, Any]:
    report = await snapshotter.scripts.invoke(snapshotter.page.main, name, options)
    if not report["ok"]:
        raise build_action_error("extract", selector, report)
    return report


async def _insert_frames(snapshotter: Snapshotter, html: str, *, unseen: bool) -> str:
    inner_html: dict[str, str] = {}
    for frame in snapshotter.page.frames:
        if frame.parent is not snapshotter.page.main or not FRAME_COMMENT_PATTERN.search(html):
            continue
        with suppress(ProtocolError, PageGone, ScriptError):  # the frame is going away
            ref = await snapshotter.scripts.find_owner_ref(frame)
            options = {"selector": "body", "limit": MAX_HTML_CHARS, "unseen": unseen}
            inner = (await snapshotter.scripts.invoke(frame, "readComposedHtml", options)).get("html", "")
            inner_html[ref] = f"<div>{inner}</div>" if inner else ""
    html = FRAME_COMMENT_PATTERN.sub(lambda match: inner_html.get(match.group(1), ""), html)
    return html.replace("<iframe", "<div").replace("</iframe>", "</div>")
