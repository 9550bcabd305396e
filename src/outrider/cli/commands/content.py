"""`outrider content`: what is kept in content stores, and their indexes."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from outrider.app import App, open_app
from outrider.cli.embeddings import embeddings
from outrider.cli.options import loaded, setting
from outrider.cli.output import EXIT_PARTLY, exit_code, fail, print_json, run
from outrider.core.context import Call
from outrider.core.errors import NotFound, OutriderError
from outrider.toolsets.content_store_shapes import facts_of, match_of, row_of
from outrider.toolsets.content_store_sources import file_draft, page_draft

if TYPE_CHECKING:
    from outrider.content import Hit, Record

SESSION = click.option("--session", default="default", show_default=True, help="Whose stores.")
STORE = click.option("--store", "store_id", help="Only this store.")
JSON = click.option("--json", "as_json", is_flag=True, help="For programs.")


@click.group()
def command() -> None:
    """Content stores: texts, files and pages, kept and searched."""


command.add_command(embeddings)


@command.command("list")
@SESSION
@STORE
@click.option("--limit", default=100, show_default=True)
@JSON
@setting
def list_(sets: tuple[str, ...], *, session: str, store_id: str | None, limit: int, as_json: bool) -> None:
    """List what is kept, newest first."""
    run(lambda: _list(loaded(sets), Call(session=session), store_id, limit, as_json=as_json), as_json=as_json)


async def _list(settings: Any, call: Call, store_id: str | None, limit: int, *, as_json: bool) -> None:
    async with open_app(settings) as app:
        stores = [await app.content.store(call, store_id)] if store_id else (await app.content.stores(call))[0]
        kept = [(store, (await app.content.records(call, store.id, 0, limit))[0]) for store in stores]
    if as_json:
        print_json([row_of(record) for _, records in kept for record in records])
        return
    for store, records in kept:
        figures = f"{store.content_count} contents, {store.chunk_count} passages, {store.total_size:,} bytes"
        click.echo(f"{click.style(store.name, bold=True)}  {store.id}  {figures}")
        for record in records:
            click.echo(f"  {_line(record)}")


def _line(record: "Record") -> str:
    name = record.title or record.filename or record.preview[:60].replace("\n", " ")
    return f"{record.id}  {record.line_count:>6} lines  {name}"


@command.command()
@click.argument("places", nargs=-1, required=True, metavar="FILE|FOLDER|URL…")
@SESSION
@STORE
@JSON
@setting
def add(places: tuple[str, ...], sets: tuple[str, ...], *, session: str, store_id: str | None, as_json: bool) -> None:
    """Keep files, all files below folders, and pages. Exit code 1: some of several could not be kept."""
    rows, failures = run(lambda: _add(loaded(sets), Call(session=session), places, store_id), as_json=as_json)
    if as_json:
        print_json(rows)
    for place, error in failures:
        click.echo(f"{place}:", err=True)
        fail(error)
    if failures:
        sys.exit(EXIT_PARTLY if rows else exit_code(failures[0][1]))


async def _add(
    settings: Any, call: Call, places: tuple[str, ...], store_id: str | None
) -> "tuple[list[dict[str, Any]], list[tuple[str, OutriderError]]]":
    rows, failures = [], []
    async with open_app(settings) as app:
        for place in [each for given in places for each in _below(given)]:
            try:
                record = await app.content.add(call, await _draft(app, place), store_id)
            except OutriderError as error:
                failures.append((place, error))
                continue
            rows.append(facts_of(record))
            click.echo(_line(record), err=True)
    return rows, failures


def _below(place: str) -> "Iterator[str]":
    """The place itself, or the files below a folder but for hidden ones."""
    folder = Path(place).expanduser()
    if place.startswith(("http://", "https://")) or not folder.is_dir():
        yield place
        return
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (os.path.join(parent, name) for name in sorted(names) if not name.startswith("."))  # noqa: PTH118


async def _draft(app: "App", place: str) -> Any:
    """What a person names may lie anywhere: the roots bind models only."""
    if place.startswith(("http://", "https://")):
        return page_draft(await app.pages.read(place))
    try:
        path = await (await anyio.Path(place).expanduser()).resolve()
        body = await path.read_bytes()
    except OSError as error:
        raise NotFound(f"{place}: {error.strerror}", hint="give the path of a file, or an http(s) address") from None
    return await file_draft(body, path.name, source=path.as_uri())


@command.command()
@click.argument("query", nargs=-1, required=True)
@SESSION
@STORE
@click.option("--mode", type=click.Choice(["keyword", "semantic", "hybrid"]), default="keyword", show_default=True)
@click.option("--top", default=10, show_default=True, type=click.IntRange(1, 100))
@JSON
@setting
def search(query: tuple[str, ...], sets: tuple[str, ...], *, session: str, as_json: bool, **chosen: Any) -> None:
    """Find passages. Exit code 1: nothing matches."""
    hits = run(lambda: _search(loaded(sets), Call(session=session), " ".join(query), chosen), as_json=as_json)
    _show(hits, as_json=as_json)
    if not hits:
        raise SystemExit(1)


async def _search(settings: Any, call: Call, query: str, chosen: dict[str, Any]) -> "list[Hit]":
    from outrider.content.search import SearchOptions

    stores = [chosen["store_id"]] if chosen["store_id"] else None
    async with open_app(settings) as app:
        options = SearchOptions(mode=chosen["mode"], stores=stores, top_n=chosen["top"])
        return list((await app.content.search(call, query, options)).hits)


def _show(hits: "list[Hit]", *, as_json: bool) -> None:
    if as_json:
        print_json([match_of(hit) for hit in hits])
        return
    for hit in hits:
        name = hit.title or hit.filename or hit.content_id
        place = f"{hit.content_id} lines {hit.from_line}-{hit.to_line}"
        click.echo(f"{hit.score:.2f}  {click.style(name, bold=True)}  {click.style(place, dim=True)}")
        click.echo(f"      {' '.join(hit.shown.split())}")


@command.command()
@STORE
@setting
def rebuild(sets: tuple[str, ...], *, store_id: str | None) -> None:
    """Make the keyword indexes anew from the database, of all sessions."""
    count = run(lambda: _rebuild(loaded(sets), store_id))
    click.echo(f"{count} {'index is' if count == 1 else 'indexes are'} new")


async def _rebuild(settings: Any, store_id: str | None) -> int:
    async with open_app(settings) as app:
        return await app.content.rebuild(store_id)
