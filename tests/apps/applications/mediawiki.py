"""MediaWiki of Debian on PHP's own server, with its data in SQLite."""

import re
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_debian, php_command, php_environment
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server

MEDIAWIKI_PACKAGES = [
    "php8.2-cli",
    "php8.2-gd",
    "php8.2-intl",
    "php8.2-mbstring",
    "php8.2-sqlite3",
    "php8.2-xml",
    "mediawiki",
]
LATEST_TEXT = """select old_text from page join revision on page_latest = rev_id join slots on slot_revision_id = rev_id
 join content on slot_content_id = content_id join text on content_address = 'tt:' || old_id where page_title = ?"""


def install() -> Path:
    return install_debian("mediawiki", *MEDIAWIKI_PACKAGES)


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    root, wiki, password = install(), folder / "wiki", secrets.token_urlsafe(12)
    shutil.copytree(root / "usr/share/mediawiki", wiki, ignore_dangling_symlinks=True)
    url = f"http://127.0.0.1:{find_port()}"
    php, environ = php_command(root, f"session.save_path={folder}", "memory_limit=256M"), php_environment(root)
    options = [
        "--dbtype=sqlite",
        f"--dbpath={folder}",
        "--dbname=wiki",
        f"--server={url}",
        "--scriptpath=",
        "--lang=en",
    ]
    command = [*php, "maintenance/install.php", *options, f"--pass={password}", "--with-extensions", "Harbour", "Ada"]
    subprocess.run(command, cwd=wiki, env=environ, check=True, capture_output=True)
    with (wiki / "LocalSettings.php").open("a") as settings:
        settings.write(
            "\n$wgEnableUploads = true; $wgMainCacheType = CACHE_DB; $wgJobRunRate = 0; $wgShellLocale = 'C.UTF-8';\n"
        )
    served = environ | {"PHP_CLI_SERVER_WORKERS": "4"}
    with run_server(
        [*php, "-S", url.removeprefix("http://"), "-t", wiki], f"{url}/api.php", folder=folder, environ=served
    ):
        yield Site(url, folder, user="Ada", password=password)


def query(site: Site, statement: str, *values: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(site.folder / "wiki.sqlite", timeout=10)) as database:
        return database.execute(statement, values).fetchall()


def read_page(site: Site, title: str) -> str:
    rows = query(site, LATEST_TEXT, title)
    return str(rows[0][0]) if rows else ""


application = Application("MediaWiki", install, serve)


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/index.php")
    await person.click("Log in", "link")
    await person.type("Username", site.user)
    await person.type("Password", site.password)
    await person.click("Log in", "button")
    await person.read("Log out")
    return bool(query(site, "select 1 from user where user_name = 'Ada'"))


async def open_editor(person: Person, site: Site, title: str) -> None:
    await person.open(f"{site.url}/index.php?title={title}")
    await person.click(re.compile("^(Create|Edit|Add) source$"), "link")


async def write_page(person: Person, site: Site, title: str, text: str, summary: str = "") -> None:
    await open_editor(person, site, title)
    await person.type(ANY_NAME, text, after=f"ing {title}")
    if summary:
        await person.type(re.compile("^Summary"), summary)
    await person.click(re.compile("^Save (page|changes)"), "button")


@application.task("write a page")
async def write(person: Person, site: Site) -> bool:
    await open_editor(person, site, "Cranes")
    await person.click("Start editing", "button")  # the editor opens a dialog at its first use
    await write_page(person, site, "Cranes", "Cranes lift [[containers]].", "first words")
    await person.read("Cranes lift")
    return read_page(site, "Cranes") == "Cranes lift [[containers]]."


@application.task("edit a page with a summary")
async def change(person: Person, site: Site) -> bool:
    await write_page(person, site, "Cranes", "Cranes lift ships.", "ships now")
    await person.read("Cranes lift ships.")
    comments = query(site, "select comment_text from comment")
    return read_page(site, "Cranes") == "Cranes lift ships." and ("ships now",) in comments


@application.task("find the last edit in the history and undo it")
async def undo(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/index.php?title=Cranes")
    await person.click("View history", "link")
    await person.click("undo", "link")
    await person.click(re.compile("^Save (page|changes)"), "button")
    return await becomes(lambda: "containers" in read_page(site, "Cranes"))


@application.task("move a page to another title")
async def move(person: Person, site: Site) -> bool:
    await write_page(person, site, "Harbor", "Spelt the American way.")
    await person.open(f"{site.url}/index.php?title=Special:MovePage/Harbor")
    await person.type(ANY_NAME, "Harbour", "combobox", after="New title", number=2)
    await person.click("Move page", "button")
    return await becomes(lambda: read_page(site, "Harbour").startswith("Spelt"))


@application.task("put a page on the watchlist")
async def watch(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/index.php?title=Main_Page")
    await person.click("Watch", "link")
    return await becomes(lambda: ("Main_Page",) in query(site, "select wl_title from watchlist"))


@application.task("protect a page against edits")
async def protect(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/index.php?title=Main_Page&action=protect")
    await person.click(ANY_NAME, "combobox", after="view and change the protection")
    await person.click("Allow only administrators", "option")
    await person.click("Confirm", "button")
    return await becomes(lambda: ("edit", "sysop") in query(site, "select pr_type, pr_level from page_restrictions"))


@application.task("delete a page and confirm")
async def delete(person: Person, site: Site) -> bool:
    await write_page(person, site, "Old", "To be deleted.")
    await person.open(f"{site.url}/index.php?title=Old&action=delete")
    await person.click("Delete page", "button")
    return await becomes(lambda: not read_page(site, "Old"))


@application.task("give a real name in the preferences")
async def prefer(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/index.php?title=Special:Preferences")
    await person.type(re.compile("^Real name"), "Ada Admin")
    await person.press("Tab")  # what was typed counts when the field is left
    await person.click("Save", "button")
    return await becomes(lambda: ("Ada Admin",) in query(site, "select user_real_name from user"))


@application.task("create an account for another person")
async def account(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/index.php?title=Special:CreateAccount")
    await person.type("Username", "Bob")
    await person.type("Password", site.password)
    await person.type("Confirm password", site.password)
    await person.click(re.compile("^Create"), "button")
    return await becomes(lambda: ("Bob",) in query(site, "select user_name from user"))
