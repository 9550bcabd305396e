"""Solve tasks by moving the mouse, or by looking at a picture."""

import base64
import cmath
import io
import math
import re

from PIL import Image

from evals.miniwob.player import Player, solves


async def _drag_about_dot(player: Player, steps: list[complex]) -> None:
    """Drag along points relative to the dot in the drawing."""
    dot, radius = (await player.take_snapshot()).find_one(re.compile("^circle ")), 4
    points = [[radius + step.real, radius + step.imag] for step in steps]
    await player.call_tool("useMouse", action="drag", selector=dot.ref, points=points)
    await player.press_submit()


@solves("draw-line")
async def draw_line(player: Player, goal: str) -> None:
    await _drag_about_dot(player, [step * (1 if "horizontal" in goal else 1j) for step in (-24, 0, 24)])


@solves("draw-circle")
async def draw_circle(player: Player, _: str) -> None:
    await _drag_about_dot(player, [cmath.rect(24, math.tau * step / 48) for step in range(49)])


@solves("hot-cold")
async def find_warm_spot(player: Player, _: str) -> None:
    area = (await player.take_snapshot()).things[0]

    async def feel(point: complex) -> str:
        await player.call_tool("useMouse", action="move", selector=area.ref, points=[[point.real, point.imag]])
        return (await player.take_snapshot()).things[1].name

    felt = {point: await feel(point) for point in (complex(x, y) for x in range(8, 150, 24) for y in range(8, 125, 24))}
    cold = [point for point, words in felt.items() if words != "ICE COLD"]
    near = sum(cold) / len(cold)
    fine = [complex(x, y) for x in range(5, 155, 7) for y in range(5, 125, 7)]
    while fine:
        fine.remove(point := min(fine, key=lambda each: abs(each - near)))
        words = await feel(point)
        if words == "HOT":
            await player.call_tool("useMouse", action="click", selector=area.ref, points=[[point.real, point.imag]])
            return
        near = point if words == "WARM" else near


async def _read_picture(player: Player, selector: str) -> Image.Image:
    result = await player.take_picture(selector)
    return Image.open(io.BytesIO(base64.b64decode(result))).convert("RGB")


@solves("use-colorwheel-2")
async def type_painted_color(player: Player, _: str) -> None:
    picture = await _read_picture(player, "#query")
    _ground, (_, (red, green, blue)) = sorted(picture.getcolors(picture.width * picture.height), reverse=True)[:2]
    await player.type_text((await player.take_snapshot()).find_one(role="textbox"), f"{red:02X}{green:02X}{blue:02X}")
    await player.press_keys("Tab")
    await player.press_submit()


@solves("number-checkboxes")
async def recognize_digit(player: Player, _: str) -> None:
    picture = await _read_picture(player, "body")
    for number, box in enumerate((view := await player.take_snapshot()).find_all(role="checkbox")):
        if picture.getpixel((95 + number % 4 * 15, 68 + number // 4 * 15)) == (255, 255, 255):
            await player.set_checked(box)
    await player.click_control(view.find_one("Submit"))


@solves("drag-cube")
async def turn_cube(player: Player, goal: str) -> None:
    face = re.search(r'"(\d)"', goal).group(1)
    x, y = 80, 130
    for across, down in [(60, 0)] * 5 + [(0, 60)] * 5:
        answer = await player.call_tool("useMouse", action="move", points=[[x, y]])
        if answer.partition("\n")[0].endswith(f'"{face}"'):
            break
        path = [[x + across * step / 4, y + down * step / 4] for step in range(5)]
        await player.call_tool("useMouse", action="drag", points=path)
        await player.wait_for(seconds=0.3)
    await player.press_submit()


@solves("count-sides")
async def count_sides(player: Player, _: str) -> None:
    view = await player.take_snapshot()
    picture = await _read_picture(player, view.things[0].ref)
    ground = picture.getpixel((2, 2))
    width, height = picture.size
    drawn = [
        complex(x, y) for y in range(4, height - 4) for x in range(4, width - 4) if picture.getpixel((x, y)) != ground
    ]
    middle = sum(drawn) / len(drawn)
    reach: dict[int, float] = {}
    for point in drawn:
        turn = round(math.degrees(cmath.phase(point - middle)))
        reach[turn] = max(reach.get(turn, 0), abs(point - middle))

    def harmonic(count: int) -> float:
        return abs(sum(length * cmath.exp(-1j * count * math.radians(turn)) for turn, length in reach.items()))

    await player.click_control(view.find_one(str(max(range(3, 8), key=harmonic)), "button"))
