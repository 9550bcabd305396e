"""Click, hover, drag and press keys: one trusted press on exactly the intended element.

Before a press the element is located, checked and scrolled into view; a guard in its document
(`scripts/press_guard.js`) stops a press that would land on anything else. Afterwards the page is
observed until it is quiet, and the outcome says what has changed.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

import anyio

from outrider.browser.actions.drag import drag_along
from outrider.browser.actions.locate import ElementLocation, ElementLocator, ElementQuery, Point, parse_element_query
from outrider.browser.actions.outcome import ActionOutcome, get_action_log, is_secret_field, remember_action
from outrider.browser.actions.page_action import ActionMonitor, PageAction
from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.page import BrowserPage, KeyAction, MouseButton
from outrider.browser.snapshot.snapshot import Snapshotter
from outrider.core.errors import OutriderError

SettleMode = Literal["auto", "none"]


class Pointer:
    """Acts on one page by mouse and keyboard.

    Args:
        snapshotter: The page's snapshotter; it remembers the last outline, so that outcomes can show differences.
    """

    def __init__(self, snapshotter: Snapshotter) -> None:
        self.snapshotter = snapshotter
        self.page: BrowserPage = snapshotter.page
        self.locator = ElementLocator(snapshotter.scripts)
        self.scripts = snapshotter.scripts
        self.held_button: MouseButton | None = None

    @asynccontextmanager
    async def begin_action(self, settle: SettleMode = "auto") -> AsyncGenerator[PageAction]:
        """Capture the page unless there is a snapshot of it, and watch what happens during the body.

        Args:
            settle: `auto` waits for the effects of the action and shows what has changed; `none` returns as soon as
                the press has landed.
        """
        url_before, waits = self.page.url, settle == "auto"
        if waits:
            await self.snapshotter.ensure_baseline()
        with ActionMonitor(self.page) as monitor:
            yield PageAction(self.snapshotter, monitor, url_before, waits=waits)

    async def click(
        self,
        selector: str,
        *,
        button: MouseButton = "left",
        count: int = 1,
        modifiers: tuple[str, ...] = (),
        at: Point | None = None,
        hold_s: float = 0.0,
        within: str = "",
        settle: SettleMode = "auto",
    ) -> ActionOutcome:
        """Click an element once.

        Args:
            selector: A CSS selector or a reference.
            button: The mouse button.
            count: 2 for a double click.
            modifiers: Held keys: Alt, Control, Meta, Shift.
            at: CSS pixels from the element's top left corner; None chooses a reachable point.
            hold_s: Seconds between press and release.
            within: A text of the row or card that the element is in; empty for any.
            settle: See `begin_action`.

        Raises:
            OutriderError: The element was not clicked; see `build_action_error`.
        """

        async def press_at(location: ElementLocation) -> None:
            point = (location.x, location.y)
            await self.press(point, button=button, count=count, modifiers=modifiers, hold_s=hold_s)

        query = replace(parse_element_query(selector), within=within)
        async with self.begin_action(settle) as action:
            outcome, _ = await self.press_until_landed(action, query, "click", press_at, at=at)
        values = {"button": button, "count": count, "modifiers": [*modifiers], "at": at, "hold_s": hold_s}
        await remember_action(self.scripts, outcome, "click", values, looks=action.waits)
        return outcome

    async def press(
        self,
        point: Point,
        *,
        button: MouseButton = "left",
        count: int = 1,
        modifiers: tuple[str, ...] = (),
        hold_s: float = 0.0,
    ) -> None:
        """Press and release a button at a point of the viewport, regardless of its content."""
        if not hold_s:
            await self.page.dispatch_mouse("click", *point, button=button, count=count, modifiers=modifiers)
            return
        await self.page.dispatch_mouse("move", *point, modifiers=modifiers)
        await self.page.dispatch_mouse("down", *point, button=button, modifiers=modifiers)
        try:
            await anyio.sleep(hold_s)
        finally:
            with anyio.CancelScope(shield=True):
                await self.page.dispatch_mouse("up", *point, button=button, modifiers=modifiers)

    async def hover(self, selector: str, *, settle: SettleMode = "auto") -> ActionOutcome:
        """Move the pointer onto an element. Raises OutriderError as `click`."""
        async with self.begin_action(settle) as action:
            location = await self.locator.locate(parse_element_query(selector), "hover")
            await self.page.dispatch_mouse("move", location.x, location.y)
            report = await action.wait_for_effects(location.frame, location.ref)
            outcome = await action.build_outcome("hover", location, report)
            await remember_action(self.scripts, outcome, "hover", {}, looks=action.waits)
            return outcome

    async def drag(self, selector: str, to: str, *, settle: SettleMode = "auto") -> ActionOutcome:
        """Drag one element onto another, by mouse events or HTML drag and drop. Raises OutriderError as `click`."""
        async with self.begin_action(settle) as action:
            start = await self.locator.locate(parse_element_query(selector), "drag")
            goal = await self.locator.locate(parse_element_query(to), "drop", carried=start.ref)
            # Locating the goal may have scrolled the page, so measure the start again.
            start = await self.locator.locate(parse_element_query(selector), "drag")
            # Sortable lists change the order only when the pointer has passed the middle; trees put what is dropped
            # on the outer thirds of an item before or after it.
            overshoot_px, box = 4, goal.report["rect"]
            x = goal.x + min(overshoot_px, box["width"] / 10) * max(-1.0, min(1.0, goal.x - start.x))
            y = goal.y + min(overshoot_px, box["height"] / 10) * max(-1.0, min(1.0, goal.y - start.y))
            hold_s = 0.2  # tables take a press that moves at once for a selection
            await drag_along(self.page, [(start.x, start.y), (x, y)], hold_s=hold_s)
            report = await action.wait_for_effects(start.frame, start.ref)
            if report and not report.get("landed"):
                raise _build_missed_error("drag", selector, report)
            outcome = await action.build_outcome("drag", start, report)
            outcome.element = f"{start.element} to {goal.element}"
            if action.waits and report and not (report["changes"] or outcome.has_effect):
                outcome.note = "no element of the page has changed"
            await remember_action(self.scripts, outcome, "drag", {}, goal=goal)
            return outcome

    async def press_keys(
        self, chord: str, kind: KeyAction = "press", *, ref: str = "", settle: SettleMode = "auto"
    ) -> ActionOutcome:
        """Press keys, or hold or release them.

        Args:
            chord: `Enter`, `Control+a` …
            kind: Whether to press, hold or release the keys.
            ref: The element that must have the focus; it is focused again if it has lost it. Empty for any.
            settle: See `begin_action`.

        Raises:
            OutriderError: The keys are unknown, or the element cannot be focused.
        """
        async with self.begin_action(settle) as action:
            if ref:
                frame = self.scripts.find_frame(ref) or self.page.main
                report = await self.scripts.invoke(frame, "restoreFocus", ref)
                if not report["ok"]:
                    raise build_action_error("press", ref, report)
            await self.scripts.invoke(self.page.main, "startObserving")
            focus = await self.describe_focus() if get_action_log(self.page) else None
            await action.run_unless_blocked(self.page.dispatch_key(chord, kind))
            report = await action.wait_for_effects(self.page.main, "")
            outcome = await action.build_outcome(kind, None, report, element=chord)
            # A shortcut needs no focus, but shows an effect.
            types = len(chord) == 1 or chord in ("Enter", "Backspace", "Delete")
            if types and report.get("hasFocus") is False and action.waits and not outcome.has_effect:
                outcome.note = "no element has the focus"
            if kind == "press":
                # A password may be typed key by key.
                hides = len(chord) == 1 and is_secret_field((focus.report if focus else {}).get("evidence") or {})
                outcome.location = focus
                performed, values = ("fill", {"text": chord}) if hides else ("press", {"key": chord})
                await remember_action(self.scripts, outcome, performed, values, looks=action.waits)
            return outcome

    async def describe_focus(self) -> ElementLocation:
        """Return the focused element for the log of actions, without a point to press."""
        report = await self.scripts.invoke(self.page.main, "describeFocusEvidence")
        return ElementLocation(self.page.main, "", 0, 0, report)

    async def press_until_landed(
        self,
        action: PageAction,
        query: ElementQuery,
        kind: str,
        press: Callable[[ElementLocation], Awaitable[None]],
        *,
        at: Point | None = None,
    ) -> tuple[ActionOutcome, dict[str, Any]]:
        """Locate and press an element; locate it again if it has moved away from under the press.

        Returns:
            The outcome, and the report of `scripts/press_guard.js`.
        """
        max_attempts = 3
        report: dict[str, Any] = {}
        for attempt in range(max_attempts):
            location = await self.locator.locate(query, kind, steady=attempt > 0, strict=attempt == 0, at=at)
            await action.run_unless_blocked(press(location))
            report = await action.wait_for_effects(location.frame, location.ref)
            if not report or report["landed"] or action.monitor.is_navigating or action.monitor.dialogs:
                return await action.build_outcome(kind, location, report), report
            report |= location.report
        raise _build_missed_error(kind, query.text, report)


def _build_missed_error(action: str, selector: str, report: dict[str, Any]) -> OutriderError:
    """Build the error for a press that did not reach its element."""
    if report.get("landed") is False:
        reason, message = "covered", f"the press would have landed on {report['on']}, so it was stopped"
    else:
        reason, message = "no_effect", "the press did not reach it"
    return build_action_error(
        action, selector, report | {"reason": reason, "message": message, "hint": "take a snapshot"}
    )
