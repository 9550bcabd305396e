"""Hands: one trusted press on exactly the element that was meant, and what came of it.

Before the press the element is found, checked and brought into view; a guard in its document
(`scripts/guard.js`) stops a press that would land on anything else. Afterwards the page is watched
until it is quiet, and the answer says what is different.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal

import anyio

from outrider.browser.actions.locate import ElementLocation, ElementLocator, ElementQuery, Point, parse_element_query
from outrider.browser.actions.outcome import ActionOutcome
from outrider.browser.page.watch import ActionMonitor
from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import ContextGone, PageGone
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.page import BrowserPage, MouseButton
from outrider.browser.snapshot.outline import limit_lines
from outrider.browser.snapshot.snapshot import Snapshotter

SettleMode = Literal["auto", "none"]


class Pointer:
    """Acts on one page.

    Args:
        snapshotter: The page's eyes: they remember what was shown, so that an answer can tell what is different.
        settle: `none` answers as soon as the press has landed, without waiting and without a difference.
    """

    def __init__(self, snapshotter: Snapshotter, settle: SettleMode = "auto") -> None:
        self.snapshotter = snapshotter
        self.page: BrowserPage = snapshotter.page
        self.locator = ElementLocator(snapshotter.scripts)
        self.settle: SettleMode = settle

    async def click(
        self,
        selector: str,
        *,
        button: MouseButton = "left",
        count: int = 1,
        modifiers: tuple[str, ...] = (),
        at: Point | None = None,
        settle: SettleMode | None = None,
    ) -> ActionOutcome:
        """Presses once on an element.

        Args:
            selector: A CSS selector or a reference.
            button: Of the mouse.
            count: 2 for a double click.
            modifiers: Keys held meanwhile: Alt, Control, Meta, Shift.
            at: Where on it, in CSS pixels from its top left corner; None where it is best reached.
            settle: As in the class.

        Raises:
            OutriderError: It was not done: see `diagnose.failure`.
        """

        async def press_at(place: ElementLocation) -> None:
            await self.page.dispatch_mouse("click", place.x, place.y, button=button, count=count, modifiers=modifiers)

        outcome, _ = await self.press_until_landed(parse_element_query(selector), "click", press_at, settle, at=at)
        return outcome

    async def hover(self, selector: str, *, settle: SettleMode | None = None) -> ActionOutcome:
        """Moves the pointer onto an element. Raises as `click`."""
        await self.ensure_baseline(settle)
        with ActionMonitor(self.page) as watch:
            place = await self.locator.locate(parse_element_query(selector), "hover")
            await self.page.dispatch_mouse("move", place.x, place.y)
            told = await self.read_report(place, watch, settle)
            return await self.build_outcome("hover", place, watch, told, settle)

    async def drag(self, selector: str, to: str, *, settle: SettleMode | None = None) -> ActionOutcome:
        """Drags one element onto another, by mouse events or the page's own drag and drop. Raises as `click`."""
        await self.ensure_baseline(settle)
        with ActionMonitor(self.page) as watch:
            place = await self.locator.locate(parse_element_query(selector), "drag")
            goal = await self.locator.locate(parse_element_query(to), "drop", carried=place.ref)
            place = await self.locator.locate(parse_element_query(selector), "drag")
            await self._drag_between(place, goal)
            told = await self.read_report(place, watch, settle)
            self.check_landed("drag", parse_element_query(selector), told)
            outcome = await self.build_outcome("drag", place, watch, told, settle)
            outcome.element = f"{place.element} to {goal.element}"
            return outcome

    async def press_keys(self, chord: str, *, settle: SettleMode | None = None) -> ActionOutcome:
        """Presses keys on whatever has the focus: `Enter`, `Control+a`. Raises InvalidInput."""
        await self.ensure_baseline(settle)
        with ActionMonitor(self.page) as watch:
            await self.snapshotter.scripts.invoke(self.page.main, "observe")
            await self.run_unless_blocked(self.page.dispatch_key(chord), watch)
            told = await self._wait_until_settled(self.page.main, "", watch, settle)
            return await self.build_outcome("press", None, watch, told, settle, element=chord)

    async def press_until_landed(
        self,
        query: ElementQuery,
        action: str,
        press: Callable[[ElementLocation], Awaitable[None]],
        settle: SettleMode | None = None,
        *,
        at: Point | None = None,
    ) -> tuple[ActionOutcome, dict[str, Any]]:
        """Aims, presses, and sees to it that the press has landed; aims again at what has moved away."""
        max_attempts = 3
        await self.ensure_baseline(settle)
        with ActionMonitor(self.page) as watch:
            told: dict[str, Any] = {}
            for attempt in range(max_attempts):
                place = await self.locator.locate(query, action, steady=attempt > 0, strict=attempt == 0, at=at)
                await self.run_unless_blocked(press(place), watch)
                told = await self.read_report(place, watch, settle)
                if not told or told["landed"] or watch.is_navigating or watch.dialogs:
                    return await self.build_outcome(action, place, watch, told, settle), told
            self.check_landed(action, query, told | place.report)
            raise AssertionError("unreachable")

    async def read_report(
        self, place: ElementLocation, watch: ActionMonitor, settle: SettleMode | None
    ) -> dict[str, Any]:
        """What the guard saw, once the page is quiet; empty when the document is gone or stands still."""
        return await self._wait_until_settled(place.frame, place.ref, watch, settle)

    async def build_outcome(
        self,
        action: str,
        place: ElementLocation | None,
        watch: ActionMonitor,
        report: dict[str, Any],
        settle: SettleMode | None,
        *,
        element: str = "",
    ) -> ActionOutcome:
        """What an action did, with the difference since the last look."""
        unanswered_note = (
            "the page is on its way to {}, which has not answered yet; looking again stops that if it still does not"
        )
        before = self._url_before
        if self.should_wait(settle) and watch.is_navigating and not watch.is_blocked:
            await watch.wait_until_loaded()
        outcome = ActionOutcome(action, element or (place.element if place else ""), ref=place.ref if place else "")
        outcome.navigated, outcome.url = watch.is_committed, report.get("url") or self.page.url
        outcome.url = self.page.url if watch.is_committed else outcome.url
        outcome.moved = outcome.url != before
        outcome.new_pages, outcome.dialogs, outcome.downloads = watch.new_pages, watch.dialogs, watch.downloads
        outcome.focused = report.get("focused", "")
        outcome.facts = {name: place.report[name] for name in ("rect", "viewport")} if place else {}
        if watch.is_awaiting_server and not report and (there := self.page.loading.navigating):
            outcome.note = unanswered_note.format(there[:300])
        elif self.should_wait(settle) and not watch.is_blocked:
            outcome.changes = await self._describe_changes()
        return outcome

    async def _describe_changes(self) -> str:
        max_chars = 3_000
        try:
            changed, seen = await self.snapshotter.diff_since_last()
        except (ContextGone, PageGone):
            return ""
        if not changed.whole:
            return str(limit_lines(list(changed.lines), max_chars))
        return str((await self.snapshotter.take_snapshot("viewport", limit=max_chars)) if seen else "")

    async def _wait_until_settled(
        self, frame: Frame, ref: str, watch: ActionMonitor, settle: SettleMode | None
    ) -> dict[str, Any]:
        landing_timeout_s = 1.0  # for what became of a press, where nobody wants to know what it set off
        network_grace_s = 1.0  # that requests which an action began may take longer than the page is quiet
        waits = self.should_wait(settle)
        invoke = self.snapshotter.scripts.invoke
        patience = self.page.patience if waits else landing_timeout_s
        try:
            told = await self.run_unless_blocked(invoke(frame, "settle", ref, {"wait": waits}), watch, patience) or {}
            if waits and not watch.is_navigating and self.page.loading.count_open_requests(watch.opened_at):
                await self.page.loading.wait_until(
                    lambda: not self.page.loading.count_open_requests(watch.opened_at), network_grace_s
                )
                told |= await self.run_unless_blocked(invoke(frame, "rest"), watch) or {}
        except (ContextGone, PageGone):
            return {}
        return told

    async def ensure_baseline(self, settle: SettleMode | None) -> None:
        """Looks at the page before an action, where nobody has yet."""
        self._url_before = self.page.url
        if self.should_wait(settle):
            await self.snapshotter.ensure_baseline()

    def should_wait(self, settle: SettleMode | None) -> bool:
        """Whether an action is to wait for what it sets off."""
        return (settle or self.settle) == "auto"

    async def run_unless_blocked(
        self, work: Awaitable[Any], watch: ActionMonitor, patience: float | None = None
    ) -> Any:
        """The result, or None while a dialog is open: the page answers nothing for as long as it is.

        Also None if a server for whose answer the page waits is silent for `patience` seconds.
        """
        dialog_grace_s = 0.3  # in which whoever answers dialogs by a rule has done so
        if watch.is_blocked:
            _drop(work)
            return None
        doing, blocked = asyncio.ensure_future(work), asyncio.ensure_future(watch.dialog_opened.wait())
        doing.add_done_callback(lambda future: future.cancelled() or future.exception())
        done, _ = await asyncio.wait({doing, blocked}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if not done and watch.is_awaiting_server:
            doing.cancel()
        done = done or (await asyncio.wait({doing, blocked}, return_when=asyncio.FIRST_COMPLETED))[0]
        blocked.cancel()
        if doing not in done:  # somebody may answer the dialog at once
            done, _ = await asyncio.wait({doing}, timeout=dialog_grace_s)
        if doing in done and not doing.cancelled():
            return doing.result()
        return None

    def check_landed(self, action: str, query: ElementQuery, report: dict[str, Any]) -> None:
        """Raises unless the press has reached what was meant; nothing told means that the document is gone."""
        if not report or report.get("landed"):
            return
        if report.get("landed") is False:
            reason, message = "covered", f"the press would have landed on {report['on']}, and was stopped"
        else:
            reason, message = "no_effect", "the press did not reach it"
        raise build_action_error(
            action, query.text, report | {"reason": reason, "message": message, "hint": "take a snapshot"}
        )

    async def _drag_between(self, start: ElementLocation, goal: ElementLocation) -> None:
        step_count = 6
        intercepted: list[dict[str, Any]] = []
        off = self.page.channel.on("Input.dragIntercepted", lambda event: intercepted.append(event["data"]))
        goal = _overshoot_goal(start, goal)
        await self.page.send("Input.setInterceptDrags", {"enabled": True})
        try:
            await self.page.dispatch_mouse("move", start.x, start.y)
            await self.page.dispatch_mouse("down", start.x, start.y)
            for step in range(1, step_count + 1):
                share = step / step_count
                x, y = start.x + (goal.x - start.x) * share, start.y + (goal.y - start.y) * share
                await self.page.dispatch_mouse("move", x, y, held=("left",))
                await anyio.lowlevel.checkpoint()
            if intercepted:
                await self._dropped(goal, intercepted[0])
            await self.page.dispatch_mouse("up", goal.x, goal.y)
        finally:
            off()
            await self.page.send("Input.setInterceptDrags", {"enabled": False})

    async def _dropped(self, goal: ElementLocation, data: dict[str, Any]) -> None:
        for kind in ("dragEnter", "dragOver", "drop"):
            await self.page.send("Input.dispatchDragEvent", {"type": kind, "x": goal.x, "y": goal.y, "data": data})


def _overshoot_goal(start: ElementLocation, goal: ElementLocation) -> ElementLocation:
    """A little farther on in the direction of the drag, and still well within."""
    overshoot_px = (
        4  # pixels past the middle at which a drag ends: lists that are sorted by dragging change places only there
    )
    across, down = goal.x - start.x, goal.y - start.y
    box, farthest = goal.report["rect"], max(abs(across), abs(down), 1.0)
    x = goal.x + min(overshoot_px, box["width"] / 5) * across / farthest
    y = goal.y + min(overshoot_px, box["height"] / 5) * down / farthest
    return replace(goal, x=x, y=y)


def _drop(work: Awaitable[Any]) -> None:
    if asyncio.iscoroutine(work):
        work.close()
