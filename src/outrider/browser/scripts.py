"""The scripts that look at a page and take hold of it, one installation a document.

They live in an isolated world: the page neither sees nor can change them. References are theirs:
`e12` in the page's first document, `ea12`, `eb12` in its next ones, `fa12` in a frame. Numbers begin
anew in each document, so that they stay short, and no reference is ever given twice.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Any

from outrider.browser.frames import Frame
from outrider.browser.page import Page
from outrider.browser.values import Handle

WORLD = "outrider"
REF = re.compile(r"(?:e[a-z]*|f[a-z]+)[1-9]\d*")
CALL = "(name, args) => globalThis.outrider ? outrider.call(name, args) : null"
INSTALL = """(prefix) => {
  if (!globalThis.outrider) { (%s)(); outrider.begin(prefix); }
  return outrider.prefix();
}"""


@cache
def source() -> str:
    """All scripts as one, to be run once in a document's isolated world."""
    folder = files("outrider.browser") / "scripts"
    texts = [each.read_text("utf-8") for each in sorted(folder.iterdir(), key=str) if each.name.endswith(".js")]
    return "() => {\n'use strict';\n" + "\n".join(texts) + "\n}"


class Scripts:
    """The scripts of one page.

    Args:
        page: Whose frames they run in.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self._prefixes: dict[str, str] = {}
        self._begun = {"e": 0, "f": 1}
        self._handles: dict[tuple[str, str], str] = {}

    def frame_of(self, ref: str) -> Frame | None:
        """The frame that gave a reference, if its document is still there."""
        prefix = ref.rstrip("0123456789")
        return next((each for each in self.page.frames if self._prefixes.get(each.id) == prefix), None)

    async def call(self, frame: Frame, name: str, *args: object) -> Any:
        """What one of the scripts' functions (`scripts/api.js`) returns.

        Raises:
            ScriptError, ContextGone, PageGone, BrowserGone, Hung: as `Frame.evaluate`.
        """
        answer = await frame.evaluate(WORLD, CALL, name, args)
        if answer is None:
            await self.install(frame)
            answer = await frame.evaluate(WORLD, CALL, name, args)
        self._prefixes[frame.id] = answer["prefix"]
        return answer["value"]

    async def install(self, frame: Frame) -> None:
        """Puts the scripts into a frame's document; a second time does nothing."""
        kind = "e" if frame.parent is None else "f"
        proposed = kind + letters(self._begun[kind])
        self._begun[kind] += 1
        self._prefixes[frame.id] = await frame.evaluate(WORLD, INSTALL % source(), proposed)

    async def element(self, frame: Frame, ref: str) -> Handle:
        """The element of a reference, as a handle."""
        return await frame.handle(WORLD, "(ref) => outrider.elementOf(ref)", ref)

    async def owner_ref(self, frame: Frame) -> str:
        """The reference of the element that shows a frame, in the frame around it."""
        assert frame.parent is not None, "the page itself has no owner"
        key = (frame.id, frame.parent.loader)
        if key not in self._handles:
            await self.call(frame.parent, "position")
            owner = await self.page.owner(frame, WORLD)
            self._handles[key] = await frame.parent.evaluate(WORLD, "(owner) => outrider.nameFrame(owner)", owner)
        return self._handles[key]


def letters(number: int) -> str:
    """The number in letters: nothing for 0, then a, b, … z, aa, ab and so on."""
    word = ""
    while number:
        number, last = divmod(number - 1, 26)
        word = chr(ord("a") + last) + word
    return word
