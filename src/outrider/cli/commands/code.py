"""`outrider code`: packages for sandboxed code."""

import click

from outrider.app import open_app
from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command
from outrider.workspace.sandbox.packages import PackageFolders


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Install packages for the Python that runs sandboxed code."""


@command.command("install")
@click.argument("packages", nargs=-1)
@add_settings_option
@async_command
async def install_command(packages: tuple[str, ...], sets: tuple[str, ...]) -> None:
    """Install packages for sandboxed Python [default: data, which is numpy, pandas, matplotlib and openpyxl]."""
    async with open_app(load_settings(sets)) as app:
        data_dir = app.loaded.settings.data_dir
        python = await app.processes.sandbox.resolve_python(data_dir / "workspaces")
        click.echo(f"installing for {python.executable} …", err=True)
        installed = await PackageFolders(data_dir / "packages").install_packages(python, packages or ("data",))
    click.echo(f"sandboxed code can import: {', '.join(installed)}")
