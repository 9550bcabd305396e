"""Use the mouse at points, for models that see the page.

It is meant for maps, drawings and games.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from outrider.browser.actions.drag import drag_along, move_along
from outrider.browser.actions.locate import ElementLocation, Point, parse_element_query
from outrider.browser.actions.outcome import ActionOutcome
from outrider.browser.actions.pointer import Pointer
from outrider.browser.protocol.page import MouseButton
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.core.errors import InvalidInput

GestureKind = Literal["click", "drag", "move", "down", "up", "wheel"]


@dataclass(frozen=True)
class MouseGesture:
    """A gesture of the mouse.

    Attributes:
        kind: `click` at each point, `drag` and `move` along them, `down`, `up` and `wheel` at the last one.
        points: CSS pixels from the left top corner of the viewport, or of the element if one is named.
        button: The button of `click`, `drag`, `down` and `up`.
        count: 2 for double clicks.
        modifiers: Held keys: Alt, Control, Meta, Shift.
        hold_s: Seconds between press and release, or before a drag starts.
        delta: CSS pixels that `wheel` scrolls, right and down.
        times_s: Seconds for the way to each point; empty if no point has any.
    """

    kind: GestureKind
    points: Sequence[Point]
    button: MouseButton = "left"
    count: int = 1
    modifiers: tuple[str, ...] = ()
    hold_s: float = 0.0
    delta: Point = (0, 0)
    times_s: tuple[float, ...] = ()


async def use_mouse(pointer: Pointer, gesture: MouseGesture, selector: str = "") -> ActionOutcome:
    """Make a gesture at points of the viewport or an element.

    What is at the points does not matter.

    Raises:
        InvalidInput: A point is missing or outside the viewport.
        OutriderError: The element cannot be reached; see `build_action_error`.
    """
    if not gesture.points or (gesture.kind == "drag" and len(gesture.points) == 1):
        needed = "two points" if gesture.kind == "drag" else "a point"
        raise InvalidInput(f"points: {gesture.kind} needs at least {needed}", hint="send [[x, y], …] in pixels")
    async with pointer.begin_action() as action:
        location = await pointer.locator.locate(parse_element_query(selector), "hover") if selector else None
        points = await _place_points(pointer, gesture.points, location)
        hit = await pointer.scripts.invoke(pointer.page.main, "describePoint", *points[-1])
        await pointer.scripts.invoke(pointer.page.main, "startObserving")
        await action.run_unless_blocked(_perform_gesture(pointer, gesture, points))
        report = await action.wait_for_effects(pointer.page.main, "")
        where = " to ".join(f"{x:g},{y:g}" for x, y in dict.fromkeys((points[0], points[-1])))
        element = f"at {where} on {hit}" if hit else f"at {where}"
        return await action.build_outcome(gesture.kind, None, report, element=element)


async def _place_points(pointer: Pointer, points: Sequence[Point], location: ElementLocation | None) -> list[Point]:
    """Return the points in the viewport. Raises InvalidInput for one outside it."""
    if location is not None:
        # The reachable point is known in the frame and in the viewport; the difference is the frame's position.
        left = location.report["rect"]["x"] + location.x - location.report["x"]
        top = location.report["rect"]["y"] + location.y - location.report["y"]
        points = [(left + x, top + y) for x, y in points]
    width, height = await pointer.page.evaluate_in(ISOLATED_WORLD, "() => [innerWidth, innerHeight]")
    for x, y in points:
        if not (0 <= x < width and 0 <= y < height):
            message = f"points: [{x:g}, {y:g}] is outside the viewport ({width}×{height})"
            raise InvalidInput(message, hint="scroll there first, or choose a point inside")
    return list(points)


async def _perform_gesture(pointer: Pointer, gesture: MouseGesture, points: list[Point]) -> None:
    page, button, modifiers = pointer.page, gesture.button, gesture.modifiers
    held_buttons = (pointer.held_button,) if pointer.held_button else ()
    if gesture.kind == "drag":
        times_s = gesture.times_s
        await drag_along(page, points, button=button, modifiers=modifiers, hold_s=gesture.hold_s, times_s=times_s)
    elif gesture.kind == "click":
        for point in points:
            await pointer.press(point, button=button, count=gesture.count, modifiers=modifiers, hold_s=gesture.hold_s)
    elif gesture.kind == "wheel":
        await page.dispatch_mouse("move", *points[-1], held_buttons=held_buttons, modifiers=modifiers)
        await page.dispatch_mouse("wheel", *points[-1], delta=gesture.delta, modifiers=modifiers)
    else:
        await move_along(page, points, times_s=gesture.times_s, held_buttons=held_buttons, modifiers=modifiers)
        if gesture.kind != "move":
            await page.dispatch_mouse(gesture.kind, *points[-1], button=button, modifiers=modifiers)
            pointer.held_button = button if gesture.kind == "down" else None
    await anyio.lowlevel.checkpoint()
