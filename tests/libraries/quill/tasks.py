"""Quill."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Quill", "quill")


@library.task("write instead of what is there", html="<p>A new text</p>")
async def write_text(page: Person) -> None:
    await page.rewrite("Hello World!", "A new text")


@library.task("make all bold", html="<p><strong>Hello World!</strong></p>")
async def embolden_text(page: Person) -> None:
    await page.click(re.compile(""), "editor", after="Hello World!")
    await page.press("Ctrl+A")
    await page.click("bold", "button")


@library.task("make a heading by the list of the toolbar", html="<h2>Hello World!</h2>")
async def make_heading(page: Person) -> None:
    await page.click(re.compile(""), "editor", after="Hello World!")
    await page.click(re.compile("Normal|header"), "button")
    await page.click("Heading 2")


@library.task("make a list", html='<ol><li data-list="bullet">Hello World!</li></ol>')
async def make_list(page: Person) -> None:
    await page.click(re.compile(""), "editor", after="Hello World!")
    await page.click("list: bullet", "button")


@library.task(
    "link a text",
    html='<p><a href="https://example.com" rel="noopener noreferrer" target="_blank">Hello World!</a></p>',
)
async def link_text(page: Person) -> None:
    await page.click(re.compile(""), "editor", after="Hello World!")
    await page.press("Ctrl+A")
    await page.click("link", "button")
    await page.type(re.compile(""), "https://example.com", "field", after="Enter link")
    await page.press("Enter")
