"""Ant Design."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Ant Design", "antd")


@library.task("choose a person, a further country and search another", person="jack", found="Tom")
async def choose(page: Person) -> None:
    await page.read("Lucy")
    await page.click("Person", "combobox")
    await page.click("Jack")
    await page.type("Search a person", "tom")
    await page.click("Tom")


@library.task("choose a second country", countries=["China", "Korea"])
async def choose_countries(page: Person) -> None:
    await page.read("China")
    await page.click("Countries", "combobox")
    await page.click("Korea")


@library.task("go down a cascade", place=["zhejiang", "hangzhou", "xihu"])
async def cascade(page: Person) -> None:
    await page.click("Place", "combobox")
    await page.click(re.compile("^Zhejiang"))
    await page.click(re.compile("^Hangzhou"), after="Jiangsu")
    await page.click("West Lake")


@library.task("choose in a tree and complete a text", leaf="leaf2", mail="ann@163.com")
async def choose_in_tree(page: Person) -> None:
    await page.click("Leaf", "combobox")
    await page.click("your leaf")
    await page.type("Mail", "ann")
    await page.click("ann@163.com")


@library.task("set the controls of a form", checked=True, notify=True, city="b", period="Weekly", number=7)
async def set_controls(page: Person) -> None:
    await page.check("Checkbox", "checkbox")
    await page.check("Notify", "switch")
    await page.click("Shanghai", "radio")
    await page.click("Weekly")
    await page.type("Number", "7")


@library.task("rate and set the slider of the amount", rate=4, amount=45)
async def rate(page: Person) -> None:
    await page.click("star", "radio", number=4)
    await page.slide("Amount", 45, 45)


@library.task("pick a day of the calendar", day="2026-04-23")
async def pick_day(page: Person) -> None:
    await page.click("Day")
    await page.click("23", after="Sa")


@library.task("search, and type a code", searched="tea", code="1234")
async def search(page: Person) -> None:
    await page.submit("input search text", "tea")
    await page.click(re.compile("OTP|Code"), number=1)
    await page.press("1", "2", "3", "4")


@library.task("hover a menu and its submenu", dropdown="deep")
async def hover_menu(page: Person) -> None:
    await page.hover("Hover me", "link")
    await page.hover(re.compile("^sub menu"), "menuitem")
    await page.click("3rd menu item", "menuitem")


@library.task("use modal, confirmation and drawer", modal="ok", confirmed=True, popped=True, drawer="closed")
async def use_layers(page: Person) -> None:
    await page.click("Open Modal", "button")
    await page.click("OK", "button")
    await page.click("Confirm", "button")
    await page.read("Do you want to delete these items?")
    await page.click("OK", "button")
    await page.click("Delete", "button")
    await page.click("Yes", "button")
    await page.click("Open Drawer", "button")
    await page.click("Close", "button")


@library.task("read a message and use a notification", noticed=True, tag="closed")
async def read_message(page: Person) -> None:
    await page.click("Display normal message", "button")
    await page.read("Hello, Ant Design!")
    await page.click("Open the notification box", "button")
    await page.read("This is the content")
    await page.click("Destroy All", "button")
    await page.click(re.compile("close", re.IGNORECASE), after="Tag 2")


@library.task("upload a file by its button", file="notes.txt")
async def upload(page: Person) -> None:
    page.write_file("notes.txt", "Notes")
    await page.upload("Click to Upload", "notes.txt")


@library.task("sort and tick rows", sorted="ascend", rows=[2])
async def sort_rows(page: Person) -> None:
    await page.click(re.compile("^Age"))
    await page.check(re.compile("Select row"), "checkbox", after="Jim Green")


@library.task("filter rows", filter=["Jim"])
async def filter_rows(page: Person) -> None:
    await page.click("filter", "button")
    await page.click("Jim")
    await page.click("OK", "button")


@library.task("tick a leaf of the tree and transfer an item", tree=["0-1"], transferred=["c", "b"])
async def use_tree(page: Person) -> None:
    await page.click(re.compile("leaf two"))
    await page.check(re.compile(""), "checkbox", after="content a")
    await page.click("right", "button", after="content c")


@library.task("open panel, tab, menu and page", panels=["1", "2"], tab="2", menu="setting:1", page=3)
async def open_parts(page: Person) -> None:
    await page.click("This is panel header 2")
    await page.click("Tab 2", "tab")
    await page.hover("Navigation Three", "menuitem")
    await page.click("Option 1", "menuitem")
    await page.click("3", after="Waiting")


@library.task("send a form whose message names what is missing", form={"username": "ann"})
async def send_form(page: Person) -> None:
    await page.click("Submit", "button")
    await page.read("Please input your username!")
    await page.type(re.compile("Username"), "ann")
    await page.click("Submit", "button")
