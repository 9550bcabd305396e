"""Waiting for something on a page: a text, an element, an address; until it is there, or until it is gone."""

import asyncio
import time
from dataclasses import dataclass

from outrider.browser.actions.locate import parse_element_query
from outrider.browser.actions.outcome import ActionOutcome
from outrider.browser.actions.page_tools import PageTools
from outrider.browser.page.watch import ActionMonitor
from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import ContextGone, PageGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.protocol.values import ScriptError
from outrider.core.errors import NotFound, Unavailable

WAIT_SCRIPT = """(text, selector, ref, gone, milliseconds) => new Promise((done, failed) => {
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
class WaitCondition:
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


async def wait_for(tools: PageTools, condition: WaitCondition, seconds: float) -> ActionOutcome:
    """Waits, and says what has changed meanwhile; without a wish only time passes.

    Raises:
        InvalidInput: The selector is none.
        Unavailable: code `timeout`.
    """
    started = time.monotonic()
    await tools.pointer.ensure_baseline(None)
    with ActionMonitor(tools.page) as watch:
        if not str(condition):
            await asyncio.sleep(seconds)
        elif not await _wait_until_met(tools, condition, started + seconds):
            raise _late(condition, seconds)
        outcome = await tools.pointer.build_outcome("wait", None, watch, {}, None)
    passed = f"{time.monotonic() - started:.1f} s"
    outcome.element = f"{passed}: {condition} is {'gone' if condition.gone else 'there'}" if str(condition) else passed
    return outcome


async def _wait_until_met(tools: PageTools, condition: WaitCondition, deadline: float) -> bool:
    slice_s = 0.5  # seconds that a document is watched before new frames are looked for
    page = tools.page
    while (left := deadline - time.monotonic()) > 0:
        if page.lost is not None:
            raise page.lost
        if condition.url and not await page.loading.wait_until(
            lambda: (condition.url in page.url) != condition.gone, left
        ):
            return False
        if not (condition.text or condition.selector) or await _check_frames(tools, condition, min(slice_s, left)):
            return True
    return False


async def _check_frames(tools: PageTools, condition: WaitCondition, seconds: float) -> bool:
    """Whether one document shows it within this time; or, of what shall be gone, none."""
    ref = parse_element_query(condition.selector).ref if condition.selector else ""
    frames = [tools.snapshotter.scripts.find_frame(ref)] if ref else list(tools.page.frames)
    tasks = [asyncio.create_task(_check_frame(frame, condition, ref, seconds)) for frame in frames if frame]
    try:
        if condition.gone:
            return all(await asyncio.gather(*tasks))
        for done in asyncio.as_completed(tasks):
            if await done:
                return True
        return False
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _check_frame(frame: Frame, condition: WaitCondition, ref: str, seconds: float) -> bool:
    retry_delay_s = 0.05  # seconds until a document that has just been replaced is asked again
    selector = "" if ref else parse_element_query(condition.selector).selector if condition.selector else ""
    words = " ".join(condition.text.lower().split())
    try:
        return await frame.evaluate(
            ISOLATED_WORLD, WAIT_SCRIPT, words, selector, ref, condition.gone, seconds * 1e3, timeout=seconds + 10
        )
    except ScriptError as error:
        told = {"reason": "invalid_selector", "message": error.message, "hint": "correct the selector"}
        raise build_action_error("wait", condition.selector, told) from None
    except (ContextGone, PageGone, ProtocolError, NotFound):
        await asyncio.sleep(retry_delay_s)
        return False


def _late(wish: WaitCondition, seconds: float) -> Unavailable:
    message = f"{wish} is {'still' if wish.gone else 'not'} there after {seconds:g} s"
    return Unavailable(message, code="timeout", hint="take a snapshot to see what is there, or wait longer")
