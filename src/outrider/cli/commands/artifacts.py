"""`outrider artifacts`: list and save files that tools have handed out."""

from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_json, print_line
from outrider.core.errors import InvalidInput


@click.command()
@click.argument("uri", metavar="[URI]", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to save it [default: its own name].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def command(sets: tuple[str, ...], uri: str | None, output: Path | None, *, as_json: bool) -> None:
    """List files handed out by tools, newest first, or save the one at URI (outrider://artifacts/…, or its id)."""
    settings = load_settings(sets)
    if uri is None:
        await _list_artifacts(settings, as_json=as_json)
        return
    async with open_app(settings) as app:
        artifact, data = await app.artifacts.read(uri)
    saved = output or Path(PurePosixPath(artifact.name).name or artifact.id)
    if saved.is_dir():
        saved /= PurePosixPath(artifact.name).name or artifact.id
    try:
        with saved.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise InvalidInput(f"the file {saved} already exists", hint="choose another place with --output") from None
    except OSError as error:
        raise InvalidInput(f"{saved} cannot be written: {error.strerror}", hint="choose another with -o") from None
    if as_json:
        print_json({"saved": str(saved)})
    else:
        click.echo(saved)


async def _list_artifacts(settings: Any, *, as_json: bool) -> None:
    max_artifacts = 50
    async with open_app(settings) as app:
        artifacts = await app.artifacts.list_recent(max_artifacts)
    rows = []
    for each in artifacts:
        at = datetime.fromtimestamp(each.created_at).astimezone().isoformat(timespec="seconds")
        fields = {"name": each.name, "mime_type": each.mime_type, "size": each.size, "created_at": at}
        rows.append(fields | {"session": each.session, "sha256": each.sha256, "uri": each.uri})
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print_line(f"{row['created_at']}  {row['size']:>12,}  {row['uri']}  {row['name']}")
    if not rows:
        print_line("no files have been handed out yet")
