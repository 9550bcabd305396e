"""Read and set drop-down lists for people who control a page.

The browser draws these lists outside the page, where no screencast shows them.
"""

from typing import Any

from outrider.browser.protocol.cdp import ProtocolError
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.core.errors import NotFound, OutriderError

SCRIPT_TIMEOUT_S = 2.0
# Finds the list at a point of the viewport, through frames of the same origin and open shadow roots.
FIND_LIST_SCRIPT = """(x, y) => {
  let root = document, found = null;
  for (let depth = 0; depth < 10; depth += 1) {
    found = root.elementFromPoint(x, y);
    if (found?.contentDocument) {
      const box = found.getBoundingClientRect();
      [x, y, root] = [x - box.left - found.clientLeft, y - box.top - found.clientTop, found.contentDocument];
    } else if (found?.shadowRoot && found.shadowRoot !== root) root = found.shadowRoot;
    else break;
  }
  const list = found?.closest('select');
  return list && !list.disabled && !list.multiple && list.size <= 1 ? list : null;
}"""
DESCRIBE_LIST_SCRIPT = """(x, y, maxOptions) => {
  const list = (%s)(x, y);
  return list && {
    selected: list.selectedIndex,
    options: [...list.options].slice(0, maxOptions)
      .map((each) => ({label: each.label.slice(0, 200), disabled: each.disabled})),
  };
}"""
# Removing the focus closes the browser's list.
CHOOSE_OPTION_SCRIPT = """(x, y, index) => {
  const list = (%s)(x, y), option = list?.options[index];
  if (!option || option.disabled) return false;
  list.blur();
  list.focus();
  if (list.selectedIndex !== index) {
    list.selectedIndex = index;
    for (const kind of ['input', 'change']) list.dispatchEvent(new Event(kind, {bubbles: true, composed: true}));
  }
  return true;
}"""


async def find_dropdown(page: BrowserPage, x: float, y: float) -> dict[str, Any] | None:
    """Return the drop-down list at a point, `{selected, options: [{label, disabled}]}`, or None."""
    max_options = 500
    try:
        return await page.evaluate_in(
            ISOLATED_WORLD, DESCRIBE_LIST_SCRIPT % FIND_LIST_SCRIPT, x, y, max_options, timeout=SCRIPT_TIMEOUT_S
        )
    except (OutriderError, ProtocolError):  # the page is navigating or busy
        return None


async def choose_option(page: BrowserPage, x: float, y: float, index: int) -> None:
    """Choose an option of the list at a point, like a person's click. Raises NotFound."""
    if not await page.evaluate_in(
        ISOLATED_WORLD, CHOOSE_OPTION_SCRIPT % FIND_LIST_SCRIPT, x, y, index, timeout=SCRIPT_TIMEOUT_S
    ):
        raise NotFound("this option can no longer be chosen", hint="click the list again")
