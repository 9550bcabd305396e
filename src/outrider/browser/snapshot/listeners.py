"""Find elements with event listeners, which nothing in the markup shows as clickable.

The browser lists them (`DOMDebugger.getEventListeners`), so the page's functions stay unpatched and
closed shadow roots are covered. Handlers that frameworks such as React keep at a container count as well.

The request names the page's own world: with an isolated one, Chromium 156 crashes on pages with frames.
"""

import asyncio
from weakref import WeakKeyDictionary, WeakSet

from outrider.browser.protocol.cdp import ContextGone, ProtocolError
from outrider.browser.protocol.frames import MAIN_WORLD, Frame
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.snapshot.delegation import DelegatedHandlers

POINTER_EVENTS = frozenset(
    {"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend", "contextmenu"}
    | {"dragstart", "dragover", "drop", "mouseenter", "mouseover", "pointerenter", "pointerover"}
)
GRAB_EVENTS = frozenset({"mousedown", "pointerdown", "touchstart", "dragstart"})
MARK_SCRIPT = """(kinds, ...elements) => {
  if (!Object.hasOwn(globalThis, "outrider")) return false;
  outrider.markListening(kinds, ...elements);
  return true;
}"""


class Listeners:
    """Marks elements with listeners for the scripts, each once per document."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Frame, tuple[str, str, set[int]]] = WeakKeyDictionary()
        self._shadowed: WeakSet[Frame] = WeakSet()
        self._delegated = DelegatedHandlers()

    def has_shadows(self, frame: Frame) -> bool:
        """Return whether shadow roots of a frame are searched too."""
        return frame in self._shadowed

    def include_shadows(self, frame: Frame) -> None:
        """Search shadow roots of a frame from now on; it makes the browser walk all frames, so only where needed."""
        self._shadowed.add(frame)

    async def is_known(self, frame: Frame) -> bool:
        """Return whether the frame's current document has been searched before."""
        return self._known.get(frame, ("",))[0] == await self._build_stamp(frame)

    async def mark_new(self, frame: Frame) -> int | None:
        """Mark the elements of a frame that have listeners and are not marked yet.

        Returns:
            How many elements were marked; None when the scripts are not installed.
        """
        max_new_elements = 500  # per call; the next call marks the next ones
        stamp, document, known = self._known.get(frame, ("", "", set()))
        current_stamp = await self._build_stamp(frame)
        if stamp != current_stamp:
            document, known = (await frame.evaluate_handle(MAIN_WORLD, "() => document")).object_id, set()
            self._known[frame] = (current_stamp, document, known)
        params = {"objectId": document, "depth": -1, "pierce": frame in self._shadowed}
        try:
            answer, delegated = await asyncio.gather(
                frame.channel.send("DOMDebugger.getEventListeners", params),
                self._delegated.list_nodes(frame, current_stamp),
            )
        except ContextGone:
            raise
        except ProtocolError:  # the document is being replaced
            return 0
        events: dict[int, set[str]] = {}
        for listener in answer["listeners"]:
            if listener["type"] in POINTER_EVENTS:
                events.setdefault(listener["backendNodeId"], set()).add(listener["type"])
        new_nodes = [node for node in dict.fromkeys([*events, *delegated]) if node not in known][:max_new_elements]
        if new_nodes and not await self._mark_nodes(frame, {node: events.get(node, set()) for node in new_nodes}):
            return None
        known.update(new_nodes)
        return len(new_nodes)

    async def _build_stamp(self, frame: Frame) -> str:
        """Return a string that changes with the frame's document or one of its worlds."""
        return f"{frame.loader} {await frame.ensure_context(ISOLATED_WORLD)} {await frame.ensure_context(MAIN_WORLD)}"

    async def _mark_nodes(self, frame: Frame, nodes: dict[int, set[str]]) -> bool:
        context = await frame.ensure_context(ISOLATED_WORLD)
        requests = [
            frame.channel.send("DOM.resolveNode", {"backendNodeId": node, "executionContextId": context})
            for node in nodes
        ]
        answers = await asyncio.gather(*requests, return_exceptions=True)
        found = {
            node: {"objectId": answer["object"]["objectId"]}
            for node, answer in zip(nodes, answers, strict=True)
            if isinstance(answer, dict)
        }
        kinds = "".join(_classify_events(nodes[node]) for node in found)
        params = {
            "functionDeclaration": MARK_SCRIPT,
            "arguments": [{"value": kinds}, *found.values()],
            "executionContextId": context,
            "returnByValue": True,
        }
        return (await frame.channel.send("Runtime.callFunctionOn", params))["result"].get("value") is not False


def _classify_events(events: set[str]) -> str:
    """Return one character, as `markListening` in scripts/api.js reads it."""
    is_grabbed = not events.isdisjoint(GRAB_EVENTS)
    if "dblclick" in events:
        return "b" if is_grabbed else "d"
    return "g" if is_grabbed else "-"
