"""Cloudscape, the design system of AWS."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Cloudscape", "cloudscape")


@library.task("choose one, and more", select="3", multi=["1", "2"])
async def choose(page: Person) -> None:
    await page.read("Option 1")
    await page.click(re.compile("^Pick one"))
    await page.click("Option 3", "option")
    await page.click(re.compile("^Pick many"))
    await page.click("Option 2", "option")
    await page.press("Escape")


@library.task("take a suggestion", suggest="Suggestion 2")
async def suggest(page: Person) -> None:
    await page.click("Suggestion", "combobox")
    await page.click("Suggestion 2", "option")


@library.task("pick a day of the calendar", day="2026-04-23")
async def pick_day(page: Person) -> None:
    await page.click(re.compile("^Choose certificate expiry date"), "button")
    await page.click(re.compile("23"), after="Sat")


@library.task("set the controls", toggle=True, box=True, radio="second", tile="b", segment="seg-2", name="Ann")
async def set_controls(page: Person) -> None:
    await page.read("Enter a name")
    await page.check("Toggle")
    await page.check("Expire content", "checkbox")
    await page.click(re.compile("^Second choice"), "radio")
    await page.click(re.compile("^Item B"), "radio")
    await page.click("Segment 2")
    await page.type("Name", "Ann")


@library.task("set the slider of the memory", slider=35)
async def set_slider(page: Person) -> None:
    await page.slide("Memory", 35, 35)


@library.task("act by a group of the drop-down", action="attach")
async def act_by_group(page: Person) -> None:
    await page.click("Actions", "button")
    await page.click("Instance settings")
    await page.click("Attach", "menuitem")


@library.task("use modal, tab and section", deleted=True, tab="second", expanded=True, flash="dismissed")
async def use_layers(page: Person) -> None:
    await page.click("Delete instance", "button")
    await page.click("Ok", "button")
    await page.click("Second tab label", "tab")
    await page.click("Static website hosting", "button")
    await page.click("Dismiss message", "button")


@library.task("tick a row, sort, and turn the page", rows=["Item 2"], sorted=False, page=3)
async def use_table(page: Person) -> None:
    await page.check("Item 2", "checkbox")
    await page.click(re.compile("Variable name"), "button")
    await page.click("Page 3", "button")
