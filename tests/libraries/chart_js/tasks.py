"""Chart.js, which draws on a canvas."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Chart.js", "chart_js")


@library.task("click the middle of the chart", clicked=["Blue"])
async def click_bar(page: Person) -> None:
    await page.click(re.compile("Votes by colour"))


@library.task("hover the chart", hovered=True)
async def hover_bar(page: Person) -> None:
    await page.hover(re.compile("Votes by colour"))


@library.task("add data beside the chart", labels=4)
async def add_data(page: Person) -> None:
    await page.click("Add data", "button")
