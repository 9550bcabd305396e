"""Solve tasks by clicking at a point of a drawing."""

import math
import re
from typing import Any

from evals.miniwob.player import Player, solves

DRAWING_SELECTOR = "#svg-grid"
MAX_COORDINATE_PX = 145.0  # of pressable positions; requested points are within
Point = complex


async def _read_points(player: Player) -> dict[str, list[Point]]:
    """Return the centers of the drawing's circles by color, in its pixels."""
    source = await player.read_html(DRAWING_SELECTOR)
    found: dict[str, list[Point]] = {}
    for tag in re.findall(r"<circle[^>]*>", source):
        number = {name: float(value) for name, value in re.findall(r'\b(cx|cy)="([\d.]+)"', tag)}
        colour = re.search(r"fill[=:]\W*(\w+)", tag)
        found.setdefault(colour[1] if colour else "", []).append(complex(number["cx"], number["cy"]))
    return found


async def _click_point(player: Player, point: Point) -> Any:
    await player.click_control(DRAWING_SELECTOR, at=[point.real, point.imag])
    return await player.press_submit()


def _is_inside(point: Point) -> bool:
    return 0 < point.real < MAX_COORDINATE_PX and 0 < point.imag < MAX_COORDINATE_PX


def _move_away(corner: Point, direction: Point) -> Point:
    """Return the point as far from a corner as the drawing allows."""
    point_distance_px = 60.0  # how far from a corner the point of an angle is set
    steps = [corner + direction / abs(direction) * length for length in range(int(point_distance_px), 5, -5)]
    return next(each for each in steps if _is_inside(each))


@solves("find-midpoint")
async def click_midpoint(player: Player, _: str) -> None:
    one, other = (await _read_points(player))["black"]
    await _click_point(player, (one + other) / 2)


@solves("bisect-angle")
async def click_bisector(player: Player, _: str) -> None:
    points = await _read_points(player)
    corner, (one, other) = points["blue"][0], points["black"]
    direction = (one - corner) / abs(one - corner) + (other - corner) / abs(other - corner)
    await _click_point(player, _move_away(corner, direction))


@solves("right-angle")
async def click_right_angle(player: Player, _: str) -> None:
    points = [each for same in (await _read_points(player)).values() for each in same]
    drawn, corner = points
    across = (drawn - corner) * 1j
    ways = [sign * across for sign in (1, -1)]
    inside = [way for way in ways if _is_inside(corner + way / abs(way) * 6)]
    await _click_point(
        player, _move_away(corner, max(inside, key=lambda way: math.inf if _is_inside(corner + way) else 0))
    )
