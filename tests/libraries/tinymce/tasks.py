"""TinyMCE, whose text is in a frame."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("TinyMCE", "tinymce")
AREA = re.compile("Rich Text Area|^$")


async def enter(page: Person) -> None:
    await page.read("Hello from TinyMCE!")
    await page.click("Hello from TinyMCE!", after="Rich Text Area")


@library.task("write instead of what is there", html="<p>A new text</p>")
async def write(page: Person) -> None:
    await page.read("Hello from TinyMCE!")
    await page.type(AREA, "A new text", "", after="Hello from TinyMCE!")


@library.task("make all bold", html="<p><strong>Hello from TinyMCE!</strong></p>")
async def embolden(page: Person) -> None:
    await page.read("Hello from TinyMCE!")
    await page.click(AREA, after="Hello from TinyMCE!")
    await page.press("Ctrl+A")
    await page.click("Bold", "button")


@library.task("make a heading", html="<h2>Hello from TinyMCE!</h2>")
async def make_heading(page: Person) -> None:
    await page.click(re.compile("^Block"), "button")
    await page.click("Heading 2")


@library.task("make a list by the menu", html="<p><em>Hello from TinyMCE!</em></p>")
async def use_menu(page: Person) -> None:
    await page.read("Hello from TinyMCE!")
    await page.click(AREA, after="Hello from TinyMCE!")
    await page.press("Ctrl+A")
    await page.click("Format", "menuitem")
    await page.click(re.compile("^Italic"))


@library.task("edit the source", html="<p>From the <em>source</em></p>")
async def edit_source(page: Person) -> None:
    await page.click("Source code", "button")
    await page.type(re.compile(""), "<p>From the <em>source</em></p>", after="Source Code")
    await page.click("Save", "button")
