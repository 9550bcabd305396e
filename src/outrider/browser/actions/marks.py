"""Draw references on a page while a screenshot is taken."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from outrider.browser.actions.page_tools import PageTools
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.snapshot.extract_dom import list_boxes

DRAW_REFS_SCRIPT = """(boxes, code) => {
  const host = document.createElement('outrider-marks');
  host.style.cssText = 'all: initial; position: fixed; inset: 0; z-index: 2147483647; pointer-events: none';
  const root = host.attachShadow({mode: 'closed'});
  for (const {ref, x, y, width, height} of boxes) {
    const box = document.createElement('div');
    box.style.cssText = `position: fixed; left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px;
      box-sizing: border-box; border: 2px solid #d00`;
    const label = document.createElement('span');
    label.textContent = `${code} ${ref}`;
    label.style.cssText = `position: absolute; left: -2px; top: ${y > 14 ? -14 : 0}px; padding: 0 3px;
      font: bold 11px/14px monospace; color: #fff; background: #d00`;
    box.append(label);
    root.append(box);
  }
  document.documentElement.append(host);
  globalThis.outriderMarks = host;
}"""


@dataclass(frozen=True)
class DrawnRefs:
    """The labels on a picture.

    Attributes:
        count: The number of labels.
        code: The beginning of each label. It is random, because a page can paint labels of its own.
    """

    count: int
    code: str


@asynccontextmanager
async def draw_refs(tools: PageTools) -> AsyncGenerator[DrawnRefs]:
    """Draw the references of actionable elements over the viewport for the length of the context."""
    unlike_letters = "ACDEFHJKLMNPRTUVWXY3479"  # letters that are hard to confuse in a picture
    code = "".join(secrets.choice(unlike_letters) for _ in range(3))
    clear_script = "() => { globalThis.outriderMarks?.remove(); delete globalThis.outriderMarks; }"
    boxes = await list_boxes(tools.snapshotter)
    await tools.page.evaluate_in(ISOLATED_WORLD, DRAW_REFS_SCRIPT, boxes, code)
    try:
        yield DrawnRefs(len(boxes), code)
    finally:
        await tools.page.evaluate_in(ISOLATED_WORLD, clear_script)
