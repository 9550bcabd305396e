"""Flowbite for Svelte."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Flowbite Svelte", "svelte_flowbite")


@library.task("choose a country and a further one", country="fr", many=["ca", "us"])
async def choose(page: Person) -> None:
    await page.choose(re.compile("^Country"), "France", "combobox")
    await page.click(re.compile(""), "listbox")
    await page.click("United States", after="Canada")


@library.task("fill fields", mail="a@b.example", notes="two words", query="tea")
async def fill(page: Person) -> None:
    await page.type("Email", "a@b.example")
    await page.type("Your message", "two words")
    await page.type(re.compile("^Search"), "tea")


@library.task("set controls", box=True, toggle=True, radio="2")
async def set_controls(page: Person) -> None:
    await page.check("Default checkbox", "checkbox")
    await page.check("Toggle me", "checkbox")
    await page.click("Second radio", "radio")


@library.task("set the slider of a range", range="45")
async def set_range(page: Person) -> None:
    await page.slide("Range", 45, 45)


@library.task("use menu, modal and drawer", menu="settings", accepted=True, drawer="closed")
async def use_layers(page: Person) -> None:
    await page.click("Dropdown button", "button")
    await page.click("Settings")
    await page.click("Default modal", "button")
    await page.read("With less than a month to go.")
    await page.click("I accept", "button")
    await page.click("Show drawer", "button")
    await page.click("Hide it", "button")


@library.task("close an alert, and open tab and accordion", tip=True, tab="settings", read=True)
async def open_parts(page: Person) -> None:
    await page.click("Default tooltip", "button")
    await page.click("Settings tab", "tab")
    await page.read("Settings text")
    await page.click("What is Flowbite?", "button")
    await page.click("Read on", "button")
