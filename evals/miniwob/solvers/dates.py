"""Solve tasks with calendars, and book a flight."""

import asyncio
import re

from evals.miniwob.player import Player, ToolError, View, find_quotes, solves

MONTH_NAMES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
async def choose_date(player: Player, goal: str) -> None:
    await _pick_date(player, goal)
    await player.press_submit()


async def _pick_date(player: Player, goal: str) -> None:
    month, day = map(int, re.search(r"(\d\d)/(\d\d)/\d{4}", goal).groups())
    await player.click_control((await player.take_snapshot()).find_one("#datepicker"))
    await asyncio.sleep(0.3)
    for _ in range(24):
        view = await player.take_snapshot()
        shown = next(at for at in range(12) if re.search(rf"\b{MONTH_NAMES[at]} \d{{4}}", view.text))
        if shown + 1 == month:
            break
        await player.click_control(view.find_one("Prev" if shown + 1 > month else "Next"))
    await player.click_control((await player.take_snapshot()).find_one(str(day)))


@solves("book-flight", "book-flight-nodelay")
async def book_flight(player: Player, goal: str) -> None:
    origin, there = re.search(r"from: (.*?) to: (.*?) on", goal).groups()
    for box, place in (("From:", origin), ("To:", there)):
        await player.type_text((await player.take_snapshot()).find_one(box), place, delayMs=5)
        await player.click_control(await player.wait_for_control(re.compile(re.escape(place)), "listitem"))
    await _pick_date(player, goal)
    await player.press_button("Search")
    view = await player.take_snapshot()
    offers = [
        (_parse_price(each.name), _parse_duration(view, each.line), each)
        for each in view.find_all(re.compile("^Book flight"))
    ]
    by = 0 if "cheapest" in goal else 1
    await player.click_control(min(offers, key=lambda offer: offer[by])[2])


def _parse_price(name: str) -> int:
    return int(name.rpartition("$")[2])


def _parse_duration(view: View, line: int) -> int:
    text = "\n".join(view.lines[:line])
    hours, minutes = re.findall(r"(\d+)h (\d+)m", text)[-1]
    return int(hours) * 60 + int(minutes)


@solves("daily-calendar")
async def add_event(player: Player, goal: str) -> None:
    length, unit = re.search(r"Create an? ([\d.]+) (hour|min)", goal).groups()
    halves = round(float(length) * (2 if unit == "hour" else 1 / 30))
    start, end = (_parse_half_hours(each) for each in re.search(r"between (\w+) and (\w+)", goal).groups())
    for first in range(start, end - halves + 1):
        try:
            await player.drag_control(f"#hh-{first}", f"#hh-{first + halves - 1}")
        except ToolError:  # another event is in the way
            continue
        if "event-name" in await player.read_html("#area"):
            break
    await player.type_text("#event-name", find_quotes(goal)[0])
    await player.press_button("Create")


def _parse_half_hours(text: str) -> int:
    hour, half = re.fullmatch(r"(\d+)([AP]M)", text).groups()
    return 2 * (int(hour) % 12 + (12 if half == "PM" else 0))
