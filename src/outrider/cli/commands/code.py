"""`outrider code`: packages for sandboxed code."""

import click

from outrider.app import open_app
from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_json
from outrider.workspace.sandbox.packages import PackageFolders


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Install packages for the Python that runs sandboxed code."""


@command.command("install")
@click.argument("packages", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the packages that can be imported.")
@add_settings_option
@async_command
async def install_command(packages: tuple[str, ...], sets: tuple[str, ...], *, as_json: bool) -> None:
    """Install packages for sandboxed Python [default: data, which is numpy, pandas, matplotlib and openpyxl]."""
    async with open_app(load_settings(sets)) as app:
        data_dir = app.loaded.settings.data_dir
        python = await app.processes.sandbox.resolve_python(data_dir / "workspaces")
        click.echo(f"installing for {python.executable} …", err=True)
        installed = await PackageFolders(data_dir / "packages").install_packages(python, packages or ("data",))
    if as_json:
        print_json({"packages": [*installed]})
        return
    click.echo(f"sandboxed code can import: {', '.join(installed)}")
