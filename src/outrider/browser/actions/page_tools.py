"""Eyes, hands and fields of a page: one set a page, because references and what was last seen hold over calls."""

from dataclasses import dataclass

from outrider.browser.actions.forms import Forms
from outrider.browser.actions.locate import parse_element_query
from outrider.browser.actions.pointer import Pointer
from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.protocol.values import Handle, ScriptError
from outrider.browser.snapshot.snapshot import Snapshotter
from outrider.core.errors import NotFound

TOOLS_KEY = "grip"


@dataclass(frozen=True, eq=False)
class PageTools:
    """What it takes to look at a page and to act on it."""

    page: BrowserPage
    snapshotter: Snapshotter
    pointer: Pointer
    forms: Forms


def get_page_tools(page: BrowserPage) -> PageTools:
    """The one grip of a page. It lies with the page itself, and goes with it."""
    kept = vars(page)
    if TOOLS_KEY not in kept:
        eyes = Snapshotter(page)
        hands = Pointer(eyes)
        kept[TOOLS_KEY] = PageTools(page, eyes, hands, Forms(hands))
    return kept[TOOLS_KEY]


def forget_snapshot(page: BrowserPage) -> None:
    """What was seen of a page holds no longer: the next answer about it tells the whole."""
    if held := vars(page).get(TOOLS_KEY):
        held.eyes.forget()


async def find_element(tools: PageTools, selector: str) -> tuple[Frame, Handle]:
    """The element of a CSS selector or a reference, whether it can be reached or not.

    Raises InvalidInput or NotFound: there is none, or several.
    """
    wanted = parse_element_query(selector)
    if not wanted.ref:
        return tools.page.main, await _query_selector(tools.page, wanted.selector)
    frame = tools.snapshotter.scripts.find_frame(wanted.ref)
    if frame is None:
        raise NotFound(f"{wanted.ref} is no longer on the page", code="not_found", hint="take a snapshot")
    await tools.snapshotter.scripts.ensure_installed(frame)
    found = await tools.snapshotter.scripts.resolve_element(frame, wanted.ref)
    if not found.object_id:
        raise NotFound(f"{wanted.ref} is no longer on the page", code="not_found", hint="take a snapshot")
    return frame, found


async def _query_selector(page: BrowserPage, selector: str) -> Handle:
    first_script = "(selector) => document.querySelector(selector)"
    count_script = "(selector) => document.querySelectorAll(selector).length"
    try:
        count = await page.evaluate_in(ISOLATED_WORLD, count_script, selector)
    except ScriptError:
        told = {
            "reason": "invalid_selector",
            "message": f"{selector} is not a valid CSS selector",
            "hint": "correct it",
        }
        raise build_action_error("find", selector, told) from None
    if count == 1:
        return await page.evaluate_handle_in(ISOLATED_WORLD, first_script, selector)
    if count:
        told = {"reason": "ambiguous", "message": f"{count} elements match", "count": count, "hint": "use a ref"}
    else:
        told = {"reason": "not_found", "message": f"nothing matches {selector}", "hint": "take a snapshot"}
    raise build_action_error("find", selector, told)
