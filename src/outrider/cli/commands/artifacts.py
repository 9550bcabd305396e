"""`outrider artifacts`: list and save files that tools have handed out."""

from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import print_json, run_async
from outrider.core.artifacts import Artifact
from outrider.core.errors import InvalidInput


@click.command()
@click.argument("uri", metavar="[URI]", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to save it; its own name if not given.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@add_settings_option
def command(sets: tuple[str, ...], uri: str | None, output: Path | None, *, as_json: bool) -> None:
    """List files handed out by tools, newest first, or save the one at URI (outrider://artifacts/…, or its id)."""
    settings = load_settings(sets)
    if uri is None:
        _print_artifacts(
            [_serialize_artifact(each) for each in run_async(lambda: _list_recent(settings), as_json=as_json)],
            as_json=as_json,
        )
        return
    saved = run_async(lambda: _save_artifact(settings, uri, output), as_json=as_json)
    if as_json:
        print_json({"saved": str(saved)})
    else:
        click.echo(saved)


async def _list_recent(settings: Any) -> "list[Artifact]":
    max_artifacts = 50
    async with open_app(settings) as app:
        return await app.artifacts.list_recent(max_artifacts)


async def _save_artifact(settings: Any, uri: str, output: Path | None) -> Path:
    """Save the artifact and return its path. Raises NotFound, and InvalidInput for an unusable path."""
    async with open_app(settings) as app:
        kept, data = await app.artifacts.read(uri)
    target = output or Path(PurePosixPath(kept.name).name or kept.id)
    if target.is_dir():
        target /= PurePosixPath(kept.name).name or kept.id
    try:
        with target.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise InvalidInput(f"there is a file {target} already", hint="choose another place with --output") from None
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror}", hint="choose another with -o") from None
    return target


def _serialize_artifact(kept: "Artifact") -> dict[str, Any]:
    at = datetime.fromtimestamp(kept.created_at).astimezone().isoformat(timespec="seconds")
    about = {"name": kept.name, "mime_type": kept.mime_type, "size": kept.size, "created_at": at}
    return about | {"session": kept.session, "sha256": kept.sha256, "uri": kept.uri}


def _print_artifacts(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(f"{row['created_at']}  {row['size']:>12,}  {row['uri']}  {row['name']}")
    if not rows:
        click.echo("nothing has been handed out yet")
