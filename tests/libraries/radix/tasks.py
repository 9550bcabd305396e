"""Radix Primitives, and a combobox of cmdk, as shadcn/ui builds them."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Radix Primitives", "radix")


@library.task("choose a fruit", fruit="Pineapple")
async def choose_fruit(page: Person) -> None:
    await page.read("Banana")
    await page.click("Fruit", "combobox")
    await page.click("Pineapple", "option")


@library.task("search and choose a framework", framework="Nuxt.js")
async def search_framework(page: Person) -> None:
    await page.click(re.compile(""), "combobox", number=2)
    await page.type("Search framework...", "nux")
    await page.click("Nuxt.js", "option")


@library.task("pick from a submenu", menu="developer")
async def open_submenu(page: Person) -> None:
    await page.click("Customise options", "button")
    await page.click("More Tools ▸", "menuitem")
    await page.click("Developer Tools", "menuitem")


@library.task("tick in a menu and choose one of its radios", bookmarks=True, person="colm")
async def tick_in_menu(page: Person) -> None:
    await page.click("Customise options", "button")
    await page.click("Show Bookmarks")
    await page.click("Customise options", "button")
    await page.click("Colm Tuite")


@library.task("tick a box, turn a switch on and choose a radio", terms=True, airplane=True, density="compact")
async def set_controls(page: Person) -> None:
    await page.check("Accept terms and conditions.", "checkbox")
    await page.check("Airplane mode", "switch")
    await page.click("compact", "radio")


@library.task("set the slider of the volume", volume=30)
async def set_volume(page: Person) -> None:
    await page.slide("Volume", 30, 30)


@library.task("open a part of the accordion and a tab, and type in it", accordion="two", password="secret-5")
async def open_parts(page: Person) -> None:
    await page.click("Is it unstyled?", "button")
    await page.read("Yes, by default.")
    await page.click("Password", "tab")
    await page.type("New password", "secret-5")


@library.task("change the name in a dialog and confirm another", name="Ann", deleted=True)
async def use_dialogs(page: Person) -> None:
    await page.click("Edit profile", "button")
    await page.type("Name", "Ann")
    await page.click("Save changes", "button")
    await page.click("Delete account", "button")
    await page.click("Yes, delete account", "button")


@library.task("use the menu bar", bar="next")
async def use_menu_bar(page: Person) -> None:
    await page.click("Edit", "menuitem")
    await page.click("Find ▸", "menuitem")
    await page.click("Find Next", "menuitem")


@library.task("press toggles and a button of the toolbar", align="right", italic=True, shared=True)
async def press_toggles(page: Person) -> None:
    await page.click("right aligned")
    await page.click("Toggle italic", "button")
    await page.click("Share", "button")


@library.task("undo by the toast", toast="undone")
async def undo_by_toast(page: Person) -> None:
    await page.click("Add to calendar", "button")
    await page.read("Scheduled: Catch up")
    await page.click("Undo", "button")


@library.task("follow in the card of a hovered link", followed=True)
async def follow_in_card(page: Person) -> None:
    await page.hover("@radix_ui", "link")
    await page.click("Follow", "button")


@library.task("open the navigation and follow a link of it", learned="stitches")
async def open_navigation(page: Person) -> None:
    await page.click("Learn ▾", "button")
    await page.click("Stitches: CSS-in-JS with best-in-class developer experience.", "link")
