"""PatternFly."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("PatternFly", "patternfly")


@library.task("choose a status and an action", status="Paused", action="remove", menu="a")
async def choose(page: Person) -> None:
    await page.click("Active", "button")
    await page.click("Paused", "option")
    await page.click("kebab dropdown toggle", "button")
    await page.click(re.compile("^Remove it"), "menuitem")
    await page.click("Action A", "menuitem")


@library.task("fill fields", name="Ann", query="tea", notes="two words")
async def fill(page: Person) -> None:
    await page.type(re.compile("^Full name"), "Ann")
    await page.type("Find", "tea")
    await page.type("Notes", "two words")


@library.task("set controls", switch=True, box=True, radio="2", number=4, side="two")
async def set_controls(page: Person) -> None:
    await page.check("Message when on")
    await page.check("Controlled checkbox", "checkbox")
    await page.click("Second radio", "radio")
    await page.click("Plus", "button")
    await page.click("Option two", "button")


@library.task("set the slider of the size", slider=55)
async def set_slider(page: Person) -> None:
    await page.slide("Size", 55, 55)


@library.task("pick a day of the calendar", day="2026-04-23")
async def pick_day(page: Person) -> None:
    await page.click("Toggle date picker", "button")
    await page.click(re.compile("^23 April"), "button")


@library.task("use modal, alert and label", confirmed=True, alert="closed", label="closed")
async def use_layers(page: Person) -> None:
    await page.click("Show basic modal", "button")
    await page.read("Lorem ipsum dolor sit amet.")
    await page.click("Confirm it", "button")
    await page.click(re.compile("^Close Success"), "button")
    await page.click(re.compile("^Close Closable"), "button")


@library.task("open tab, section and accordion", tab=1, more=True, part="one")
async def open_parts(page: Person) -> None:
    await page.click("Containers", "tab")
    await page.read("Containers text")
    await page.click("Show more", "button")
    await page.click("Item one", "button")
    await page.read("Text of item one")


@library.task("pick in the tree, upload and turn the page", tree="set", file="notes.txt", page=2)
async def pick_in_tree(page: Person) -> None:
    await page.click(re.compile("Application launcher"), "button")
    await page.click(re.compile("Settings part"))
    page.write_file("notes.txt", "Notes")
    await page.upload("Upload", "notes.txt")
    await page.click("Go to next page", "button")
