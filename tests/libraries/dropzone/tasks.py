"""Dropzone."""

import re

from tests.apps.person import Person
from tests.libraries.library import Library

library = Library("Dropzone", "dropzone")
ZONE = re.compile("Drop files here")


@library.task("upload two files", files=["notes.txt", "more.txt"])
async def upload_files(page: Person) -> None:
    page.write_file("notes.txt", "Notes")
    page.write_file("more.txt", "More")
    await page.upload(ZONE, "notes.txt")
    await page.upload(re.compile("dz-hidden-input"), "more.txt")


@library.task("remove a file", files=[])
async def remove_file(page: Person) -> None:
    page.write_file("notes.txt", "Notes")
    await page.upload(ZONE, "notes.txt")
    await page.read("notes.txt")
    await page.click("Remove file")


@library.task("read why a file is refused", error="You can't upload files of this type.")
async def read_error(page: Person) -> None:
    page.write_file("notes.md", "Notes")
    await page.upload(ZONE, "notes.md")
    await page.hover("Remove file")
    await page.read("You can't upload files of this type.")
