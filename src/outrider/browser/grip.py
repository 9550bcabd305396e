"""Eyes, hands and fields of a page: one set a page, because references and what was last seen hold over calls."""

from dataclasses import dataclass

from outrider.browser.act import Hands
from outrider.browser.diagnose import failure
from outrider.browser.fill import Fields
from outrider.browser.frames import Frame
from outrider.browser.page import Page
from outrider.browser.resolve import target
from outrider.browser.scripts import WORLD
from outrider.browser.snapshot import Eyes
from outrider.browser.values import Handle, ScriptError
from outrider.core.errors import NotFound

KEPT = "grip"
COUNT = "(selector) => document.querySelectorAll(selector).length"
FIRST = "(selector) => document.querySelector(selector)"


@dataclass(frozen=True, eq=False)
class Grip:
    """What it takes to look at a page and to act on it."""

    page: Page
    eyes: Eyes
    hands: Hands
    fields: Fields


def grip(page: Page) -> Grip:
    """The one grip of a page. It lies with the page itself, and goes with it."""
    kept = vars(page)
    if KEPT not in kept:
        eyes = Eyes(page)
        hands = Hands(eyes)
        kept[KEPT] = Grip(page, eyes, hands, Fields(hands))
    return kept[KEPT]


def forget(page: Page) -> None:
    """What was seen of a page holds no longer: the next answer about it tells the whole."""
    if held := vars(page).get(KEPT):
        held.eyes.forget()


async def element(held: Grip, asked: str) -> tuple[Frame, Handle]:
    """The element of a CSS selector or a reference, whether it can be reached or not.

    Raises InvalidInput or NotFound: there is none, or several.
    """
    wanted = target(asked)
    if not wanted.ref:
        return held.page.main, await _selected(held.page, wanted.selector)
    frame = held.eyes.scripts.frame_of(wanted.ref)
    if frame is None:
        raise NotFound(f"{wanted.ref} is no longer on the page", code="not_found", hint="take a snapshot")
    await held.eyes.scripts.install(frame)
    found = await held.eyes.scripts.element(frame, wanted.ref)
    if not found.object_id:
        raise NotFound(f"{wanted.ref} is no longer on the page", code="not_found", hint="take a snapshot")
    return frame, found


async def _selected(page: Page, selector: str) -> Handle:
    try:
        count = await page.evaluate_in(WORLD, COUNT, selector)
    except ScriptError:
        told = {
            "reason": "invalid_selector",
            "message": f"{selector} is not a valid CSS selector",
            "hint": "correct it",
        }
        raise failure("find", selector, told) from None
    if count == 1:
        return await page.handle_in(WORLD, FIRST, selector)
    if count:
        told = {"reason": "ambiguous", "message": f"{count} elements match", "count": count, "hint": "use a ref"}
    else:
        told = {"reason": "not_found", "message": f"nothing matches {selector}", "hint": "take a snapshot"}
    raise failure("find", selector, told)
