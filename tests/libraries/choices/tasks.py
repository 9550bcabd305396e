"""Choices.js."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Choices.js", "choices")


@library.task("search a city among the groups", city="Paris")
async def search_city(page: Person) -> None:
    await page.click(re.compile("City|Choose a city"), "combobox")
    await page.type(re.compile("Search cities"), "par", "")
    await page.click(re.compile("^Paris"))


@library.task("choose a second fruit and remove the first", fruits=["plum"])
async def choose_fruits(page: Person) -> None:
    await page.read("Apple")
    await page.click(re.compile("Fruits|^$"), "field", after="Fruits")
    await page.click(re.compile("^Plum"), "option")
    await page.click(re.compile("Remove item: Apple"), "button")


@library.task("write a word of its own", words=["preset-1", "preset-2", "third"])
async def write_word(page: Person) -> None:
    await page.read("preset-2")
    await page.type("Words", "third", "searchbox")
    await page.press("Enter")


@library.task("choose a size without a search", plain="l")
async def choose_size(page: Person) -> None:
    await page.read("Medium")
    await page.click(re.compile("Size|Medium"), after="Size")
    await page.click(re.compile("^Large"), "option")
