"""Scroll a page or a box inside it."""

from typing import Any, Literal

from outrider.browser.actions.outcome import ActionOutcome, remember_action
from outrider.browser.actions.page_tools import PageTools, find_element
from outrider.browser.page.settle import capture_baseline, wait_until_settled
from outrider.browser.protocol.scripts import ISOLATED_WORLD

ScrollDirection = Literal["up", "down", "left", "right"]
DIRECTION_VECTORS: dict[ScrollDirection, tuple[int, int]] = {
    "up": (0, -1),
    "down": (0, 1),
    "left": (-1, 0),
    "right": (1, 0),
}
# Finds the page, or if it does not scroll, the box in its middle (for applications that fill the window), and a point
# where the wheel scrolls exactly that.
FIND_SCROLL_BOX_SCRIPT = """(start, dx, dy) => {
  const root = document.scrollingElement || document.documentElement;
  const moves = (box) => {
    const style = getComputedStyle(box), may = /auto|scroll|overlay/;
    return (dy && may.test(style.overflowY) && box.scrollHeight > box.clientHeight)
      || (dx && may.test(style.overflowX) && box.scrollWidth > box.clientWidth);
  };
  const findBox = (box) => {
    while (box && box !== root && !moves(box)) box = box.parentElement || box.getRootNode().host || null;
    return box || root;
  };
  const rootMoves = dy ? root.scrollHeight > innerHeight + 1 : root.scrollWidth > innerWidth + 1;
  const from = start || (rootMoves ? root : document.elementFromPoint(innerWidth / 2, innerHeight / 2));
  const box = findBox(from);
  const area = start && box === root ? start : box;
  const view = {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
  const frame = area === root ? view : area.getBoundingClientRect();
  const left = Math.max(frame.left, 0), top = Math.max(frame.top, 0);
  const width = Math.min(frame.right, innerWidth) - left, height = Math.min(frame.bottom, innerHeight) - top;
  let point = null;
  const shares = [[.5, .5], [.5, .25], [.5, .75], [.25, .5], [.75, .5], [.02, .5], [.98, .5]];
  for (const [across, down] of width > 0 && height > 0 ? shares : []) {
    const x = left + across * width, y = top + down * height, hit = document.elementFromPoint(x, y);
    if (!hit || /^(iframe|frame|select|embed|object)$/.test(hit.localName) || findBox(hit) !== box) continue;
    if (start && !(area === box ? box.contains(hit) : area.contains(hit))) continue;
    point = [x, y];
    break;
  }
  const seen = {box, x: box.scrollLeft, y: box.scrollTop, handled: false};
  globalThis.outriderScroll = seen;
  addEventListener('wheel', (event) => setTimeout(() => { seen.handled = event.defaultPrevented; }),
    {capture: true, passive: true, once: true});
  return point;
}"""
# Scrolls the distance that the wheel has left, unless the page has handled the wheel itself.
FINISH_SCROLL_SCRIPT = """async (dx, dy) => {
  const seen = globalThis.outriderScroll, box = seen.box, root = document.scrollingElement || document.documentElement;
  const frame = () => new Promise((done) => { setTimeout(done, 50); requestAnimationFrame(done); });
  let last = null, still = 0;
  for (let number = 0; number < 30 && still < 2; number++) {
    await frame();
    const now = `${box.scrollLeft} ${box.scrollTop}`;
    still = now === last ? still + 1 : 0;
    last = now;
  }
  if (!seen.handled) box.scrollTo({left: seen.x + dx, top: seen.y + dy, behavior: 'instant'});
  const height = box === root ? innerHeight : box.clientHeight, width = box === root ? innerWidth : box.clientWidth;
  return {
    x: Math.round(box.scrollLeft), y: Math.round(box.scrollTop),
    atTop: box.scrollTop <= 0, atBottom: box.scrollTop + height >= box.scrollHeight - 1,
    atLeft: box.scrollLeft <= 0, atRight: box.scrollLeft + width >= box.scrollWidth - 1,
    scrollHeight: box.scrollHeight, scrollWidth: box.scrollWidth,
    moved: box.scrollLeft !== seen.x || box.scrollTop !== seen.y, handled: seen.handled,
  };
}"""


async def scroll_page(
    tools: PageTools, direction: ScrollDirection, amount: float, selector: str = ""
) -> tuple[dict[str, Any], ActionOutcome]:
    """Scroll by the wheel, wait for new content, and report the position and the changes.

    If the wheel cannot reach it, the page is scrolled by script.

    Args:
        tools: The page's tools.
        direction: The direction to scroll in.
        amount: CSS pixels.
        selector: An element whose nearest scrollable ancestor is scrolled; empty for the page.

    Returns:
        The position `{x, y, atTop, atBottom, atLeft, atRight, scrollHeight, scrollWidth, moved, handled}`, and the
        outcome; `handled` if the page has used the wheel itself, as maps do.

    Raises:
        InvalidInput, NotFound: The selector is not valid, or matches nothing.
    """
    frame, start = await find_element(tools, selector) if selector else (tools.page.main, None)
    across, down = DIRECTION_VECTORS[direction]
    async with tools.pointer.begin_action() as action:
        baseline = capture_baseline(tools.page)
        delta = (across * amount, down * amount)
        if point := await frame.evaluate(ISOLATED_WORLD, FIND_SCROLL_BOX_SCRIPT, start, *delta):
            left, top = await tools.page.measure_offset(frame)
            place = (left + point[0], top + point[1])
            await tools.page.dispatch_mouse("move", *place)
            await tools.page.dispatch_mouse("wheel", *place, delta=delta)
        position = await frame.evaluate(ISOLATED_WORLD, FINISH_SCROLL_SCRIPT, *delta)
        await wait_until_settled(tools.page, baseline)
        outcome = await action.build_outcome("scroll", None, {}, element=direction)
        if not selector:
            values = {"direction": direction, "amount": amount}
            await remember_action(tools.pointer.scripts, outcome, "scroll", values, looks=False)
        return position, outcome
