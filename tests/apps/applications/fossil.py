"""Fossil of Debian: a repository with tickets, a wiki and a forum in one SQLite file."""

import os
import re
import secrets
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_debian
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server


def install() -> Path:
    return install_debian("fossil", "fossil")


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    root, password = install(), secrets.token_urlsafe(12)
    environ = {
        **os.environ,
        "HOME": str(folder),
        "USER": "admin",
        "LD_LIBRARY_PATH": str(next(root.glob("lib/*-linux-gnu"))),
    }
    program, work = root / "usr/bin/fossil", folder / "work"
    work.mkdir()
    (work / "cranes.txt").write_text("one\ntwo\n")
    for command in (
        ["init", "--admin-user", "admin", "../harbour.fossil"],
        ["user", "password", "admin", password, "-R", "../harbour.fossil"],
        ["open", "--keep", "../harbour.fossil"],
        ["add", "cranes.txt"],
        ["commit", "--no-warnings", "-m", "Count the cranes", "--user-override", "admin"],
    ):
        subprocess.run([program, *command], cwd=work, env=environ, check=True, capture_output=True)
    url = f"http://127.0.0.1:{(port := find_port())}"
    command = [program, "server", "--localhost", "--port", str(port), folder / "harbour.fossil"]
    with run_server(command, url, folder=folder, environ=environ):
        yield Site(url, folder, password=password)


application = Application("Fossil", install, serve)


def query(site: Site, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(site.folder / "harbour.fossil", timeout=10)) as database:
        return database.execute(statement).fetchall()


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/login")
    await person.type("User ID:", site.user)
    await person.type("Password:", site.password)
    await person.click("Login", "button")
    await person.click("admin", "link")
    await person.read("Currently logged in as")
    return True


@application.task("find the last change of a file")
async def read_change(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("Timeline", "link")
    outline = await person.read("Count the cranes")
    changes = query(site, "select comment from event where type = 'ci' order by mtime desc")
    return "admin" in outline.text and changes[0] == ("Count the cranes",)


@application.task("read a file of the repository")
async def read_file(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("Files", "link")
    await person.click("cranes.txt", "link")
    outline = await person.read("two")
    return "one" in outline.text


@application.task("open a ticket")
async def open_ticket(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/tktnew")
    await person.type(ANY_NAME, "Crane is stuck", after="one-line summary")
    await person.choose(ANY_NAME, "Incident", "combobox", after="Type:")
    await person.type(ANY_NAME, "It stops half way.", "textbox", after="detailed description")
    await person.click("Preview", "button")
    await person.click("Submit", "button")
    return await becomes(lambda: query(site, "select title, type from ticket") == [("Crane is stuck", "Incident")])


@application.task("comment on a ticket and close it")
async def close_ticket(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/reportlist")
    await person.click("All Tickets", "link")
    await person.click(re.compile("^[0-9a-f]{8,}$"), "link")
    await person.click("Edit", "link")
    await person.choose(ANY_NAME, "Closed", "combobox", after="Status:")
    await person.choose(ANY_NAME, "Fixed", "combobox", after="Resolution:")
    await person.click("Preview", "button")
    await person.click("Submit", "button")
    return await becomes(lambda: query(site, "select status, resolution from ticket") == [("Closed", "Fixed")])


@application.task("write a page of the wiki")
async def write_wiki(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wikinew")
    await person.type(ANY_NAME, "Cranes", after="Name of new wiki page")
    await person.click("Create", "button")
    await person.type(ANY_NAME, "Ten cranes.", "textbox", after="Local edits")
    await person.click("Save", "button")
    return await becomes(lambda: "Cranes" in str(query(site, "select comment from event where type = 'w'")))


@application.task("change the comment of a change")
async def amend(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/timeline?y=ci")
    await person.click(re.compile("^[0-9a-f]{8,}$"), "link", after="Count the cranes")
    await person.click("edit", "link")
    await person.type(ANY_NAME, "Count all cranes", after="Comment:")
    await person.click("Preview", "button")
    await person.click("Apply Changes", "button")
    return await becomes(lambda: ("Count all cranes",) in query(site, "select ecomment from event where type = 'ci'"))


@application.task("name the project in the configuration")
async def configure(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/setup_config")
    await person.type("Project Name", "Harbour")
    await person.click("Apply Changes", "button")
    return await becomes(lambda: ("Harbour",) in query(site, "select value from config where name = 'project-name'"))
