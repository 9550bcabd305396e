"""Ariakit."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Ariakit", "ariakit")


@library.task("choose a fruit and a further food", fruit="Banana", foods=["Apple", "Cake"])
async def choose(page: Person) -> None:
    await page.read("Orange")
    await page.click("Favorite fruit", "combobox")
    await page.click("Banana", "option")
    await page.click("Favorite food", "combobox")
    await page.click("Cake", "option")
    await page.press("Escape")


@library.task("complete a meal", meal="Burger")
async def complete(page: Person) -> None:
    await page.type("Your meal", "bu")
    await page.click("Burger", "option")


@library.task("search in a list of dishes", searched="Bacon")
async def search(page: Person) -> None:
    await page.read("Cake")
    await page.click("Dish", "combobox")
    await page.type("Search...", "bac")
    await page.click("Bacon", "option")


@library.task("pick from a submenu", menu="next")
async def open_submenu(page: Person) -> None:
    await page.click("Edit", "button")
    await page.click("Find", "menuitem")
    await page.click("Find Next", "menuitem")


@library.task("tick in a menu, and use the menu bar", watching=["releases"], bar="new")
async def tick_in_menu(page: Person) -> None:
    await page.click("Unwatch", "button")
    await page.click("Releases")
    await page.press("Escape")
    await page.click("File", "menuitem")
    await page.click("New Tab", "menuitem")


@library.task("use a modal and a popover", dialog="ok", accepted=True)
async def use_layers(page: Person) -> None:
    await page.click("Show modal", "button")
    await page.read("Your payment has been processed.")
    await page.click("OK", "button")
    await page.click("Accept invite", "button")
    await page.click("Accept", "button")


@library.task("disclose, follow in a card and press a button with a tooltip", open=True, followed=True, bold=True)
async def disclose(page: Person) -> None:
    await page.click("What are vegetables?", "button")
    await page.read("Parts of plants")
    await page.hover("@ariakitjs", "link")
    await page.click("Follow", "button")
    await page.click("Bold", "button")


@library.task("buy in another tab", tab="meat")
async def open_tab(page: Person) -> None:
    await page.click("Meat", "tab")
    await page.click("Buy", "button")


@library.task("send a form after a refusal", form={"name": "Ann", "agree": True, "colour": "blue"})
async def send_form(page: Person) -> None:
    await page.click("Add", "button")
    await page.read("fill")
    await page.type("Name", "Ann")
    await page.check("I agree", "checkbox")
    await page.click(re.compile("^Blue"), "radio")
    await page.click("Add", "button")
