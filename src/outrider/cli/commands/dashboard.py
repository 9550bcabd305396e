"""`outrider dashboard`: what the agents do, in the browser."""

import os
import signal
import tempfile
import webbrowser
from html import escape
from pathlib import Path

import anyio
import click

from outrider.app import open_app
from outrider.cli.options import loaded, setting
from outrider.cli.output import run, warn
from outrider.settings import Loaded


@click.command()
@click.option("--print", "printed", is_flag=True, help="Print the addresses instead of opening the newest.")
@setting
def command(sets: tuple[str, ...], *, printed: bool) -> None:
    """Open the dashboard of the running Outrider; without one, serve it until interrupted.

    An address signs one browser in, once: call this again for another.
    """
    from outrider.dashboard.address import running

    settings = loaded(sets)
    found = running(settings.settings.data_dir)
    if not found:
        run(lambda: _serve(settings, printed=printed))
        return
    for each in found if printed else found[:1]:
        _show(each.url, settings, printed=printed)
    if not printed and len(found) > 1:
        warn([f"{len(found)} are running; `outrider dashboard --print` has all addresses"])


async def _serve(settings: Loaded, *, printed: bool) -> None:
    from outrider.dashboard.listen import Listening

    async with open_app(settings) as app:
        listening = Listening(app.house(), kind="dashboard")
        await listening.start()
        try:
            # From before the address is told: whoever reads it may interrupt at once.
            with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                _show(listening.address, settings, printed=printed)
                click.echo("no other Outrider runs; this one serves the dashboard until you press Ctrl-C", err=True)
                await anext(aiter(signals))
        finally:
            await listening.aclose()


def _show(url: str, settings: Loaded, *, printed: bool) -> None:
    if printed or not webbrowser.open(doorstep(url, settings.settings.data_dir)):
        click.echo(url)


def doorstep(url: str, data_dir: Path) -> str:
    """A file that leads to the address: other users can read a program's arguments, but not this file."""
    folder = data_dir / "run"
    for old in folder.glob("open-*.html"):
        old.unlink(missing_ok=True)
    descriptor, name = tempfile.mkstemp(prefix="open-", suffix=".html", dir=folder)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><title>Outrider</title><meta http-equiv="refresh" content="0; url={escape(url)}">')
    return Path(name).as_uri()
