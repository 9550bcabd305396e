"""Which elements the page's own code listens on: clickable although nothing about them says so.

The browser is asked (`DOMDebugger.getEventListeners`), so the page's functions stay as they are and
closed shadow roots are covered. Its handlers of every kind count, React's included.
"""

import asyncio
from weakref import WeakKeyDictionary

from outrider.browser.cdp import ProtocolError
from outrider.browser.frames import Frame
from outrider.browser.scripts import WORLD

POINTING = frozenset(
    {"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "dragstart"}
)
AT_ONCE = 500  # elements that one look takes in; the next look takes the next
MARK = "(...elements) => outrider.markListening(...elements)"


class Listeners:
    """Marks listening elements for the scripts, each once a document."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Frame, tuple[str, str, set[int]]] = WeakKeyDictionary()

    async def mark(self, frame: Frame) -> int:
        """Marks what listens in a frame and was not yet marked; returns how many elements that were."""
        try:
            document, known = await self._document(frame)
            answer = await frame.channel.send(
                "DOMDebugger.getEventListeners", {"objectId": document, "depth": -1, "pierce": True}
            )
        except ProtocolError:
            return 0
        pointing = (each["backendNodeId"] for each in answer["listeners"] if each["type"] in POINTING)
        fresh = [node for node in dict.fromkeys(pointing) if node not in known][:AT_ONCE]
        known.update(fresh)
        if fresh:
            await self._hand_over(frame, fresh)
        return len(fresh)

    async def _document(self, frame: Frame) -> tuple[str, set[int]]:
        loader, document, known = self._known.get(frame, ("", "", set()))
        context = await frame.context(WORLD)
        stamp = f"{frame.loader} {context}"
        if loader != stamp:
            document, known = (await frame.handle(WORLD, "() => document")).object_id, set()
            self._known[frame] = (stamp, document, known)
        return document, known

    async def _hand_over(self, frame: Frame, nodes: list[int]) -> None:
        context = await frame.context(WORLD)
        asked = [
            frame.channel.send("DOM.resolveNode", {"backendNodeId": node, "executionContextId": context})
            for node in nodes
        ]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        found = [{"objectId": each["object"]["objectId"]} for each in answers if isinstance(each, dict)]
        await frame.channel.send(
            "Runtime.callFunctionOn",
            {"functionDeclaration": MARK, "arguments": found, "executionContextId": context},
        )
