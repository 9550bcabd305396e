"""PrimeNG."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("PrimeNG", "primeng")


@library.task("choose a city and a further one", city="London", many=["Paris", "Rome"])
async def choose_options(page: Person) -> None:
    await page.read("Paris")
    await page.click("City", "combobox")
    await page.click("London", "option")
    await page.click("Cities", "combobox")
    await page.click("Rome", "option")
    await page.press("Escape")


@library.task("complete a country and pick a day", country="Ghana", day=23)
async def complete_text(page: Person) -> None:
    await page.type("Country", "g", "combobox")
    await page.click("Ghana", "option")
    await page.click("Choose Date", "button")
    await page.click(re.compile("April 23, 2026"))


@library.task("set the controls of a form", number=17, agree=True, on=True, pizza="Mushroom", payment="On")
async def set_controls(page: Person) -> None:
    await page.type("Amount", "17")
    await page.press("Tab")
    await page.check("Agree", "checkbox")
    await page.check("Wi-Fi", "switch")
    await page.click("Mushroom", "radio")
    await page.click("On")


@library.task("rate and set the slider of the price", stars=4, amount=45)
async def rate_with_stars(page: Person) -> None:
    await page.click(re.compile("^4"), "radio")
    await page.slide("Price", 45, 45)


@library.task("pick in a list and open submenus", listed="Paris", bar="bookmark")
async def open_submenus(page: Person) -> None:
    await page.click("Paris", "option")
    await page.click("File", "menuitem")
    await page.hover("New", "menuitem")
    await page.click("Bookmark", "menuitem")


@library.task("use dialog, toast and confirmation", user="ann", saved=True, confirmed=True)
async def use_layers(page: Person) -> None:
    await page.click("Show", "button")
    await page.type("Username", "ann")
    await page.click("Save", "button")
    await page.click("Toast", "button")
    await page.read("Message Content")
    await page.click("Confirm", "button")
    await page.click("Yes", "button")


@library.task("open tab and accordion", tab="1", accordion="0")
async def open_parts(page: Person) -> None:
    await page.click("Header II", "tab")
    await page.read("Second text")
    await page.click("Section I", "button")


@library.task("tick, sort and turn the page of a table", rows=["nvk"], sorted="price", page=2)
async def use_table(page: Person) -> None:
    await page.click(re.compile("Black Watch"))
    await page.click(re.compile("^Price"), after="Name")
    await page.click("Next Page", "button")


@library.task("open a branch and pick in it", node="0-0")
async def pick_in_tree(page: Person) -> None:
    await page.click(re.compile(""), "button", after="Documents")
    await page.click("Work")
