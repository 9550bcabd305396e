"""Headless UI for React."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Headless UI", "headless_ui")


@library.task("choose a person", person="Kenton Towne")
async def choose(page: Person) -> None:
    await page.click(re.compile("Assignee|Durward"), "button")
    await page.click("Kenton Towne", "option")


@library.task("add to the team", team=["Durward Reynolds", "Therese Wunsch"])
async def choose_team(page: Person) -> None:
    await page.click(re.compile("Team|Durward"), "button", after="Team:")
    await page.click("Therese Wunsch", "option")


@library.task("search a person", found="Therese Wunsch")
async def search(page: Person) -> None:
    await page.type(re.compile("^Search"), "ther", "combobox")
    await page.click("Therese Wunsch", "option")


@library.task("set controls", switch=True, box=True, plan="Business")
async def set_controls(page: Person) -> None:
    await page.check("Enable notifications", "switch")
    await page.check("Enable beta features", "checkbox")
    await page.click("Business", "radio")


@library.task("use menu and popover", menu="out", solution="insights")
async def open_menus(page: Person) -> None:
    await page.click("My account", "button")
    await page.click("Sign out", "menuitem")
    await page.click("Solutions", "button")
    await page.click("Insights", "link")


@library.task("use dialog, disclosure and tabs", gone=True, bought=True, tab=1)
async def open_parts(page: Person) -> None:
    await page.click("Deactivate", "button")
    await page.read("This will permanently deactivate it.")
    await page.click("Yes, deactivate", "button")
    await page.click("Is team pricing available?", "button")
    await page.click("Buy", "button")
    await page.click("Popular", "tab")
    await page.read("Popular posts")
