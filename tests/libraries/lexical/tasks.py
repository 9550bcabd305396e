"""Lexical."""

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Lexical", "lexical")


@library.task("write instead of what is there", text="A new text")
async def write_text(page: Person) -> None:
    await page.read("Hello from Lexical")
    await page.rewrite("Hello from Lexical", "A new text")


@library.task("make all bold", bold=["Welcome", "Hello from Lexical"])
async def embolden_text(page: Person) -> None:
    await page.click("Story", "field")
    await page.press("Ctrl+A")
    await page.click("Bold", "button")


@library.task("write at the end and undo", text="Welcome\n\nHello from Lexical")
async def undo_change(page: Person) -> None:
    await page.click("Story", "field")
    await page.press("Ctrl+End", "!")
    await page.click("Undo", "button")
