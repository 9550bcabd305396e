"""Mantine with its dates."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Mantine", "mantine")


@library.task("choose a library and a further one", library="Vue", libraries=["React", "Angular"])
async def choose(page: Person) -> None:
    await page.read("React")
    await page.click("Library")
    await page.click("Vue", "option")
    await page.click("Libraries")
    await page.click("Angular", "option")
    await page.press("Escape")


@library.task("complete a city and add a tag", city="Paris", tags=["one", "two"])
async def complete(page: Person) -> None:
    await page.type("City", "par")
    await page.click("Paris", "option")
    await page.submit("Tags", "two")


@library.task("set controls", agree=True, notify=True, chip=True, framework="solid", segment="Code")
async def set_controls(page: Person) -> None:
    await page.check("I agree", "checkbox")
    await page.check("Notify", "switch")
    await page.check("Awesome chip", "checkbox")
    await page.click("Solid", "radio")
    await page.click("Code", "radio")


@library.task("rate, and set a number and the slider of the zoom", rating=4, age=30, zoom=55)
async def rate(page: Person) -> None:
    await page.click("4", "radio")
    await page.type("Age", "30")
    await page.slide("Zoom", 55, 55)


@library.task("type a pin", pin="1234")
async def type_pin(page: Person) -> None:
    await page.click(re.compile("Pin"), number=1)
    await page.press("1", "2", "3", "4")


@library.task("pick a day of the calendar", date="2026-04-23")
async def pick_day(page: Person) -> None:
    await page.click(re.compile("^Pick date"), "button")
    await page.click(re.compile("^23"), "button")


@library.task("use menu, modal and popover", menu="all", user="ann", popover=True)
async def use_layers(page: Person) -> None:
    await page.click("Toggle menu", "button")
    await page.hover("Products", "menuitem")
    await page.click("All products", "menuitem")
    await page.click("Open modal", "button")
    await page.type("User", "ann")
    await page.click("Sign in", "button")
    await page.click("Toggle popover", "button")
    await page.click("Fine", "button")


@library.task("open tab, accordion, step and page", tab="messages", accordion="apples", step=0, page=3)
async def open_parts(page: Person) -> None:
    await page.click("Messages", "tab")
    await page.click("Apples", "button")
    await page.read("Crisp and refreshing.")
    await page.click(re.compile("First step"), "button")
    await page.click("Page 3", "button")


@library.task("dismiss, press an icon and upload", alert="closed", icon=True, file="notes.txt", spoiler=True)
async def press_icon(page: Person) -> None:
    await page.click("Dismiss", "button")
    await page.click("Settings", "button")
    page.write_file("notes.txt", "Notes")
    await page.upload("Upload image", "notes.txt")
    await page.click("Show more")
