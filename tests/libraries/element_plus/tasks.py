"""Element Plus."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Element Plus", "element_plus")


@library.task("choose a city and a further one", city="Nanjing", many=["Beijing", "Shanghai"])
async def choose(page: Person) -> None:
    await page.read("Beijing")
    await page.click("City", "combobox")
    await page.click("Nanjing", "option")
    await page.click("Cities", "combobox")
    await page.click("Shanghai", "option")


@library.task("take a suggestion and go down a cascade", suggested="vuex", place=["guide", "navigation"])
async def suggest(page: Person) -> None:
    await page.type("Input", "vu")
    await page.click("vuex")
    await page.click(re.compile("Part|Select"), after="vu")
    await page.click("Guide")
    await page.click("Navigation")


@library.task("set controls", box=True, on=True, radio="2", number=5)
async def set_controls(page: Person) -> None:
    await page.check("Option A", "checkbox")
    await page.check("Monthly", "switch")
    await page.click("Second", "radio")
    await page.type("Num", "5")
    await page.press("Enter")


@library.task("rate by keys and set the slider of the size", size=55, stars=4)
async def rate(page: Person) -> None:
    await page.slide("Size", 55, 55)
    await page.click(re.compile("rating", re.IGNORECASE), "slider")
    await page.press("ArrowRight")


@library.task("pick a day of the calendar and a time", day="2026-04-23", time="09:00")
async def pick_day(page: Person) -> None:
    await page.click("Pick a day")
    await page.click("23", after="Sat")
    await page.click("Time", "combobox")
    await page.click("09:00", "option")


@library.task("pick from a hovered drop-down and a menu", command="two", menu="2-1")
async def open_menus(page: Person) -> None:
    await page.hover(re.compile("^Dropdown List"))
    await page.click("Action 2", "menuitem")
    await page.hover("Workspace", "menuitem")
    await page.click("item one", "menuitem")


@library.task("use dialog, drawer, box and message", dialog="ok", drawer="closed", confirmed=True)
async def use_layers(page: Person) -> None:
    await page.click("Open the Dialog", "button")
    await page.click("Confirm it", "button")
    await page.click("Open drawer", "button")
    await page.click("Close this dialog", "button", after="I am the title")
    await page.click("Open the Message Box", "button")
    await page.click("OK", "button")
    await page.click("Show message", "button")
    await page.read("this is a message.")


@library.task("confirm in a bubble, and open tab and part", popped=True, tab="config", parts=["1"])
async def open_parts(page: Person) -> None:
    await page.click("Delete", "button")
    await page.click("Yes", "button")
    await page.click("Config", "tab")
    await page.click("Consistency", "button")
    await page.read("Consistent with real life")


@library.task("tick and sort rows, and turn the page", rows=["Ann"], sorted="ascending", page=3)
async def use_table(page: Person) -> None:
    await page.click(re.compile(""), "checkbox", number=4)
    await page.click(re.compile("^Name"))
    await page.click("page 3")


@library.task("pick in a tree and transfer", node=2, transferred=["b", "c"])
async def pick_in_tree(page: Person) -> None:
    await page.click("Level one")
    await page.click("Level two")
    await page.check("Option c", "checkbox")
    await page.click(re.compile(""), "button", number=2, after="Option c")


@library.task("send a form after a refusal", form="Swim")
async def send_form(page: Person) -> None:
    await page.click("Create", "button")
    await page.read("Please input a name")
    await page.type(re.compile("Activity name"), "Swim")
    await page.click("Create", "button")
