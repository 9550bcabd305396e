"""Everything on a page that can be acted on, as data: geometry, names, attributes, capabilities, references."""

from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import PageGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.values import ScriptError
from outrider.browser.snapshot.snapshot import Snapshotter


@dataclass(frozen=True)
class InteractableElements:
    """What can be acted on.

    Attributes:
        elements: Each `{ref, selector, tag, role, name, rect {x, y, width, height}, inViewport, visible, enabled,
            attributes, capabilities, value?, checked?, options?, frame?}`; rects in CSS pixels of their own frame.
        total: How many there are, shown here or not.
        milliseconds: That the page was busy with it.
    """

    elements: list[dict[str, Any]]
    total: int
    milliseconds: float

    @property
    def truncated(self) -> bool:
        """Whether some are not shown."""
        return self.total > len(self.elements)


async def list_interactable(
    snapshotter: Snapshotter, *, selector: str = "", include_hidden: bool = False, max_elements: int = 100
) -> InteractableElements:
    """Lists what can be acted on, the page's own first and then that of its frames.

    Args:
        snapshotter: The page's eyes.
        selector: Only inside what this CSS selector matches; then frames are left out.
        include_hidden: Also what cannot be seen.
        max_elements: 1 to 500; other numbers are brought into that range.

    Raises:
        NotFound, InvalidInput: The selector matches nothing, or is none.
    """
    hard_limit = 500  # contracts of `extractInteractable`
    limit = min(max(max_elements, 1), hard_limit)
    found = await _list_in_frame(
        snapshotter, snapshotter.page.main, selector, include_hidden=include_hidden, limit=limit
    )
    if not found["ok"]:
        raise build_action_error("extract", selector, found)
    elements, total, spent = found["elements"], found["total"], found["milliseconds"]
    for frame in [] if selector else [each for each in snapshotter.page.frames if each.parent is not None]:
        inner = await _list_in_child(snapshotter, frame, include_hidden=include_hidden, limit=limit - len(elements))
        elements += [each | {"frame": frame.url} for each in inner["elements"]]
        total, spent = total + inner["total"], spent + inner["milliseconds"]
    return InteractableElements(elements, total, spent)


async def _list_in_child(snapshotter: Snapshotter, frame: Frame, *, include_hidden: bool, limit: int) -> dict[str, Any]:
    try:
        return await _list_in_frame(snapshotter, frame, "", include_hidden=include_hidden, limit=limit)
    except (ProtocolError, PageGone, ScriptError):
        return {"elements": [], "total": 0, "milliseconds": 0}


async def _list_in_frame(
    snapshotter: Snapshotter, frame: Frame, selector: str, *, include_hidden: bool, limit: int
) -> dict[str, Any]:
    await snapshotter.prepare_frame(frame)
    options = {"selector": selector, "includeHidden": include_hidden, "maxElements": limit}
    return await snapshotter.scripts.invoke(frame, "interactable", options)
