"""Material UI with its pickers and tree."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Material UI", "mui")


@library.task("choose an age and further names", age=20, names=["Van Henry", "April Tucker"])
async def choose(page: Person) -> None:
    await page.click(re.compile("^Age"), "combobox")
    await page.click("Twenty", "option")
    await page.click(re.compile("^Names"), "combobox")
    await page.click("April Tucker", "option")
    await page.press("Escape")


@library.task("type and pick a film, and remove one of others", film="Pulp Fiction", films=["Fight Club"])
async def pick_film(page: Person) -> None:
    await page.type("Movie", "pulp")
    await page.click("Pulp Fiction", "option")
    await page.click(re.compile("deleteIcon"), after="Inception")


@library.task("set the controls of a form", label=True, wifi=True, gender="male", rating=4, text="two\nlines")
async def set_controls(page: Person) -> None:
    await page.check("Label", "checkbox")
    await page.check("Wi-Fi", "switch")
    await page.click("Male", "radio")
    await page.click("4 Stars", "radio")
    await page.type("Multiline", "two\nlines")


@library.task("set the slider of the temperature and align", temperature=42, align="right")
async def set_slider(page: Person) -> None:
    await page.slide("Temperature", 42, 42)
    await page.click("right aligned", "button")


@library.task("use menu, dialog and snackbar", menu="My account", agreed=True, undone=True)
async def use_layers(page: Person) -> None:
    await page.click("Dashboard", "button")
    await page.click("My account", "menuitem")
    await page.click("Open alert dialog", "button")
    await page.read("Use location service?")
    await page.click("Agree", "button")
    await page.click("Open Snackbar", "button")
    await page.read("Note archived")
    await page.click("UNDO", "button")


@library.task("press an icon, a chip and close an alert", removed=True, chip="clicked", alert="closed")
async def press_icons(page: Person) -> None:
    await page.click("Delete", "button")
    await page.click("Clickable", "button")
    await page.click("Close", "button")


@library.task("dial", dial="Print")
async def dial(page: Person) -> None:
    await page.hover("Dial", "button")
    await page.click("Print", "menuitem")


@library.task("sort, tick a row, and turn pages", order="desc", chosen=["Donut"], page=1, pagination=3)
async def use_table(page: Person) -> None:
    await page.click("Calories", "button")
    await page.check("Donut", "checkbox")
    await page.click("Go to next page", "button")
    await page.click("Go to page 3", "button")


@library.task("show ten rows a page", rows=10)
async def show_more_rows(page: Person) -> None:
    await page.click(re.compile("^Rows per page"), "combobox")
    await page.click("10", "option")


@library.task("pick a day of the calendar", date="2026-04-23")
async def pick_day(page: Person) -> None:
    await page.click(re.compile("^Choose date, selected date is Apr 17"), "button")
    await page.click("23", "gridcell")


@library.task("open tab, accordion and tree", tab=1, inside="hello", tree="pro", step=1, navigation=1)
async def open_parts(page: Person) -> None:
    await page.click("Item Two", "tab")
    await page.click("Second", "button")
    await page.click(re.compile("^Accordion Actions"), "button")
    await page.type("Inside", "hello")
    await page.click("Data Grid")
    await page.click("@mui/x-data-grid-pro")
    await page.click(re.compile("Create an ad group"))
    await page.click("Favorites", "button")
