"""ProseMirror with its example setup."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("ProseMirror", "prosemirror")
AREA = re.compile("")


@library.task("write two paragraphs", html="<h3>First line</h3><p>Second line</p>")
async def write(page: Person) -> None:
    await page.read("This is editable text.")
    await page.type(AREA, "First line\nSecond line")


@library.task("make all emphasised", html="<h3><em>Hello ProseMirror</em></h3><p><em>This is editable text.</em></p>")
async def emphasise(page: Person) -> None:
    await page.click(AREA, "field")
    await page.press("Ctrl+A")
    await page.click(re.compile("emphasis"))


@library.task("wrap in a list", html="<h3>Hello ProseMirror</h3><ul><li><p>This is editable text.</p></li></ul>")
async def wrap_in_list(page: Person) -> None:
    await page.click(AREA, "field")
    await page.press("Ctrl+End")
    await page.click(re.compile("Wrap in bullet list"))


@library.task("change the type of a block", html="<h3>Hello ProseMirror</h3><h2>This is editable text.</h2>")
async def change_type(page: Person) -> None:
    await page.click(AREA, "field")
    await page.press("Ctrl+End")
    await page.click(re.compile("^Type"))
    await page.hover(re.compile("^Heading"))
    await page.click("Level 2")


@library.task("insert a rule", html="<h3>Hello ProseMirror</h3><p>This is editable text.</p><hr>")
async def insert_rule(page: Person) -> None:
    await page.click(AREA, "field")
    await page.press("Ctrl+End")
    await page.click(re.compile("^Insert"))
    await page.click("Horizontal rule")
