"""PrimeReact's primitives, which have no style of their own."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("PrimeReact", "primereact")


@library.task("choose a city and pick in a list", city="london", listed="paris")
async def choose_options(page: Person) -> None:
    await page.read("Rome")
    await page.click("City", "combobox")
    await page.click("London", "option")
    await page.click("Paris", "option")


@library.task("set controls", agree=True, on=True)
async def set_controls(page: Person) -> None:
    await page.check(re.compile("Agree"), "checkbox")
    await page.check("Wi-Fi", "switch")


@library.task("set the slider of the price", amount=45)
async def set_slider(page: Person) -> None:
    await page.slide(re.compile(""), 45, 45)


@library.task("step a number", number=41)
async def step_number(page: Person) -> None:
    await page.click("+", after="Amount")


@library.task("open tab and section", tab="1", accordion="0")
async def open_parts(page: Person) -> None:
    await page.click("Header II", "tab")
    await page.read("Second text")
    await page.click("Section I", "button")
    await page.read("Section text")


@library.task("pick in a menu and type in a dialog", menu="refresh", user="ann", dialog=False)
async def use_layers(page: Person) -> None:
    await page.click("Menu", "button")
    await page.click("Refresh", "menuitem")
    await page.click("Show", "button")
    await page.type("Username", "ann")
    await page.click(re.compile("×|Close"), "button")
