"""Redmine of Debian on Puma, with its data in SQLite."""

import os
import re
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_debian
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server

REDMINE_PACKAGES = ("redmine", "redmine-sqlite", "puma", "libjs-jquery")
SETUP = """
user = User.find_by_login('admin')
user.update!(password: ENV['PASSWORD'], password_confirmation: ENV['PASSWORD'], must_change_passwd: false,
  firstname: 'Ada', lastname: 'Admin')
project = Project.create!(name: 'Harbour', identifier: 'harbour', trackers: Tracker.all.to_a)
Member.create!(project: project, user: user, roles: [Role.find_by_name('Manager')])
%w[1.0 2.0].each { |name| Version.create!(project: project, name: name) }
[['Crane is stuck', '1.0'], ['Paint the gate', '2.0']].each do |subject, version|
  Issue.create!(project: project, subject: subject, author: user, tracker: Tracker.first,
    fixed_version: Version.find_by_name(version))
end
"""


def install() -> Path:
    return install_debian("redmine", *REDMINE_PACKAGES)


def ruby_environment(root: Path) -> dict[str, str]:
    """Return the environment in which an unpacked Ruby finds its libraries and gems."""
    native = next(root.glob("usr/lib/*-linux-gnu"))
    libraries = [root / "usr/lib/ruby/vendor_ruby", *root.glob("usr/lib/ruby/3.*"), *native.glob("ruby/3.*")]
    libraries += native.glob("ruby/vendor_ruby/3.*")
    gems = [root / "usr/share/rubygems-integration/all", *root.glob("usr/share/rubygems-integration/3.*")]
    gems += [*native.glob("rubygems-integration/3.*"), *root.glob("usr/lib/ruby/gems/3.*")]
    paths = {"RUBYLIB": ":".join(map(str, libraries)), "GEM_PATH": ":".join(map(str, gems))}
    return {**os.environ, "LD_LIBRARY_PATH": str(native), **paths}


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    root, tracker, password = install(), folder / "tracker", secrets.token_urlsafe(12)
    shutil.copytree(root / "usr/share/redmine", tracker, ignore_dangling_symlinks=True)
    (tracker / "Gemfile.lock").unlink(missing_ok=True)
    for name in ("config", "log", "tmp", "files"):
        (tracker / "instances/default" / name).mkdir(parents=True, exist_ok=True)
    database = f"production:\n  adapter: sqlite3\n  database: {folder}/tracker.sqlite\n  timeout: 10000\n"
    (tracker / "instances/default/config/database.yml").write_text(database)
    environ = ruby_environment(root) | {"RAILS_ENV": "production", "SECRET_KEY_BASE": secrets.token_hex(32)}
    environ |= {"REDMINE_LANG": "en", "PASSWORD": password, "RAILS_SERVE_STATIC_FILES": "1"}
    ruby = root / "usr/bin/ruby3.1"
    for command in (["rake", "db:migrate"], ["rake", "redmine:load_default_data"], ["rails", "runner", SETUP]):
        subprocess.run(
            [ruby, f"bin/{command[0]}", *command[1:]], cwd=tracker, env=environ, check=True, capture_output=True
        )
    url = f"http://127.0.0.1:{(port := find_port())}"
    command = [ruby, root / "usr/bin/puma", "--dir", tracker, "--bind", f"tcp://127.0.0.1:{port}", "--threads", "1:4"]
    with run_server(command, f"{url}/login", folder=folder, environ=environ):
        yield Site(url, folder, password=password)


application = Application("Redmine", install, serve)


def query(site: Site, statement: str, *values: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(site.folder / "tracker.sqlite", timeout=10)) as database:
        return database.execute(statement, values).fetchall()


def read_issue(site: Site, subject: str) -> dict[str, object]:
    """Return status, assignee and version of an issue, or nothing."""
    rows = query(
        site,
        """select s.name, u.login, v.name, p.name, i.description from issues i
        join issue_statuses s on s.id = i.status_id
        left join users u on u.id = i.assigned_to_id left join versions v on v.id = i.fixed_version_id
        join enumerations p on p.id = i.priority_id where i.subject = ?""",
        subject,
    )
    return dict(zip(("status", "assignee", "version", "priority", "text"), rows[0], strict=True)) if rows else {}


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/login")
    await person.type("Login", site.user)
    await person.type(re.compile("^Password"), site.password)
    await person.click("Login", "button")
    await person.read("Logged in as")
    return True


@application.task("open an issue with a priority and a version")
async def open_issue(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/projects/harbour/issues")
    await person.click("New issue", "link")
    await person.type(re.compile("^Subject"), "Gate does not close")
    await person.type("Description", "It stops half way.")
    await person.choose(re.compile("^Priority"), "Urgent")
    await person.choose("Target version", "2.0")
    await person.click("Create", "button")
    await person.read("created")
    issue = read_issue(site, "Gate does not close")
    return (issue["priority"], issue["version"], issue["text"]) == ("Urgent", "2.0", "It stops half way.")


@application.task("assign an issue")
async def assign(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/projects/harbour/issues")
    await person.click("Gate does not close", "link")
    await person.click("Edit", "link")
    await person.choose("Assignee", "Ada Admin")
    await person.click("Submit", "button")
    return await becomes(lambda: read_issue(site, "Gate does not close")["assignee"] == "admin")


@application.task("comment on an issue")
async def comment(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/issues/1")
    await person.click("Edit", "link")
    await person.type(re.compile("^#?issue_notes|^Notes|^$"), "Oiled it.", after="Notes")
    await person.click("Submit", "button")
    return await becomes(lambda: ("Oiled it.",) in query(site, "select notes from journals"))


@application.task("close an issue")
async def close(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/issues/1")
    await person.click("Edit", "link")
    await person.choose(re.compile("^Status"), "Closed")
    await person.click("Submit", "button")
    return await becomes(lambda: read_issue(site, "Crane is stuck")["status"] == "Closed")


@application.task("filter the issues of a version")
async def filter_version(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/projects/harbour/issues")
    await person.choose("Add filter", "Target version")
    await person.choose(re.compile(""), "Harbour - 2.0", "combobox", after='checkbox "Target version"', number=2)
    await person.click("Apply", "link")
    outline = await person.read("(1-2/2)")
    return "Crane is stuck" not in outline.text and "Paint the gate" in outline.text


@application.task("change the status of an issue by the context menu")
async def context_menu(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/projects/harbour/issues")
    await person.click("Actions", "link", after="Paint the gate")
    await person.hover("Status", "link", after="Edit")
    await person.click("In Progress", "link")
    return await becomes(lambda: read_issue(site, "Paint the gate")["status"] == "In Progress")


@application.task("write a page of the project's wiki")
async def write_wiki(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/projects/harbour/wiki")
    await person.type(ANY_NAME, "h1. Harbour\n\nTen cranes.", "textbox", after="Preview")
    await person.click("Save", "button")
    return await becomes(
        lambda: any("Ten cranes." in str(row) for row in query(site, "select text from wiki_contents"))
    )


@application.task("log time on an issue")
async def log_time(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/issues/2")
    await person.click("Log time", "link")
    await person.type(re.compile("^Hours"), "2.5")
    await person.choose(re.compile("^Activity"), "Development", "combobox")
    await person.click("Create", "button")
    return await becomes(lambda: (2.5,) in query(site, "select hours from time_entries"))


@application.task("attach a file to an issue")
async def attach(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/issues/2")
    await person.click("Edit", "link")
    person.write_file("colours.txt", "red and blue")
    await person.upload(re.compile("filedrop|^Choose Files?$|Add files"), "colours.txt")
    await person.read("colours.txt")
    await person.click("Submit", "button")
    return await becomes(
        lambda: ("colours.txt",) in query(site, "select filename from attachments where container_id = 2")
    )
