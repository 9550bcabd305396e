"""CKEditor 5."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("CKEditor", "ckeditor")
AREA = re.compile("Editor editing area|Rich Text Editor")


@library.task("write two paragraphs", html="<p>First line</p><p>Second line</p>")
async def write(page: Person) -> None:
    await page.read("Hello from CKEditor!")
    await page.type(AREA, "First line\n\nSecond line", "field")


@library.task("make all bold", html="<p><strong>Hello from CKEditor!</strong></p>")
async def embolden(page: Person) -> None:
    await page.click(AREA, "field")
    await page.press("Ctrl+A")
    await page.click("Bold", "button")


@library.task("make a heading", html="<h3>Hello from CKEditor!</h3>")
async def make_heading(page: Person) -> None:
    await page.click(AREA, "field")
    await page.click(re.compile("Heading|Paragraph"), "button")
    await page.click(re.compile("^Heading 2"))


@library.task("make a list", html="<ul><li>Hello from CKEditor!</li></ul>")
async def make_list(page: Person) -> None:
    await page.click(AREA, "field")
    await page.click("Bulleted List", "button")


@library.task("make a link", html='<p><a href="https://site.example">Hello from CKEditor!</a></p>')
async def make_link(page: Person) -> None:
    await page.click(AREA, "field")
    await page.press("Ctrl+A")
    await page.click(re.compile("^Link"), "button")
    await page.type(re.compile("Link URL"), "https://site.example")
    await page.click(re.compile("^(Insert|Save)$"), "button")


@library.task("undo", html="<p>Hello from CKEditor!</p>")
async def undo(page: Person) -> None:
    await page.type(AREA, "Mistake", "field")
    await page.click(re.compile("^Undo"), "button")
    await page.read("Hello from CKEditor!")
