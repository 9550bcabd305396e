"""Shoelace: web components with slots."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Shoelace", "shoelace")


@library.task("choose a fruit and a further option", fruit="cherry", many=["option-1", "option-3"])
async def choose(page: Person) -> None:
    await page.read("Banana")
    await page.click("Favorite fruit", "combobox")
    await page.click("Cherry", "option")
    await page.click("Select a few", "combobox")
    await page.click("Option 3", "option")
    await page.press("Escape")


@library.task("fill fields", name="Ann", notes="two lines")
async def fill(page: Person) -> None:
    await page.type("What is your name?", "Ann")
    await page.type("Notes", "two lines")
    await page.press("Tab")


@library.task("set controls", agree=True, switch=True, radio="2")
async def set_controls(page: Person) -> None:
    await page.check("I agree", "checkbox")
    await page.check("Notify me", "switch")
    await page.click("Option two", "radio")


@library.task("set the slider of the volume", range=45)
async def set_volume(page: Person) -> None:
    await page.slide(re.compile("Volume"), 45, 45)


@library.task("pick from a submenu", menu="next")
async def open_submenu(page: Person) -> None:
    await page.click("Edit", "button")
    await page.hover("Find", "menuitem")
    await page.click("Find Next", "menuitem")


@library.task("type in a dialog, close a drawer and read a toast", dialog="Bea", drawer="close-button")
async def use_layers(page: Person) -> None:
    await page.click("Open Dialog", "button")
    await page.type("Who", "Bea")
    await page.click("Close it", "button")
    await page.click("Open Drawer", "button")
    await page.read("Lorem ipsum.")
    await page.click("Close", "button", after="Drawer")
    await page.click("Show toast", "button")
    await page.read("This is a toast")


@library.task("press an icon and remove a tag", icon=True, tags="removed")
async def press_icon(page: Person) -> None:
    await page.click("Settings", "button")
    await page.click("Remove", "button", after="Removable")


@library.task("open tab, details and tree", tabs="custom", details=True, tree="Birch")
async def open_parts(page: Person) -> None:
    await page.click("Custom", "tab")
    await page.read("This is the custom tab panel.")
    await page.click("Toggle Me", "button")
    await page.click("Deciduous", "treeitem")
    await page.press("ArrowRight")
    await page.click("Birch", "treeitem")
