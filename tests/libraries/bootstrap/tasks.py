"""Bootstrap."""

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Bootstrap", "bootstrap")


@library.task("pick from the drop-down of the bar and close an alert", action=True, alert="closed")
async def open_dropdown(page: Person) -> None:
    await page.click("Dropdown", "button")
    await page.click("Action", "link")
    await page.click("Close", "button", after="Holy guacamole!")


@library.task("set controls", floating="a@b.example", choice="2", check=True, switch=True, toggle=True, option2=True)
async def set_controls(page: Person) -> None:
    await page.type("Email address", "a@b.example")
    await page.choose("Default select example", "Two", "combobox")
    await page.check("Default checkbox", "checkbox")
    await page.check("Default switch", "switch")
    await page.check("Single toggle", "checkbox")
    await page.click("Radio 2", "radio")


@library.task("set the slider of a range", range="7")
async def set_range(page: Person) -> None:
    await page.slide("Example range", 7, 7)


@library.task("send a form after a refusal", form="Rome")
async def send_form(page: Person) -> None:
    await page.click("Submit form", "button")
    await page.read("Please provide a valid city.")
    await page.type("City", "Rome")
    await page.click("Submit form", "button")


@library.task("open accordion and tab", accordion="two", tab="profile")
async def open_parts(page: Person) -> None:
    await page.click("Accordion Item #2", "button")
    await page.click("Profile", "tab")
    await page.read("Profile text")


@library.task("use modal, offcanvas and toast", saved=True, offcanvas="closed")
async def use_layers(page: Person) -> None:
    await page.click("Launch demo modal", "button")
    await page.read("Woo-hoo, you are reading this text in a modal!")
    await page.click("Save changes", "button")
    await page.click("Open offcanvas", "button")
    await page.click("Close", "button", after="Offcanvas")
    await page.click("Show live toast", "button")
    await page.read("Hello, world! This is a toast message.")


@library.task("turn slides and pages, and follow stretched links", slide=1, page3=True, group2=True, sign=True)
async def follow_links(page: Person) -> None:
    await page.click("Next", "button")
    await page.click("3", "link")
    await page.click("A second item", "link")
    await page.click("Go somewhere", "link")
