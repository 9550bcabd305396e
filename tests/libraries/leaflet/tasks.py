"""Leaflet."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Leaflet", "leaflet")


@library.task("zoom by the button", zoom=14)
async def zoom_in(page: Person) -> None:
    await page.read("A circle")
    await page.click(re.compile("Zoom in"))


@library.task("open and close the popup of a marker", popup="closed")
async def open_popup(page: Person) -> None:
    await page.click(re.compile("The pub"))
    await page.read("I am a popup.")
    await page.click(re.compile("Close popup"))


@library.task("choose another layer and hide one", layer="Satellite", removed="Pubs")
async def choose_layer(page: Person) -> None:
    await page.hover("Layers")
    await page.click(re.compile("Satellite"), "radio")
    await page.uncheck(re.compile("Pubs"), "checkbox")


@library.task("move the map by keys", east=True)
async def move_map(page: Person) -> None:
    await page.click(re.compile("Zoom in"))
    await page.press("ArrowRight", "ArrowRight")


@library.task("drag a marker onto another", dragged=True)
async def drag_marker(page: Person) -> None:
    await page.drag(re.compile("The park"), re.compile("The pub"))
