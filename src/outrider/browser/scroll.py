"""Scrolling a page, or a box in it, by so many pixels."""

from typing import Any, Literal

from outrider.browser.grip import Grip, element
from outrider.browser.outcome import Outcome
from outrider.browser.scripts import WORLD
from outrider.browser.settle import mark, settle
from outrider.browser.watch import Watch

Direction = Literal["up", "down", "left", "right"]
STEPS: dict[Direction, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
# The page itself; where that does not move, the box in its middle, as in applications that fill the window.
SCROLL = """(start, dx, dy) => {
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


async def scroll(held: Grip, direction: Direction, amount: float, selector: str = "") -> tuple[dict[str, Any], Outcome]:
    """Scrolls, waits for what comes into view to be loaded, and says where one is and what is different.

    Args:
        held: The page.
        direction: Where to.
        amount: CSS pixels.
        selector: An element; the nearest box around it that can be scrolled is.

    Returns:
        The position `{x, y, atTop, atBottom, atLeft, atRight, scrollHeight, scrollWidth, moved}`, and the outcome.

    Raises:
        InvalidInput, NotFound: The selector.
    """
    frame, start = await element(held, selector) if selector else (held.page.main, None)
    across, down = STEPS[direction]
    await held.hands.remember(None)
    with Watch(held.page) as watch:
        since = mark(held.page)
        position = await frame.evaluate(WORLD, SCROLL, start, across * amount, down * amount)
        await settle(held.page, since)
        return position, await held.hands.outcome("scroll", None, watch, {}, None, element=direction)
