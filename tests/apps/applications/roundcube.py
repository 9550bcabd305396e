"""Roundcube of Debian on PHP's own server, with an IMAP and an SMTP server of PyPI; mail is a Maildir."""

import base64
import hashlib
import mailbox
import re
import secrets
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from email.message import EmailMessage
from pathlib import Path

from tests.apps.bed import Application, Site, becomes
from tests.apps.install import install_debian, install_python, php_command, php_environment
from tests.apps.person import ANY_NAME, Person
from tests.apps.servers import find_port, run_server

ROUNDCUBE_PACKAGES = (
    "php8.2-cli",
    "php8.2-gd",
    "php8.2-intl",
    "php8.2-mbstring",
    "php8.2-sqlite3",
    "php8.2-xml",
    "libjs-jquery",
    "roundcube-core",
    "roundcube-sqlite3",
)
MAIL_SERVERS = ("pymap==0.36.7", "aiosmtpd==1.4.6")
ROUNDCUBE_SETTINGS = """<?php
$config = ['db_dsnw' => 'sqlite:///{folder}/webmail.db', 'imap_host' => '127.0.0.1:{imap}',
  'smtp_host' => '127.0.0.1:{smtp}', 'smtp_user' => '', 'smtp_pass' => '', 'des_key' => '{key}', 'skin' => 'elastic',
  'mail_domain' => 'example.org', 'create_default_folders' => true,
  'temp_dir' => '{folder}', 'log_dir' => '{folder}', 'mime_types' => '{folder}/mime.types'];
"""


def install() -> tuple[Path, Path]:
    return install_debian("roundcube", *ROUNDCUBE_PACKAGES), install_python("mail", *MAIL_SERVERS)


def fill_mailbox(folder: Path, password: str) -> None:
    """Put three messages and a sender's file into Ada's mailbox, and her account into the IMAP server's files."""
    base, salt = folder / "mail", secrets.token_bytes(16)
    base.mkdir()
    digest = base64.b64encode(hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1000)).decode()
    (base / "pymap-etc-passwd").write_text("ada::::Ada Admin:ada:\n")
    hashed = f"$pbkdf2-sha256$1000${base64.b64encode(salt).decode()}${digest}"
    (base / "pymap-etc-shadow").write_text(f"ada:{hashed}\n")
    inbox = mailbox.Maildir(base / "ada")
    for sender, subject, text in (
        ("bob@example.org", "Crane is stuck", "Please come to pier 4."),
        ("cy@example.org", "Minutes of Monday", "The minutes are attached."),
        ("dan@example.org", "Buy cheap boats", "Very cheap boats."),
    ):
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = sender, "ada@example.org", subject
        message["Date"], message["Message-ID"] = (
            "Mon, 01 Jun 2026 10:00:00 +0000",
            f"<{secrets.token_hex(8)}@example.org>",
        )
        message.set_content(text)
        if "attached" in text:
            message.add_attachment("We met on Monday.\n", filename="minutes.txt")
        inbox.add(message)


@contextmanager
def serve_mail(programs: Path, folder: Path, imap: int, smtp: int) -> Generator[None]:
    """Serve Ada's Maildir by IMAP, and keep mail sent by SMTP in a separate Maildir."""
    ports = ["--host", "127.0.0.1", "--port", str(imap)]
    reading = [programs / "pymap", *ports, "--no-tls", "maildir", folder / "mail"]
    sending = [
        programs / "aiosmtpd",
        "-n",
        "-l",
        f"127.0.0.1:{smtp}",
        "-c",
        "aiosmtpd.handlers.Mailbox",
        folder / "sent",
    ]
    with (
        run_server(reading, f"http://127.0.0.1:{imap}", folder=folder / "mail"),
        run_server(sending, f"http://127.0.0.1:{smtp}", folder=folder),
    ):
        yield


@contextmanager
def serve(folder: Path) -> Generator[Site]:
    (root, programs), password = install(), secrets.token_urlsafe(12)
    webmail = folder / "webmail"
    shutil.copytree(root / "usr/share/roundcube", webmail, ignore_dangling_symlinks=True)
    shutil.copytree(
        root / "var/lib/roundcube/plugins", webmail / "plugins", dirs_exist_ok=True, ignore_dangling_symlinks=True
    )
    shutil.copytree(
        root / "var/lib/roundcube/skins", webmail / "skins", dirs_exist_ok=True, ignore_dangling_symlinks=True
    )
    shutil.copytree(root / "etc/roundcube", webmail / "config")
    start = webmail / "program/include/iniset.php"
    start.write_text(start.read_text().replace("'/var/lib/roundcube/'", f"'{webmail}/'"))
    imap, smtp = find_port(), find_port()
    (webmail / "config/config.inc.php").write_text(
        ROUNDCUBE_SETTINGS.format(folder=folder, imap=imap, smtp=smtp, key=secrets.token_hex(12))
    )
    (folder / "mime.types").write_text("text/plain txt\napplication/pdf pdf\n")
    with closing(sqlite3.connect(folder / "webmail.db")) as database:
        database.executescript((webmail / "SQL/sqlite.initial.sql").read_text())
    fill_mailbox(folder, password)
    url = f"http://127.0.0.1:{find_port()}"
    php = [*php_command(root, f"session.save_path={folder}"), "-S", url.removeprefix("http://"), "-t", webmail]
    environ = php_environment(root) | {"PHP_CLI_SERVER_WORKERS": "4"}
    with serve_mail(programs, folder, imap, smtp), run_server(php, url, folder=folder, environ=environ):
        yield Site(url, folder, user="ada", password=password)


application = Application("Roundcube", install, serve)


def list_subjects(site: Site, box: str = "") -> list[str]:
    """Return the subjects of a folder of Ada's, or of the mail sent by SMTP."""
    folder = site.folder / "sent" if box == "sent" else site.folder / "mail/ada" / box
    return sorted(str(message["Subject"]) for message in mailbox.Maildir(folder, create=False))


def read_sent(site: Site, subject: str) -> str:
    """Return the whole source of a sent message."""
    messages = mailbox.Maildir(site.folder / "sent", create=False)
    return next((message.as_string() for message in messages if message["Subject"] == subject), "")


async def open_message(person: Person, site: Site, subject: str) -> None:
    await person.open(f"{site.url}/?_task=mail&_mbox=INBOX")
    await person.double_click(subject, "link")
    await person.read("Headers")


@application.task("sign in")
async def sign_in(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.type(ANY_NAME, site.user)
    await person.type(ANY_NAME, site.password, number=2)
    await person.click(re.compile("^login$", re.IGNORECASE), "button")
    await person.read("Crane is stuck")
    return True


@application.task("write a mail and send it")
async def write(person: Person, site: Site) -> bool:
    await person.open(site.url)
    await person.click("Compose", "button")
    await person.type(ANY_NAME, "bob@example.org", "combobox", before="Subject")
    await person.type("Subject", "Lunch on Friday")
    await person.type(ANY_NAME, "Pier 4 at noon?", "textbox", after="Subject", number=2)
    await person.click("Send", "button")
    return await becomes(lambda: "Pier 4 at noon?" in read_sent(site, "Lunch on Friday"))


@application.task("answer a mail with an attachment")
async def answer(person: Person, site: Site) -> bool:
    await open_message(person, site, "Crane is stuck")
    await person.click("Reply", "button")
    person.write_file("plan.txt", "grease first")
    await person.upload("Attach a file", "plan.txt")
    await person.read("plan.txt")
    await person.type(ANY_NAME, "I am coming.", "textbox", after="Subject", number=2)
    await person.click("Send", "button")
    await becomes(lambda: bool(read_sent(site, "Re: Crane is stuck")))
    sent = read_sent(site, "Re: Crane is stuck")
    return "I am coming." in sent and "plan.txt" in sent and "bob@example.org" in sent


@application.task("read a mail and the text that is attached")
async def read_attachment(person: Person, site: Site) -> bool:
    await open_message(person, site, "Minutes of Monday")
    outline = await person.read("We met on Monday.")
    return "The minutes are attached." in outline.text


@application.task("list the mail that is not read")
async def list_unread(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/?_task=mail&_mbox=INBOX")
    await person.read("Messages 1 to")  # it ignores commands while it is loading
    await person.click("Show unread messages", "button")
    await person.read("Messages 1 to 1 of 1")
    outline = await person.look()
    return "Buy cheap boats" in outline.text and "Crane is stuck" not in outline.text


@application.task("make a folder")
async def make_folder(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/?_task=settings&_action=folders")
    await person.click("Create", "button")
    await person.type("Folder name", "Cranes")
    await person.click("Save", "button")
    return await becomes((site.folder / "mail/ada/.Cranes").is_dir)


@application.task("file a mail in a folder")
async def file_mail(person: Person, site: Site) -> bool:
    await open_message(person, site, "Crane is stuck")
    await person.click("More", "button")
    await person.click(re.compile("^Move to"))
    await person.click("Cranes", after="More")
    return await becomes(lambda: list_subjects(site, ".Cranes") == ["Crane is stuck"])


@application.task("delete a mail")
async def delete(person: Person, site: Site) -> bool:
    await open_message(person, site, "Buy cheap boats")
    await person.click("Delete", "button")
    return await becomes(lambda: list_subjects(site, ".Trash") == ["Buy cheap boats"])


@application.task("add a person to the contacts")
async def add_contact(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/?_task=addressbook")
    await person.click("Create", "button")
    await person.type("First Name", "Bob")
    await person.type("Last Name", "Builder")
    await person.type("Email", "bob@example.org")
    await person.click("Save", "button")
    with closing(sqlite3.connect(site.folder / "webmail.db", timeout=10)) as database:
        statement = "select email from contacts where firstname = 'Bob' and surname = 'Builder'"
        return await becomes(lambda: database.execute(statement).fetchall() == [("bob@example.org",)])


@application.task("keep a draft")
async def keep_draft(person: Person, site: Site) -> bool:
    await person.open(f"{site.url}/?_task=mail&_action=compose")
    await person.type("Subject", "Not yet")
    await person.click("Save", "button")
    return await becomes(lambda: list_subjects(site, ".Drafts") == ["Not yet"])
