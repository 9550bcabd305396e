"""React Aria Components."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("React Aria", "react_aria")


@library.task("choose an animal and complete a food", animal="dog", food="soup")
async def choose(page: Person) -> None:
    await page.read("Cat")
    await page.click(re.compile("Favorite Animal"), "button")
    await page.click("Dog", "option")
    await page.type("Food", "so", "combobox")
    await page.click("Soup", "option")


@library.task("set controls", box=True, switch=True, sports=["tennis"], pet="cats", pin=True)
async def set_controls(page: Person) -> None:
    await page.check(re.compile("Unsubscribe"), "checkbox")
    await page.check(re.compile("Low power mode"), "switch")
    await page.check("Tennis", "checkbox")
    await page.click("Cats", "radio")
    await page.click("Pin", "button")


@library.task("set a number and the slider of the opacity", cookies=12, opacity=45)
async def set_numbers(page: Person) -> None:
    await page.type("Cookies", "12")
    await page.press("Tab")
    await page.slide("Opacity", 45, 45)


@library.task("type the parts of a date", birth="2026-12-17")
async def type_date(page: Person) -> None:
    await page.click(re.compile("^month"), "spinbutton")
    await page.press("1", "2")


@library.task("pick a day of the calendar", day="2026-04-23")
async def pick_day(page: Person) -> None:
    await page.click(re.compile("Calendar"), "button")
    await page.click(re.compile("April 23"))


@library.task("search, and send a form after a refusal", query="tea", form="a@b.example")
async def search(page: Person) -> None:
    await page.submit("Search all", "tea")
    await page.click("Submit", "button")
    await page.read("fill")
    await page.type("Email", "a@b.example")
    await page.click("Submit", "button")


@library.task("pick from a submenu, and type in a modal", menu="sms", first="Ann")
async def use_layers(page: Person) -> None:
    await page.click("Menu", "button")
    await page.click("Share…", "menuitem")
    await page.click("SMS", "menuitem")
    await page.click("Sign up…", "button")
    await page.type("First Name", "Ann")
    await page.click("Done", "button")


@library.task("open disclosure and tab", open=True, tab="empire")
async def open_parts(page: Person) -> None:
    await page.click("System requirements", "button")
    await page.read("Details about them")
    await page.click("Empire", "tab")


@library.task("remove a tag, choose in lists", removed=["news"], info="Blastoise", file=["Programs"], sort="ascending")
async def choose_in_lists(page: Person) -> None:
    await page.click(re.compile("Remove"), "button")
    await page.click("Info", "button", number=2)
    await page.click(re.compile("Name"), after="Type")
    await page.click("Programs")


@library.task("pick in a tree and upload", tree=["report"], upload="notes.txt")
async def pick_in_tree(page: Person) -> None:
    await page.click(re.compile("Expand|▸"), "button")
    await page.click(re.compile("Weekly Report"))
    page.write_file("notes.txt", "Notes")
    await page.upload("Select a file", "notes.txt")
