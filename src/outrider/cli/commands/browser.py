"""`outrider browser`: install one, see which one is used, keep and forget sign-ins."""

import sys
import time

import click

from outrider.cli.options import loaded, setting
from outrider.cli.output import fail, print_json, warn
from outrider.core.errors import OutriderError


@click.group()
def command() -> None:
    """Install a browser, see which one is used, list and delete saved sign-ins."""


@command.command()
@click.option("--again", is_flag=True, help="Install even though one is found.")
def install(*, again: bool) -> None:
    """Install a Chromium, unless there is a browser already."""
    from outrider.browser.install import install as install_browser

    try:
        found = install_browser(lambda line: click.echo(click.style(f"$ {line}", dim=True), err=True), again=again)
    except OutriderError as error:
        sys.exit(fail(error))
    click.echo(f"{found.path} ({found.how})")


@command.command()
@setting
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def status(sets: tuple[str, ...], *, as_json: bool) -> None:
    """Say which browser is used, and how it is shut in."""
    from outrider.browser.status import status as browser_status

    facts = browser_status(loaded(sets).settings.browser)
    if as_json:
        print_json(facts)
        return
    click.echo(f"browser: {facts['executable'] or 'none'} ({facts['how']})")
    click.echo(f"sandbox: {'on' if facts['sandbox'] else 'off'}")
    click.echo(f"egress guard: {'on' if facts['guarded'] else 'off'}")
    warn([*facts["warnings"], *([facts["remedy"]] if "remedy" in facts else [])])


@command.command()
@setting
@click.option("--delete", "name", help="Forget the state of this name.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def states(sets: tuple[str, ...], name: str | None, *, as_json: bool) -> None:
    """List saved sign-ins, or delete one."""
    from outrider.browser.states import States

    settings = loaded(sets).settings
    key = settings.browser.state_key.get_secret_value() if settings.browser.state_key else ""
    kept = States(settings.data_dir / "browser" / "states", key)
    try:
        found = [kept.delete(name)] if name else kept.list()
    except OutriderError as error:
        sys.exit(fail(error, as_json=as_json))
    rows = [
        {"state_id": each.state_id, "saved": _day(each.saved_at), "cookies": each.cookies, "encrypted": each.encrypted}
        for each in found
    ]
    if as_json:
        print_json(rows)
    for row in rows if not as_json else []:
        click.echo(f"{'deleted ' if name else ''}{row['state_id']}  {row['saved']}  {row['cookies'] or '?'} cookies")


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
