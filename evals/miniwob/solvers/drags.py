"""Solve tasks by dragging."""

import re

from evals.miniwob.player import Control, Player, View, solves


@solves("drag-box")
async def drag_box(player: Player, _: str) -> None:
    view = await player.take_snapshot()
    await player.drag_control(view.find_one("s"), view.find_one("L"))
    await player.press_submit()


@solves("drag-items")
async def drag_items(player: Player, goal: str) -> None:
    things = _find_list_items(await player.take_snapshot())
    names = [each.name for each in things]
    name = next(each for each in names if re.search(rf"\b{each}\b", goal))
    at = names.index(name) + 1
    number = re.search(r"(\d)(?:st|nd|rd|th)", goal)
    places = {"top": 1, "bottom": len(names), "down": at + 1, "up": at - 1}
    goal_place = (
        int(number.group(1)) if number else next(places[word] for word in places if re.search(rf"\b{word}\b", goal))
    )
    await player.drag_control(things[at - 1], things[goal_place - 1])


@solves("drag-items-grid")
async def drag_in_grid(player: Player, goal: str) -> None:
    things = _find_list_items(await player.take_snapshot())
    names = [each.name for each in things]
    name = next(each for each in names if re.search(rf"\b{each}\b", goal))
    at = names.index(name)
    steps = {"up by": -3, "down by": 3, "left by": -1, "right by": 1}
    places = {"top left": 0, "top center": 1, "top right": 2, "center left": 3, "center right": 5, "bottom left": 6,
              "bottom center": 7, "bottom right": 8, "center": 4}  # fmt: skip
    found = next((at + step for words, step in steps.items() if words in goal), None)
    found = found if found is not None else next(place for words, place in places.items() if words in goal)
    await player.drag_control(things[at], things[found])


@solves("drag-sort-numbers")
async def sort_numbers(player: Player, _: str) -> None:
    for _turn in range(12):
        things = _find_list_items(await player.take_snapshot())
        numbers = [int(each.name) for each in things]
        if numbers == sorted(numbers):
            break
        at = next(at for at, number in enumerate(numbers) if number != sorted(numbers)[at])
        least = numbers.index(min(numbers[at:]))
        await player.drag_control(things[least], things[at])
    await player.press_submit()


def _find_list_items(view: View) -> list[Control]:
    return [each for each in view.find_all(re.compile(r"^-?\w+$")) if not each.role]


@solves("drag-circle", "drag-single-shape")
async def drag_circle(player: Player, goal: str) -> None:
    shape = next(each for each in (await player.take_snapshot()).things if re.match("circle|rect|polygon", each.name))
    word = re.search(r"\b(left|right|up|down)\b", goal).group()
    if word in ("right", "down"):
        await player.drag_control(shape, "body")
    else:
        await player.drag_control(shape, "#query")
    await player.press_submit()


@solves("drag-shapes")
async def drag_into_box(player: Player, goal: str) -> None:
    kind = {"circles": "circle", "rectangles": "rect", "triangles": "polygon"}[
        re.search(r"all (\w+) into", goal).group(1)
    ]
    for shape in (await player.take_snapshot()).find_all(re.compile(f"^{kind} ")):
        await player.drag_control(shape, "#shape-container")
    await player.press_submit()


@solves("drag-shapes-2")
async def drag_left_or_right(player: Player, goal: str) -> None:
    kinds = {"circles": "circle", "rectangles": "rect", "triangles": "polygon"}
    wanted = re.search(r"all (\w+)(?: shapes| items)? into", goal).group(1)
    for shape in (await player.take_snapshot()).find_all(re.compile(r"^(circle|rect|polygon) ")):
        left = shape.name.startswith(kinds[wanted]) if wanted in kinds else f" {wanted} " in shape.name
        await player.drag_control(shape, f"#shape-container:nth-last-of-type({2 if left else 1})")
    await player.press_submit()


@solves("resize-textarea")
async def resize_textarea(player: Player, goal: str) -> None:
    edge = ".ui-resizable-e" if "width" in goal else ".ui-resizable-s"
    outside = "body" if "width" in goal else "button"
    await player.drag_control(edge, "#tt" if "smaller" in goal else outside)
    await player.press_submit()
