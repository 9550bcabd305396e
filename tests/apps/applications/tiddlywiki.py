"""TiddlyWiki of npm on its own server; its tiddlers are files."""

import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_node
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server


def install() -> Path:
    return install_node("tiddlywiki", "tiddlywiki@5.4.1")


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    program, url = install() / "tiddlywiki/tiddlywiki.js", f"http://127.0.0.1:{(port := find_port())}"
    wiki = folder / "wiki"
    subprocess.run(["node", program, wiki, "--init", "server"], check=True, capture_output=True)
    command = ["node", program, wiki, "--listen", f"port={port}", "host=127.0.0.1"]
    with run_server(command, url, folder=folder):
        yield Site(url, wiki)


TEXT = re.compile("^Type the text")
application = Application("TiddlyWiki", install, serve)


def read_tiddler(site: Site, title: str) -> str:
    """Return the file of a tiddler, or nothing."""
    files = [site.folder / "tiddlers" / f"{title}{ending}" for ending in (".tid", ".md")]
    return next((file.read_text() for file in files if file.exists()), "")


async def save(person: Person) -> None:
    await person.click(re.compile("^[Cc]onfirm changes to this tiddler"), "button")


@application.task("open the wiki")
async def open_wiki(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.read("GettingStarted")
    return (site.folder / "tiddlywiki.info").exists()


@application.task("write a tiddler with a tag")
async def write(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("new tiddler", "button")
    await person.type(ANY_NAME, "Cranes", "textbox", after="Draft of")
    await person.type(TEXT, "Cranes lift ships.", "textbox")
    await person.type("tag name", "harbour")
    await person.click("add", "button")
    await save(person)
    return await becomes(
        lambda: {"tags: harbour", "Cranes lift ships."} <= set(read_tiddler(site, "Cranes").splitlines()), 10
    )


@application.task("edit a tiddler")
async def edit(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/#Cranes")
    await person.click(re.compile("^[Ee]dit this tiddler"), "button")
    await person.type(TEXT, "Cranes lift containers.", "textbox")
    await save(person)
    return await becomes(lambda: "Cranes lift containers." in read_tiddler(site, "Cranes"), 10)


@application.task("search for a word and open what is found")
async def search(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.type(ANY_NAME, "containers", "searchbox")
    await person.click("Cranes", "link")
    outline = await person.read("Cranes lift containers.")
    return "Cranes" in outline.text


@application.task("change the title of the wiki in the control panel")
async def configure(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("control panel", "button")
    await person.type(ANY_NAME, "Harbour wiki", "textbox", after="Title of this TiddlyWiki")
    return await becomes(lambda: "Harbour wiki" in read_tiddler(site, "$__SiteTitle"), 10)


@application.task("make a journal entry")
async def journal(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("Tools", "tab")
    await person.click("new journal", "button")
    await person.type(TEXT, "Fog all day.", "textbox")
    await save(person)
    return await becomes(
        lambda: any("Fog all day." in file.read_text() for file in (site.folder / "tiddlers").glob("*.tid")), 10
    )


@application.task("delete a tiddler and confirm")
async def delete(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/#Cranes")
    await person.click(re.compile("^[Ee]dit this tiddler"), "button")
    await person.accept_next_dialog()
    await person.click(re.compile("^[Dd]elete this tiddler"), "button")
    return await becomes(lambda: not read_tiddler(site, "Cranes"), 10)
