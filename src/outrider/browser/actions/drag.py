"""Drag with the mouse along points, by mouse events or HTML drag and drop."""

import math
from itertools import pairwise
from typing import Any

import anyio

from outrider.browser.actions.locate import Point
from outrider.browser.protocol.page import BrowserPage, MouseButton


async def drag_along(
    page: BrowserPage,
    points: list[Point],
    *,
    button: MouseButton = "left",
    modifiers: tuple[str, ...] = (),
    hold_s: float = 0.0,
) -> None:
    """Press at the first point, move through the others, and release at the last one.

    Args:
        page: The page.
        points: At least two points, in CSS pixels of the viewport.
        button: The pressed button.
        modifiers: Held keys: Alt, Control, Meta, Shift.
        hold_s: Seconds between the press and the first move, for what has to be held before it can be dragged.
    """
    intercepted: list[dict[str, Any]] = []
    unsubscribe = page.channel.on("Input.dragIntercepted", lambda event: intercepted.append(event["data"]))
    await page.send("Input.setInterceptDrags", {"enabled": True})
    goal = points[-1]
    try:
        await page.dispatch_mouse("move", *points[0], modifiers=modifiers)
        await page.dispatch_mouse("down", *points[0], button=button, modifiers=modifiers)
        await anyio.sleep(hold_s)
        for point in interpolate_path(points):
            await page.dispatch_mouse("move", *point, held=(button,), modifiers=modifiers)
            await anyio.lowlevel.checkpoint()
        if intercepted:  # HTML drag and drop
            for kind in ("dragEnter", "dragOver", "drop"):
                params = {"type": kind, "x": goal[0], "y": goal[1], "data": intercepted[0]}
                await page.send("Input.dispatchDragEvent", params)
        await page.dispatch_mouse("up", *goal, button=button, modifiers=modifiers)
    finally:
        unsubscribe()
        await page.send("Input.setInterceptDrags", {"enabled": False})


def interpolate_path(points: list[Point]) -> list[Point]:
    """Return the points after the first one, with steps between those that are far apart."""
    max_step_px, min_steps = 40.0, 6
    path: list[Point] = []
    for start, end in pairwise(points):
        # A single stroke gets several steps, because libraries start a drag only after some moves.
        steps = max(math.ceil(math.dist(start, end) / max_step_px), min_steps if len(points) == 2 else 1)
        for step in range(1, steps + 1):
            share = step / steps
            path.append((start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share))
    return path
