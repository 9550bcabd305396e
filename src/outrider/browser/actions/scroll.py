"""Scroll a page or a box inside it."""

from typing import Any, Literal

from outrider.browser.actions.outcome import ActionOutcome
from outrider.browser.actions.page_tools import PageTools, find_element
from outrider.browser.page.settle import capture_baseline, wait_until_settled
from outrider.browser.page.watch import ActionMonitor
from outrider.browser.protocol.scripts import ISOLATED_WORLD

ScrollDirection = Literal["up", "down", "left", "right"]
DIRECTION_VECTORS: dict[ScrollDirection, tuple[int, int]] = {
    "up": (0, -1),
    "down": (0, 1),
    "left": (-1, 0),
    "right": (1, 0),
}
# Scrolls the page; if it does not scroll, the box in its middle, for applications that fill the window.
SCROLL_SCRIPT = """(start, dx, dy) => {
  const root = document.scrollingElement || document.documentElement;
  const moves = (box) => {
    const style = getComputedStyle(box), may = /auto|scroll|overlay/;
    return (dy && may.test(style.overflowY) && box.scrollHeight > box.clientHeight)
      || (dx && may.test(style.overflowX) && box.scrollWidth > box.clientWidth);
  };
  const rootMoves = dy ? root.scrollHeight > innerHeight + 1 : root.scrollWidth > innerWidth + 1;
  let box = start || (rootMoves ? root : document.elementFromPoint(innerWidth / 2, innerHeight / 2));
  while (box && box !== root && !moves(box)) box = box.parentElement || box.getRootNode().host || null;
  box = box || root;
  const [x, y] = [box.scrollLeft, box.scrollTop];
  box.scrollBy({left: dx, top: dy, behavior: 'instant'});
  const height = box === root ? innerHeight : box.clientHeight, width = box === root ? innerWidth : box.clientWidth;
  return {
    x: Math.round(box.scrollLeft), y: Math.round(box.scrollTop),
    atTop: box.scrollTop <= 0, atBottom: box.scrollTop + height >= box.scrollHeight - 1,
    atLeft: box.scrollLeft <= 0, atRight: box.scrollLeft + width >= box.scrollWidth - 1,
    scrollHeight: box.scrollHeight, scrollWidth: box.scrollWidth, moved: box.scrollLeft !== x || box.scrollTop !== y,
  };
}"""


async def scroll_page(
    tools: PageTools, direction: ScrollDirection, amount: float, selector: str = ""
) -> tuple[dict[str, Any], ActionOutcome]:
    """Scroll, wait for content that comes into view, and report the position and what has changed.

    Args:
        tools: The page's tools.
        direction: Where to scroll.
        amount: CSS pixels.
        selector: An element whose nearest scrollable ancestor is scrolled; empty for the page.

    Returns:
        The position `{x, y, atTop, atBottom, atLeft, atRight, scrollHeight, scrollWidth, moved}`, and the outcome.

    Raises:
        InvalidInput, NotFound: The selector is not valid, or matches nothing.
    """
    frame, start = await find_element(tools, selector) if selector else (tools.page.main, None)
    across, down = DIRECTION_VECTORS[direction]
    await tools.pointer.ensure_baseline(None)
    with ActionMonitor(tools.page) as monitor:
        baseline = capture_baseline(tools.page)
        position = await frame.evaluate(ISOLATED_WORLD, SCROLL_SCRIPT, start, across * amount, down * amount)
        await wait_until_settled(tools.page, baseline)
        return position, await tools.pointer.build_outcome("scroll", None, monitor, {}, None, element=direction)
