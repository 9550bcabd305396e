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

from outrider.browser.cdp import ContextGone, PageGone
from outrider.browser.diagnose import failure
from outrider.browser.frames import Frame
from outrider.browser.outcome import Outcome
from outrider.browser.outline import limited
from outrider.browser.page import Button, Page
from outrider.browser.resolve import Place, Point, Reach, Target, target
from outrider.browser.snapshot import Eyes
from outrider.browser.watch import Watch

Settle = Literal["auto", "none"]
TRIES = 3
CHANGES_CHARS = 3_000
DRAG_STEPS = 6
BEYOND = 4  # pixels past the middle at which a drag ends: lists that are sorted by dragging change places only there
NETWORK_SECONDS = 1.0  # that requests which an action began may take longer than the page is quiet
LANDED_SECONDS = 1.0  # for what became of a press, where nobody wants to know what it set off
UNANSWERED = "the page is on its way to {}, which has not answered yet; looking again stops that if it still does not"
ANSWER_SECONDS = 0.3  # in which whoever answers dialogs by a rule has done so


class Hands:
    """Acts on one page.

    Args:
        eyes: The page's eyes: they remember what was shown, so that an answer can tell what is different.
        settle: `none` answers as soon as the press has landed, without waiting and without a difference.
    """

    def __init__(self, eyes: Eyes, settle: Settle = "auto") -> None:
        self.eyes = eyes
        self.page: Page = eyes.page
        self.reach = Reach(eyes.scripts)
        self.settle: Settle = settle

    async def click(
        self,
        asked: str,
        *,
        button: Button = "left",
        count: int = 1,
        modifiers: tuple[str, ...] = (),
        at: Point | None = None,
        settle: Settle | None = None,
    ) -> Outcome:
        """Presses once on an element.

        Args:
            asked: A CSS selector or a reference.
            button: Of the mouse.
            count: 2 for a double click.
            modifiers: Keys held meanwhile: Alt, Control, Meta, Shift.
            at: Where on it, in CSS pixels from its top left corner; None where it is best reached.
            settle: As in the class.

        Raises:
            OutriderError: It was not done: see `diagnose.failure`.
        """

        async def press(place: Place) -> None:
            await self.page.mouse("click", place.x, place.y, button=button, count=count, modifiers=modifiers)

        outcome, _ = await self.press_on(target(asked), "click", press, settle, at=at)
        return outcome

    async def hover(self, asked: str, *, settle: Settle | None = None) -> Outcome:
        """Moves the pointer onto an element. Raises as `click`."""
        await self.remember(settle)
        with Watch(self.page) as watch:
            place = await self.reach.place(target(asked), "hover")
            await self.page.mouse("move", place.x, place.y)
            told = await self.told(place, watch, settle)
            return await self.outcome("hover", place, watch, told, settle)

    async def drag(self, asked: str, to: str, *, settle: Settle | None = None) -> Outcome:
        """Drags one element onto another, by mouse events or the page's own drag and drop. Raises as `click`."""
        await self.remember(settle)
        with Watch(self.page) as watch:
            place = await self.reach.place(target(asked), "drag")
            goal = await self.reach.place(target(to), "drop", carried=place.ref)
            place = await self.reach.place(target(asked), "drag")
            await self._dragged(place, goal)
            told = await self.told(place, watch, settle)
            self.check_landed("drag", target(asked), told)
            outcome = await self.outcome("drag", place, watch, told, settle)
            outcome.element = f"{place.element} to {goal.element}"
            return outcome

    async def press(self, chord: str, *, settle: Settle | None = None) -> Outcome:
        """Presses keys on whatever has the focus: `Enter`, `Control+a`. Raises InvalidInput."""
        await self.remember(settle)
        with Watch(self.page) as watch:
            await self.eyes.scripts.call(self.page.main, "observe")
            await self.unless_blocked(self.page.key(chord), watch)
            told = await self._settled(self.page.main, "", watch, settle)
            return await self.outcome("press", None, watch, told, settle, element=chord)

    async def press_on(
        self,
        asked: Target,
        action: str,
        press: Callable[[Place], Awaitable[None]],
        settle: Settle | None = None,
        *,
        at: Point | None = None,
    ) -> tuple[Outcome, dict[str, Any]]:
        """Aims, presses, and sees to it that the press has landed; aims again at what has moved away."""
        await self.remember(settle)
        with Watch(self.page) as watch:
            told: dict[str, Any] = {}
            for attempt in range(TRIES):
                place = await self.reach.place(asked, action, steady=attempt > 0, strict=attempt == 0, at=at)
                await self.unless_blocked(press(place), watch)
                told = await self.told(place, watch, settle)
                if not told or told["landed"] or watch.starting or watch.dialogs:
                    return await self.outcome(action, place, watch, told, settle), told
            self.check_landed(action, asked, told | place.told)
            raise AssertionError("unreachable")

    async def told(self, place: Place, watch: Watch, settle: Settle | None) -> dict[str, Any]:
        """What the guard saw, once the page is quiet; empty when the document is gone or stands still."""
        return await self._settled(place.frame, place.ref, watch, settle)

    async def outcome(
        self,
        action: str,
        place: Place | None,
        watch: Watch,
        told: dict[str, Any],
        settle: Settle | None,
        *,
        element: str = "",
    ) -> Outcome:
        """What an action did, with the difference since the last look."""
        before = self._url
        if self.waits(settle) and watch.starting and not watch.is_blocked:
            await watch.arrived()
        outcome = Outcome(action, element or (place.element if place else ""), ref=place.ref if place else "")
        outcome.navigated, outcome.url = watch.committed, told.get("url") or self.page.url
        outcome.url = self.page.url if watch.committed else outcome.url
        outcome.moved = outcome.url != before
        outcome.new_pages, outcome.dialogs, outcome.downloads = watch.new_pages, watch.dialogs, watch.downloads
        outcome.focused = told.get("focused", "")
        outcome.facts = {name: place.told[name] for name in ("rect", "viewport")} if place else {}
        if watch.is_kept_back and not told and (there := self.page.loading.navigating):
            outcome.note = UNANSWERED.format(there[:300])
        elif self.waits(settle) and not watch.is_blocked:
            outcome.changes = await self._changes()
        return outcome

    async def _changes(self) -> str:
        try:
            changed, seen = await self.eyes.difference()
        except (ContextGone, PageGone):
            return ""
        if not changed.whole:
            return str(limited(list(changed.lines), CHANGES_CHARS))
        return str((await self.eyes.snapshot("viewport", limit=CHANGES_CHARS)) if seen else "")

    async def _settled(self, frame: Frame, ref: str, watch: Watch, settle: Settle | None) -> dict[str, Any]:
        waits = self.waits(settle)
        call = self.eyes.scripts.call
        patience = self.page.patience if waits else LANDED_SECONDS
        try:
            told = await self.unless_blocked(call(frame, "settle", ref, {"wait": waits}), watch, patience) or {}
            if waits and not watch.starting and self.page.loading.busy(watch.began):
                await self.page.loading.until(lambda: not self.page.loading.busy(watch.began), NETWORK_SECONDS)
                told |= await self.unless_blocked(call(frame, "rest"), watch) or {}
        except (ContextGone, PageGone):
            return {}
        return told

    async def remember(self, settle: Settle | None) -> None:
        """Looks at the page before an action, where nobody has yet."""
        self._url = self.page.url
        if self.waits(settle):
            await self.eyes.remember()

    def waits(self, settle: Settle | None) -> bool:
        """Whether an action is to wait for what it sets off."""
        return (settle or self.settle) == "auto"

    async def unless_blocked(self, work: Awaitable[Any], watch: Watch, patience: float | None = None) -> Any:
        """The result, or None while a dialog is open: the page answers nothing for as long as it is.

        Also None if a server for whose answer the page waits is silent for `patience` seconds.
        """
        if watch.is_blocked:
            _drop(work)
            return None
        doing, blocked = asyncio.ensure_future(work), asyncio.ensure_future(watch.blocked.wait())
        doing.add_done_callback(lambda future: future.cancelled() or future.exception())
        done, _ = await asyncio.wait({doing, blocked}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if not done and watch.is_kept_back:
            doing.cancel()
        done = done or (await asyncio.wait({doing, blocked}, return_when=asyncio.FIRST_COMPLETED))[0]
        blocked.cancel()
        if doing not in done:  # somebody may answer the dialog at once
            done, _ = await asyncio.wait({doing}, timeout=ANSWER_SECONDS)
        if doing in done and not doing.cancelled():
            return doing.result()
        return None

    def check_landed(self, action: str, asked: Target, told: dict[str, Any]) -> None:
        """Raises unless the press has reached what was meant; nothing told means that the document is gone."""
        if not told or told.get("landed"):
            return
        if told.get("landed") is False:
            reason, message = "covered", f"the press would have landed on {told['on']}, and was stopped"
        else:
            reason, message = "no_effect", "the press did not reach it"
        raise failure(action, asked.asked, told | {"reason": reason, "message": message, "hint": "take a snapshot"})

    async def _dragged(self, start: Place, goal: Place) -> None:
        intercepted: list[dict[str, Any]] = []
        off = self.page.channel.on("Input.dragIntercepted", lambda event: intercepted.append(event["data"]))
        goal = _beyond(start, goal)
        await self.page.send("Input.setInterceptDrags", {"enabled": True})
        try:
            await self.page.mouse("move", start.x, start.y)
            await self.page.mouse("down", start.x, start.y)
            for step in range(1, DRAG_STEPS + 1):
                share = step / DRAG_STEPS
                x, y = start.x + (goal.x - start.x) * share, start.y + (goal.y - start.y) * share
                await self.page.mouse("move", x, y, held=("left",))
                await anyio.lowlevel.checkpoint()
            if intercepted:
                await self._dropped(goal, intercepted[0])
            await self.page.mouse("up", goal.x, goal.y)
        finally:
            off()
            await self.page.send("Input.setInterceptDrags", {"enabled": False})

    async def _dropped(self, goal: Place, data: dict[str, Any]) -> None:
        for kind in ("dragEnter", "dragOver", "drop"):
            await self.page.send("Input.dispatchDragEvent", {"type": kind, "x": goal.x, "y": goal.y, "data": data})


def _beyond(start: Place, goal: Place) -> Place:
    """A little farther on in the direction of the drag, and still well within."""
    across, down = goal.x - start.x, goal.y - start.y
    box, farthest = goal.told["rect"], max(abs(across), abs(down), 1.0)
    x = goal.x + min(BEYOND, box["width"] / 5) * across / farthest
    y = goal.y + min(BEYOND, box["height"] / 5) * down / farthest
    return replace(goal, x=x, y=y)


def _drop(work: Awaitable[Any]) -> None:
    if asyncio.iscoroutine(work):
        work.close()
