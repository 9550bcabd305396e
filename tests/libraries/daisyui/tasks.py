"""daisyUI, whose widgets consist of style sheets."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("daisyUI", "daisyui")


@library.task("pick from menus by details, focus and hover", details="item 2", focus="item b", hover="item h")
async def open_menus(page: Person) -> None:
    await page.click("open or close")
    await page.click("Item 2")
    await page.click("Click me", "button")
    await page.click("Item B")
    await page.hover("Hover me", "button")
    await page.click("Item H")


@library.task("close a modal", modal="closed")
async def close_modal(page: Person) -> None:
    await page.click("open modal", "button")
    await page.read("Press ESC key")
    await page.click("Close", "button")


@library.task("open and close a modal by a label", checkmodal=False)
async def close_label_modal(page: Person) -> None:
    await page.click(re.compile("open by label"), "checkbox")
    await page.read("By a label")
    await page.click(re.compile("Close!"), "checkbox")


@library.task("set controls", swap=True, toggle=True, remember=True, rating="3", filter="svelte")
async def set_controls(page: Person) -> None:
    await page.click(re.compile("ON|OFF"), "checkbox")
    await page.check("Save preferences", "checkbox")
    await page.check("Remember me", "checkbox")
    await page.click("3 star", "radio")
    await page.click("Svelte", "radio")


@library.task("set the slider of a range", range="45")
async def set_range(page: Person) -> None:
    await page.slide("Range", 45, 45)


@library.task("fill fields", colour="Amber", mail="a@b.example", file="C:\\fakepath\\notes.txt")
async def fill(page: Person) -> None:
    await page.choose("Color", "Amber", "combobox")
    await page.type(re.compile("Your Email|mail@site"), "a@b.example")
    await page.press("Tab")
    page.write_file("notes.txt", "Notes")
    await page.upload(re.compile("Pick a file|Choose File|^$|file"), "notes.txt", after="Pick a file")


@library.task("open a part, a tab and a page", collapse="1", tab="2", page="2", tip="pressed")
async def open_parts(page: Person) -> None:
    await page.click("How do I create an account?", "radio")
    await page.read('Click the "Sign Up" button.')
    await page.click("Tab 2", "radio")
    await page.read("Tab content 2")
    await page.click("2", "radio")
    await page.click("Hover for it", "button")
