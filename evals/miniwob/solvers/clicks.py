"""Solve tasks by clicking."""

import asyncio
import math
import re
from typing import Any

from evals.miniwob.player import Control, Player, View, find_quotes, solves


@solves("click-test")
async def click_only_button(player: Player, _: str) -> None:
    await player.click_control((await player.take_snapshot()).find_one(role="button"))


@solves("click-test-2", "click-test-transfer", "click-button-sequence")
async def click_named_in_capitals(player: Player, goal: str) -> None:
    for name in re.findall(r"\b(ONE|TWO)\b", goal):
        await player.press_button(name)


@solves("button-delay")
async def click_two_with_pause(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    await player.click_control(view.find_one("ONE"), settle=False)
    await asyncio.sleep(float(re.findall(r"wait (\d+)", goal)[0]) - 0.02)
    await player.click_control(view.find_one("TWO"), settle=False)


@solves("click-button", "unicode-test", "click-dialog-2")
async def click_quoted_button(player: Player, goal: str) -> None:
    name = find_quotes(goal)[0]
    await player.click_control((await player.take_snapshot()).find_one("Close" if name == "x" else name, "button"))


@solves("click-dialog")
async def close_dialog(player: Player, _: str) -> None:
    await player.press_button("Close")


@solves("click-link")
async def click_quoted_link(player: Player, goal: str) -> None:
    await player.press_button(find_quotes(goal)[0])


@solves("click-tab")
async def open_numbered_tab(player: Player, goal: str) -> None:
    await player.click_control((await player.take_snapshot()).find_one(re.search(r"Tab #\d", goal).group(), "link"))


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
async def click_link_behind_tab(player: Player, goal: str) -> None:
    name = find_quotes(goal)[0]
    for number in range(len((await player.take_snapshot()).find_all(role="tab"))):
        await player.click_control((await player.take_snapshot()).find_all(role="tab")[number])
        if (view := await player.take_snapshot()).has_control(name):
            await player.click_control(next(each for each in view.find_all(name) if each.role not in ("tab", "link")))
            return
    raise LookupError(name)


@solves("click-collapsible", "click-collapsible-nodelay")
async def expand_and_submit(player: Player, _: str) -> None:
    await player.click_control((await player.take_snapshot()).find_one(re.compile("Section"), "tab"))
    await player.wait_for(selector="#subbtn", seconds=3)
    await asyncio.sleep(0.5)
    await player.press_submit()


@solves("click-collapsible-2", "click-collapsible-2-nodelay")
async def click_link_in_section(player: Player, goal: str) -> None:
    name = find_quotes(goal)[0]
    for tab in (await player.take_snapshot()).find_all(role="tab"):
        if "expanded" not in tab.after:
            await player.click_control(tab)
            await asyncio.sleep(0.4)
        if (view := await player.take_snapshot()).has_control(name):
            await player.click_control(view.find_one(name))
            return
    raise LookupError(name)


@solves("click-menu")
async def open_menu_path(player: Player, goal: str) -> None:
    path = re.search(r"Select (.*)", goal).group(1).split(">")
    for name in path[:-1]:
        await player.hover_control(await player.wait_for_control(name))
    await player.click_control(await player.wait_for_control(path[-1]))


@solves("click-menu-2")
async def click_menu_item(player: Player, goal: str) -> None:
    named = find_quotes(goal)
    await player.press_button("Menu")
    await player.hover_control((await player.take_snapshot()).find_one("Playback"))
    await player.wait_for_control("Prev")
    name = named[-1] if len(named) > 1 else await _find_labelled_item(player)
    await player.press_button(name)


async def _find_labelled_item(player: Player) -> str:
    """Return the item with the icon that the task shows."""
    icon = re.search(r"ui-icon (ui-icon-[\w-]+)", await player.read_html("#query")).group(1)
    return re.search(rf'{icon}"></span>([^<]+)', await player.read_html("#area")).group(1).strip()


@solves("click-pie", "click-pie-nodelay")
async def click_pie_piece(player: Player, goal: str) -> None:
    await player.press_button("+")
    await asyncio.sleep(0.9)  # the pieces move to their places
    await player.click_control(await player.wait_for_control(find_quotes(goal)[0]))


@solves("click-widget")
async def click_widget_kind(player: Player, goal: str) -> None:
    kind = find_quotes(goal)[0]
    view = await player.take_snapshot()
    if kind in ("text", "textarea"):
        found = [
            each
            for each in view.find_all(role="textbox")
            if each.name == ("textarea" if kind == "textarea" else "input")
        ]
        await player.click_control(found[0])
        return
    await player.click_control(view.find_one(role=kind))


@solves("click-shape", "count-shape")
async def click_shapes(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    found = [each for each in view.things if (shape := _parse_shape(each.name)) and _matches_goal(shape, goal)]
    if goal.startswith("How many"):
        await player.click_control(view.find_one(str(len(found)), "button"))
        return
    await player.click_control(found[0])


def _parse_shape(name: str) -> dict[str, str] | None:
    found = re.fullmatch(
        r'(?P<what>"(?P<sign>.)"|circle|rect|polygon) (?P<colour>\w+) (?P<width>\d+)×(?P<height>\d+)', name
    )
    return found.groupdict() if found else None


def _matches_goal(shape: dict[str, str], goal: str) -> bool:
    """Return whether a shape is the goal's; large ones are 20 pixels high, small ones 10."""
    words = re.sub(r"[^\w ]", " ", goal.lower()).split()
    kinds = {"circle": "circle", "rect": "rectangle", "polygon": "triangle"}
    kind = kinds.get(shape["what"]) or ("digit" if shape["sign"].isdigit() else "letter")
    large = int(shape["height"]) > (16 if shape["sign"] else 14)
    wanted_size = next((word for word in words if word in ("large", "small")), None)
    wanted_colour = next((word for word in words if word in COLOURS), None)
    wanted_kind = next(
        (each for each in ("circle", "rectangle", "triangle", "digit", "letter") if each in goal.lower()), None
    )
    sign = re.search(r"\b(?:large|small)?\s*(?:\w+ )?([A-Za-z0-9])s?(?: are there|$)", goal)
    if wanted_kind is None and "item" not in words and "shape" not in words and sign and shape["sign"] != sign.group(1):
        return False
    return (
        (wanted_size is None or large == (wanted_size == "large"))
        and wanted_colour in (None, shape["colour"])
        and wanted_kind in (None, kind)
    )


COLOURS = frozenset({"red", "green", "blue", "aqua", "black", "magenta", "yellow"})


@solves("ascending-numbers")
async def click_in_ascending_order(player: Player, _: str) -> None:
    shown = {
        each["name"]: _find_center(each) for each in await player.list_elements("#area") if each["name"].isdecimal()
    }
    for number in sorted(shown, key=int):
        covers = await player.list_elements("#area")
        nearest = min(covers, key=lambda each: math.dist(_find_center(each), shown[number]))
        await player.click_control(nearest["ref"])


def _find_center(element: dict[str, Any]) -> tuple[float, float]:
    box = element["rect"]
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@solves("buy-ticket")
async def buy_ticket(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    offers = [
        (int(each.name.rpartition("$")[2]), _parse_minutes(view.lines[each.line - 1]), each)
        for each in view.find_all(role="button")
    ]
    by, most = (
        (1 if "duration" in goal or "short" in goal or "long" in goal else 0),
        re.search("most expensive|longest", goal),
    )
    offers.sort(key=lambda offer: offer[by])
    await player.click_control(offers[-1 if most else 0][2])


def _parse_minutes(text: str) -> int:
    hours, minutes = re.search(r"(?:(\d+)h)? ?(?:(\d+)m)?$", text).groups()
    return int(hours or 0) * 60 + int(minutes or 0)


@solves("circle-center")
async def click_center(player: Player, _: str) -> None:
    await player.click_control((await player.take_snapshot()).find_one(re.compile("^circle")))
    await player.press_submit()


@solves("find-greatest")
async def click_greatest(player: Player, _: str) -> None:
    cards = (await player.take_snapshot()).find_all(re.compile(r"^\d+$"))
    await player.click_control(max(cards, key=lambda each: int(each.name)))
    await player.press_submit()


@solves("grid-coordinate")
async def click_coordinate(player: Player, goal: str) -> None:
    await player.press_button("#" + re.search(r"\(.*\)", goal).group())


@solves("identify-shape")
async def identify_shape(player: Player, _: str) -> None:
    view = await player.take_snapshot()
    what = view.things[0].name
    kinds = {"circle": "Circle", "rect": "Rectangle", "polygon": "Triangle"}
    sign = what.strip('"')[0]
    kind = next(
        (name for word, name in kinds.items() if what.startswith(word)), "Number" if sign.isdigit() else "Letter"
    )
    await player.click_control(view.find_one(kind, "button"))


@solves("navigate-tree")
async def open_tree_item(player: Player, goal: str) -> None:
    name = find_quotes(goal)[0]
    opened: set[str] = set()
    while True:
        view = await player.take_snapshot()
        found = [each for each in view.find_all(name) if each.ref not in opened]
        if found:
            await player.click_control(found[0])
            opened.add(found[0].ref)
            continue
        closed = [each for each in view.find_all(re.compile("xpandable-hitarea$")) if each.ref not in opened]
        if not closed:
            return
        opened.add(closed[0].ref)
        await player.click_control(closed[0])


@solves("odd-or-even")
async def mark_odd_or_even(player: Player, _: str) -> None:
    view = await player.take_snapshot()
    for at, line in enumerate(view.lines):
        if re.fullmatch(r"-?\d+", line.strip()):
            odd = int(line) % 2
            await player.click_control(_find_button_beside(view, at, odd))
    await player.press_submit()


def _find_button_beside(view: View, at: int, odd: int) -> Control:
    name, line = ("Odd", at - 1) if odd else ("Even", at + 1)
    return next(each for each in view.find_all(name) if each.line == line)


@solves("order-food")
async def order_food(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    if kind := re.search(r"Order (\d+) items that are (.*)$", goal):
        plus = view.find_below(
            next(at for at, line in enumerate(view.lines) if f'(img "{kind.group(2)}")' in line), "+"
        )
        for _ in range(int(kind.group(1))):
            await player.click_control(plus)
    else:
        for name in re.search(r": (.*)$", goal).group(1).split(", "):
            await player.click_control(view.find_below(_find_name_line(view, name), "+"))
    await player.press_submit()


def _find_name_line(view: View, name: str) -> int:
    return next(at for at, line in enumerate(view.lines) if line.strip() == name)


@solves("phone-book")
async def use_phone_book(player: Player, goal: str) -> None:
    name = re.search(r"Find (\w+)", goal).group(1)
    kind = re.search(r"their (\w+)", goal).group(1)
    for _ in range(10):
        view = await player.take_snapshot()
        if f"## {name}" in view.lines:
            line = next(at for at, text in enumerate(view.lines) if text.lower().startswith(kind[:5]))
            await player.click_control(view.find_below(line))
            return
        await player.press_button(">")
    raise LookupError(name)


@solves("search-engine")
async def use_search_engine(player: Player, goal: str) -> None:
    word, number = find_quotes(goal)[0], int(re.search(r"(\d+)(?:st|nd|rd|th)", goal).group(1))
    view = await player.take_snapshot()
    await player.type_text(view.find_one(role="textbox"), word)
    await player.press_button("Search")
    page, place = divmod(number - 1, 3)
    if page:
        await player.press_button(str(page + 1))
    view = await player.take_snapshot()
    links = [each for each in view.find_all(role="link") if not re.fullmatch(r"[\d<>]+", each.name)]
    await player.click_control(links[place])


@solves("social-media")
async def use_social_media(player: Player, goal: str) -> None:
    user, action = re.search(r"@(\w+)", goal).group(), find_quotes(goal)[0]
    view = await player.take_snapshot()
    line = next(at for at, text in enumerate(view.lines) if f"{user} " in text + " " and text != goal)
    marks = {"Reply": ".reply", "Retweet": ".retweet", "Like": ".like", "More": ".more"}
    if action in marks:
        await player.click_control(view.find_below(line, marks[action]))
        return
    await player.click_control(view.find_below(line, ".more"))
    await player.press_button(action)


@solves("social-media-all", "social-media-some")
async def use_all_social_media(player: Player, goal: str) -> None:
    user, action = re.search(r"@(\w+)", goal).group(), find_quotes(goal)[0].lower()
    view = await player.take_snapshot()
    lines = [at for at, text in enumerate(view.lines) if text.endswith(f" {user}")]
    count = re.search(r"on (\d+) posts?", goal)
    for line in lines[: int(count.group(1)) if count else None]:
        await player.click_control(view.find_below(line, f".{action}"))
    await player.press_submit()


@solves("tic-tac-toe")
async def play_tic_tac_toe(player: Player, _: str) -> None:
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    for _turn in range(5):
        source = await player.read_html("#area")
        view = await player.take_snapshot()
        if not view.has_control(re.compile("^#ttt-")):
            return
        cells = [_read_mark(source, number) for number in range(9)]
        await player.click_control(f"#ttt-{_choose_cell(cells, lines)}")
        await asyncio.sleep(0.3)


def _read_mark(source: str, number: int) -> str:
    found = re.search(rf'<[^>]*id="ttt-{number}"[^>]*>(.*?)</', source, re.DOTALL)
    text = (found.group() if found else "").lower()
    return "X" if "mark-x" in text or "x.png" in text else "O" if "mark-o" in text or "o.png" in text else ""


def _choose_cell(cells: list[str], lines: list[tuple[int, ...]]) -> int:
    for sign in "XO":
        for line in lines:
            if sorted(cells[at] for at in line) == ["", sign, sign]:
                return next(at for at in line if not cells[at])
    return next(at for at in (4, 0, 2, 6, 8, 1, 3, 5, 7) if not cells[at])


@solves("guess-number")
async def guess_number(player: Player, _: str) -> None:
    low, high = 0, 9
    while low <= high:
        middle = (low + high) // 2
        view = await player.take_snapshot()
        await player.type_text(view.find_one(role="spinbutton"), str(middle))
        await player.press_button("Submit")
        text = (await player.take_snapshot()).text
        if "higher" in text:
            low = middle + 1
        elif "lower" in text:
            high = middle - 1
        else:
            return


@solves("generate-number")
async def generate_number(player: Player, goal: str) -> None:
    kind, bound = re.search(r"(greater|less|even|odd)\D*(\d*)", goal).groups()
    fits = {
        "greater": lambda number: number > int(bound),
        "less": lambda number: number < int(bound),
        "even": lambda number: number % 2 == 0,
        "odd": lambda number: number % 2 == 1,
    }[kind]
    while True:
        await player.press_button("Generate")
        view = await player.take_snapshot()
        number = next(line for line in view.lines if re.fullmatch(r"-?\d+", line))
        if fits(int(number)):
            await player.press_submit()
            return


@solves("stock-market")
async def buy_stock(player: Player, goal: str) -> None:
    threshold = float(re.search(r"\$([\d.]+\d)", goal).group(1))
    buy = (await player.take_snapshot()).find_one("Buy")
    while True:
        price = re.search(r"Stock price:(?: \w+>)? ?\$?([\d.]+)", (await player.take_snapshot()).text)
        if price and float(price.group(1)) < threshold:
            await player.click_control(buy, settle=False)
            return


@solves("click-color")
async def choose_color(player: Player, goal: str) -> None:
    view = await player.take_snapshot()
    asked = view.find_all(re.compile("^#query-color"))
    wanted = asked[0].name.split()[-1] if asked else PAINTS[re.search(r"the (\w+) colored", goal).group(1)]
    await player.click_control(next(each for each in view.things if each.name == f".color {wanted}"))


PAINTS = {
    "red": "#ff0000", "blue": "#0000ff", "olive": "#808000", "lime": "#00ff00", "black": "#000000", "white": "#ffffff",
    "grey": "#808080", "purple": "#800080", "orange": "#ffa500", "yellow": "#ffff00", "cyan": "#00ffff",
    "pink": "#ffc0cb", "magenta": "#ff00ff",
}  # fmt: skip


@solves("click-shades")
async def click_shades(player: Player, goal: str) -> None:
    wanted = ["red", "green", "blue"].index(re.search("red|green|blue", goal).group())
    for thing in (await player.take_snapshot()).find_all(re.compile("^span #")):
        light = list(bytes.fromhex(thing.name[-6:]))
        if light[wanted] == max(light):
            await player.click_control(thing)
    await player.press_submit()
