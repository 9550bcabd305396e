"""The rendered document for whoever extracts from it: its HTML, its text, a map of it, what is selected."""

import re
from dataclasses import dataclass
from typing import Any

from outrider.browser.cdp import PageGone, ProtocolError
from outrider.browser.diagnose import failure
from outrider.browser.frames import Frame
from outrider.browser.scripts import REF
from outrider.browser.snapshot import Eyes
from outrider.browser.values import ScriptError

MOST_HTML = 5_000_000  # characters, of the page and of each frame
DEEPEST = 20
FRAME = re.compile(rf"<!--frame:({REF.pattern})-->")


@dataclass(frozen=True)
class Html:
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


async def rendered_html(eyes: Eyes, *, selector: str = "", hidden: bool = False, frames: bool = True) -> Html:
    """The document as it is now, for an extractor.

    Args:
        eyes: The page's eyes.
        selector: Only what this CSS selector matches.
        hidden: Also what is not rendered.
        frames: With the documents of its frames, each in a `<div>` in the place of its frame.

    Raises:
        NotFound, InvalidInput: The selector matches nothing, or is none.
    """
    await eyes.prepare(eyes.page.main)
    options = {"selector": selector, "limit": MOST_HTML, "rendered": not hidden}
    told = await _must(eyes, "composedHtml", selector, options)
    html = await _with_frames(eyes, told["html"]) if frames else FRAME.sub("", told["html"])
    return Html(html, told["title"], told["url"], told["truncated"])


async def dom_map(eyes: Eyes, *, selector: str = "body", depth: int = 5) -> dict[str, Any]:
    """`{title, url, domMap}`; a node is `{tag, selector, id?, class?, text?, …, children[]}`.

    Raises as `rendered_html`.
    """
    told = await _must(eyes, "domMap", selector, {"selector": selector, "depth": min(max(depth, 1), DEEPEST)})
    return {name: told[name] for name in ("title", "url", "domMap")}


async def selected_text(eyes: Eyes) -> str:
    """What is selected on the page or in the field that has the focus; nothing of a password."""
    return (await eyes.scripts.call(eyes.page.main, "selectedText"))["text"]


async def boxes(eyes: Eyes) -> list[dict[str, Any]]:
    """`{ref, x, y, width, height}` of what can be acted on in the viewport, for drawing on a screenshot."""
    await eyes.prepare(eyes.page.main)
    return (await eyes.scripts.call(eyes.page.main, "boxes"))["boxes"]


async def _must(eyes: Eyes, name: str, selector: str, options: dict[str, Any]) -> dict[str, Any]:
    told = await eyes.scripts.call(eyes.page.main, name, options)
    if not told["ok"]:
        raise failure("extract", selector, told)
    return told


async def _with_frames(eyes: Eyes, html: str) -> str:
    inside = {}
    for frame in eyes.page.frames:
        if frame.parent is eyes.page.main and FRAME.search(html):
            ref, inner = await _inside(eyes, frame)
            inside[ref] = f"<div>{inner}</div>" if inner else ""
    return (
        FRAME.sub(lambda match: inside.get(match.group(1), ""), html)
        .replace("<iframe", "<div")
        .replace("</iframe>", "</div>")
    )


async def _inside(eyes: Eyes, frame: Frame) -> tuple[str, str]:
    try:
        ref = await eyes.scripts.owner_ref(frame)
        told = await eyes.scripts.call(frame, "composedHtml", {"selector": "body", "limit": MOST_HTML})
    except (ProtocolError, PageGone, ScriptError):
        return "", ""
    return ref, told.get("html", "")
