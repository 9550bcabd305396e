"""Locate an element, and a point where a press reaches it."""

import re
from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.refs import REF_PATTERN
from outrider.browser.protocol.scripts import PageScripts
from outrider.core.errors import InvalidInput

Point = tuple[float, float]


@dataclass(frozen=True)
class ElementQuery:
    """A selector or reference from the caller.

    Attributes:
        text: What the caller gave.
        ref: The reference; empty for a selector.
        selector: The selector; empty for a reference.
        within: A text in the row or card around the element; empty for any.
    """

    text: str
    ref: str = ""
    selector: str = ""
    within: str = ""

    def to_script_argument(self) -> dict[str, str]:
        """Return the query as `scripts/resolve.js` takes it."""
        return {"within": self.within} | ({"ref": self.ref} if self.ref else {"selector": self.selector})


def parse_element_query(text: str) -> ElementQuery:
    """Parse a reference (`e12`, `ref=e12`, `[e12]`) or a selector (CSS, XPath, `text=Save`, `button=Save`, a name).

    Raises InvalidInput if it is empty.
    """
    prefixes = ("ref=", "@", "css=")
    plain = re.sub(r"^([`'\"])(.*)\1$", r"\2", text.strip(), flags=re.DOTALL).strip()
    if not plain:
        hint = "give a CSS selector, text=… or a ref from a snapshot"
        raise InvalidInput("selector: is empty", code="invalid_selector", hint=hint)
    bare = plain
    for prefix in ("[", "<", *prefixes):
        bare = bare.removeprefix(prefix)
    bare = bare.rstrip("]>") if REF_PATTERN.fullmatch(bare.rstrip("]>")) else plain.removeprefix("css=")
    return ElementQuery(plain, ref=bare) if REF_PATTERN.fullmatch(bare) else ElementQuery(plain, selector=bare)


@dataclass(frozen=True)
class ElementLocation:
    """An element and a point where a press reaches it.

    Attributes:
        frame: The frame that it is in.
        ref: The element's reference.
        x: CSS pixels from the left edge of the page's viewport.
        y: CSS pixels from its top edge.
        report: The script's description of it: element, before, rect, viewport, tag, type.
    """

    frame: Frame
    ref: str
    x: float
    y: float
    report: dict[str, Any]

    @property
    def element(self) -> str:
        """The element as results name it."""
        drawn = f" drawn as {self.report['drawn']}" if "drawn" in self.report else ""
        return f"{self.ref} {self.report['element']}{drawn}"


class ElementLocator:
    """Locates elements of one page, in whichever frame they are.

    Args:
        scripts: The page's scripts.
    """

    def __init__(self, scripts: PageScripts) -> None:
        self.scripts = scripts

    async def locate(
        self,
        query: ElementQuery,
        action: str,
        *,
        steady: bool = False,
        strict: bool = True,
        carried: str = "",
        at: Point | None = None,
    ) -> ElementLocation:
        """Resolve and check an element, scroll it into view, wait until it is still, and hit-test it.

        Args:
            query: The element.
            action: `click`, `hover`, `fill`, `select` …; decides which elements are obstacles.
            steady: Wait for some frames even if nothing seems to move.
            strict: Refuse a reference whose element has changed its role or name.
            carried: The reference of the dragged element, which may cover the point.
            at: CSS pixels from the element's top left corner; None chooses a reachable point.

        Raises:
            OutriderError: See `build_action_error`.
        """
        has_log = self.scripts.page.action_log is not None
        options = {"strict": strict, "steady": steady, "carried": carried, "at": at, "evidence": has_log}
        frame, report = await self._locate_in_frame(query, action, options)
        if not report["ok"]:
            raise build_action_error(action, query.text, report)
        x, y = report["x"], report["y"]
        if has_log and frame.parent is not None:
            report["page"] = await self.scripts.invoke(self.scripts.page.main, "readMilestones")
        inner = frame
        while inner.parent is not None:
            owner_ref = await self.scripts.find_owner_ref(inner)
            mapped = await self.scripts.invoke(inner.parent, "mapThroughFrame", owner_ref, x, y)
            if not mapped["ok"]:
                raise build_action_error(action, query.text, report | mapped)
            x, y, inner = mapped["x"], mapped["y"], inner.parent
        return ElementLocation(frame, report["ref"], x, y, report)

    async def _locate_in_frame(
        self, query: ElementQuery, action: str, options: dict[str, Any]
    ) -> tuple[Frame, dict[str, Any]]:
        """Return the frame of the element and the script's report on it."""
        page, target = self.scripts.page, query.to_script_argument()
        frame = self.scripts.find_frame(query.ref) if query.ref else page.main
        if frame is None:
            message = f"{query.ref} has left the page"
            not_found = {"reason": "not_found", "message": message, "hint": "take a snapshot"}
            raise build_action_error(action, query.text, not_found)
        report = await self.scripts.invoke(frame, "locate", target, action, options)
        if report.get("reason") == "not_found" and query.selector:
            for child in page.frames:
                if child.parent is None:
                    continue
                child_report = await self.scripts.invoke(child, "locate", target, action, options)
                if child_report.get("reason") != "not_found":
                    frame, report = child, child_report
                    break
        if report.get("transparent"):
            # Some elements only appear under the pointer, so move it there once.
            box = report["rect"]
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            if frame.parent is None and x > 0 and y > 0:
                await page.dispatch_mouse("move", x, y)
            report = await self.scripts.invoke(frame, "locate", target, action, options | {"steady": True})
        return frame, report
