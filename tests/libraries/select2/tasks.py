"""Select2."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Select2", "select2")


@library.task("search a state among the groups", state="HI")
async def search_state(page: Person) -> None:
    await page.read("Colorado")
    await page.click("Colorado", "combobox")
    await page.type(re.compile(""), "haw", "searchbox")
    await page.click("Hawaii", "option")


@library.task("choose a second state and remove the first", states=["TX"])
async def choose_states(page: Person) -> None:
    await page.read("Alabama")
    await page.click("Search", "searchbox", after="Alabama")
    await page.click("Texas", "option")
    await page.click("Remove item", "button")


@library.task("choose in a list without a search", search="l")
async def choose_size(page: Person) -> None:
    await page.read("Select a size")
    await page.click("Select a size", "combobox")
    await page.click("Large", "option")


@library.task("write a tag of its own", tags=["orange", "blue"])
async def write_tag(page: Person) -> None:
    await page.type("Search", "blue", "searchbox", after="orange")
    await page.press("Enter")
