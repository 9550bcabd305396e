"""Tom Select."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Tom Select", "tom_select")


@library.task("search a person", person="3")
async def search_person(page: Person) -> None:
    await page.read("Arnold Schwarzenegger")
    await page.type("Person", "tesla", "combobox")
    await page.click("Nikola Tesla", "option")


@library.task("add a state and remove another", states=["CA", "AK"])
async def choose_states(page: Person) -> None:
    await page.read("Alabama")
    await page.click("States", "combobox")
    await page.click("Alaska", "option")
    await page.click(re.compile("×|Remove"), after="Alabama")


@library.task("write a tag of its own", tags="awesome,neat,blue")
async def write_tag(page: Person) -> None:
    await page.read("neat")
    await page.type("Tags", "blue", "combobox")
    await page.press("Enter")


@library.task("search in the list and tick", dial=["d"])
async def tick_dial(page: Person) -> None:
    await page.click(re.compile("Dials|Pick dials"), after="Dials")
    await page.type("Pick dials", "dig", after="Dials")
    await page.click("Digital")
