"""Fluent UI for React."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Fluent UI", "fluent")


@library.task("choose pets", pet="Ferret", pets=["Cat"], found="Fish", colour="Green")
async def choose(page: Person) -> None:
    await page.click("Best pet", "combobox")
    await page.click("Ferret", "option")
    await page.click("Many pets", "combobox")
    await page.click("Cat")
    await page.press("Escape")
    await page.type("Find a pet", "fi")
    await page.click("Fish", "option")
    await page.choose("Color", "Green", "combobox")


@library.task("fill fields", name="Ann", notes="two words", query="tea")
async def fill(page: Person) -> None:
    await page.read("This is an error message.")
    await page.type("Name", "Ann")
    await page.type("Notes", "two words")
    await page.type(re.compile("^Search|^$"), "tea", "searchbox")


@library.task("set controls", box=True, switch=True, fruit="pear", toggled=True, icon=True)
async def set_controls(page: Person) -> None:
    await page.check("Checked it", "checkbox")
    await page.check("This is a switch", "switch")
    await page.click("Pear", "radio")
    await page.click("Toggle it", "button")
    await page.click("With a tooltip", "button")


@library.task("rate and set the slider of the size", stars=4, size=35)
async def rate(page: Person) -> None:
    await page.click("4", "radio")
    await page.slide("Size", 35, 35)


@library.task("use menu, dialog and popover", menu="online", dialog="done", popover=True)
async def use_layers(page: Person) -> None:
    await page.click("Toggle menu", "button")
    await page.click("Preferences", "menuitem")
    await page.click("Online settings", "menuitem")
    await page.click("Open dialog", "button")
    await page.read("Lorem ipsum dolor sit amet.")
    await page.click("Do Something", "button")
    await page.click("Popover trigger", "button")
    await page.click("Fine", "button")


@library.task("open tab, accordion and tree", tab="second", accordion="1", leaf=True)
async def open_parts(page: Person) -> None:
    await page.click("Second Tab", "tab")
    await page.click("Accordion Header 1", "button")
    await page.read("Accordion text 1")
    await page.click(re.compile("^Level 1, item 1"))
    await page.click(re.compile("^Level 2, item 1"))
