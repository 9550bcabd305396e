"""Chakra UI 3, which uses the state machines of Zag."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Chakra UI", "chakra")


@library.task("choose a framework and find another", framework=["angular"], found=["react"])
async def choose(page: Person) -> None:
    await page.read("Vue.js")
    await page.click(re.compile("^Select framework"), "combobox")
    await page.click("Angular", "option")
    await page.type("Find a framework", "rea")
    await page.click("React.js", "option")


@library.task("set the controls of a form", terms=True, card=True, switch=True, option="2", plan="vite", segment="Vue")
async def set_controls(page: Person) -> None:
    await page.check("Accept terms", "checkbox")
    await page.check("Next.js", "checkbox")
    await page.check("Activate Chakra")
    await page.click("Option 2", "radio")
    await page.click("vite", "radio")
    await page.click("Vue", "radio")


@library.task("set the slider of the quantity and a number", slider=55, number="17")
async def set_slider(page: Person) -> None:
    await page.slide("Quantity", 55, 55)
    await page.type("Amount", "17")


@library.task("type a pin and rate", pin="1234", rating=5)
async def type_pin(page: Person) -> None:
    await page.click(re.compile("pin code 1"))
    await page.press("1", "2", "3", "4")
    await page.click("5 stars", "radio")


@library.task("add and remove tags", tags=["Chakra", "Zag"])
async def change_tags(page: Person) -> None:
    await page.click(re.compile("Delete tag React", re.IGNORECASE), "button")
    await page.submit(re.compile("Add tag"), "Zag")


@library.task("edit in place", edited="Changed")
async def edit_in_place(page: Person) -> None:
    await page.click(re.compile("^edit$|Click to edit"))
    await page.submit(re.compile("edit", re.IGNORECASE), "Changed")


@library.task("upload by the button", file="notes.txt")
async def upload(page: Person) -> None:
    page.write_file("notes.txt", "Notes")
    await page.upload("Upload file", "notes.txt")


@library.task("pick in a list and a tree", listbox=["Naruto"], tree=["app"])
async def pick(page: Person) -> None:
    await page.click("Naruto", "option")
    await page.click("src")
    await page.click("app.tsx")


@library.task("pick from a submenu", menu="panda")
async def open_submenu(page: Person) -> None:
    await page.click("Open menu", "button")
    await page.click("Open Recent", "menuitem")
    await page.click("Panda", "menuitem")


@library.task("use dialog, tab and accordion", first="Ann", saved=True, tab="projects", accordion=["a"])
async def use_layers(page: Person) -> None:
    await page.click("Open dialog", "button")
    await page.type("First name", "Ann")
    await page.click("Save", "button")
    await page.click("Projects", "tab")
    await page.click("First Item", "button")
    await page.read("Some value 1...")
