"""References drawn on a page for the length of one picture."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from outrider.browser.extract_dom import boxes
from outrider.browser.grip import Grip
from outrider.browser.scripts import WORLD

DRAW = """(boxes) => {
  const host = document.createElement('outrider-marks');
  host.style.cssText = 'all: initial; position: fixed; inset: 0; z-index: 2147483647; pointer-events: none';
  const root = host.attachShadow({mode: 'closed'});
  for (const {ref, x, y, width, height} of boxes) {
    const box = document.createElement('div');
    box.style.cssText = `position: fixed; left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px;
      box-sizing: border-box; border: 2px solid #d00`;
    const label = document.createElement('span');
    label.textContent = ref;
    label.style.cssText = `position: absolute; left: -2px; top: ${y > 14 ? -14 : 0}px; padding: 0 3px;
      font: bold 11px/14px monospace; color: #fff; background: #d00`;
    box.append(label);
    root.append(box);
  }
  document.documentElement.append(host);
  globalThis.outriderMarks = host;
}"""
CLEAR = "() => { globalThis.outriderMarks?.remove(); delete globalThis.outriderMarks; }"


@asynccontextmanager
async def marked(held: Grip) -> AsyncGenerator[int]:
    """The page with the references of what can be acted on in the viewport drawn over it; yields how many."""
    found = await boxes(held.eyes)
    await held.page.evaluate_in(WORLD, DRAW, found)
    try:
        yield len(found)
    finally:
        await held.page.evaluate_in(WORLD, CLEAR)
