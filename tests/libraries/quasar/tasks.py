"""Quasar."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Quasar", "quasar")


@library.task("choose one, a further one, and search", model="Twitter", many=["Google", "Facebook"], fruit="Cherry")
async def choose_options(page: Person) -> None:
    await page.read("Google")
    await page.click(re.compile("^Standard"), "combobox")
    await page.click("Twitter", "option")
    await page.click(re.compile("^Many"), "combobox")
    await page.click("Facebook", "option")
    await page.press("Escape")
    await page.type(re.compile("^Fruit"), "che", "combobox")
    await page.click("Cherry", "option")


@library.task("set controls", agree=True, on=True, shape="rectangle", group="two")
async def set_controls(page: Person) -> None:
    await page.check("Agree", "checkbox")
    await page.check("Blue", "switch")
    await page.click("Rectangle", "radio")
    await page.click("Two", "button")


@library.task("set the slider of the volume", amount=45)
async def set_slider(page: Person) -> None:
    await page.slide("Volume", 45, 45)


@library.task("rate with stars", stars=4)
async def rate_with_stars(page: Person) -> None:
    await page.click(re.compile("4"), "radio")


@library.task("pick a day behind an icon", day="2026/04/23")
async def pick_day(page: Person) -> None:
    await page.read("2026/04/17")
    await page.click(re.compile("cursor-pointer"), after="2026/04/17")
    await page.click(re.compile("^23"), "button")


@library.task("upload a file", file="notes.txt")
async def upload_files(page: Person) -> None:
    page.write_file("notes.txt", "Notes")
    await page.upload(re.compile("^Attachment"), "notes.txt")


@library.task("pick in a drop-down", item="photos")
async def pick_in_dropdown(page: Person) -> None:
    await page.click(re.compile("^Dropdown Button|^Expand"), "button")
    await page.click("Photos")


@library.task("pick in a submenu", item="languages")
async def pick_in_submenu(page: Person) -> None:
    await page.click("Menu", "button")
    await page.click("Preferences")
    await page.click("Languages")


@library.task("use dialog, confirmation and message", dialog="closed", confirmed=True, replied=True)
async def use_layers(page: Person) -> None:
    await page.click("Alert", "button")
    await page.read("Lorem ipsum dolor.")
    await page.click("OK", "button")
    await page.click("Confirm", "button")
    await page.read("Would you like to turn on the wifi?")
    await page.click("OK", "button")
    await page.click("Notify", "button")
    await page.click("Reply", "button")


@library.task("open tab and section", tab="alarms", expanded=True)
async def open_parts(page: Person) -> None:
    await page.click("Alarms", "tab")
    await page.read("Alarm text")
    await page.click(re.compile("Account settings"))
    await page.read("Expanded text")


@library.task("tick and sort rows", picked=["Ice cream"], sorted="calories")
async def use_table(page: Person) -> None:
    await page.check(re.compile(""), "checkbox", before="Ice cream")
    await page.click(re.compile("^Calories"))


@library.task("open a branch and pick in it", node="Good service")
async def pick_in_tree(page: Person) -> None:
    await page.click(re.compile(""), "", after="tree", number=2)
    await page.click(re.compile("Good service"))


@library.task("read what is wrong with a field", text="ann", page=3)
async def read_message(page: Person) -> None:
    await page.click("Your name", "field")
    await page.press("Tab")
    await page.read("Please type something")
    await page.type("Your name", "ann")
    await page.click("3", "button")
