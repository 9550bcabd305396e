"""TanStack Table, as its examples show it."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("TanStack Table", "tanstack_table")


@library.task("sort by age", sorting=[{"id": "age", "desc": False}], shown=["Kevin", "Ann", "Tanner"])
async def sort_rows(page: Person) -> None:
    await page.click(re.compile("^Age"))
    await page.click(re.compile("^Age"))


@library.task("filter by the field in a header", shown=["Kevin"])
async def filter_rows(page: Person) -> None:
    await page.type("Search...", "kev")


@library.task("tick a row and turn the page", rows=["2"], page=1)
async def tick_row(page: Person) -> None:
    await page.check(re.compile(""), "checkbox", after="Dirte")
    await page.click(">", "button")


@library.task("hide a column", hidden=["last"])
async def hide_column(page: Person) -> None:
    await page.uncheck("last", "checkbox")
