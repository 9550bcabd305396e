"""Etherpad of npm; its pads are a file of JSON lines."""

import json
import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_node
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server


def install() -> Path:
    return install_node("etherpad", "ep_etherpad-lite@1.8.14")


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    modules, url = install(), f"http://127.0.0.1:{(port := find_port())}"
    shutil.copytree(modules / "ep_etherpad-lite", folder / "src")  # it starts only from a folder of this name
    (folder / "node_modules").mkdir()
    for module in modules.iterdir():
        source = folder / "src" if module.name == "ep_etherpad-lite" else module
        (folder / "node_modules" / module.name).symlink_to(source)
    (folder / "src/node_modules").mkdir()
    for name in ("async", "js-cookie", "security", "tinycon", "underscore", "unorm"):  # it serves them to browsers
        (folder / "src/node_modules" / name).symlink_to(modules / name)
    settings = {
        "ip": "127.0.0.1",
        "port": port,
        "dbType": "dirty",
        "dbSettings": {"filename": str(folder / "pads.db")},
        "defaultPadText": "Welcome",
        "minify": False,
        "loglevel": "WARN",
        "suppressErrorsInPadText": True,
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    command = ["node", folder / "src/node/server.js", "--settings", folder / "settings.json"]
    files = ["--sessionkey", folder / "SESSIONKEY.txt", "--apikey", folder / "APIKEY.txt"]
    with run_server([*command, *files], url, folder=folder):
        yield Site(url, folder)


application = Application("Etherpad", install, serve)


def read_pad(site: Site, name: str) -> dict[str, Any]:
    """Return the newest record of a pad."""
    records = [json.loads(line) for line in (site.folder / "pads.db").read_text().splitlines() if line]
    return next((each["val"] for each in reversed(records) if each["key"] == f"pad:{name}"), {})


def read_text(site: Site, name: str) -> str:
    return read_pad(site, name).get("atext", {}).get("text", "")


@application.task("open a new pad by its name")
async def open_pad(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.submit(re.compile("^or create/open"), "minutes")
    await person.read("Welcome")
    return await becomes(lambda: read_text(site, "minutes").startswith("Welcome"))


@application.task("write a pad")
async def write(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/p/minutes")
    await person.rewrite("Welcome", "We met on Monday.")
    return await becomes(lambda: read_text(site, "minutes") == "We met on Monday.\n")


@application.task("make a text bold")
async def embolden(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/p/minutes")
    await person.click(ANY_NAME, "editor", after="on Monday.")
    await person.press("Ctrl+A")
    await person.click("Bold (Ctrl+B)", "button")
    return await becomes(lambda: ["bold", "true"] in read_pad(site, "minutes")["pool"]["numToAttrib"].values())


@application.task("keep a revision and go on writing")
async def keep_revision(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/p/minutes")
    await person.read("on Monday.")
    await person.click("Save Revision", "button")
    await becomes(lambda: bool(read_pad(site, "minutes").get("savedRevisions")))
    await person.rewrite("on Monday.", "All is lost.")
    return await becomes(
        lambda: bool(read_pad(site, "minutes")["savedRevisions"]) and read_text(site, "minutes") == "All is lost.\n"
    )


@application.task("undo what was written")
async def undo(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/p/draft")
    await person.rewrite("Welcome", "A mistake.")
    await becomes(lambda: "mistake" in read_text(site, "draft"))
    await person.click("Undo (Ctrl+Z)", "button")
    return await becomes(lambda: "mistake" not in read_text(site, "draft"))


@application.task("write in the chat of a pad")
async def chat(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/p/minutes")
    await person.read("on Monday." if "We met" in read_text(site, "minutes") else "All is lost.")
    await person.click(re.compile("^chat", re.IGNORECASE))
    await person.submit(re.compile("message|chatinput", re.IGNORECASE), "Hello all")
    return await becomes(lambda: '"Hello all"' in (site.folder / "pads.db").read_text())


@application.task("take over a text file by the import")
async def import_file(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/p/imported")
    await person.read("Welcome")
    await person.click("Import/Export from/to different file formats", "button")
    person.write_file("notes.txt", "Notes of a file")
    await person.upload(re.compile("^(Choose File|#?importfileinput)"), "notes.txt")
    await person.accept_next_dialog()
    await person.click("Import Now", "button")
    return await becomes(lambda: "Notes of a file" in read_text(site, "imported"), 10)
