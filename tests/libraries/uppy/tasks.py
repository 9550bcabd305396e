"""Uppy."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Uppy", "uppy")


def write_notes(page: Person) -> None:
    page.write_file("notes.txt", "Notes")


@library.task("upload by the link of the dashboard", inline=["notes.txt"])
async def upload_files(page: Person) -> None:
    write_notes(page)
    await page.upload(re.compile("^browse files"), "notes.txt")
    await page.read("notes.txt")


@library.task("remove a file", inline=[])
async def remove_file(page: Person) -> None:
    write_notes(page)
    await page.upload(re.compile("^browse files"), "notes.txt")
    await page.click(re.compile("^Remove file"))


@library.task("rename a file", inline=["new.txt"])
async def rename_file(page: Person) -> None:
    write_notes(page)
    await page.upload(re.compile("^browse files"), "notes.txt")
    await page.click(re.compile("^Edit file"))
    await page.type("Name", "new.txt")
    await page.click(re.compile("^Save"), "button")


@library.task("upload in the window and close it", modal=["notes.txt"], open=False)
async def use_window(page: Person) -> None:
    write_notes(page)
    await page.click("Open the uploader", "button")
    await page.upload(re.compile("^browse files"), "notes.txt")
    await page.click(re.compile("^Close"), "button")


@library.task("upload by the drop area", drop=["notes.txt"])
async def upload_by_drop_area(page: Person) -> None:
    write_notes(page)
    await page.upload(re.compile("Drop files? here|browse"), "notes.txt", after="Open the uploader")
