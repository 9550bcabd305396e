"""FullCalendar."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("FullCalendar", "fullcalendar")


@library.task("read an event and click it", event="Party")
async def click_event(page: Person) -> None:
    await page.read("Long event")
    await page.click(re.compile("Party"))


@library.task("turn to the next month", month="May 2026")
async def turn_month(page: Person) -> None:
    await page.read("April 2026")
    await page.click(re.compile("next", re.IGNORECASE), "button")
    await page.read("May 2026")


@library.task("show the list of the month", view="listMonth", event="Dinner")
async def show_list(page: Person) -> None:
    await page.click(re.compile("^list", re.IGNORECASE))
    await page.click(re.compile("Dinner"))


@library.task("click a day", day="2026-04-23")
async def click_day(page: Person) -> None:
    await page.click(re.compile("^(23|April 23, 2026)$"))


@library.task("show what a full day hides", event="Dinner")
async def show_more(page: Person) -> None:
    await page.click(re.compile("more"))
    await page.click(re.compile("Dinner"))


@library.task("move an event to another day", moved=["Party", "2026-04-24"])
async def move_event(page: Person) -> None:
    await page.drag(re.compile("Party"), re.compile("^(24|April 24, 2026)$"))


@library.task("show the week and read an hour", view="timeGridWeek")
async def show_week(page: Person) -> None:
    await page.click(re.compile("^week", re.IGNORECASE))
    await page.read("6am")
