"""Install and call the package's page scripts, once per document.

They run in an isolated world, so the page neither sees nor changes them. They hand out references:
`e12` in the page's first document, `ea12`, `ej12` in its next ones, `fa12` in a frame. Numbers restart
in each document, so that they stay short, and no reference is ever given twice.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.refs import DOCUMENT_LETTERS, ESCAPE_SOURCE
from outrider.browser.protocol.values import Handle
from outrider.core.untrusted import BLANK_LETTERS, REPEATED_JOINERS, STRAY_JOINER, STRAY_SELECTOR

ISOLATED_WORLD = "outrider"
INSTALL_SCRIPT = """(prefix) => {
  if (!globalThis.outrider) { (%s)(); outrider.setRefPrefix(prefix); }
  return outrider.prefix();
}"""


@cache
def load_source() -> str:
    """Return all scripts as one function, to run once in a document's isolated world."""
    folder = files("outrider.browser") / "scripts"
    paths = sorted((path for path in folder.iterdir() if path.name.endswith(".js")), key=str)
    texts = [path.read_text("utf-8") for path in paths]
    patterns = {
        "REF_LIKE": ESCAPE_SOURCE,
        "BLANK_LETTERS": BLANK_LETTERS.pattern,
        "STRAY_SELECTOR": STRAY_SELECTOR.pattern,
        "STRAY_JOINER": STRAY_JOINER.pattern,
        "REPEATED_JOINERS": REPEATED_JOINERS.pattern,
    }
    shared = [f"const {name} = new RegExp({json.dumps(source)}, 'gu');" for name, source in patterns.items()]
    return "() => {\n'use strict';\n" + "\n".join([*shared, *texts]) + "\n}"


class PageScripts:
    """Calls the scripts in the frames of one page.

    Args:
        page: The page.
    """

    def __init__(self, page: BrowserPage) -> None:
        self.page = page
        self._prefixes: dict[str, str] = {}
        self._next_prefix = {"e": 0, "f": 1}
        self._owner_refs: dict[tuple[str, str], str] = {}

    def find_frame(self, ref: str) -> Frame | None:
        """Return the frame that a reference belongs to; None when its document is gone."""
        prefix = ref.rstrip("0123456789")
        return next((frame for frame in self.page.frames if self._prefixes.get(frame.id) == prefix), None)

    async def invoke(self, frame: Frame, name: str, *args: object) -> Any:
        """Call one of the scripts' functions (`scripts/api.js`) and return its result.

        Raises:
            ScriptError, ContextGone, PageGone, BrowserGone, CommandTimeout: See `Frame.evaluate`.
        """
        call_script = "(name, args) => globalThis.outrider ? outrider.call(name, args) : null"
        answer = await frame.evaluate(ISOLATED_WORLD, call_script, name, args)
        if answer is None:
            await self.ensure_installed(frame)
            answer = await frame.evaluate(ISOLATED_WORLD, call_script, name, args)
        self._prefixes[frame.id] = answer["prefix"]
        return answer["value"]

    async def ensure_installed(self, frame: Frame) -> None:
        """Install the scripts in a frame's document; a second call does nothing."""
        kind = "e" if frame.parent is None else "f"
        proposed = kind + to_letters(self._next_prefix[kind])
        self._next_prefix[kind] += 1
        self._prefixes[frame.id] = await frame.evaluate(ISOLATED_WORLD, INSTALL_SCRIPT % load_source(), proposed)

    async def resolve_element(self, frame: Frame, ref: str) -> Handle:
        """Return a handle to the element of a reference."""
        return await frame.evaluate_handle(ISOLATED_WORLD, "(ref) => outrider.elementOf(ref)", ref)

    async def find_owner_ref(self, frame: Frame) -> str:
        """Return the reference of the element that embeds a frame, in the frame around it."""
        assert frame.parent is not None, "the main frame has no owner element"
        key = (frame.id, frame.parent.loader)
        if key not in self._owner_refs:
            await self.invoke(frame.parent, "readPosition")
            owner = await self.page.find_frame_owner(frame, ISOLATED_WORLD)
            self._owner_refs[key] = await frame.parent.evaluate(
                ISOLATED_WORLD, "(owner) => outrider.refOf(owner)", owner
            )
        return self._owner_refs[key]


def to_letters(number: int) -> str:
    """Write a number in letters: nothing for 0, then a, j, … z, aa, aj and so on."""
    word = ""
    while number:
        number, last = divmod(number - 1, len(DOCUMENT_LETTERS))
        word = DOCUMENT_LETTERS[last] + word
    return word
