"""WordPress of Debian on PHP's own server, with its data in MariaDB."""

import re
import secrets
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.apps import mariadb
from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_debian, php_command, php_environment
from tests.apps.person import Person
from tests.apps.servers import find_port, run_server

WORDPRESS_PACKAGES = (
    "php8.2-cli",
    "php8.2-gd",
    "php8.2-intl",
    "php8.2-mbstring",
    "php8.2-mysql",
    "php8.2-xml",
    *mariadb.MARIADB_PACKAGES,
    "wordpress",
    "wordpress-theme-twentytwentythree",
)
CONFIGURATION = """<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('WP_HOME', '{url}'); define('WP_SITEURL', '{url}'); define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true); define('FS_METHOD', 'direct'); $table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
INSTALLATION = """define('WP_INSTALLING', true); $_SERVER['HTTP_HOST'] = '{host}'; require 'wp-load.php';
require 'wp-admin/includes/upgrade.php';
wp_install('Harbour', 'admin', 'admin@example.org', true, '', getenv('PASSWORD'));"""


def install() -> Path:
    return install_debian("wordpress", *WORDPRESS_PACKAGES)


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    root, blog, password = install(), folder / "blog", secrets.token_urlsafe(12)
    shutil.copytree(root / "usr/share/wordpress", blog, ignore_dangling_symlinks=True)
    themes = root / "var/lib/wordpress/wp-content/themes"
    if themes.is_dir():
        shutil.copytree(themes, blog / "wp-content/themes", dirs_exist_ok=True, ignore_dangling_symlinks=True)
    url = f"http://127.0.0.1:{find_port()}"
    host = url.removeprefix("http://")
    php, environ = php_command(root, "memory_limit=256M"), php_environment(root)
    with mariadb.serve_mariadb(root, folder) as database:
        database.query("create database wordpress")
        (blog / "wp-config.php").write_text(CONFIGURATION.format(socket=database.socket, url=url))
        command = [*php, "-r", INSTALLATION.format(host=host)]
        subprocess.run(command, cwd=blog, env=environ | {"PASSWORD": password}, check=True, capture_output=True)
        served = [*php, "-S", host, "-t", blog]
        with run_server(
            served, f"{url}/wp-login.php", folder=folder, environ=environ | {"PHP_CLI_SERVER_WORKERS": "4"}
        ):
            yield Site(url, folder, password=password, tools={"database": database})


def query(site: Site, statement: str) -> list[list[str]]:
    return site.tools["database"].query(statement, "wordpress")


def find_posts(site: Site, title: str, status: str) -> list[list[str]]:
    statement = f"select post_content from wp_posts where post_title = '{title}' and post_status = '{status}'"
    return query(site, f"{statement} and post_type in ('post', 'page')")


application = Application("WordPress", install, serve)


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wp-login.php")
    await person.type(re.compile("^Username"), site.user)
    await person.type("Password", site.password)
    await person.click("Log In", "button")
    await person.read("Howdy")
    return True


@application.task("rename a post by quick edit")
async def quick_edit(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wp-admin/edit.php")
    await person.hover(re.compile("Hello world!"), "link")
    await person.click(re.compile("^Quick edit .*Hello world|^Quick Edit$"), "button")
    await person.type("Title", "Hello harbour")
    await person.click("Update", "button")
    return await becomes(lambda: bool(find_posts(site, "Hello harbour", "publish")))


@application.task("move a post to the bin")
async def delete(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wp-admin/edit.php?post_type=page")
    await person.hover(re.compile("Sample Page"), "link")
    await person.click(re.compile("Sample Page.* to the Trash|^Trash$"), "link")
    return await becomes(lambda: bool(find_posts(site, "Sample Page", "trash")))


@application.task("answer a comment")
async def answer_comment(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wp-admin/edit-comments.php")
    await person.hover(re.compile("^A WordPress Commenter|^Hello"), "link")
    await person.click(re.compile("^Reply"), "button")
    await person.type(re.compile(""), "Thank you.", "textbox", after="Reply to Comment")
    await person.click("Reply", "button", after="Reply to Comment")
    return await becomes(lambda: ["Thank you."] in query(site, "select comment_content from wp_comments"))


@application.task("add a category")
async def add_category(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wp-admin/edit-tags.php?taxonomy=category")
    await person.type("Name", "Ships")
    await person.click("Add New Category", "button")
    return await becomes(lambda: ["Ships"] in query(site, "select name from wp_terms"))


@application.task("change the tagline and the time zone")
async def configure(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wp-admin/options-general.php")
    await person.type("Tagline", "All about cranes")
    await person.choose("Timezone", "Berlin")
    await person.click("Save Changes", "button")
    statement = "select option_value from wp_options where option_name in ('blogdescription', 'timezone_string')"
    return await becomes(lambda: sorted(query(site, statement)) == [["All about cranes"], ["Europe/Berlin"]])


@application.task("add a user as an editor")
async def add_user(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wp-admin/user-new.php")
    await person.type(re.compile("^Username"), "bob")
    await person.type(re.compile("^Email"), "bob@example.org")
    await person.choose("Role", "Editor")
    await person.click("Add New User", "button")
    statement = "select meta_value from wp_usermeta join wp_users on ID = user_id where user_login = 'bob'"
    return await becomes(lambda: "editor" in str(query(site, f"{statement} and meta_key = 'wp_capabilities'")))


@application.task("upload a file to the library")
async def upload(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/wp-admin/media-new.php")
    person.write_file("crane.txt", "cranes first")
    await person.upload(re.compile("^Select Files|^html5|^input|^file", re.IGNORECASE), "crane.txt")
    return await becomes(lambda: any((site.folder / "blog/wp-content/uploads").rglob("crane*.txt")))
