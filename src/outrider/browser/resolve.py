"""From a selector or a reference to a place on the page where a hand would reach the element."""

from dataclasses import dataclass
from typing import Any

from outrider.browser.diagnose import failure
from outrider.browser.frames import Frame
from outrider.browser.scripts import REF, Scripts
from outrider.core.errors import InvalidInput

Point = tuple[float, float]
PREFIXES = ("ref=", "@", "css=")


@dataclass(frozen=True)
class Target:
    """What the caller named.

    Attributes:
        asked: As it was given.
        ref: The reference; empty for a selector.
        selector: The selector; empty for a reference.
    """

    asked: str
    ref: str = ""
    selector: str = ""

    def for_script(self) -> dict[str, str]:
        """As `scripts/resolve.js` takes it."""
        return {"ref": self.ref} if self.ref else {"selector": self.selector}


def target(asked: str) -> Target:
    """A reference (`e12`, `ref=e12`, `[e12]`) or a CSS selector. Raises InvalidInput for nothing."""
    plain = asked.strip()
    if not plain:
        raise InvalidInput(
            "selector: is empty", code="invalid_selector", hint="give a CSS selector or a ref from a snapshot"
        )
    bare = plain.strip("[]<>") if REF.fullmatch(plain.strip("[]<>")) else plain
    for prefix in PREFIXES:
        bare = bare.removeprefix(prefix)
    return Target(plain, ref=bare) if REF.fullmatch(bare) else Target(plain, selector=bare)


@dataclass(frozen=True)
class Place:
    """An element that can be reached.

    Attributes:
        frame: In which frame.
        ref: The element's reference.
        x: From the left of the page's viewport, in CSS pixels.
        y: From its top.
        told: What the script says of it: element, before, rect, viewport, tag, type.
    """

    frame: Frame
    ref: str
    x: float
    y: float
    told: dict[str, Any]

    @property
    def element(self) -> str:
        """How it is called in answers."""
        return f"{self.ref} {self.told['element']}"


class Reach:
    """Finds elements of one page, in whichever frame they are.

    Args:
        scripts: The page's scripts.
    """

    def __init__(self, scripts: Scripts) -> None:
        self.scripts = scripts

    async def place(
        self,
        asked: Target,
        action: str,
        *,
        steady: bool = False,
        strict: bool = True,
        carried: str = "",
        at: Point | None = None,
    ) -> Place:
        """Resolves, checks, scrolls into view, waits until it is still, and hit-tests.

        Args:
            asked: Which element.
            action: What for: `click`, `hover`, `fill`, `select` …; decides what stands in the way.
            steady: Watches some frames even where nothing seems to move.
            strict: Refuses a reference whose element has changed its meaning.
            carried: The reference of what is dragged there: it may lie over the place.
            at: Where on it, in CSS pixels from its top left corner; None where it is best reached.

        Raises:
            OutriderError: see `diagnose.failure`.
        """
        frame, told = await self._aimed(
            asked, action, {"strict": strict, "steady": steady, "carried": carried, "at": at}
        )
        x, y = told["x"], told["y"]
        around = frame
        while around.parent is not None:
            through = await self._through(around, x, y)
            if not through["ok"]:
                raise failure(action, asked.asked, told | through)
            x, y, around = through["x"], through["y"], around.parent
        return Place(frame, told["ref"], x, y, told)

    async def _aimed(self, asked: Target, action: str, options: dict[str, Any]) -> tuple[Frame, dict[str, Any]]:
        frame = self.scripts.frame_of(asked.ref) if asked.ref else self.scripts.page.main
        if frame is None:
            gone = {
                "reason": "not_found",
                "message": f"there is no {asked.ref} on the page any more",
                "hint": "take a snapshot",
            }
            raise failure(action, asked.asked, gone)
        told = await self.scripts.call(frame, "aim", asked.for_script(), action, options)
        if told.get("reason") == "not_found" and asked.selector:
            frame, told = await self._elsewhere(asked, action, options, told)
        if told.get("transparent"):
            told = await self._revealed(frame, asked, action, options, told)
        if not told["ok"]:
            raise failure(action, asked.asked, told)
        return frame, told

    async def _elsewhere(
        self, asked: Target, action: str, options: dict[str, Any], told: dict[str, Any]
    ) -> tuple[Frame, dict[str, Any]]:
        """What the page itself does not have may be in one of its frames."""
        for frame in self.scripts.page.frames:
            if frame.parent is not None:
                found = await self.scripts.call(frame, "aim", asked.for_script(), action, options)
                if found.get("reason") != "not_found":
                    return frame, found
        return self.scripts.page.main, told

    async def _revealed(
        self, frame: Frame, asked: Target, action: str, options: dict[str, Any], told: dict[str, Any]
    ) -> dict[str, Any]:
        """What is drawn only under the pointer gets the pointer, once."""
        box = told["rect"]
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if frame.parent is None and x > 0 and y > 0:
            await self.scripts.page.mouse("move", x, y)
        return await self.scripts.call(frame, "aim", asked.for_script(), action, options | {"steady": True})

    async def _through(self, frame: Frame, x: float, y: float) -> dict[str, Any]:
        assert frame.parent is not None, "only frames are in something"
        ref = await self.scripts.owner_ref(frame)
        return await self.scripts.call(frame.parent, "throughFrame", ref, x, y)
