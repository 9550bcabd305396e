"""Carbon for React."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Carbon", "carbon")


@library.task("choose", drop="Ipsum", multi=["Lorem"], combo="Dolor", select="two")
async def choose(page: Person) -> None:
    await page.click(re.compile("^Dropdown title"), "combobox")
    await page.click("Ipsum", "option")
    await page.click(re.compile("^Multiselect title"), "combobox")
    await page.click("Lorem")
    await page.press("Escape")
    await page.type(re.compile("^ComboBox title"), "dol")
    await page.click("Dolor", "option")
    await page.choose("Select an option", "Option 2", "combobox")


@library.task("fill fields", text="Ann", area="two words", query="tea", number=17)
async def fill(page: Person) -> None:
    await page.type("Text input label", "Ann")
    await page.type("Area label", "two words")
    await page.type("Search", "tea")
    await page.type("Number label", "17")
    await page.press("Tab")


@library.task("set controls", box=True, toggle=True, radio="2", switcher="two")
async def set_controls(page: Person) -> None:
    await page.check("Checkbox label", "checkbox")
    await page.check(re.compile("^Toggle label"), "switch")
    await page.click("Radio 2", "radio")
    await page.click("Second section", "tab")


@library.task("set the slider", slider=45)
async def set_slider(page: Person) -> None:
    await page.slide(re.compile("Slider label"), 45, 45)


@library.task("pick a day of the calendar", day=23)
async def pick_day(page: Person) -> None:
    await page.click("Date label", "field")
    await page.click(re.compile("April 23,"))


@library.task("use menus", menu="deep", overflow="stop")
async def open_menus(page: Person) -> None:
    await page.click("Actions", "button")
    await page.click("More of them", "menuitem")
    await page.click("Deep action", "menuitem")
    await page.click("Options", "button")
    await page.click("Stop app", "menuitem")


@library.task("use modal and notification", modal="added", notice="closed")
async def use_layers(page: Person) -> None:
    await page.click("Launch modal", "button")
    await page.read("Custom domains direct requests.")
    await page.click("Add it", "button")
    await page.click(re.compile("close", re.IGNORECASE), "button", after="Notification title")


@library.task("open tab, section and tree", tab=1, accordion=True, tree="ml")
async def open_parts(page: Person) -> None:
    await page.click("Monitoring", "tab")
    await page.click("Section 1 title", "button")
    await page.read("Section text")
    await page.click(re.compile("^Artificial intelligence"))
    await page.press("ArrowRight")
    await page.click("Machine learning", "treeitem")


@library.task("tick a row, turn the page and upload", row="b", page=2, file="notes.txt")
async def use_table(page: Person) -> None:
    await page.click(re.compile("[Ss]elect row"), "checkbox", number=2)
    await page.click("Next page", "button")
    page.write_file("notes.txt", "Notes")
    await page.upload("Add file", "notes.txt")
