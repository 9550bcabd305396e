"""phpMyAdmin of Debian on PHP's own server, with its data in MariaDB."""

import re
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.apps import mariadb
from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_debian, php_command, php_environment
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server

PHPMYADMIN_PACKAGES = (
    "php8.2-cli",
    "php8.2-gd",
    "php8.2-intl",
    "php8.2-mbstring",
    "php8.2-mysql",
    "php8.2-xml",
    *mariadb.MARIADB_PACKAGES,
    "libjs-jquery",
    "phpmyadmin",
)
PHPMYADMIN_SETTINGS = """<?php
$cfg['blowfish_secret'] = '{secret}'; $cfg['VersionCheck'] = false; $cfg['TempDir'] = '{folder}';
$cfg['Servers'][1] = ['auth_type' => 'cookie', 'host' => 'localhost', 'socket' => '{socket}'];
"""
DATA = """create database harbour; use harbour;
create table ships (id int auto_increment primary key, name varchar(60) not null, tons int not null, port varchar(60));
insert into ships (name, tons, port) values ('Aurora', 1200, 'Kiel'), ('Borea', 900, 'Riga'), ('Ceres', 4100, 'Kiel');
create table crew (id int auto_increment primary key, name varchar(60), ship int);
insert into crew (name, ship) values ('Ada', 1), ('Bob', 2);
create user admin@localhost identified by '{password}'; grant all on *.* to admin@localhost with grant option;"""


def install() -> Path:
    return install_debian("phpmyadmin", *PHPMYADMIN_PACKAGES)


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    root, web, password = install(), folder / "phpmyadmin", secrets.token_urlsafe(12)
    shutil.copytree(root / "usr/share/phpmyadmin", web, ignore_dangling_symlinks=True)
    places = web / "libraries/vendor_config.php"
    places.write_text(places.read_text().replace("/etc/phpmyadmin/", f"{web}/"))
    url = f"http://127.0.0.1:{find_port()}"
    php = [*php_command(root, f"session.save_path={folder}"), "-S", url.removeprefix("http://"), "-t", web]
    environ = php_environment(root) | {"PHP_CLI_SERVER_WORKERS": "4"}
    with mariadb.serve_mariadb(root, folder) as database:
        database.query(DATA.format(password=password))
        settings = PHPMYADMIN_SETTINGS.format(secret=secrets.token_hex(16), folder=folder, socket=database.socket)
        (web / "config.inc.php").write_text(settings)
        with run_server(php, url, folder=folder, environ=environ):
            yield Site(url, folder, password=password, tools={"database": database})


application = Application("phpMyAdmin", install, serve)


def query(site: Site, statement: str) -> list[list[str]]:
    return site.tools["database"].query(statement, "harbour")


def column(name: str) -> re.Pattern[str]:
    """Match the line of a column's name in a form of its table."""
    return re.compile(rf'{name} \| |"{name}"|"{name} [a-z]+\(')


async def open_table(person: Person, site: Site, table: str = "ships", route: str = "/sql") -> None:
    await person.open(f"{site.url}/index.php?route={route}&db=harbour&table={table}")


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.type("Username:", site.user)
    await person.type("Password:", site.password)
    await person.click("Log in", "button")
    await person.read("Server version")
    return True


@application.task("open a table from the navigation and edit a row")
async def edit_row(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("harbour", "link")
    await person.click("ships", "link")
    await person.click(re.compile("^Edit"), "link", before="Borea")
    await person.find("Go", "button")  # the list has fields too, and stays until the row has come
    await person.type(ANY_NAME, "950", "textbox", after=column("tons"))
    await person.click("Go", "button")
    return await becomes(lambda: query(site, "select tons from ships where name = 'Borea'") == [["950"]])


@application.task("change a cell in place")
async def edit_cell(person: Person, site: Site) -> bool:
    await open_table(person, site)
    await person.double_click("Riga")
    await person.press("Ctrl+A", "T", "a", "l", "l", "i", "n", "n", "Enter")
    return await becomes(lambda: query(site, "select port from ships where name = 'Borea'") == [["Tallinn"]])


@application.task("insert a row")
async def insert_row(person: Person, site: Site) -> bool:
    await open_table(person, site)
    await person.click(re.compile("^Insert"), "link", after="Structure")
    await person.find("Go", "button")
    await person.type(ANY_NAME, "Delta", "textbox", after=column("name"))
    await person.type(ANY_NAME, "300", "textbox", after=column("tons"))
    await person.click("Go", "button", after=column("port"))
    return await becomes(lambda: query(site, "select tons from ships where name = 'Delta'") == [["300"]])


@application.task("run a statement of SQL and read its rows")
async def run_sql(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/index.php?route=/database/sql&db=harbour")
    await person.type(ANY_NAME, "select port, count(*) as calls from ships group by port", "textbox", after="Run SQL")
    await person.click("Go", "button")
    outline = await person.read("calls")
    return (
        "Kiel" in outline.text and query(site, "select count(*) from ships where port = 'Kiel'")[0][0] in outline.text
    )


@application.task("delete a row and confirm it")
async def delete_row(person: Person, site: Site) -> bool:
    # It asks only on pages that its own script has fetched, not on pages that were opened by their address.
    await person.open(site.url)
    await person.click("harbour", "link")
    await person.click("ships", "link")
    await person.click(re.compile("^Delete"), "link", before="Ceres")
    await person.read("Do you really want to execute")
    is_kept = query(site, "select 1 from ships where name = 'Ceres'") == [["1"]]
    await person.click("OK", "button")
    return is_kept and await becomes(lambda: query(site, "select 1 from ships where name = 'Ceres'") == [])


@application.task("create a table of two columns")
async def create_table(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/index.php?route=/database/structure&db=harbour")
    await person.type("Table name", "piers")
    await person.type(re.compile("^Number of columns"), "2")
    await person.click("Create", "button")
    await person.type("Column", "id")
    await person.type("Column", "name", number=2)
    await person.choose(ANY_NAME, "TEXT", "combobox", after=re.compile("Length/Values"), number=8)
    await person.click("Save", "button")
    statement = "select column_name, column_type from information_schema.columns where table_name = 'piers'"
    return await becomes(lambda: query(site, f"{statement} order by 1") == [["id", "int(11)"], ["name", "text"]])


@application.task("add an index to a column")
async def add_index(person: Person, site: Site) -> bool:
    await open_table(person, site, route="/table/structure")
    await person.check("port", "checkbox")
    await person.click(re.compile("^Index"), "button")
    await person.click(re.compile("^(Go|OK)$"), "button")
    return await becomes(lambda: "port" in str(query(site, "show index from ships")))


@application.task("export a table as CSV")
async def export(person: Person, site: Site) -> bool:
    await open_table(person, site, route="/table/export")
    await person.choose("File format to export", "CSV")
    await person.check(re.compile("^Custom"))
    await person.check("View output as text")
    await person.click("Export", "button")
    outline = await person.read("Aurora")
    tons = query(site, "select tons from ships where name = 'Borea'")[0][0]
    return tons in outline.text and "Back" in outline.text


@application.task("search a table for a value")
async def search(person: Person, site: Site) -> bool:
    await open_table(person, site, route="/table/search")
    await person.choose(ANY_NAME, "LIKE %...%", "combobox", after=column("name"))
    await person.type(ANY_NAME, "uror", "textbox", after=column("name"))
    await person.click("Go", "button")
    outline = await person.read("Aurora")
    return "Borea" not in outline.text
