"""Click, hover, drag and press keys: one trusted press on exactly the intended element.

Before a press the element is located, checked and scrolled into view; a guard in its document
(`scripts/press_guard.js`) stops a press that would land on anything else. Afterwards the page is
observed until it is quiet, and the outcome says what has changed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal

import anyio

from outrider.browser.actions.drag import drag_along
from outrider.browser.actions.locate import ElementLocation, ElementLocator, ElementQuery, Point, parse_element_query
from outrider.browser.actions.outcome import ActionOutcome, get_action_log, is_secret_field, remember_action
from outrider.browser.page.watch import ActionMonitor
from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import ContextGone, PageGone
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage, KeyAction, MouseButton
from outrider.browser.snapshot.outline import limit_lines
from outrider.browser.snapshot.snapshot import Snapshotter
from outrider.core.errors import OutriderError

SettleMode = Literal["auto", "none"]


class Pointer:
    """Acts on one page by mouse and keyboard.

    Args:
        snapshotter: The page's snapshotter; it remembers the last outline, so that outcomes can show differences.
        settle: `auto` waits for the effects of an action and shows what has changed; `none` returns as soon as
            the press has landed.
    """

    def __init__(self, snapshotter: Snapshotter, settle: SettleMode = "auto") -> None:
        self.snapshotter = snapshotter
        self.page: BrowserPage = snapshotter.page
        self.locator = ElementLocator(snapshotter.scripts)
        self.settle: SettleMode = settle
        self.held_button: MouseButton | None = None

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
        settle: SettleMode | None = None,
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
            settle: See the class; None means the pointer's own.

        Raises:
            OutriderError: The element was not clicked; see `build_action_error`.
        """

        async def press_at(location: ElementLocation) -> None:
            point = (location.x, location.y)
            await self.press(point, button=button, count=count, modifiers=modifiers, hold_s=hold_s)

        query = replace(parse_element_query(selector), within=within)
        outcome, _ = await self.press_until_landed(query, "click", press_at, settle, at=at)
        values = {"button": button, "count": count, "modifiers": [*modifiers], "at": at, "hold_s": hold_s}
        await self.remember(outcome, "click", values, settle)
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
        """Press and release a button at a point of the viewport, whatever is there."""
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

    async def hover(self, selector: str, *, settle: SettleMode | None = None) -> ActionOutcome:
        """Move the pointer onto an element. Raises OutriderError as `click`."""
        await self.ensure_baseline(settle)
        with ActionMonitor(self.page) as monitor:
            location = await self.locator.locate(parse_element_query(selector), "hover")
            await self.page.dispatch_mouse("move", location.x, location.y)
            report = await self.wait_for_effects(location.frame, location.ref, monitor, settle)
            outcome = await self.build_outcome("hover", location, monitor, report, settle)
            await self.remember(outcome, "hover", {}, settle)
            return outcome

    async def drag(self, selector: str, to: str, *, settle: SettleMode | None = None) -> ActionOutcome:
        """Drag one element onto another, by mouse events or HTML drag and drop. Raises OutriderError as `click`."""
        await self.ensure_baseline(settle)
        with ActionMonitor(self.page) as monitor:
            start = await self.locator.locate(parse_element_query(selector), "drag")
            goal = await self.locator.locate(parse_element_query(to), "drop", carried=start.ref)
            # Locating the goal may have scrolled the page, so the start is measured again.
            start = await self.locator.locate(parse_element_query(selector), "drag")
            # Sortable lists change the order only when the pointer has passed the middle.
            overshoot_px = 4
            across, down = goal.x - start.x, goal.y - start.y
            box, distance = goal.report["rect"], max(abs(across), abs(down), 1.0)
            x = goal.x + min(overshoot_px, box["width"] / 5) * across / distance
            y = goal.y + min(overshoot_px, box["height"] / 5) * down / distance
            await drag_along(self.page, [(start.x, start.y), (x, y)])
            report = await self.wait_for_effects(start.frame, start.ref, monitor, settle)
            if report and not report.get("landed"):
                raise _build_missed_error("drag", selector, report)
            outcome = await self.build_outcome("drag", start, monitor, report, settle)
            outcome.element = f"{start.element} to {goal.element}"
            await remember_action(self.snapshotter.scripts, outcome, "drag", start, {}, goal=goal)
            return outcome

    async def press_keys(
        self, chord: str, kind: KeyAction = "press", *, ref: str = "", settle: SettleMode | None = None
    ) -> ActionOutcome:
        """Press keys, or hold or release them.

        Args:
            chord: `Enter`, `Control+a` …
            kind: What is done with the keys.
            ref: The element that must have the focus; it gets it back if it has lost it. Empty for any.
            settle: See the class.

        Raises:
            OutriderError: The keys are unknown, or the element cannot have the focus.
        """
        await self.ensure_baseline(settle)
        if ref:
            frame = self.snapshotter.scripts.find_frame(ref) or self.page.main
            report = await self.snapshotter.scripts.invoke(frame, "restoreFocus", ref)
            if not report["ok"]:
                raise build_action_error("press", ref, report)
        with ActionMonitor(self.page) as monitor:
            await self.snapshotter.scripts.invoke(self.page.main, "startObserving")
            focus = await self.describe_focus() if get_action_log(self.page) else None
            await self.run_unless_blocked(self.page.dispatch_key(chord, kind), monitor)
            report = await self.wait_for_effects(self.page.main, "", monitor, settle)
            outcome = await self.build_outcome(kind, None, monitor, report, settle, element=chord)
            # A shortcut needs no focus, but shows an effect.
            types = len(chord) == 1 or chord in ("Enter", "Backspace", "Delete")
            if types and report.get("hasFocus") is False and self.should_wait(settle) and not outcome.has_effect:
                outcome.note = "no element has the focus"
            if kind == "press":
                # A password may be typed key by key.
                hides = len(chord) == 1 and is_secret_field((focus.report if focus else {}).get("evidence") or {})
                outcome.location = focus
                action, values = ("fill", {"text": chord}) if hides else ("press", {"key": chord})
                await self.remember(outcome, action, values, settle)
            return outcome

    async def describe_focus(self) -> ElementLocation:
        """Return what has the focus, for the log of actions; without a point to press."""
        report = await self.snapshotter.scripts.invoke(self.page.main, "describeFocusEvidence")
        return ElementLocation(self.page.main, "", 0, 0, report)

    async def remember(
        self, outcome: ActionOutcome, kind: str, values: dict[str, Any], settle: SettleMode | None
    ) -> None:
        """Add an action to the session's log; empty values are left out."""
        used_values = {name: value for name, value in values.items() if value not in (None, False, 0.0, [], "")}
        scripts, looks = self.snapshotter.scripts, self.should_wait(settle)
        await remember_action(scripts, outcome, kind, outcome.location, used_values, looks=looks)

    async def press_until_landed(
        self,
        query: ElementQuery,
        action: str,
        press: Callable[[ElementLocation], Awaitable[None]],
        settle: SettleMode | None = None,
        *,
        at: Point | None = None,
    ) -> tuple[ActionOutcome, dict[str, Any]]:
        """Locate and press an element; locate it again if it has moved away from under the press.

        Returns:
            The outcome, and the report of `scripts/press_guard.js`.
        """
        max_attempts = 3
        await self.ensure_baseline(settle)
        with ActionMonitor(self.page) as monitor:
            report: dict[str, Any] = {}
            for attempt in range(max_attempts):
                location = await self.locator.locate(query, action, steady=attempt > 0, strict=attempt == 0, at=at)
                await self.run_unless_blocked(press(location), monitor)
                report = await self.wait_for_effects(location.frame, location.ref, monitor, settle)
                if not report or report["landed"] or monitor.is_navigating or monitor.dialogs:
                    return await self.build_outcome(action, location, monitor, report, settle), report
                report |= location.report
        raise _build_missed_error(action, query.text, report)

    async def build_outcome(
        self,
        action: str,
        location: ElementLocation | None,
        monitor: ActionMonitor,
        report: dict[str, Any],
        settle: SettleMode | None,
        *,
        element: str = "",
    ) -> ActionOutcome:
        """Build the outcome of an action, with the difference since the last snapshot."""
        url_before = self._url_before
        waits = self.should_wait(settle)
        if waits and monitor.is_navigating and not monitor.is_blocked:
            await monitor.wait_until_loaded()
        outcome = ActionOutcome(
            action, element or (location.element if location else ""), ref=location.ref if location else ""
        )
        outcome.location = location
        outcome.navigated = monitor.is_committed
        # A frame reports its own address, which is not the page's.
        is_main = location is None or location.frame.parent is None
        told_url = report.get("url") if is_main and not monitor.is_committed else None
        outcome.url = told_url or self.page.url
        outcome.moved = outcome.url != url_before
        outcome.new_pages, outcome.dialogs, outcome.downloads = monitor.new_pages, monitor.dialogs, monitor.downloads
        outcome.errors = monitor.errors
        outcome.focused = report.get("focused", "")
        outcome.facts = {name: location.report[name] for name in ("rect", "viewport")} if location else {}
        if monitor.is_awaiting_server and not report and (target := self.page.loading.navigating):
            outcome.note = (
                f"the page is loading {target[:300]}, which has not answered yet; "
                "looking at the page again stops that if there is still no answer"
            )
        elif waits and not monitor.is_blocked:
            outcome.changes = await self._describe_changes()
        return outcome

    async def _describe_changes(self) -> str:
        """Return the difference since the last snapshot, or a new one where too much has changed."""
        max_chars = 3_000
        try:
            diff, _ = await self.snapshotter.diff_since_last()
        except (ContextGone, PageGone):
            return ""
        if diff.whole:
            return str(await self.snapshotter.take_snapshot("viewport", limit=max_chars))
        return str(limit_lines(list(diff.lines), max_chars))

    async def wait_for_effects(
        self, frame: Frame, ref: str, monitor: ActionMonitor, settle: SettleMode | None
    ) -> dict[str, Any]:
        """Wait until the page is quiet and return the press guard's report.

        The report is empty when the document is gone or a dialog blocks it.
        """
        landing_timeout_s = 1.0  # for the report on a press whose effects are not waited for
        network_grace_s = 1.0  # for requests that the action started, after the page itself is quiet
        waits = self.should_wait(settle)
        invoke, loading = self.snapshotter.scripts.invoke, self.page.loading
        timeout_s = self.page.arrival_timeout_s if waits else landing_timeout_s
        try:
            work = self._report_effects(frame, ref, waits=waits)
            report = await self.run_unless_blocked(work, monitor, timeout_s) or {}
            if waits and not monitor.is_navigating and loading.count_open_requests(monitor.opened_at):
                await loading.wait_until(lambda: not loading.count_open_requests(monitor.opened_at), network_grace_s)
                report |= await self.run_unless_blocked(invoke(frame, "waitUntilQuiet"), monitor) or {}
        except (ContextGone, PageGone):
            return {}
        return report

    async def _report_effects(self, frame: Frame, ref: str, *, waits: bool) -> dict[str, Any]:
        invoke, internals = self.snapshotter.scripts.invoke, self.snapshotter.internals
        if internals.is_known(frame):
            if waits:
                await invoke(frame, "waitUntilQuiet")
            await internals.refresh(frame)
        return await invoke(frame, "reportEffects", ref, {"wait": waits})

    async def ensure_baseline(self, settle: SettleMode | None) -> None:
        """Capture the page before an action, unless there is a snapshot of it."""
        self._url_before = self.page.url
        if self.should_wait(settle):
            await self.snapshotter.ensure_baseline()

    def should_wait(self, settle: SettleMode | None) -> bool:
        """Return whether an action waits for its effects."""
        return (settle or self.settle) == "auto"

    async def run_unless_blocked(
        self, work: Awaitable[Any], monitor: ActionMonitor, timeout_s: float | None = None
    ) -> Any:
        """Return the result of work in the page, or None while a dialog is open, because the page answers nothing then.

        Also None if the server of a navigation does not answer within `timeout_s`.
        """
        dialog_grace_s = 0.3  # a dialog policy may answer the dialog within this time
        if monitor.is_blocked:
            if asyncio.iscoroutine(work):
                work.close()
            return None
        task, dialog = asyncio.ensure_future(work), asyncio.ensure_future(monitor.dialog_opened.wait())
        task.add_done_callback(lambda future: future.cancelled() or future.exception())
        done, _ = await asyncio.wait({task, dialog}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if not done and monitor.is_awaiting_server:
            task.cancel()
        done = done or (await asyncio.wait({task, dialog}, return_when=asyncio.FIRST_COMPLETED))[0]
        dialog.cancel()
        if task not in done:
            done, _ = await asyncio.wait({task}, timeout=dialog_grace_s)
        return task.result() if task in done and not task.cancelled() else None


def _build_missed_error(action: str, selector: str, report: dict[str, Any]) -> OutriderError:
    """Build the error for a press that did not reach its element."""
    if report.get("landed") is False:
        reason, message = "covered", f"the press would have landed on {report['on']}, and was stopped"
    else:
        reason, message = "no_effect", "the press did not reach it"
    return build_action_error(
        action, selector, report | {"reason": reason, "message": message, "hint": "take a snapshot"}
    )
