"""Drag along points, by mouse events or HTML drag and drop."""

import math
from collections.abc import Sequence
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
    times_s: Sequence[float] = (),
) -> None:
    """Press at the first point, move through the others, and release at the last one.

    Args:
        page: The page.
        points: At least two points, in CSS pixels of the viewport.
        button: The pressed button.
        modifiers: Held keys: Alt, Control, Meta, Shift.
        hold_s: Seconds between the press and the first move, for elements that must be held before they can be dragged.
        times_s: As for `move_along`.
    """
    intercepted: list[dict[str, Any]] = []
    unsubscribe = page.channel.on("Input.dragIntercepted", lambda event: intercepted.append(event["data"]))
    await page.send("Input.setInterceptDrags", {"enabled": True})
    goal = points[-1]
    try:
        await move_along(page, points[:1], times_s=times_s[:1], modifiers=modifiers)
        await page.dispatch_mouse("down", *points[0], button=button, modifiers=modifiers)
        await anyio.sleep(hold_s)
        await move_along(page, points, times_s=[0.0, *times_s[1:]], held_buttons=(button,), modifiers=modifiers)
        if intercepted:  # HTML drag and drop
            for kind in ("dragEnter", "dragOver", "drop"):
                params = {"type": kind, "x": goal[0], "y": goal[1], "data": intercepted[0]}
                await page.send("Input.dispatchDragEvent", params)
        await page.dispatch_mouse("up", *goal, button=button, modifiers=modifiers)
    finally:
        unsubscribe()
        await page.send("Input.setInterceptDrags", {"enabled": False})


async def move_along(
    page: BrowserPage,
    points: list[Point],
    *,
    times_s: Sequence[float] = (),
    held_buttons: tuple[MouseButton, ...] = (),
    modifiers: tuple[str, ...] = (),
) -> None:
    """Move the mouse through points.

    Args:
        page: The page.
        points: CSS pixels of the viewport.
        times_s: Seconds for the way to each point, from the current position. Without any, it moves as fast as
            possible.
        held_buttons: Held buttons.
        modifiers: Held keys: Alt, Control, Meta, Shift.
    """
    if not any(times_s):
        path = _interpolate_path(points)
        for point in path if path and page.mouse_at == points[0] else [points[0], *path]:
            await page.dispatch_mouse("move", *point, held_buttons=held_buttons, modifiers=modifiers)
            await anyio.lowlevel.checkpoint()
        return
    frame_s = 1 / 60
    for (x, y), seconds in zip(points, times_s, strict=True):
        (left, top), end = page.mouse_at, anyio.current_time() + seconds
        while (rest_s := end - anyio.current_time()) > 0:
            # Start and end slowly like a hand, so that elements that follow with a delay arrive with the mouse.
            share = 1 - rest_s / seconds
            share = share * share * (3 - 2 * share)
            if (point := (left + (x - left) * share, top + (y - top) * share)) != page.mouse_at:
                await page.dispatch_mouse("move", *point, held_buttons=held_buttons, modifiers=modifiers)
            await anyio.sleep(min(frame_s, rest_s))
        await page.dispatch_mouse("move", x, y, held_buttons=held_buttons, modifiers=modifiers)


def _interpolate_path(points: list[Point]) -> list[Point]:
    """Return the points after the first one, with intermediate steps where they are far apart."""
    max_step_px, min_steps = 40.0, 6
    path: list[Point] = []
    for start, end in pairwise(points):
        # A single stroke gets several steps, because libraries start a drag only after some moves.
        steps = max(math.ceil(math.dist(start, end) / max_step_px), min_steps if len(points) == 2 else 1)
        for step in range(1, steps + 1):
            share = step / steps
            path.append((start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share))
    return path
