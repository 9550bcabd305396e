"""The scripts that look at a page and take hold of it, one installation a document.

They live in an isolated world: the page neither sees nor can change them. References are theirs:
`e12` in the page's first document, `ea12`, `eb12` in its next ones, `fa12` in a frame. Numbers begin
anew in each document, so that they stay short, and no reference is ever given twice.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Any

from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.values import Handle

ISOLATED_WORLD = "outrider"
REF_PATTERN = re.compile(r"(?:e[a-z]*|f[a-z]+)[1-9]\d*")
INSTALL_SCRIPT = """(prefix) => {
  if (!globalThis.outrider) { (%s)(); outrider.begin(prefix); }
  return outrider.prefix();
}"""


@cache
def load_source() -> str:
    """All scripts as one, to be run once in a document's isolated world."""
    folder = files("outrider.browser") / "scripts"
    texts = [each.read_text("utf-8") for each in sorted(folder.iterdir(), key=str) if each.name.endswith(".js")]
    return "() => {\n'use strict';\n" + "\n".join(texts) + "\n}"


class PageScripts:
    """The scripts of one page.

    Args:
        page: Whose frames they run in.
    """

    def __init__(self, page: BrowserPage) -> None:
        self.page = page
        self._prefixes: dict[str, str] = {}
        self._next_prefix = {"e": 0, "f": 1}
        self._owner_refs: dict[tuple[str, str], str] = {}

    def find_frame(self, ref: str) -> Frame | None:
        """The frame that gave a reference, if its document is still there."""
        prefix = ref.rstrip("0123456789")
        return next((each for each in self.page.frames if self._prefixes.get(each.id) == prefix), None)

    async def invoke(self, frame: Frame, name: str, *args: object) -> Any:
        """What one of the scripts' functions (`scripts/api.js`) returns.

        Raises:
            ScriptError, ContextGone, PageGone, BrowserGone, Hung: as `Frame.evaluate`.
        """
        call_script = "(name, args) => globalThis.outrider ? outrider.call(name, args) : null"
        answer = await frame.evaluate(ISOLATED_WORLD, call_script, name, args)
        if answer is None:
            await self.ensure_installed(frame)
            answer = await frame.evaluate(ISOLATED_WORLD, call_script, name, args)
        self._prefixes[frame.id] = answer["prefix"]
        return answer["value"]

    async def ensure_installed(self, frame: Frame) -> None:
        """Puts the scripts into a frame's document; a second time does nothing."""
        kind = "e" if frame.parent is None else "f"
        proposed = kind + to_letters(self._next_prefix[kind])
        self._next_prefix[kind] += 1
        self._prefixes[frame.id] = await frame.evaluate(ISOLATED_WORLD, INSTALL_SCRIPT % load_source(), proposed)

    async def resolve_element(self, frame: Frame, ref: str) -> Handle:
        """The element of a reference, as a handle."""
        return await frame.evaluate_handle(ISOLATED_WORLD, "(ref) => outrider.elementOf(ref)", ref)

    async def find_owner_ref(self, frame: Frame) -> str:
        """The reference of the element that shows a frame, in the frame around it."""
        assert frame.parent is not None, "the page itself has no owner"
        key = (frame.id, frame.parent.loader)
        if key not in self._owner_refs:
            await self.invoke(frame.parent, "position")
            owner = await self.page.find_frame_owner(frame, ISOLATED_WORLD)
            self._owner_refs[key] = await frame.parent.evaluate(
                ISOLATED_WORLD, "(owner) => outrider.nameFrame(owner)", owner
            )
        return self._owner_refs[key]


def to_letters(number: int) -> str:
    """The number in letters: nothing for 0, then a, b, … z, aa, ab and so on."""
    word = ""
    while number:
        number, last = divmod(number - 1, 26)
        word = chr(ord("a") + last) + word
    return word
