"""AG Grid."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("AG Grid", "ag_grid")


@library.task("select two rows", selected=["Ford", "Fiat"])
async def select_rows(page: Person) -> None:
    await page.read("$33,850")
    await page.check(re.compile("row"), "checkbox", after="Ford")
    await page.check(re.compile("row"), "checkbox", after="Fiat")


@library.task("sort by price", sort=["price desc"])
async def sort_rows(page: Person) -> None:
    await page.click(re.compile("^Price"))
    await page.click(re.compile("^Price"))


@library.task("filter by the field above the rows", filter=1)
async def filter_rows(page: Person) -> None:
    await page.type(re.compile("Make Filter"), "fiat", "field")


@library.task("edit a cell", **{"1 model": "Bronco"})
async def edit_cell(page: Person) -> None:
    await page.double_click("F-Series")
    await page.type(re.compile("Input Editor|Edit Cell|^$"), "Bronco", "field", after="Ford")
    await page.press("Enter")


@library.task("choose in the list of a cell", **{"2 make": "Ford"})
async def edit_list(page: Person) -> None:
    await page.double_click("Toyota")
    await page.click(re.compile(""), "combobox", before="Corolla")
    await page.click("Ford", "option")


@library.task("tick the checkbox of a cell", **{"4 electric": True})
async def tick_cell(page: Person) -> None:
    await page.check(re.compile("toggle cell value|^$"), "checkbox", after="$15,774")


@library.task("turn the page", page=1)
async def turn_page(page: Person) -> None:
    await page.click("Next Page")
    await page.read("Nissan")


@library.task("filter by the menu of a column", filter=1)
async def filter_column(page: Person) -> None:
    await page.click(re.compile("Open Filter Menu|filter|menu", re.IGNORECASE), after="Model")
    await page.type(re.compile("Filter Value"), "juke", "field")
