"""Waiting for something on a page: a text, an element, an address; until it is there, or until it is gone."""

import asyncio
import time
from dataclasses import dataclass

from outrider.browser.cdp import ContextGone, PageGone, ProtocolError
from outrider.browser.diagnose import failure
from outrider.browser.frames import Frame
from outrider.browser.grip import Grip
from outrider.browser.outcome import Outcome
from outrider.browser.resolve import target
from outrider.browser.scripts import WORLD
from outrider.browser.values import ScriptError
from outrider.browser.watch import Watch
from outrider.core.errors import NotFound, Unavailable

SLICE = 0.5  # seconds that a document is watched before new frames are looked for
BETWEEN = 0.05  # seconds until a document that has just been replaced is asked again
WAIT = """(text, selector, ref, gone, milliseconds) => new Promise((done, failed) => {
  const roots = () => {
    const all = [document];
    for (let at = 0; at < all.length; at++)
      for (const each of all[at].querySelectorAll('*')) if (each.shadowRoot) all.push(each.shadowRoot);
    return all;
  };
  const words = (string) => string.toLowerCase().replace(/\\s+/g, ' ');
  const shown = (each) => each.checkVisibility({visibilityProperty: true}) && each.getClientRects().length > 0;
  const says = (root) => root === document ? words(document.body?.innerText ?? '').includes(text)
    : [...root.children].some((each) => words(each.innerText ?? '').includes(text));
  const has = () => {
    if (ref) return [globalThis.outrider?.elementOf(ref)].some((each) => each && shown(each));
    if (selector) return roots().some((root) => [...root.querySelectorAll(selector)].some(shown));
    return roots().some(says);
  };
  const end = performance.now() + milliseconds;
  const look = () => {
    try {
      const met = has() !== gone;
      if (met || performance.now() >= end) done(met);
      else setTimeout(look, Math.min(40, Math.max(end - performance.now(), 1)));
    } catch (error) { failed(error); }
  };
  look();
})"""


@dataclass(frozen=True)
class Wish:
    """What is waited for; all that is given must hold.

    Attributes:
        text: Part of what the page shows; case and white space do not matter.
        selector: A CSS selector or a reference of something that can be seen.
        url: Part of the page's address.
        gone: Until none of it is there any more.
    """

    text: str = ""
    selector: str = ""
    url: str = ""
    gone: bool = False

    def __str__(self) -> str:
        parts = [f"the text {self.text!r}"] if self.text else []
        parts += [self.selector] if self.selector else []
        parts += [f"the address …{self.url}…"] if self.url else []
        return " and ".join(parts)


async def wait_for(held: Grip, wish: Wish, seconds: float) -> Outcome:
    """Waits, and says what has changed meanwhile; without a wish only time passes.

    Raises:
        InvalidInput: The selector is none.
        Unavailable: code `timeout`.
    """
    started = time.monotonic()
    await held.hands.remember(None)
    with Watch(held.page) as watch:
        if not str(wish):
            await asyncio.sleep(seconds)
        elif not await _met(held, wish, started + seconds):
            raise _late(wish, seconds)
        outcome = await held.hands.outcome("wait", None, watch, {}, None)
    passed = f"{time.monotonic() - started:.1f} s"
    outcome.element = f"{passed}: {wish} is {'gone' if wish.gone else 'there'}" if str(wish) else passed
    return outcome


async def _met(held: Grip, wish: Wish, deadline: float) -> bool:
    page = held.page
    while (left := deadline - time.monotonic()) > 0:
        if page.lost is not None:
            raise page.lost
        if wish.url and not await page.loading.until(lambda: (wish.url in page.url) != wish.gone, left):
            return False
        if not (wish.text or wish.selector) or await _seen(held, wish, min(SLICE, left)):
            return True
    return False


async def _seen(held: Grip, wish: Wish, seconds: float) -> bool:
    """Whether one document shows it within this time; or, of what shall be gone, none."""
    ref = target(wish.selector).ref if wish.selector else ""
    frames = [held.eyes.scripts.frame_of(ref)] if ref else list(held.page.frames)
    tasks = [asyncio.create_task(_in(frame, wish, ref, seconds)) for frame in frames if frame]
    try:
        if wish.gone:
            return all(await asyncio.gather(*tasks))
        for done in asyncio.as_completed(tasks):
            if await done:
                return True
        return False
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _in(frame: Frame, wish: Wish, ref: str, seconds: float) -> bool:
    selector = "" if ref else target(wish.selector).selector if wish.selector else ""
    words = " ".join(wish.text.lower().split())
    try:
        return await frame.evaluate(WORLD, WAIT, words, selector, ref, wish.gone, seconds * 1e3, timeout=seconds + 10)
    except ScriptError as error:
        told = {"reason": "invalid_selector", "message": error.message, "hint": "correct the selector"}
        raise failure("wait", wish.selector, told) from None
    except (ContextGone, PageGone, ProtocolError, NotFound):
        await asyncio.sleep(BETWEEN)
        return False


def _late(wish: Wish, seconds: float) -> Unavailable:
    message = f"{wish} is {'still' if wish.gone else 'not'} there after {seconds:g} s"
    return Unavailable(message, code="timeout", hint="take a snapshot to see what is there, or wait longer")
