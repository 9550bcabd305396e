"""Install and call the package's page scripts, once per document.

They run in an isolated world, so the page neither sees nor changes them. They hand out references:
`e12` in the page's first document, `ea12`, `ej12` in its next ones, `fa12` in a frame. Numbers restart in each
document, so that they stay short, and no reference is used twice.
"""

import asyncio
import json
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any

from outrider.browser.protocol.cdp import ContextGone
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.refs import DOCUMENT_LETTERS, ESCAPE_SOURCE
from outrider.browser.protocol.values import Handle
from outrider.core.errors import NotFound
from outrider.core.untrusted import BLANK_LETTERS, REPEATED_JOINERS, STRAY_JOINER, STRAY_SELECTOR

ISOLATED_WORLD = "outrider"
IS_INSTALLED = "Object.hasOwn(globalThis, 'outrider')"  # a plain look-up would also find an element with this id
ADOPT_PREFIX_SCRIPT = f"(prefix) => {IS_INSTALLED} ? outrider.adoptPrefix(prefix) : ''"
INSTALL_SCRIPT = f"(prefix) => {{{{ if (!{IS_INSTALLED}) ({{}})(); return outrider.adoptPrefix(prefix); }}}}"


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
        call_script = f"(name, args) => {IS_INSTALLED} && outrider.prefix() ? outrider.call(name, args) : null"
        max_documents = 5  # a link or a redirect may replace the document between installing and calling
        for _ in range(max_documents):
            answer = await frame.evaluate(ISOLATED_WORLD, call_script, name, args)
            if answer is not None:
                self._prefixes[frame.id] = answer["prefix"]
                return answer["value"]
            await self.ensure_installed(frame)
        raise ContextGone("Runtime.callFunctionOn", -32000, "the page replaces its document all the time")

    async def ensure_installed(self, frame: Frame) -> None:
        """Install the scripts in a frame's document; a second call does nothing."""
        kind = "e" if frame.parent is None else "f"
        proposed = kind + to_letters(self._next_prefix[kind])
        self._next_prefix[kind] += 1
        prefix = await frame.evaluate(ISOLATED_WORLD, ADOPT_PREFIX_SCRIPT, proposed)
        prefix = prefix or await frame.evaluate(ISOLATED_WORLD, INSTALL_SCRIPT.format(load_source()), proposed)
        self._prefixes[frame.id] = prefix

    async def install_in_many(self, frames: list[Frame]) -> None:
        """Install the scripts in all documents of channels with several frames that lack them.

        The browser gets the source once for all of them: for hundreds of frames, sending it to each takes longer
        than reading them.
        """
        min_frames = 8
        lacking = Counter(frame.channel for frame in frames if ISOLATED_WORLD not in frame.worlds)
        source = f"if (!{IS_INSTALLED}) ({load_source()})();"
        params = {"source": source, "worldName": ISOLATED_WORLD, "runImmediately": True}
        for channel, count in lacking.items():
            if count < min_frames:
                continue
            script = (await channel.send("Page.addScriptToEvaluateOnNewDocument", params))["identifier"]
            await channel.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})

    async def resolve_element(self, frame: Frame, ref: str) -> Handle:
        """Return a handle to the element of a reference."""
        return await frame.evaluate_handle(ISOLATED_WORLD, "(ref) => outrider.elementOf(ref)", ref)

    async def find_owner_ref(self, frame: Frame) -> str:
        """Return the reference of the element that embeds a frame, in the frame around it.

        Raises NotFound: No element embeds it any longer.
        """
        owner_ref = (await self.find_owner_refs([frame])).get(frame)
        if owner_ref is None:
            raise NotFound("the frame is gone", code="frame_gone", hint="take a snapshot")
        return owner_ref

    async def find_owner_refs(self, frames: list[Frame]) -> dict[Frame, str]:
        """Return the references of the elements that embed frames.

        The frames have one parent; those that are gone are left out.
        """
        parent = frames[0].parent if frames else None
        if parent is None:
            return {}
        unknown = [frame for frame in frames if (frame.id, parent.loader) not in self._owner_refs]
        if unknown:
            await self.ensure_installed(parent)
            find = (self.page.find_frame_owner(frame, ISOLATED_WORLD) for frame in unknown)
            found = await asyncio.gather(*find, return_exceptions=True)
            owners = {frame: owner for frame, owner in zip(unknown, found, strict=True) if isinstance(owner, Handle)}
            script = "(...owners) => owners.map((owner) => outrider.refOf(owner))"
            refs = await parent.evaluate(ISOLATED_WORLD, script, *owners.values())
            self._owner_refs |= {(frame.id, parent.loader): ref for frame, ref in zip(owners, refs, strict=True)}
        known = {frame: self._owner_refs.get((frame.id, parent.loader)) for frame in frames}
        return {frame: ref for frame, ref in known.items() if ref is not None}


def to_letters(number: int) -> str:
    """Write a number in letters: nothing for 0, then a, j, … z, aa, aj and so on."""
    word = ""
    while number:
        number, last = divmod(number - 1, len(DOCUMENT_LETTERS))
        word = DOCUMENT_LETTERS[last] + word
    return word
