"""Keep a page's snapshotter, pointer and forms across calls."""

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


@dataclass(frozen=True, eq=False)
class PageTools:
    """The tools that read one page and act on it."""

    page: BrowserPage
    snapshotter: Snapshotter
    pointer: Pointer
    forms: Forms


def get_page_tools(page: BrowserPage) -> PageTools:
    """Return the page's tools; make them on first use.

    A page keeps one set for its whole life, because references and the last snapshot must survive between calls.
    """
    if isinstance(page.tools, PageTools):
        return page.tools
    snapshotter = Snapshotter(page)
    pointer = Pointer(snapshotter)
    page.tools = tools = PageTools(page, snapshotter, pointer, Forms(pointer))
    return tools


def forget_snapshot(page: BrowserPage) -> None:
    """Make the next result about the page show the whole outline instead of a difference."""
    if isinstance(page.tools, PageTools):
        page.tools.snapshotter.invalidate_baseline()


async def find_element(tools: PageTools, selector: str) -> tuple[Frame, Handle]:
    """Return the element of a selector or reference, even if unreachable.

    Unreachable means that no press can reach it.

    Raises InvalidInput or NotFound if there is none, or several.
    """
    query = parse_element_query(selector)
    if not query.ref:
        await tools.snapshotter.scripts.ensure_installed(tools.page.main)
        return tools.page.main, await _query_selector(tools.page, query.selector)
    scripts = tools.snapshotter.scripts
    frame = scripts.find_frame(query.ref)
    if frame is not None:
        await scripts.ensure_installed(frame)
        element = await scripts.resolve_element(frame, query.ref)
        if element.object_id:
            return frame, element
    raise NotFound(f"{query.ref} has left the page", code="not_found", hint="take a snapshot")


async def _query_selector(page: BrowserPage, selector: str) -> Handle:
    try:
        count = await page.evaluate_in(ISOLATED_WORLD, "(selector) => outrider.queryAll(selector).length", selector)
    except ScriptError:
        message = f"{selector} is not a valid CSS selector"
        report = {"reason": "invalid_selector", "message": message, "hint": "correct it"}
        raise build_action_error("find", selector, report) from None
    if count == 1:
        script = "(selector) => outrider.queryAll(selector)[0]"
        return await page.evaluate_handle_in(ISOLATED_WORLD, script, selector)
    if count:
        report = {"reason": "ambiguous", "message": f"{count} elements match", "count": count, "hint": "use a ref"}
    else:
        report = {"reason": "not_found", "message": f"nothing matches {selector}", "hint": "take a snapshot"}
    raise build_action_error("find", selector, report)
