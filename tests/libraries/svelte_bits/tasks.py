"""Bits UI, as shadcn-svelte builds on it."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Bits UI", "svelte_bits")


@library.task("choose a theme and search another", theme="system", found="light")
async def choose(page: Person) -> None:
    await page.read("Dark")
    await page.click(re.compile("^Theme"), "combobox")
    await page.click("System", "option")
    await page.type("Search a theme", "lig")
    await page.click("Light", "option")


@library.task("set controls", terms=True, dnd=True, radio="average")
async def set_controls(page: Person) -> None:
    await page.check("Accept terms and conditions", "checkbox")
    await page.check("Do not disturb", "switch")
    await page.click("average", "radio")


@library.task("set the slider of the level", slider=35)
async def set_slider(page: Person) -> None:
    await page.slide("Level", 35, 35)


@library.task("rate by keys and type a pin", stars=4, pin="1234")
async def rate(page: Person) -> None:
    await page.click(re.compile("Stars"), "slider")
    await page.press("Home", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    await page.type(re.compile("Pin|^$"), "1234", "textbox")


@library.task("pick from a submenu", menu="mail")
async def open_submenu(page: Person) -> None:
    await page.click("Account", "button")
    await page.click("Invite ▸", "menuitem")
    await page.click("By mail", "menuitem")


@library.task("confirm, and type in a popover", deleted=True, width="70")
async def use_layers(page: Person) -> None:
    await page.click("Delete everything", "button")
    await page.read("This cannot be undone.")
    await page.click("Continue", "button")
    await page.click("Resize", "button")
    await page.type("Width", "70")


@library.task("open tab and accordion, toggle, turn", tab="inbound", accordion=["1"], style=["bold", "italic"], page=3)
async def open_parts(page: Person) -> None:
    await page.click("Inbound", "tab")
    await page.click("How do I start?", "button")
    await page.read("Answer 1")
    await page.click("italic", "button")
    await page.click(re.compile("^(Page )?3$"), "button")
