"""Tiptap."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Tiptap", "tiptap")
FIRST = {"type": "paragraph", "content": [{"type": "text", "text": "A new text"}]}
BOLD = {"type": "paragraph", "content": [{"type": "text", "marks": [{"type": "bold"}], "text": "Hello World!"}]}


@library.task("write instead of what is there", first=FIRST, ticks=[])
async def write_text(page: Person) -> None:
    await page.read("Walk the dog")
    await page.rewrite("Hello World!", "A new text")


@library.task("tick a task", ticks=[True, True])
async def tick_item(page: Person) -> None:
    await page.check(re.compile("Buy milk"), "checkbox")


@library.task("make a line bold", first=BOLD)
async def embolden_text(page: Person) -> None:
    await page.type(re.compile(""), "Hello World!", "field")
    await page.press("Ctrl+A")
    await page.click("Bold", "button")


@library.task("undo", ticks=[False, True])
async def undo_change(page: Person) -> None:
    await page.uncheck(re.compile("Walk the dog"), "checkbox")
    await page.click("Undo", "button")
