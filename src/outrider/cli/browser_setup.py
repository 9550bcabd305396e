"""`outrider browser install|status|login|state`: commands that need no page."""

import sys
import time
from pathlib import Path

import click

from outrider.app import open_app
from outrider.browser.session.states import StateInfo, StateStore
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_json, print_notes, report_error
from outrider.cli.shared_process import add_call_options, call_tool, open_client
from outrider.cli.tool_results import CallOptions
from outrider.core.errors import OutriderError

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@click.option("--again", is_flag=True, help="Install even if one is found.")
def install(*, again: bool) -> None:
    """Install Chromium, unless a browser is installed already."""
    from outrider.browser.process.install import install_browser

    try:
        found = install_browser(lambda line: click.echo(click.style(f"$ {line}", dim=True), err=True), again=again)
    except OutriderError as error:
        sys.exit(report_error(error))
    click.echo(f"{found.path} ({found.how})")


@click.command()
@add_settings_option
@JSON_OPTION
def status(sets: tuple[str, ...], *, as_json: bool) -> None:
    """Show which browser is used and how it is isolated."""
    from outrider.browser.process.status import collect_status as browser_status

    facts = browser_status(load_settings(sets).settings.browser)
    if as_json:
        print_json(facts)
        return
    click.echo(f"browser: {facts['executable'] or 'none'} ({facts['how']})")
    click.echo(f"sandbox: {'on' if facts['sandbox'] else 'off'}")
    click.echo(f"egress guard: {'on' if facts['guarded'] else 'off'}")
    print_notes([*facts["warnings"], *([facts["remedy"]] if "remedy" in facts else [])])


@click.command()
@click.argument("url", default="")
@click.option("--state", "name", default="default", show_default=True, help="Name to save it as.")
@click.option("--seconds", default=1_800.0, show_default=True, help="Seconds the window stays open at most.")
@add_settings_option
@JSON_OPTION
@async_command
async def login(url: str, name: str, seconds: float, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Open a window to sign in, and save the sign-in when you close it."""
    from outrider.browser.session.manual_login import check_window

    settings = load_settings(sets)
    check_window(settings.settings.browser)
    click.echo("Sign in in the window that opens, then close it.", err=True)
    async with open_app(settings) as app:
        done = await app.browsers.sign_in("login", url, name, seconds=seconds)
    if as_json:
        names = ("state_id", "saved", "cookies", "origins", "closed", "path")
        print_json({name: getattr(done, name) for name in names})
    elif done.saved:
        click.echo(f"{done.path}: {done.cookies} cookies, local storage of {len(done.origins)} sites")
    else:
        click.echo("nothing was saved: no site has stored anything")


@click.group()
def state() -> None:
    """Save, load, list, delete and import saved sign-ins."""


@state.command("save")
@click.argument("name", default="default")
@add_call_options
def save_state(name: str, options: CallOptions) -> None:
    """Save the open session's cookies and storage as NAME; `open --state NAME` uses it."""
    with open_client(options) as client:
        sys.exit(call_tool(client, "manageStates", {"action": "save", "stateId": name}, options))


@state.command("load")
@click.argument("name")
@click.argument("url")
@add_call_options
def load_state(name: str, url: str, options: CallOptions) -> None:
    """Open URL in a new session with the cookies and storage saved as NAME."""
    with open_client(options) as client:
        sys.exit(call_tool(client, "createSession", {"url": url, "stateId": name}, options))


@state.command("list")
@add_settings_option
@JSON_OPTION
def list_states(sets: tuple[str, ...], *, as_json: bool) -> None:
    """List saved sign-ins, never their content."""
    found = _open_state_store(sets).list_states()
    if as_json:
        print_json([_serialize_state(each) for each in found])
        return
    for each in found:
        click.echo(_format_state(each))


@state.command()
@click.argument("name")
@add_settings_option
@JSON_OPTION
def delete(name: str, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Delete the saved sign-in NAME."""
    try:
        deleted = _open_state_store(sets).delete(name)
    except OutriderError as error:
        sys.exit(report_error(error, as_json=as_json))
    print_json(_serialize_state(deleted)) if as_json else click.echo(f"deleted {_format_state(deleted)}")


@state.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--state", "name", default="default", show_default=True, help="Name to save it as.")
@add_settings_option
@JSON_OPTION
def import_state(file: Path, name: str, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Import a FILE that `outrider browser login` or Playwright wrote elsewhere."""
    try:
        state_info = _open_state_store(sets).import_file(name, file)
    except OutriderError as error:
        sys.exit(report_error(error, as_json=as_json))
    print_json(_serialize_state(state_info)) if as_json else click.echo(f"saved {_format_state(state_info)}")


def _open_state_store(sets: tuple[str, ...]) -> "StateStore":
    settings = load_settings(sets).settings
    key = settings.browser.state_key.get_secret_value() if settings.browser.state_key else ""
    return StateStore(settings.data_dir / "browser" / "states", key)


def _serialize_state(info: "StateInfo") -> dict[str, object]:
    return {
        "state_id": info.state_id,
        "saved": time.strftime("%Y-%m-%d %H:%M", time.localtime(info.saved_at)),
        "cookies": info.cookies,
        "origins": info.origins,
        "encrypted": info.encrypted,
        "path": info.path,
    }


def _format_state(info: "StateInfo") -> str:
    row = _serialize_state(info)
    contents = "encrypted" if info.encrypted else "damaged" if info.cookies is None else f"{info.cookies} cookies"
    return f"{row['state_id']}  {row['saved']}  {contents}  {row['path']}"
