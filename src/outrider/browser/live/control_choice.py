"""Drop-down lists for a person who has control: the browser draws theirs beside the page, where no picture shows it."""

from typing import Any

from outrider.browser.protocol.cdp import ProtocolError
from outrider.browser.protocol.page import BrowserPage
from outrider.core.errors import NotFound, OutriderError

ISOLATED_WORLD = "outrider"
SCRIPT_TIMEOUT_S = 2.0
# The list under a point of the viewport, through frames of the same origin and open shadow roots.
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
DESCRIBE_LIST_SCRIPT = """(x, y, most) => {
  const list = (%s)(x, y);
  return list && {
    selected: list.selectedIndex,
    options: [...list.options].slice(0, most)
      .map((each) => ({label: each.label.slice(0, 200), disabled: each.disabled})),
  };
}"""
# Without focus the browser takes its own list away.
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
    """The drop-down list at a point: `{selected, options: [{label, disabled}]}`; None if none is there."""
    max_options = 500  # options that are told
    try:
        return await page.evaluate_in(
            ISOLATED_WORLD, DESCRIBE_LIST_SCRIPT % FIND_LIST_SCRIPT, x, y, max_options, timeout=SCRIPT_TIMEOUT_S
        )
    except (OutriderError, ProtocolError):  # on its way elsewhere, or busy with itself
        return None


async def choose_option(page: BrowserPage, x: float, y: float, index: int) -> None:
    """Chooses an option of the list at a point, as a person does who clicks it. Raises NotFound."""
    if not await page.evaluate_in(
        ISOLATED_WORLD, CHOOSE_OPTION_SCRIPT % FIND_LIST_SCRIPT, x, y, index, timeout=SCRIPT_TIMEOUT_S
    ):
        raise NotFound("this option cannot be chosen any more", hint="click the list again")
