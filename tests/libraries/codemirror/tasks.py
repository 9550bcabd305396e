"""CodeMirror."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("CodeMirror", "codemirror")


@library.task("write instead of what is there", text="const a = 2;")
async def write_text(page: Person) -> None:
    await page.read("console.log(total)")
    await page.rewrite("let total = 1;", "const a = 2;")


@library.task("find and replace", text="let sum = 1;\nconsole.log(sum);\n")
async def replace_text(page: Person) -> None:
    await page.click(re.compile(""), "editor", after="let total")
    await page.press("Ctrl+F")
    await page.type("Find", "total")
    await page.type("Replace", "sum")
    await page.click("replace all", "button")


@library.task("complete a word", text="continuelet total = 1;\nconsole.log(total);\n")
async def complete_text(page: Person) -> None:
    await page.click(re.compile(""), "editor", after="let total")
    await page.press("Ctrl+Home", *"conti")
    await page.click(re.compile("continue"), "option")


@library.task("type at the end of a long text", end="line 300!")
async def read_long(page: Person) -> None:
    await page.click(re.compile(""), "editor", after="line 1")
    await page.press("Ctrl+End")
    await page.press("!")
