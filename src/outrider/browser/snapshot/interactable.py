"""List the actionable elements of a page with geometry, names and references."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import PageGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.values import ScriptError
from outrider.browser.snapshot.snapshot import Snapshotter


@dataclass(frozen=True)
class InteractableElements:
    """The elements that can be acted on.

    Attributes:
        elements: Each `{ref, selector, tag, role, name, rect {x, y, width, height}, inViewport, visible, enabled,
            attributes, capabilities, value?, checked?, options?, frame?}`; rects in CSS pixels of their own frame.
        total: The number of all elements, listed or not.
        milliseconds: How long this kept the page busy.
    """

    elements: list[dict[str, Any]]
    total: int
    milliseconds: float

    @property
    def truncated(self) -> bool:
        """Whether some are not listed."""
        return self.total > len(self.elements)


async def list_interactable(
    snapshotter: Snapshotter, *, selector: str = "", include_hidden: bool = False, max_elements: int = 100
) -> InteractableElements:
    """List the actionable elements, the page's own first, then those of its frames.

    Args:
        snapshotter: The page's snapshotter.
        selector: Only inside the elements that this CSS selector matches; frames are left out then.
        include_hidden: Include invisible elements.
        max_elements: 1 to 500; other numbers are clamped.

    Raises:
        NotFound, InvalidInput: The selector matches nothing, or is not valid.
    """
    max_limit = 500
    limit = min(max(max_elements, 1), max_limit)
    main = snapshotter.page.main
    report = await _list_in_frame(snapshotter, main, selector, include_hidden=include_hidden, limit=limit)
    if not report["ok"]:
        raise build_action_error("extract", selector, report)
    elements, total, milliseconds = report["elements"], report["total"], report["milliseconds"]
    for frame in snapshotter.page.frames:
        if selector or frame.parent is None:
            continue
        with suppress(ProtocolError, PageGone, ScriptError):  # the frame is going away
            remaining = limit - len(elements)
            report = await _list_in_frame(snapshotter, frame, "", include_hidden=include_hidden, limit=remaining)
            elements += [element | {"frame": frame.url} for element in report["elements"]]
            total, milliseconds = total + report["total"], milliseconds + report["milliseconds"]
    return InteractableElements(elements, total, milliseconds)


async def _list_in_frame(
    snapshotter: Snapshotter, frame: Frame, selector: str, *, include_hidden: bool, limit: int
) -> dict[str, Any]:
    await snapshotter.prepare_frame(frame)
    options = {"selector": selector, "includeHidden": include_hidden, "maxElements": limit}
    return await snapshotter.scripts.invoke(frame, "listInteractable", options)
