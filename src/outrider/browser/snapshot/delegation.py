"""Find elements whose events a framework handles at a container.

React, Svelte, Solid and jQuery listen on a root and keep the handlers of single elements in properties of their own,
which only the page's own world sees. What a page writes there decides only which of its elements get a reference.
"""

import asyncio
from weakref import WeakKeyDictionary

from outrider.browser.protocol.cdp import ProtocolError
from outrider.browser.protocol.frames import MAIN_WORLD, Frame
from outrider.browser.protocol.values import Handle, ScriptError

# Walks the document only where a framework shows itself, and returns each element once.
FIND_SCRIPT = r"""(found) => {
  const EVENTS = /^((dbl|double)?click|mouse(down|up)|pointer(down|up)|touchstart|contextmenu|drop|dragstart)$/;
  const all = document.body ? document.body.getElementsByTagName("*") : [];
  const keysOf = (element) => Object.keys(element);
  const isJQuery = (key) => /^jQuery\d/.test(key);
  const step = Math.max(1, Math.floor(all.length / 40));
  const samples = Array.from({ length: Math.min(all.length, 40) }, (_, at) => all[at * step]);
  const isReact = samples.some((each) => keysOf(each).some((key) => key.startsWith("__reactProps$")));
  const roots = [document, document.documentElement, document.body].filter(Boolean);
  const usesJQuery = "jQuery" in window || [...roots, ...samples].some((each) => keysOf(each).some(isJQuery));
  if (!isReact && !usesJQuery && !("__svelte" in window) && !("_$DX_DELEGATE" in document)) return null;
  const results = [];
  const add = (element) => {
    if (found.has(element) || results.length >= 200) return;
    found.add(element);
    results.push(element);
  };
  const addDelegated = (root, data) => {
    for (const [type, handlers] of Object.entries(data?.events || {})) {
      if (!EVENTS.test(type)) continue;
      for (const { selector } of handlers) if (selector) for (const each of root.querySelectorAll(selector)) add(each);
    }
  };
  const handles = (element, key) => {
    const isHandler = ([name, value]) => typeof value === "function" && EVENTS.test(name.slice(2).toLowerCase());
    if (key.startsWith("__reactProps$")) return Object.entries(element[key] || {}).some(isHandler);
    return /^(\$\$|__)/.test(key) && EVENTS.test(key.slice(2));
  };
  for (const element of [...roots, ...all]) {
    for (const key of keysOf(element)) {
      if (isJQuery(key)) addDelegated(element, element[key]);
      else if (element.nodeType === 1 && handles(element, key)) add(element);
    }
  }
  return results;
}"""


class DelegatedHandlers:
    """Finds elements with handlers of frameworks."""

    def __init__(self) -> None:
        self._found: WeakKeyDictionary[Frame, tuple[str, Handle, list[int]]] = WeakKeyDictionary()

    async def list_nodes(self, frame: Frame, stamp: str) -> list[int]:
        """Return the backend node ids of all elements that were found up to now.

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
        except ScriptError:  # a page may have replaced what the script uses
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
