"""jQuery UI."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("jQuery UI", "jquery_ui")


@library.task("open a section and a tab", accordion="Section 2", tab="Proin dolor")
async def open_parts(page: Person) -> None:
    await page.click("Section 2", "tab")
    await page.click(re.compile("Proin dolor"))
    await page.read("Morbi tincidunt.")


@library.task("complete a language and choose a speed", language="Scheme", speed="Faster")
async def complete(page: Person) -> None:
    await page.type(re.compile("^Tags"), "sch")
    await page.click("Scheme")
    await page.read("Medium")
    await page.click(re.compile("speed|Medium"), "combobox")
    await page.click("Faster", "option")


@library.task("pick a day", date="04/23/2026")
async def pick_day(page: Person) -> None:
    await page.click(re.compile("^Date"), "field")
    await page.click("23")


@library.task("use dialog and radio buttons", dialog="deleted", rating="4")
async def use_dialog(page: Person) -> None:
    await page.click("Open Dialog", "button")
    await page.read("These items will be deleted.")
    await page.click("Delete", "button")
    await page.click("4 Star", "radio")


@library.task("pick from a submenu", menu="Utilities")
async def open_submenu(page: Person) -> None:
    await page.hover("Electronics")
    await page.click("Utilities")


@library.task("spin a value", spinner=4)
async def spin(page: Person) -> None:
    await page.click(re.compile("^Select a value"), "field")
    await page.press("ArrowUp")


@library.task("set an unnamed slider by keys", slider=31)
async def set_slider(page: Person) -> None:
    await page.click(re.compile("handle"))
    await page.press("ArrowRight")


@library.task("drag onto a target", dropped=True)
async def drag_onto(page: Person) -> None:
    await page.drag("Drag me", re.compile("Drop here"))


@library.task("sort a list", sorted=["2", "3", "1"])
async def sort_list(page: Person) -> None:
    await page.drag("Item 1", "Item 3")


@library.task("select a row", selected="Row two")
async def select_row(page: Person) -> None:
    await page.click("Row two")
