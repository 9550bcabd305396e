"""Vuetify."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Vuetify", "vuetify")


@library.task("choose a state and a further chip", state="Georgia", many=["foo", "fizz"])
async def choose(page: Person) -> None:
    await page.read("Florida")
    await page.click(re.compile("^State"), "combobox")
    await page.click("Georgia")
    await page.click(re.compile("^Chips"), "combobox")
    await page.click("fizz")
    await page.press("Escape")


@library.task("complete and create", auto="Texas", combo="Poetry")
async def complete(page: Person) -> None:
    await page.type("Autocomplete", "tex")
    await page.click("Texas")
    await page.submit("Combobox", "Poetry")


@library.task("set the controls of a form", first="Ann", agree=True, switch=True, radio="blue", align="right")
async def set_controls(page: Person) -> None:
    await page.type("First name", "Ann")
    await page.check("Agree", "checkbox")
    await page.check("Message")
    await page.click("Blue", "radio")
    await page.click("Right", "button")


@library.task("rate and set the slider of the volume", rating=4, volume=55)
async def rate(page: Person) -> None:
    await page.click("Rating 4 of 5")
    await page.slide(re.compile(""), 55, 55, after="Volume")


@library.task("use menu, dialog and snackbar", menu="two", dialog="closed", bar="closed")
async def use_layers(page: Person) -> None:
    await page.click("Parent", "button")
    await page.click("Click Me 2")
    await page.click("Open Dialog", "button")
    await page.read("Lorem ipsum dolor")
    await page.click("Close Dialog", "button")
    await page.click("Open Snackbar", "button")
    await page.read("Hello, I'm a snackbar")
    await page.click("Dismiss", "button")


@library.task("tick and sort rows, and turn the page", rows=["Eclair"], sort="calories", page=3)
async def use_table(page: Person) -> None:
    await page.click(re.compile(""), "checkbox", after="Eclair")
    await page.click("Calories")
    await page.click(re.compile("Go to page 3"), "button")


@library.task("open tab, panel and tree", tab="two", panel=True, tree=[2])
async def open_parts(page: Person) -> None:
    await page.click("Item Two", "tab")
    await page.click("Panel title", "button")
    await page.read("Panel text")
    await page.click(re.compile(""), "button", before="Applications")
    await page.click("Calendar")


@library.task("pick a day, close a chip and upload", day=23, chip="closed", file="notes.txt")
async def pick_day(page: Person) -> None:
    await page.click(re.compile(r"\b23\b"), "button")
    await page.click("Close", "button", after="Closable")
    page.write_file("notes.txt", "Notes")
    await page.upload("File input", "notes.txt")
