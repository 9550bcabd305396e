"""DokuWiki of Debian on PHP's own server; its pages are files."""

import re
import secrets
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_debian, php_command, php_environment
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server

DOKUWIKI_PACKAGES = (
    "php8.2-cli",
    "php8.2-gd",
    "php8.2-intl",
    "php8.2-mbstring",
    "php8.2-sqlite3",
    "php8.2-xml",
    "php-geshi",
    "php-phpseclib",
    "libphp-simplepie",
    "libjs-jquery",
    "libjs-jquery-ui",
    "libjs-jquery-cookie",
    "dokuwiki",
)
DOKUWIKI_SETTINGS = """<?php
$conf['title'] = 'Team wiki'; $conf['useacl'] = 1; $conf['superuser'] = '@admin'; $conf['disableactions'] = 'register';
"""


def install() -> Path:
    return install_debian("dokuwiki", *DOKUWIKI_PACKAGES)


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    root, wiki, data = install(), folder / "wiki", folder / "data"
    shutil.copytree(root / "usr/share/dokuwiki", wiki, ignore_dangling_symlinks=True)
    shutil.copytree(root / "var/lib/dokuwiki/data", data)
    shutil.copytree(root / "etc/dokuwiki", wiki / "conf", ignore_dangling_symlinks=True)
    for file in (wiki / "inc/preload.php", wiki / "conf/dokuwiki.php"):
        text = file.read_text().replace("/etc/dokuwiki", str(wiki / "conf"))
        file.write_text(text.replace("/var/lib/dokuwiki/data", str(data)))
    password = secrets.token_urlsafe(12)
    php = php_command(root, f"session.save_path={folder}")
    script = f"echo password_hash({password!r}, PASSWORD_BCRYPT);"
    hashed = subprocess.run(
        [*php, "-r", script], env=php_environment(root), check=True, capture_output=True, text=True
    ).stdout
    (wiki / "conf/users.auth.php").write_text(f"admin:{hashed}:Ada Admin:ada@example.org:admin,user\n")
    (wiki / "conf/acl.auth.php").write_text("*\t@ALL\t1\n*\t@user\t16\n")
    (wiki / "conf/local.php").write_text(DOKUWIKI_SETTINGS)
    url = f"http://127.0.0.1:{find_port()}"
    command = [*php, "-S", url.removeprefix("http://"), "-t", wiki]
    environ = php_environment(root) | {"PHP_CLI_SERVER_WORKERS": "4"}
    with run_server(command, f"{url}/doku.php", folder=folder, environ=environ):
        yield Site(url, data, password=password)


application = Application("DokuWiki", install, serve)


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/doku.php")
    await person.click("Log In", "link")
    await person.type("Username", site.user)
    await person.type("Password", site.password)
    await person.click("Log In", "button")
    await person.read("Ada Admin")
    return True


def page(site: Site, name: str) -> str:
    file = site.folder / "pages" / f"{name}.txt"
    return file.read_text() if file.exists() else ""


async def edit(person: Person, site: Site, name: str, text: str, summary: str = "") -> None:
    await person.open(f"{site.url}/doku.php?id={name}")
    await person.click(re.compile("^(Create|Edit) this page"), "link")
    await person.type(ANY_NAME, text, after="playground")
    if summary:
        await person.type("Edit summary", summary)
    await person.click("Save", "button")


@application.task("write a page")
async def write(person: Person, site: Site) -> bool:
    await edit(person, site, "minutes", "====== Minutes ======\n\nWe met on Monday.")
    await person.read("We met on Monday.")
    return "We met on Monday." in page(site, "minutes")


@application.task("edit a page and give a summary")
async def change(person: Person, site: Site) -> bool:
    await edit(person, site, "minutes", "====== Minutes ======\n\nWe met on Tuesday.", "it was Tuesday")
    await person.read("We met on Tuesday.")
    changes = (site.folder / "meta/minutes.changes").read_text()
    return "Tuesday" in page(site, "minutes") and "it was Tuesday" in changes


@application.task("preview a page without saving it")
async def preview(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/doku.php?id=draft")
    await person.click(re.compile("^Create this page"))
    await person.type(ANY_NAME, "Only **looked** at.", after="playground")
    await person.click("Preview", "button")
    await person.read("This is a preview")
    await person.click("Cancel", "button")
    return not page(site, "draft")


@application.task("find the older revision and restore it")
async def revert(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/doku.php?id=minutes")
    await person.click(re.compile("^Old revisions"))
    await person.click("minutes", "link", after="Show differences to current")
    await person.read("We met on Monday.")
    await person.click(re.compile("^Edit this page|^Restore this"))
    await person.click("Save", "button")
    return await becomes(lambda: "Monday" in page(site, "minutes"))


@application.task("search for a word and open what is found")
async def search(person: Person, site: Site) -> bool:
    await edit(person, site, "harbour", "====== Harbour ======\n\nThe zeppelin lands at noon.")
    await person.submit(re.compile("F|Search"), "zeppelin")
    await person.click(re.compile("harbour", re.IGNORECASE), "link", after="Fulltext")
    outline = await person.read("lands at noon.")
    return "Harbour" in outline.text and "zeppelin" in page(site, "harbour")


@application.task("insert bold text with the toolbar")
async def bold(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/doku.php?id=bold")
    await person.click(re.compile("^Create this page"))
    await person.click(re.compile("^Bold Text"), "button")
    await person.press("X")
    await person.click("Save", "button")
    return await becomes(lambda: "**X" in page(site, "bold"))


@application.task("upload a file in the media manager")
async def upload(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/doku.php?id=start&do=media")
    await person.click("Upload", "link")
    person.write_file("plan.pdf", "%PDF-1.4 cranes first")
    await person.upload(re.compile("^Select files|^input$"), "plan.pdf")
    await person.click(re.compile("^Upload"), "button")
    return await becomes((site.folder / "media/plan.pdf").exists)


@application.task("delete a page by emptying it")
async def delete(person: Person, site: Site) -> bool:
    await edit(person, site, "harbour", "")
    await person.read("no longer exists")
    return not (site.folder / "pages/harbour.txt").exists()


@application.task("change the title of the wiki in the settings")
async def configure(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/doku.php?id=start")
    await person.click("Admin", "link")
    await person.click("Configuration Settings", "link")
    await person.type(re.compile("Wiki title|^title"), "Harbour wiki")
    await person.click("Save", "button")
    await person.read("Harbour wiki")
    return "Harbour wiki" in (site.folder.parent / "wiki/conf/local.php").read_text()


@application.task("add a user")
async def add_user(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/doku.php?id=start&do=admin")
    await person.click("User Manager", "link")
    for field, text in {
        "User:": "bob",
        "Password:": site.password,
        "once again:": site.password,
        "Real Name:": "Bob Builder",
        "Email:": "bob@example.org",
    }.items():
        await person.type(field, text, after="Add user")
    await person.click("Add", "button")
    return await becomes(lambda: "bob:" in (site.folder.parent / "wiki/conf/users.auth.php").read_text())
