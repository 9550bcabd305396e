"""Angular Material."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Angular Material", "angular_material")


@library.task("choose a food and further toppings", food="Tacos", toppings=["Mushroom", "Onion"])
async def choose_options(page: Person) -> None:
    await page.read("Pizza")
    await page.click(re.compile("^Favorite food"), "combobox")
    await page.click("Tacos", "option")
    await page.click(re.compile("^Toppings"), "combobox")
    await page.click("Mushroom", "option")
    await page.press("Escape")


@library.task("complete a number and pick a day", number="Three", day=23)
async def complete_text(page: Person) -> None:
    await page.type("Number", "thr", "combobox")
    await page.click("Three", "option")
    await page.click("Open calendar", "button")
    await page.click(re.compile("^(23|April 23, 2026|4/23/2026)$"))


@library.task("set controls", agree=True, slide=True, season="2", style="italic", fish="two")
async def set_controls(page: Person) -> None:
    await page.check("Check me!", "checkbox")
    await page.check("Slide me!", "switch")
    await page.click("Spring", "radio")
    await page.click("Italic")
    await page.click("Two fish", "option")


@library.task("set the slider of the volume", volume=45)
async def set_slider(page: Person) -> None:
    await page.slide("Volume", 45, 45)


@library.task("read what is wrong with a field")
async def read_message(page: Person) -> None:
    await page.type("Email", "ann")
    await page.press("Tab")
    await page.read("Not a valid email")


@library.task("remove a chip", fruits=["Lime"])
async def remove_chip(page: Person) -> None:
    await page.click("remove Lemon", "button")


@library.task("pick from a submenu", animal="fish")
async def open_submenu(page: Person) -> None:
    await page.click("Animal index", "button")
    await page.click("Vertebrates", "menuitem")
    await page.click("Fishes", "menuitem")


@library.task("use dialog and snack-bar", deleted=True, danced=True)
async def use_layers(page: Person) -> None:
    await page.click("Delete", "button")
    await page.read("Would you like to delete cat.jpeg?")
    await page.click("Ok", "button")
    await page.click("Show snack-bar", "button")
    await page.read("Disco party!")
    await page.click("Dance", "button")


@library.task("open tab, panel and step", tab="Second", panel="open", step=1)
async def open_parts(page: Person) -> None:
    await page.click("Second", "tab")
    await page.read("Content 2")
    await page.click(re.compile("^Personal data"), "button")
    await page.read("Panel text")
    await page.click("Next", "button")
    await page.read("You are now done.")


@library.task("sort rows and click one", sorted=["weight", "asc"], row="Helium")
async def use_table(page: Person) -> None:
    await page.click("Weight", after="Name")
    await page.click(re.compile("^Helium"))


@library.task("turn the page and choose its size", page=[0, 25])
async def turn_page(page: Person) -> None:
    await page.click("Next page", "button")
    await page.click(re.compile("Items per page"), "combobox")
    await page.click("25", "option")


@library.task("open a branch and pick in it", node="Banana")
async def pick_in_tree(page: Person) -> None:
    await page.click("Toggle Fruit", "button")
    await page.click("Banana")
