"""Handsontable."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Handsontable", "handsontable")


@library.task("write into a cell", **{"1 0": "Acme"})
async def write_cell(page: Person) -> None:
    await page.read("2026-06-11")
    await page.click("Zoomzone")
    await page.press("Enter", "Ctrl+A")
    await page.press(*"Acme", "Enter")


@library.task("choose in the list of a cell", **{"2 1": "HL Tube"})
async def choose_in_cell(page: Person) -> None:
    await page.double_click(re.compile("^Gloves"))
    await page.click("HL Tube")


@library.task("tick a cell", **{"1 3": True})
async def tick_cell(page: Person) -> None:
    await page.check(re.compile(""), "checkbox", after="Zoomzone")


@library.task("sort by company", sorted=[0, "asc"])
async def sort_rows(page: Person) -> None:
    await page.click(re.compile("^Company"))


@library.task("insert a row by the menu of a row", rows=4)
async def insert_row(page: Person) -> None:
    await page.click("Meeveo")
    await page.press("Shift+F10")
    await page.click(re.compile("Insert row below"))


@library.task("filter by the menu of a column", shown=2)
async def filter_rows(page: Person) -> None:
    await page.click(re.compile(""), "button", after="Company")
    await page.uncheck(re.compile("Checked"), "checkbox", after="Search")
    await page.click("OK")
