"""Wait for a text, element or address to appear or disappear."""

import asyncio
import time
from dataclasses import asdict, dataclass

from outrider.browser.actions.locate import parse_element_query
from outrider.browser.actions.outcome import ActionOutcome, remember_action
from outrider.browser.actions.page_tools import PageTools
from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import ContextGone, PageGone, ProtocolError
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.scripts import ISOLATED_WORLD, PageScripts
from outrider.browser.protocol.values import ScriptError
from outrider.core.errors import NotFound, Unavailable

WAIT_SCRIPT = """(text, selector, ref, gone, milliseconds) => new Promise((done, failed) => {
  const roots = () => {
    const all = [document];
    for (let at = 0; at < all.length; at++)
      for (const each of all[at].querySelectorAll('*')) if (each.shadowRoot) all.push(each.shadowRoot);
    return all;
  };
  const normalize = (string) => string.toLowerCase().replace(/\\s+/g, ' ');
  // A form's fields can be named as its methods.
  const isVisible = (each) => Element.prototype.checkVisibility.call(each, {visibilityProperty: true})
    && Element.prototype.getClientRects.call(each).length > 0;
  // The words on these buttons are values, which innerText leaves out.
  const hasButton = (root) => [...root.querySelectorAll('input:is([type=submit],[type=button],[type=reset])')]
    .some((each) => normalize(each.value).includes(text) && isVisible(each));
  const hasText = (root) => hasButton(root) || (root === document
    ? normalize(document.body?.innerText ?? '').includes(text)
    : [...root.children].some((each) => normalize(each.innerText ?? '').includes(text)));
  const isPresent = () => {
    const named = ref && Object.hasOwn(globalThis, 'outrider') ? outrider.elementOf(ref) : null;
    if (ref) return Boolean(named && isVisible(named));
    if (selector && outrider.isTextSelector(selector)) return outrider.queryAll(selector).some(isVisible);
    if (selector) return roots().some((root) => [...root.querySelectorAll(selector)].some(isVisible));
    return roots().some(hasText);
  };
  const end = performance.now() + milliseconds;
  const check = () => {
    try {
      const met = isPresent() !== gone;
      if (met || performance.now() >= end) done(met);
      else setTimeout(check, Math.min(40, Math.max(end - performance.now(), 1)));
    } catch (error) { failed(error); }
  };
  check();
})"""


@dataclass(frozen=True)
class WaitCondition:
    """A condition to wait for; all given parts must hold.

    Attributes:
        text: Part of the visible text; case and white space do not matter.
        selector: A selector or reference of a visible element.
        url: Part of the page's address.
        gone: Wait until all of it has disappeared.
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
    """Wait and report the changes in the meantime; without a condition, wait for the given time.

    Raises:
        InvalidInput: The selector is not valid.
        Unavailable: The condition did not hold in time (code `timeout`).
    """
    started = time.monotonic()
    async with tools.pointer.begin_action() as action:
        if not str(condition):
            await asyncio.sleep(seconds)
        elif not await _wait_until_met(tools, condition, started + seconds):
            message = f"{condition} is {'still' if condition.gone else 'not'} on the page after {seconds:g} s"
            hint = "take a snapshot to see the page, or wait longer"
            raise Unavailable(message, code="timeout", hint=hint)
        outcome = await action.build_outcome("wait", None, {})
    if str(condition) and not parse_element_query(condition.selector or "body").ref:
        await remember_action(tools.pointer.scripts, outcome, "wait", asdict(condition), looks=False)
    elapsed = f"{time.monotonic() - started:.1f} s"
    state = "gone" if condition.gone else "there"
    outcome.element = f"{elapsed}: {condition} is {state}" if str(condition) else elapsed
    return outcome


async def _wait_until_met(tools: PageTools, condition: WaitCondition, deadline: float) -> bool:
    slice_s = 0.5  # after each slice, new frames are included
    page = tools.page
    while (remaining := deadline - time.monotonic()) > 0:
        if page.lost is not None:
            raise page.lost
        if condition.url and not await page.loading.wait_until(
            lambda: (condition.url in page.url) != condition.gone, remaining
        ):
            return False
        if not (condition.text or condition.selector) or await _check_frames(tools, condition, min(slice_s, remaining)):
            return True
    return False


async def _check_frames(tools: PageTools, condition: WaitCondition, seconds: float) -> bool:
    """Return whether one document meets the condition in time; for a condition with `gone`, whether all do."""
    ref = parse_element_query(condition.selector).ref if condition.selector else ""
    frames = [tools.snapshotter.scripts.find_frame(ref)] if ref else list(tools.page.frames)
    scripts = tools.snapshotter.scripts
    tasks = [asyncio.create_task(_check_frame(scripts, frame, condition, ref, seconds)) for frame in frames if frame]
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


async def _check_frame(scripts: PageScripts, frame: Frame, condition: WaitCondition, ref: str, seconds: float) -> bool:
    retry_delay_s = 0.05  # for a document that has just been replaced
    selector = "" if ref else parse_element_query(condition.selector).selector if condition.selector else ""
    text = " ".join(condition.text.lower().split())
    try:
        if selector:
            await scripts.invoke(frame, "readPosition")  # installs the scripts that find elements by text
        return await frame.evaluate(
            ISOLATED_WORLD, WAIT_SCRIPT, text, selector, ref, condition.gone, seconds * 1e3, timeout=seconds + 10
        )
    except ScriptError as error:
        report = {"reason": "invalid_selector", "message": error.message, "hint": "correct the selector"}
        raise build_action_error("wait", condition.selector, report) from None
    except (ContextGone, PageGone, ProtocolError, NotFound):
        await asyncio.sleep(retry_delay_s)
        return False
