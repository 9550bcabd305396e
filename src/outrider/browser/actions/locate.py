"""From a selector or a reference to a place on the page where a hand would reach the element."""

from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.scripts import REF_PATTERN, PageScripts
from outrider.core.errors import InvalidInput

Point = tuple[float, float]


@dataclass(frozen=True)
class ElementQuery:
    """What the caller named.

    Attributes:
        text: As it was given.
        ref: The reference; empty for a selector.
        selector: The selector; empty for a reference.
    """

    text: str
    ref: str = ""
    selector: str = ""

    def to_script_argument(self) -> dict[str, str]:
        """As `scripts/resolve.js` takes it."""
        return {"ref": self.ref} if self.ref else {"selector": self.selector}


def parse_element_query(text: str) -> ElementQuery:
    """A reference (`e12`, `ref=e12`, `[e12]`) or a CSS selector. Raises InvalidInput for nothing."""
    prefixes = ("ref=", "@", "css=")
    plain = text.strip()
    if not plain:
        raise InvalidInput(
            "selector: is empty", code="invalid_selector", hint="give a CSS selector or a ref from a snapshot"
        )
    bare = plain.strip("[]<>") if REF_PATTERN.fullmatch(plain.strip("[]<>")) else plain
    for prefix in prefixes:
        bare = bare.removeprefix(prefix)
    return ElementQuery(plain, ref=bare) if REF_PATTERN.fullmatch(bare) else ElementQuery(plain, selector=bare)


@dataclass(frozen=True)
class ElementLocation:
    """An element that can be reached.

    Attributes:
        frame: In which frame.
        ref: The element's reference.
        x: From the left of the page's viewport, in CSS pixels.
        y: From its top.
        report: What the script says of it: element, before, rect, viewport, tag, type.
    """

    frame: Frame
    ref: str
    x: float
    y: float
    report: dict[str, Any]

    @property
    def element(self) -> str:
        """How it is called in answers."""
        return f"{self.ref} {self.report['element']}"


class ElementLocator:
    """Finds elements of one page, in whichever frame they are.

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
        """Resolves, checks, scrolls into view, waits until it is still, and hit-tests.

        Args:
            query: Which element.
            action: What for: `click`, `hover`, `fill`, `select` …; decides what stands in the way.
            steady: Watches some frames even where nothing seems to move.
            strict: Refuses a reference whose element has changed its meaning.
            carried: The reference of what is dragged there: it may lie over the place.
            at: Where on it, in CSS pixels from its top left corner; None where it is best reached.

        Raises:
            OutriderError: see `diagnose.failure`.
        """
        frame, told = await self._aim_at(
            query, action, {"strict": strict, "steady": steady, "carried": carried, "at": at}
        )
        x, y = told["x"], told["y"]
        around = frame
        while around.parent is not None:
            through = await self._through(around, x, y)
            if not through["ok"]:
                raise build_action_error(action, query.text, told | through)
            x, y, around = through["x"], through["y"], around.parent
        return ElementLocation(frame, told["ref"], x, y, told)

    async def _aim_at(self, query: ElementQuery, action: str, options: dict[str, Any]) -> tuple[Frame, dict[str, Any]]:
        frame = self.scripts.find_frame(query.ref) if query.ref else self.scripts.page.main
        if frame is None:
            gone = {
                "reason": "not_found",
                "message": f"there is no {query.ref} on the page any more",
                "hint": "take a snapshot",
            }
            raise build_action_error(action, query.text, gone)
        told = await self.scripts.invoke(frame, "aim", query.to_script_argument(), action, options)
        if told.get("reason") == "not_found" and query.selector:
            frame, told = await self._search_frames(query, action, options, told)
        if told.get("transparent"):
            told = await self._reveal_by_hover(frame, query, action, options, told)
        if not told["ok"]:
            raise build_action_error(action, query.text, told)
        return frame, told

    async def _search_frames(
        self, query: ElementQuery, action: str, options: dict[str, Any], report: dict[str, Any]
    ) -> tuple[Frame, dict[str, Any]]:
        """What the page itself does not have may be in one of its frames."""
        for frame in self.scripts.page.frames:
            if frame.parent is not None:
                found = await self.scripts.invoke(frame, "aim", query.to_script_argument(), action, options)
                if found.get("reason") != "not_found":
                    return frame, found
        return self.scripts.page.main, report

    async def _reveal_by_hover(
        self, frame: Frame, query: ElementQuery, action: str, options: dict[str, Any], report: dict[str, Any]
    ) -> dict[str, Any]:
        """What is drawn only under the pointer gets the pointer, once."""
        box = report["rect"]
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if frame.parent is None and x > 0 and y > 0:
            await self.scripts.page.dispatch_mouse("move", x, y)
        return await self.scripts.invoke(frame, "aim", query.to_script_argument(), action, options | {"steady": True})

    async def _through(self, frame: Frame, x: float, y: float) -> dict[str, Any]:
        assert frame.parent is not None, "only frames are in something"
        ref = await self.scripts.find_owner_ref(frame)
        return await self.scripts.invoke(frame.parent, "throughFrame", ref, x, y)
