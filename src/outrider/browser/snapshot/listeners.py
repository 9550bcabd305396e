"""Which elements the page's own code listens on: clickable although nothing about them says so.

The browser is asked (`DOMDebugger.getEventListeners`), so the page's functions stay as they are and
closed shadow roots are covered. Its handlers of every kind count, React's included.

Asked through the page's own world: through an isolated one, Chromium 156 crashes on pages with frames.
"""

import asyncio
from weakref import WeakKeyDictionary, WeakSet

from outrider.browser.protocol.cdp import ContextGone, ProtocolError
from outrider.browser.protocol.frames import MAIN_WORLD, Frame
from outrider.browser.protocol.scripts import ISOLATED_WORLD

POINTER_EVENTS = frozenset(
    {"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "dragstart"}
)
MARK_SCRIPT = """(...elements) => {
  if (!globalThis.outrider) return false;
  outrider.markListening(...elements);
  return true;
}"""


class Listeners:
    """Marks listening elements for the scripts, each once a document."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Frame, tuple[str, str, set[int]]] = WeakKeyDictionary()
        self._shadowed: WeakSet[Frame] = WeakSet()

    def has_shadows(self, frame: Frame) -> bool:
        """Whether shadow roots of a frame are looked into as well."""
        return frame in self._shadowed

    def include_shadows(self, frame: Frame) -> None:
        """Looks into them from now on: it takes the browser through all frames too, so only where there are any."""
        self._shadowed.add(frame)

    async def is_known(self, frame: Frame) -> bool:
        """Whether the document in a frame has been looked through before."""
        return self._known.get(frame, ("",))[0] == await self._build_stamp(frame)

    async def mark_new(self, frame: Frame) -> int | None:
        """Marks what listens in a frame and was not yet marked.

        Returns:
            How many elements these are; None where the scripts are not installed.
        """
        max_new_elements = 500  # elements that one look takes in; the next look takes the next
        document, known = await self._ensure_document(frame)
        asked = {"objectId": document, "depth": -1, "pierce": frame in self._shadowed}
        try:
            answer = await frame.channel.send("DOMDebugger.getEventListeners", asked)
        except ContextGone:
            raise
        except ProtocolError:  # a document that is being replaced
            return 0
        pointing = (each["backendNodeId"] for each in answer["listeners"] if each["type"] in POINTER_EVENTS)
        fresh = [node for node in dict.fromkeys(pointing) if node not in known][:max_new_elements]
        if fresh and not await self._mark_nodes(frame, fresh):
            return None
        known.update(fresh)
        return len(fresh)

    async def _ensure_document(self, frame: Frame) -> tuple[str, set[int]]:
        loader, document, known = self._known.get(frame, ("", "", set()))
        stamp = await self._build_stamp(frame)
        if loader != stamp:
            document, known = (await frame.evaluate_handle(MAIN_WORLD, "() => document")).object_id, set()
            self._known[frame] = (stamp, document, known)
        return document, known

    async def _build_stamp(self, frame: Frame) -> str:
        return f"{frame.loader} {await frame.ensure_context(ISOLATED_WORLD)} {await frame.ensure_context(MAIN_WORLD)}"

    async def _mark_nodes(self, frame: Frame, nodes: list[int]) -> bool:
        context = await frame.ensure_context(ISOLATED_WORLD)
        asked = [
            frame.channel.send("DOM.resolveNode", {"backendNodeId": node, "executionContextId": context})
            for node in nodes
        ]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        found = [{"objectId": each["object"]["objectId"]} for each in answers if isinstance(each, dict)]
        marked = {
            "functionDeclaration": MARK_SCRIPT,
            "arguments": found,
            "executionContextId": context,
            "returnByValue": True,
        }
        return (await frame.channel.send("Runtime.callFunctionOn", marked))["result"].get("value") is not False
