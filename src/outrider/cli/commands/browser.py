"""`outrider browser`: install one, see which one is used, sign in by hand, keep and forget sign-ins."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from outrider.app import open_app
from outrider.browser.states import StateInfo, States
from outrider.cli.options import loaded, setting
from outrider.cli.output import fail, print_json, run, warn
from outrider.core.errors import OutriderError

if TYPE_CHECKING:
    from outrider.browser.signin import SignIn

as_programs_do = click.option("--json", "as_json", is_flag=True, help="For programs.")


@click.group()
def command() -> None:
    """Install a browser, see which one is used, sign in by hand, list and delete saved sign-ins."""


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
@as_programs_do
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
@click.argument("url", default="")
@click.option("--state", "name", default="default", show_default=True, help="Under which name to keep it.")
@click.option("--seconds", default=1_800.0, show_default=True, help="How long the window stays open at most.")
@setting
@as_programs_do
def login(url: str, name: str, seconds: float, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Open a window, let you sign in, and keep that when you close it."""
    done = run(lambda: _signed_in(url, name, seconds, sets), as_json=as_json)
    facts = {
        "state_id": done.state_id,
        "saved": done.saved,
        "cookies": done.cookies,
        "origins": done.origins,
        "closed": done.closed,
        "path": done.path,
    }
    if as_json:
        print_json(facts)
    elif done.saved:
        click.echo(f"{done.path}: {done.cookies} cookies, local storage of {len(done.origins)} sites")
    else:
        click.echo("nothing was saved: no site has stored anything")


async def _signed_in(url: str, name: str, seconds: float, sets: tuple[str, ...]) -> "SignIn":
    from outrider.browser.signin import check_window

    settings = loaded(sets)
    check_window(settings.settings.browser)
    click.echo("Sign in in the window that opens, then close it.", err=True)
    async with open_app(settings) as app:
        return await app.browsers.sign_in("login", url, name, seconds=seconds)


@command.group()
def state() -> None:
    """List, delete and import saved sign-ins."""


@state.command("list")
@setting
@as_programs_do
def list_(sets: tuple[str, ...], *, as_json: bool) -> None:
    """List saved sign-ins; what is in them is never shown."""
    found = _states(sets).list()
    if as_json:
        print_json([_row(each) for each in found])
        return
    for each in found:
        click.echo(_line(each))


@state.command()
@click.argument("name")
@setting
@as_programs_do
def delete(name: str, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Delete the saved sign-in of that NAME."""
    try:
        gone = _states(sets).delete(name)
    except OutriderError as error:
        sys.exit(fail(error, as_json=as_json))
    print_json(_row(gone)) if as_json else click.echo(f"deleted {_line(gone)}")


@state.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--state", "name", default="default", show_default=True, help="Under which name to keep it.")
@setting
@as_programs_do
def import_(file: Path, name: str, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Keep a FILE that `outrider browser login` or Playwright wrote elsewhere."""
    try:
        kept = _states(sets).bring_in(name, file)
    except OutriderError as error:
        sys.exit(fail(error, as_json=as_json))
    print_json(_row(kept)) if as_json else click.echo(f"saved {_line(kept)}")


def _states(sets: tuple[str, ...]) -> "States":
    settings = loaded(sets).settings
    key = settings.browser.state_key.get_secret_value() if settings.browser.state_key else ""
    return States(settings.data_dir / "browser" / "states", key)


def _row(info: "StateInfo") -> dict[str, object]:
    return {
        "state_id": info.state_id,
        "saved": time.strftime("%Y-%m-%d %H:%M", time.localtime(info.saved_at)),
        "cookies": info.cookies,
        "origins": info.origins,
        "encrypted": info.encrypted,
        "path": info.path,
    }


def _line(info: "StateInfo") -> str:
    row = _row(info)
    what = "encrypted" if info.encrypted else "damaged" if info.cookies is None else f"{info.cookies} cookies"
    return f"{row['state_id']}  {row['saved']}  {what}  {row['path']}"
