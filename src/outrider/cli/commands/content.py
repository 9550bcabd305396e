"""`outrider content`: manage and search content stores."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from outrider.app import App, open_app
from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import (
    EXIT_PARTIAL,
    async_command,
    get_exit_code,
    print_json,
    print_line,
    print_notes,
    report_error,
)
from outrider.core.context import Call
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotConfigured, NotFound, OutriderError
from outrider.core.http import HttpClient
from outrider.toolsets.content_store.schemas import serialize_listed_record, serialize_match, serialize_record
from outrider.toolsets.content_store.sources import build_file_draft, build_page_draft

if TYPE_CHECKING:
    from outrider.content.models import ContentRecord


SESSION_OPTION = click.option("--session", default="default", show_default=True, help="Session that owns the stores.")
STORE_OPTION = click.option("--store", "store_id", help="Only this store.")
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def embeddings() -> None:
    """Show or install the model for search by meaning."""


@embeddings.command()
@add_settings_option
def install(sets: tuple[str, ...]) -> None:
    """Install MiniLM (90 MB) for search by meaning on this machine."""
    from outrider.content.semantic.install import install_minilm as install_model

    folder = load_settings(sets).settings.data_dir / "models"
    try:
        found = install_model(folder, lambda line: click.echo(click.style(f"$ {line}", dim=True), err=True))
    except OutriderError as error:
        raise SystemExit(report_error(error)) from None
    click.echo(f"MiniLM is in {found}; stored content gets new vectors the next time stores are used")


@embeddings.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def status(sets: tuple[str, ...], *, as_json: bool) -> None:
    """Show which embedder is used, and what the others need."""
    from outrider.content.semantic.embedder import EmbedderDependencies
    from outrider.content.semantic.select_embedder import load_embedder_providers, select_embedder

    found = load_settings(sets)
    settings, http = found.settings, HttpClient(EgressGuard(found.settings.egress))
    folder = settings.data_dir / "models"
    dependencies = EmbedderDependencies(settings.content.embedding, http, folder, found.environ, settings.models.keys)
    try:
        used = select_embedder(dependencies.settings, http, dependencies.environ, folder=folder, keys=dependencies.keys)
    except NotConfigured:
        used = None
    name = used.name if used else ""
    rows: list[dict[str, Any]] = [
        {"name": each.name, "title": each.title, "missing": each.missing(dependencies), "remedy": each.remedy}
        for each in load_embedder_providers().values()
    ]
    for row, each in zip(rows, load_embedder_providers().values(), strict=True):
        row["used"] = not row["missing"] and each.open(dependencies).name == name
    await http.close()
    if as_json:
        print_json(rows)
        return
    for row in rows:
        mark = "*" if row["used"] else " "
        missing = f"{row['missing']}; {row['remedy']}" if row["missing"] else "usable"
        click.echo(f"{mark} {row['name']:<10} {row['title']}: {missing}")


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Store, list and search texts, files and pages."""


command.add_command(embeddings)


@command.command("list")
@SESSION_OPTION
@STORE_OPTION
@click.option("--limit", default=100, show_default=True)
@JSON_OPTION
@add_settings_option
@async_command
async def list_contents(
    sets: tuple[str, ...], *, session: str, store_id: str | None, limit: int, as_json: bool
) -> None:
    """List stored contents, newest first."""
    call = Call(session=session)
    async with open_app(load_settings(sets)) as app:
        stores = [await app.content.get_store(call, store_id)] if store_id else (await app.content.list_stores(call))[0]
        records_by_store = [(store, (await app.content.list_records(call, store.id, 0, limit))[0]) for store in stores]
    if as_json:
        print_json([serialize_listed_record(record) for _, records in records_by_store for record in records])
        return
    for store, records in records_by_store:
        figures = f"{store.content_count} contents, {store.chunk_count} passages, {store.total_size:,} bytes"
        print_line(f"{click.style(store.name, bold=True)}  {store.id}  {figures}")
        for record in records:
            print_line(f"  {_format_record(record)}")
    if not any(records for _, records in records_by_store):
        print_notes([f"session {session!r} has no stored contents; `outrider content add FILE` adds one"])


def _format_record(record: "ContentRecord") -> str:
    name = record.title or record.filename or record.preview[:60].replace("\n", " ")
    return f"{record.id}  {record.line_count:>6} lines  {name}"


@command.command()
@click.argument("places", nargs=-1, required=True, metavar="FILE|FOLDER|URL…")
@SESSION_OPTION
@STORE_OPTION
@JSON_OPTION
@add_settings_option
@async_command
async def add(
    places: tuple[str, ...], sets: tuple[str, ...], *, session: str, store_id: str | None, as_json: bool
) -> None:
    """Store files, all files below folders, and pages. Exit code 1: some of several failed."""
    rows: list[dict[str, Any]] = []
    failures: list[tuple[str, OutriderError]] = []
    async with open_app(load_settings(sets)) as app:
        for place in [each for given in places for each in _iter_files(given)]:
            try:
                record = await app.content.add(Call(session=session), await _build_draft(app, place), store_id)
            except OutriderError as error:
                failures.append((place, error))
                continue
            rows.append(serialize_record(record))
            print_line(_format_record(record), err=True)
    if as_json:
        print_json(rows)
    for place, error in failures:
        print_line(f"{place}:", err=True)
        report_error(error)
    if failures:
        sys.exit(EXIT_PARTIAL if rows else get_exit_code(failures[0][1]))


def _iter_files(place: str) -> "Iterator[str]":
    """Yield the file itself, or the visible files below a folder."""
    folder = Path(place).expanduser()
    if place.startswith(("http://", "https://")) or not folder.is_dir():
        yield place
        return
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (os.path.join(parent, name) for name in sorted(names) if not name.startswith("."))  # noqa: PTH118


async def _build_draft(app: "App", place: str) -> Any:
    """Build a draft of any path: the configured roots restrict only models."""
    if place.startswith(("http://", "https://")):
        return build_page_draft(await app.pages.read(place))
    try:
        path = await (await anyio.Path(place).expanduser()).resolve()
        body = await path.read_bytes()
    except OSError as error:
        raise NotFound(f"{place}: {error.strerror}", hint="give the path of a file, or an http(s) address") from None
    return await build_file_draft(body, path.name, source=path.as_uri())


@command.command()
@click.argument("query", nargs=-1, required=True)
@SESSION_OPTION
@STORE_OPTION
@click.option("--mode", type=click.Choice(["keyword", "semantic", "hybrid"]), default="keyword", show_default=True)
@click.option("--top", default=10, show_default=True, type=click.IntRange(1, 100))
@JSON_OPTION
@add_settings_option
@async_command
async def search(query: tuple[str, ...], sets: tuple[str, ...], *, session: str, as_json: bool, **chosen: Any) -> None:
    """Find passages. Exit code 1: nothing matches."""
    settings = load_settings(sets)
    from outrider.content.search import SearchOptions

    stores = [chosen["store_id"]] if chosen["store_id"] else None
    async with open_app(settings) as app:
        options = SearchOptions(mode=chosen["mode"], stores=stores, top_n=chosen["top"])
        hits = (await app.content.search(Call(session=session), " ".join(query), options)).hits
    if as_json:
        print_json([serialize_match(hit) for hit in hits])
    for hit in () if as_json else hits:
        name = hit.title or hit.filename or hit.content_id
        place = f"{hit.content_id} lines {hit.from_line}-{hit.to_line}"
        print_line(f"{hit.score:.2f}  {click.style(name, bold=True)}  {click.style(place, dim=True)}")
        print_line(f"      {' '.join(hit.excerpt_text.split())}")
    if not (hits or as_json):
        print_notes(["no passage matches: try other words, or --mode hybrid"])
    if not hits:
        sys.exit(EXIT_PARTIAL)


@command.command()
@STORE_OPTION
@add_settings_option
@async_command
async def rebuild(sets: tuple[str, ...], *, store_id: str | None) -> None:
    """Rebuild the keyword indexes of all sessions from the database."""
    async with open_app(load_settings(sets)) as app:
        count = await app.content.rebuild_indexes(store_id)
    print_line(f"{count} {'index' if count == 1 else 'indexes'} rebuilt")
