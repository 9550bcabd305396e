"""Lexical with its plugins for rich text and history."""

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Lexical", "lexical")


@library.task("write in the empty editor", lines=["Once upon a time"])
async def write(page: Person) -> None:
    await page.type("Story", "Once upon a time")


@library.task("replace what was written", lines=["The end"])
async def replace(page: Person) -> None:
    await page.type("Story", "Once upon a time")
    await page.type("Story", "The end")


@library.task("write two paragraphs by keys", lines=["ab", "c"])
async def write_by_keys(page: Person) -> None:
    await page.click("Story", "field")
    await page.press("a", "b", "Enter", "c")


@library.task("make all bold and align it", lines=["Loud"], bold=True, align="right")
async def embolden(page: Person) -> None:
    await page.type("Story", "Loud")
    await page.press("Ctrl+A")
    await page.click("Format Bold", "button")
    await page.click("Right Align", "button")
