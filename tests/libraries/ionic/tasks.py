"""Ionic, whose web components have their controls in shadow roots."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Ionic", "ionic")


@library.task("choose in a window", food="banana")
async def choose_in_window(page: Person) -> None:
    await page.click(re.compile("^Favorite food"))
    await page.click("Banana", "radio")
    await page.click("OK", "button")


@library.task("choose in a popover", sheet="l")
async def choose_in_popover(page: Person) -> None:
    await page.read("Small")
    await page.click(re.compile("Size"))
    await page.click("Large", "radio")


@library.task("choose several", fruits=["plum"])
async def choose_several(page: Person) -> None:
    await page.click(re.compile("^Fruits"))
    await page.check("Plum", "checkbox")
    await page.click("OK", "button")


@library.task("set controls", name="Bea", agree=True, wifi=True, size="t", segment="second")
async def set_controls(page: Person) -> None:
    await page.read("Ann")
    await page.type("Name", "Bea")
    await page.check("I agree", "checkbox")
    await page.check("Wi-Fi", "switch")
    await page.click("Thin crust", "radio")
    await page.click("Second", "tab")


@library.task("set the slider of the volume", volume=45)
async def set_slider(page: Person) -> None:
    await page.slide("Volume", 45, 45)


@library.task("search and open a section", search="tea", section="second")
async def search_text(page: Person) -> None:
    await page.type(re.compile("search", re.IGNORECASE), "tea")
    await page.click(re.compile("Second Accordion"))
    await page.read("Second Content")


@library.task("pick a day", day="2026-04-23")
async def pick_day(page: Person) -> None:
    await page.click(re.compile(r"^(23|.*April 23.*)$"), "button")


@library.task("use window and sheet", deleted=True, action="share")
async def use_layers(page: Person) -> None:
    await page.click("Delete all", "button")
    await page.read("All is lost.")
    await page.click("Delete", "button")
    await page.click("More", "button")
    await page.click("Share", "button")


@library.task("answer a toast", undone=True)
async def answer_toast(page: Person) -> None:
    await page.click("Show a toast", "button")
    await page.read("Hello World!")
    await page.click("Undo", "button")


@library.task("open modal and popover", modal="closed", menu="settings")
async def open_layers(page: Person) -> None:
    await page.click("Open the modal", "button")
    await page.read("Modal text")
    await page.click("Close it", "button")
    await page.click("Open the popover", "button")
    await page.click("Settings")


@library.task("move an item by its handle", order=["Item 2", "Item 3", "Item 1"])
async def reorder_items(page: Person) -> None:
    handles = [await page.find(re.compile("reorder"), number=number) for number in (1, 3)]
    page.hear(await page.act("drag", *handles))
