"""Wagtail of PyPI, the editors' side of a Django site, with its data in SQLite."""

import base64
import os
import re
import secrets
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_python
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server

MODELS = """from django.db import models
from wagtail.admin.panels import FieldPanel
from wagtail.fields import RichTextField
from wagtail.models import Page

class HomePage(Page):
    pass

class ArticlePage(Page):
    intro = models.CharField(max_length=100, blank=True)
    body = RichTextField(blank=True)
    picture = models.ForeignKey('wagtailimages.Image', null=True, blank=True,
        on_delete=models.SET_NULL, related_name='+')
    content_panels = Page.content_panels + [FieldPanel('intro'), FieldPanel('body'), FieldPanel('picture')]
"""
TEMPLATE = "<h1>{{ page.title }}</h1>"


def install() -> Path:
    return install_python("wagtail", "wagtail==8.0.1")


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    programs, project, password = install(), folder / "site", secrets.token_urlsafe(12)
    url = f"http://127.0.0.1:{(port := find_port())}"
    environ = {**os.environ, "DJANGO_SUPERUSER_PASSWORD": password, "DJANGO_SETTINGS_MODULE": "harbour.settings.dev"}
    project.mkdir()

    def run(*command: str | Path) -> None:
        subprocess.run(command, cwd=project, env=environ, check=True, capture_output=True)

    run(programs / "wagtail", "start", "harbour", ".")
    (project / "home/models.py").write_text(MODELS)
    templates = project / "home/templates/home"
    (templates / "article_page.html").write_text(TEMPLATE)
    with (project / "harbour/settings/dev.py").open("a") as settings:
        settings.write(f"\nWAGTAILADMIN_BASE_URL = '{url}'\nWAGTAIL_ENABLE_UPDATE_CHECK = False\n")
    manage = [programs / "python", "manage.py"]
    run(*manage, "makemigrations", "home")
    run(*manage, "migrate")
    run(*manage, "createsuperuser", "--noinput", "--username", "admin", "--email", "ada@example.org")
    command = [programs / "python", project / "manage.py", "runserver", "--noreload", f"127.0.0.1:{port}"]
    with run_server(command, f"{url}/admin/login/", folder=project, environ=environ):
        yield Site(url, project, password=password)


PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
application = Application("Wagtail", install, serve)


def query(site: Site, statement: str, *values: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(site.folder / "db.sqlite3", timeout=20)) as database:
        return database.execute(statement, values).fetchall()


def is_live(site: Site, title: str) -> bool:
    return query(site, "select live from wagtailcore_page where title = ?", title) == [(1,)]


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/admin/")
    await person.type(re.compile("^Username"), site.user)
    await person.type(re.compile("^Password"), site.password)
    await person.click("Sign in", "button")
    await person.read("Dashboard")
    return True


@application.task("upload a picture")
async def upload_picture(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/admin/images/add/")
    await person.type(re.compile("^Title"), "Crane")
    (person.folder / "crane.png").write_bytes(PICTURE)
    await person.upload(re.compile("file|Choose|Drag", re.IGNORECASE), "crane.png")
    await person.click("Upload", "button")
    return await becomes(lambda: len(query(site, "select title from wagtailimages_image")) == 1)


@application.task("write a page with bold text and a picture and publish it")
async def write(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/admin/pages/3/")
    await person.click(re.compile("^Add (child )?page"), "link")
    await person.click("Article page", "link")
    await person.type(re.compile("^Title"), "Cranes")
    await person.type("Intro", "All about cranes")
    await person.type(ANY_NAME, "Cranes lift ships.", after=re.compile('heading "?Body'))
    await person.press("Ctrl+A", "Ctrl+B")
    await person.click("Choose an image", "button")
    await person.click(re.compile("crane", re.IGNORECASE), "link", after="Latest images")
    await person.find("Actions", "button", after="Picture")
    await person.click("More actions", "button")
    await person.click("Publish", "button")
    await becomes(lambda: is_live(site, "Cranes"))
    rows = query(site, "select intro, body, picture_id is not null from home_articlepage")
    return is_live(site, "Cranes") and rows[0][::2] == ("All about cranes", 1) and "<b>Cranes lift" in str(rows[0][1])


@application.task("keep a draft of a page")
async def draft(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/admin/pages/add/home/articlepage/3/")
    await person.type(re.compile("^Title"), "Gulls")
    await person.press("Tab")
    await person.type("Intro", "White birds")
    await person.click("Save draft", "button")
    return await becomes(lambda: (0,) in query(site, "select live from wagtailcore_page where title = 'Gulls'"))


async def open_menu(person: Person, site: Site, title: str) -> None:
    """Open the page's own list of actions."""
    await person.open(f"{site.url}/admin/pages/3/")
    await person.click(title, "link")
    await person.click("Actions", "button")


@application.task("edit a page and publish it again")
async def change(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/admin/pages/3/")
    await person.click("Cranes", "link")
    await person.type("Intro", "Cranes and ships")
    await person.click("More actions", "button")
    await person.click("Publish", "button")
    return await becomes(lambda: ("Cranes and ships",) in query(site, "select intro from home_articlepage"))


@application.task("see the history of a page and restore a revision")
async def restore(person: Person, site: Site) -> bool:
    await open_menu(person, site, "Cranes")
    await person.click("History", "link")
    # Drafts are saved while they are being written, so only the older "Published" identifies the first version.
    older = re.compile('cell "Published"|Published (?!live)', re.IGNORECASE)
    await person.click(re.compile("^More options|^Actions"), "button", after=older)
    await person.click("Review this version", "link")
    await person.click(re.compile("^Replace current"), "button")
    return await becomes(
        lambda: (
            "All about cranes" in str(query(site, "select content from wagtailcore_revision order by id desc limit 1"))
        )
    )


@application.task("unpublish a page")
async def unpublish(person: Person, site: Site) -> bool:
    await open_menu(person, site, "Cranes")
    await person.click("Unpublish", "link")
    await person.click(re.compile("^Yes, unpublish"), "button")
    return await becomes(lambda: query(site, "select live from wagtailcore_page where title = 'Cranes'") == [(0,)])


@application.task("search for a page")
async def search(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/admin/pages/3/")
    await person.submit(re.compile("^Search"), "gulls")
    outline = await person.read("Gulls")
    return "There is 1 match" in outline.text or "Cranes" not in outline.text


@application.task("delete a page")
async def delete(person: Person, site: Site) -> bool:
    await open_menu(person, site, "Gulls")
    await person.click("Delete", "link")
    await person.click(re.compile("^Yes, delete"), "button")
    return await becomes(lambda: not query(site, "select 1 from wagtailcore_page where title = 'Gulls'"))


@application.task("add a user who is an editor")
async def add_user(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/admin/users/new/")
    await person.type(re.compile("^Username"), "bob")
    await person.type(re.compile("^Email"), "bob@example.org")
    await person.type(re.compile("^First Name"), "Bob")
    await person.type(re.compile("^Last Name"), "Builder")
    await person.type(re.compile(r"^Password\*?$"), site.password)
    await person.type(re.compile("^Password confirmation"), site.password)
    await person.click("Roles", "tab")
    await person.check("Editors")
    await person.click(re.compile("^(Add user|Save|Create)"), "button")
    statement = """select g.name from auth_group g join auth_user_groups m on m.group_id = g.id
        join auth_user u on u.id = m.user_id where u.username = 'bob'"""
    return await becomes(lambda: query(site, statement) == [("Editors",)])
