"""`outrider dashboard`: open the dashboard in the browser."""

import os
import signal
import tempfile
import webbrowser
from html import escape
from pathlib import Path

import anyio
import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_notes
from outrider.settings import LoadedSettings


@click.command()
@click.option("--print", "printed", is_flag=True, help="Print the addresses instead of opening the latest.")
@add_settings_option
@async_command
async def command(sets: tuple[str, ...], *, printed: bool) -> None:
    """Open the dashboard of the running Outrider; if none runs, serve it until interrupted.

    Each address signs in one browser, once: run this again for another.
    """
    from outrider.dashboard.address import list_running

    settings = load_settings(sets)
    found = list_running(settings.settings.data_dir)
    for each in found if printed else found[:1]:
        _open_address(each.url, settings, printed=printed)
    if not printed and len(found) > 1:
        print_notes([f"{len(found)} are running; `outrider dashboard --print` has all addresses"])
    if found:
        return
    from outrider.dashboard.server import DashboardServer

    async with open_app(settings) as app:
        listening = DashboardServer(app.dashboard_services(), kind="dashboard")
        await listening.start()
        try:
            # Set before the address is printed, because a reader may interrupt at once.
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                _open_address(listening.sign_in_url, settings, printed=printed)
                click.echo("no other Outrider runs; this one serves the dashboard until you press Ctrl-C", err=True)
                await anext(aiter(signals))
        finally:
            await listening.aclose()


def _open_address(url: str, settings: LoadedSettings, *, printed: bool) -> None:
    if printed or not webbrowser.open(write_redirect_page(url, settings.settings.data_dir)):
        click.echo(url)


def write_redirect_page(url: str, data_dir: Path) -> str:
    """Write a private file that redirects to the URL.

    The browser gets this file, since other users can read a program's arguments.
    """
    folder = data_dir / "run"
    for old in folder.glob("open-*.html"):
        old.unlink(missing_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="open-", suffix=".html", dir=folder)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><title>Outrider</title><meta http-equiv="refresh" content="0; url={escape(url)}">')
    return Path(name).as_uri()
