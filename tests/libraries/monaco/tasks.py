"""Monaco."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Monaco", "monaco")


@library.task("write instead of what is there", text="const a = 2;")
async def write_text(page: Person) -> None:
    await page.read("Hello world!")
    await page.type(re.compile("Editor content"), "const a = 2;")


@library.task("find and replace", text="function hello() {\n\treturn 'Hello moon!';\n}\n")
async def replace_text(page: Person) -> None:
    await page.click(re.compile("Editor content"), "field")
    await page.press("Ctrl+H")
    await page.type("Find", "world")
    await page.type("Replace", "moon")
    await page.click(re.compile("^Replace All"), "button")


@library.task("write at the end", text="function hello() {\n\treturn 'Hello world!';\n}\nhello();")
async def append_text(page: Person) -> None:
    await page.click(re.compile("Editor content"), "field")
    await page.press("Ctrl+End", *"hello();")


@library.task("make capitals by the command palette", text="FUNCTION hello() {\n\treturn 'Hello world!';\n}\n")
async def use_palette(page: Person) -> None:
    await page.click(re.compile("Editor content"), "field")
    await page.press("Ctrl+Home", "Ctrl+Shift+ArrowRight", "F1")
    await page.type(re.compile("Type|Command|input", re.IGNORECASE), ">Transform to Uppercase")
    await page.click(re.compile("^Transform to Uppercase"))
