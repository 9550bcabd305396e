"""flatpickr."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("flatpickr", "flatpickr")


@library.task("pick a day", day="2026-04-23")
async def pick_day(page: Person) -> None:
    await page.read("2026-04-17")
    await page.click("Day", "field")
    await page.click(re.compile("^(23|April 23, 2026)$"))


@library.task("pick two days of a range", stay="2026-04-20 to 2026-04-24")
async def pick_range(page: Person) -> None:
    await page.click("Stay", "field")
    await page.click(re.compile("^(20|April 20, 2026)$"), after="April")
    await page.click(re.compile("^(24|April 24, 2026)$"), after="April")


@library.task("set an hour", time="15:45")
async def set_hour(page: Person) -> None:
    await page.read("13:45")
    await page.click("Time", "field")
    await page.type("Hour", "15", "")
    await page.press("Enter")


@library.task("pick a month and a day of an inline calendar", inline="2026-09-09")
async def pick_inline(page: Person) -> None:
    await page.read("June 1, 2026")
    await page.choose(re.compile("Month"), "September")
    await page.click(re.compile("^(9|September 9, 2026)$"), after="September")
