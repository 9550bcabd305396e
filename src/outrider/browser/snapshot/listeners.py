"""Find elements that only an event listener makes clickable.

The browser lists them (`DOMDebugger.getEventListeners`), so the page's functions stay unpatched and
closed shadow roots are covered. Handlers that frameworks such as React keep at a container are found as well.

The request names the page's own world: with an isolated one, Chromium 156 crashes on pages with frames.
"""

import asyncio
from weakref import WeakKeyDictionary, WeakSet

from outrider.browser.protocol.cdp import ContextGone, ProtocolError
from outrider.browser.protocol.frames import MAIN_WORLD, Frame
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.protocol.values import Handle, ScriptError

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
# Walks the document only if it finds a framework, and returns each element once.
FIND_SCRIPT = r"""(found) => {
  const EVENTS = /^((dbl|double)?click|mouse(down|up)|pointer(down|up)|touchstart|contextmenu|drop|dragstart)$/;
  const all = document.body ? document.body.getElementsByTagName("*") : [];
  const keysOf = (element) => Object.keys(element);
  const isJQuery = (key) => /^jQuery\d/.test(key);
  const step = Math.max(1, Math.floor(all.length / 40));
  const samples = Array.from({ length: Math.min(all.length, 40) }, (_, at) => all[at * step]);
  const REACT_KEY = /^__react(Props|EventHandlers|InternalInstance)\$/; // React 17 and newer, 16, and 15
  const isReact = samples.some((each) => keysOf(each).some((key) => REACT_KEY.test(key)));
  const roots = [document, document.documentElement, document.body].filter(Boolean);
  const usesJQuery = "jQuery" in window || [...roots, ...samples].some((each) => keysOf(each).some(isJQuery));
  const isOther = "__svelte" in window || "_$DX_DELEGATE" in document || document.querySelector(".au-target") !== null;
  if (!isReact && !usesJQuery && !isOther) return null;
  const results = [];
  const add = (element) => {
    if (found.has(element) || results.length >= 200) return;
    found.add(element);
    results.push(element);
  };
  // jQuery has selectors of its own, such as "> .icon", which only it can resolve.
  const select = (root, selector) => {
    try {
      return root.querySelectorAll(selector);
    } catch {
      return window.jQuery?.(root).find(selector).get() ?? [];
    }
  };
  const addDelegated = (root, data) => {
    for (const [type, handlers] of Object.entries(data?.events || {})) {
      if (!EVENTS.test(type)) continue;
      for (const { selector } of handlers) if (selector) for (const each of select(root, selector)) add(each);
    }
  };
  const handles = (element, key) => {
    const isHandler = ([name, value]) => typeof value === "function" && EVENTS.test(name.slice(2).toLowerCase());
    if (REACT_KEY.test(key)) {
      return Object.entries(element[key]?._currentElement?.props || element[key] || {}).some(isHandler);
    }
    return /^(\$\$|__)/.test(key) && EVENTS.test(key.slice(2));
  };
  // Svelte keeps handlers by type under a symbol, and Aurelia under a name.
  const hasHandlers = (element) => {
    const symbol = Object.getOwnPropertySymbols(element).find((each) => each.description === "events");
    const handlers = element[symbol] || element.delegatedCallbacks || {};
    return Object.keys(handlers).some((type) => handlers[type] && EVENTS.test(type));
  };
  for (const element of [...roots, ...all]) {
    if (element.nodeType === 1 && hasHandlers(element)) add(element);
    for (const key of keysOf(element)) {
      if (isJQuery(key)) addDelegated(element, element[key]);
      else if (element.nodeType === 1 && handles(element, key)) add(element);
    }
  }
  return results;
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
        """Search shadow roots of a frame from now on; this is slow, because the browser then walks all frames."""
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


class DelegatedHandlers:
    """Finds elements with handlers of frameworks."""

    def __init__(self) -> None:
        self._found: WeakKeyDictionary[Frame, tuple[str, Handle, list[int]]] = WeakKeyDictionary()

    async def list_nodes(self, frame: Frame, stamp: str) -> list[int]:
        """Return the backend node ids of all elements found so far.

        Args:
            frame: The frame to search.
            stamp: A string that changes with the frame's document.
        """
        known, found, nodes = self._found.get(frame, ("", Handle("", "undefined"), []))
        try:
            if known != stamp:
                found, nodes = await frame.evaluate_handle(MAIN_WORLD, "() => new WeakSet()"), []
                self._found[frame] = (stamp, found, nodes)
            elements = await frame.evaluate_handle(MAIN_WORLD, FIND_SCRIPT, found)
        except ScriptError:  # a page may have replaced functions that the script uses
            return nodes
        if elements.object_id:
            nodes += await self._resolve_nodes(frame, elements)
        return nodes

    async def _resolve_nodes(self, frame: Frame, elements: Handle) -> list[int]:
        params = {"objectId": elements.object_id, "ownProperties": True}
        properties = (await frame.channel.send("Runtime.getProperties", params))["result"]
        items = [each["value"]["objectId"] for each in properties if each["name"].isdigit() and "value" in each]
        requests = [frame.channel.send("DOM.describeNode", {"objectId": item}) for item in items]
        answers = await asyncio.gather(*requests, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, ProtocolError):
                raise answer
        return [answer["node"]["backendNodeId"] for answer in answers if isinstance(answer, dict)]
