"""Tasks that are solved by a press at a point of a drawing."""

import math
import re
from typing import Any

from evals.miniwob.player import Player, solves

DRAWING = "#svg-grid"
SIDE = 145.0  # of what can be pressed; points that were asked for lie within
REACH = 60.0  # how far from a corner the point of an angle is set
Point = complex


async def _points(player: Player) -> dict[str, list[Point]]:
    """The middles of the circles in the drawing by their colours, in its pixels."""
    source = await player.html(DRAWING)
    found: dict[str, list[Point]] = {}
    for tag in re.findall(r"<circle[^>]*>", source):
        number = {name: float(value) for name, value in re.findall(r'\b(cx|cy)="([\d.]+)"', tag)}
        colour = re.search(r"fill[=:]\W*(\w+)", tag)
        found.setdefault(colour[1] if colour else "", []).append(complex(number["cx"], number["cy"]))
    return found


async def _press(player: Player, point: Point) -> Any:
    await player.click(DRAWING, at=[point.real, point.imag])
    return await player.submit()


def _is_inside(point: Point) -> bool:
    return 0 < point.real < SIDE and 0 < point.imag < SIDE


def _away(corner: Point, direction: Point) -> Point:
    """As far from a corner as the drawing allows."""
    steps = [corner + direction / abs(direction) * length for length in range(int(REACH), 5, -5)]
    return next(each for each in steps if _is_inside(each))


@solves("find-midpoint")
async def midpoint(player: Player, _: str) -> None:
    one, other = (await _points(player))["black"]
    await _press(player, (one + other) / 2)


@solves("bisect-angle")
async def bisect(player: Player, _: str) -> None:
    points = await _points(player)
    corner, (one, other) = points["blue"][0], points["black"]
    direction = (one - corner) / abs(one - corner) + (other - corner) / abs(other - corner)
    await _press(player, _away(corner, direction))


@solves("right-angle")
async def right_angle(player: Player, _: str) -> None:
    points = [each for same in (await _points(player)).values() for each in same]
    drawn, corner = points
    across = (drawn - corner) * 1j
    ways = [sign * across for sign in (1, -1)]
    inside = [way for way in ways if _is_inside(corner + way / abs(way) * 6)]
    await _press(player, _away(corner, max(inside, key=lambda way: math.inf if _is_inside(corner + way) else 0)))
