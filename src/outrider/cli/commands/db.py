"""`outrider db`: migrate, check, repair and copy the database."""

import sqlite3
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json
from outrider.core.database.address import build_sqlite_url, get_sqlite_path, normalize_url
from outrider.core.database.database import Database
from outrider.core.database.failures import explain_error
from outrider.core.database.migration import read_revision
from outrider.core.errors import NotFound, OutriderError, Refused
from outrider.core.storage.factory import build_storage
from outrider.core.storage.storage import Storage
from outrider.settings import LoadedSettings

if TYPE_CHECKING:
    from outrider.core.database.copier import DatabaseCopy
    from outrider.core.database.integrity import DatabaseProblem
    from outrider.core.database.repair import DatabaseRepair

WORK_FILE_SUFFIX = ".work.db"  # the durable engine's file, next to the database's
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Migrate, check and repair the database, or copy it between SQLite and Postgres."""


@command.command()
@click.option("--wait", default=0.0, metavar="SECONDS", help="Seconds to wait for a server that does not answer yet.")
@JSON_OPTION
@add_settings_option
@async_command
async def migrate(sets: tuple[str, ...], *, wait: float, as_json: bool) -> None:
    """Migrate the schema to the newest revision. Of several processes, one migrates and the others wait."""
    settings = load_settings(sets)
    before = None
    with suppress(NotFound):
        async with _open_configured(settings, migrates=False) as bare:
            await _wait_for_database(bare, wait)
            before = await bare.run_transaction(read_revision, write=False)
    async with _open_configured(settings) as database:
        after = await database.run_transaction(read_revision, write=False)
        await _prepare_durable_tables(database)
    if as_json:
        print_json({"before": before, "after": after})
    else:
        click.echo(f"revision {after}, as before" if before == after else f"revision {before or 'none'} → {after}")


async def _prepare_durable_tables(database: "Database") -> None:
    """Create the durable engine's tables too if it is installed.

    Do it now, because replicas may lack the permission.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    if not database.is_shared or find_spec("dbos") is None:
        return
    from outrider.agents.workers.dbos_tables import prepare_tables

    try:
        await prepare_tables(make_url(database.url))
    except SQLAlchemyError as error:
        raise explain_error(database.url, error) from error


async def _wait_for_database(database: "Database", wait: float) -> None:
    """Wait until the database answers. Raises Unavailable after the timeout."""
    end = anyio.current_time() + wait
    while True:
        try:
            async with database.read():
                return
        except OutriderError:
            if anyio.current_time() > end:
                raise
        await anyio.sleep(0.2)


@command.command()
@JSON_OPTION
@add_settings_option
@async_command
async def status(sets: tuple[str, ...], *, as_json: bool) -> None:
    """Show the database's location, revision, size, rows and latency. Changes nothing."""
    from outrider.core.database.copier import count_table_rows
    from outrider.core.database.schema import compare_schema, list_tables
    from outrider.core.database.status import read_database_status

    settings = load_settings(sets)
    async with _open_configured(settings, migrates=False) as database:
        found = await read_database_status(database)
        missing = set((await database.run_transaction(compare_schema, write=False)).missing)
        rows = await count_table_rows(database, [table for table in list_tables() if table.name not in missing])
    rows = {name: number for name, number in rows.items() if number}
    artifacts = _open_storage(settings).location
    if as_json:
        print_json(asdict(found) | {"artifacts": artifacts, "rows": rows})
        return
    crowd = f", {found.connections} of {found.most_connections} connections" if found.connections else ""
    click.echo(f"{found.place}  ({found.dialect} {found.version}{crowd})")
    newest = "" if found.revision == found.newest else f", not {found.newest}: outrider db migrate"
    click.echo(f"revision {found.revision or 'none'}{newest}")
    click.echo(f"{found.size:,} bytes, answers in {found.milliseconds} ms, artifacts in {artifacts}")
    for name, number in rows.items():
        click.echo(f"{number:>12,}  {name}")


@command.command()
@click.option("--repair", is_flag=True, help="Repair what can be repaired without losing anything useful.")
@JSON_OPTION
@add_settings_option
@async_command
async def check(sets: tuple[str, ...], *, repair: bool, as_json: bool) -> None:
    """Look for missing, damaged and orphaned data in database, artifacts and indexes. Exit code 1: problems remain."""
    findings = await _check_database(load_settings(sets), repair=repair)
    remaining = [each for each in findings if not each["repaired"]]
    if as_json:
        print_json(findings)
    for each in () if as_json else findings:
        click.echo(
            f"{click.style('✓' if each['repaired'] else '✗', fg='green' if each['repaired'] else 'red')} ", nl=False
        )
        click.echo(each["message"] + (f": {each['repaired']}" if each["repaired"] else ""))
        if each in remaining and each["remedy"]:
            click.echo(f"    {each['remedy']}")
    if not findings and not as_json:
        click.echo("no problems found")
    if remaining:
        sys.exit(EXIT_PARTIAL)


@command.command()
@JSON_OPTION
@add_settings_option
@async_command
async def repair(sets: tuple[str, ...], *, as_json: bool) -> None:
    """Save what can be read of a damaged SQLite file into a new one. Exit code 1: some rows are lost.

    The damaged file stays beside it under another name, with the date. Stop Outrider first.
    """
    path = _find_sqlite_file(load_settings(sets).settings.database_url)
    repaired = await anyio.to_thread.run_sync(_repair_file, path)
    repairs, work_file = [repaired], path.with_suffix(WORK_FILE_SUFFIX)
    if work_file.is_file():
        repairs.append(await anyio.to_thread.run_sync(lambda: _repair_file(work_file, is_work_file=True)))
    if as_json:
        work = {"work": _serialize_repair(repairs[-1])} if repairs[-1].kept and len(repairs) > 1 else {}
        print_json(_serialize_repair(repaired) | work)
    elif not any(each.kept for each in repairs):
        click.echo("nothing is damaged; nothing was changed")
    else:
        for each in repairs:
            _print_repair(each)
        click.echo("next, look for orphaned rows: outrider db check --repair")
    if not all(each.is_whole for each in repairs):
        sys.exit(EXIT_PARTIAL)


def _serialize_repair(repaired: "DatabaseRepair") -> dict[str, Any]:
    tables = [asdict(table) for table in repaired.tables]
    return {"kept": repaired.kept and str(repaired.kept), "whole": repaired.is_whole, "tables": tables}


def _find_sqlite_file(url: str) -> Path:
    """Return the file of the database. Raises Refused for a server, and NotFound."""
    path = get_sqlite_path(normalize_url(url))
    if path is None:
        raise Refused("only a file of SQLite can be repaired here", hint="repair a server with its own tools")
    if not path.is_file():
        raise NotFound(f"no database at {path}", hint="it is created at first use; `outrider config` shows `data_dir`")
    return path


def _repair_file(path: Path, *, is_work_file: bool = False) -> "DatabaseRepair":
    from sqlalchemy.exc import SQLAlchemyError

    from outrider.core.database.repair import repair_database

    try:
        return repair_database(path, is_work_file=is_work_file)
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise explain_error(build_sqlite_url(path), error) from error


def _print_repair(repaired: "DatabaseRepair") -> None:
    if repaired.kept is None:
        return
    for table in repaired.tables:
        lost = "an unknown number of rows is lost" if table.lost is None else f"{table.lost:,} lost"
        click.echo(f"{table.saved:>12,}  {table.table}" + ("" if table.is_whole else f"  ({lost})"))
    click.echo(f"the damaged file is kept as {repaired.kept}; delete it once nothing is missing")


def _check_work_file(url: str) -> "list[DatabaseProblem]":
    """Look for damage in the durable engine's file, if there is one."""
    from outrider.core.database.integrity import REPAIR_COMMAND, DatabaseProblem
    from outrider.core.database.repair import find_damage

    path = get_sqlite_path(normalize_url(url))
    work_file = path.with_suffix(WORK_FILE_SUFFIX) if path else None
    if work_file is None or not work_file.is_file() or not (damage := find_damage(work_file)):
        return []
    return [DatabaseProblem("work_damaged", f"{work_file} is damaged: {damage}", REPAIR_COMMAND)]


async def _check_database(settings: "LoadedSettings", *, repair: bool) -> list[dict[str, Any]]:
    from outrider.content.lexical.index_sync import find_mismatches
    from outrider.core.database import integrity

    findings: list[dict[str, Any]] = []
    fix = "outrider db check --repair"
    async with _open_configured(settings, migrates=False) as database:
        problems = [each async for each in integrity.check_database(database)]
        problems += await anyio.to_thread.run_sync(_check_work_file, settings.settings.database_url)
        sound = not any(each.code in ("revision", "missing", "damaged") for each in problems)
        if sound:
            problems += [each async for each in integrity.check_artifact_files(database, _open_storage(settings))]
        for each in problems:
            repaired = await each.repair() if repair and each.repair else ""
            remedy = each.remedy or (fix if each.repair else "")
            findings.append({"code": each.code, "message": each.message, "remedy": remedy, "repaired": repaired})
        if sound:
            async for index in find_mismatches(database, settings.settings.data_dir / "content", repair=repair):
                problem = f"the index of store {index.store} has {index.indexed} passages, its rows {index.passages}"
                repaired = "rebuilt" if repair else ""
                findings.append({"code": "index", "message": problem, "remedy": fix, "repaired": repaired})
    return findings


@command.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="[TARGET]", required=False)
@click.option("--source-artifacts", metavar="STORAGE", help="Storage of the source's files [default: next to it].")
@click.option("--target-artifacts", metavar="STORAGE", help="Storage of the copied files [default: the settings'].")
@click.option("--into-existing", is_flag=True, help="Copy into a database that is not empty, and keep its rows.")
@click.option("--dry-run", is_flag=True, help="Only print what would be copied.")
@JSON_OPTION
@add_settings_option
@async_command
async def copy(source: str, target: str | None, sets: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Copy all of SOURCE into TARGET: rows with their ids and times, and the files of artifacts.

    SOURCE and TARGET are addresses (postgresql://…), SQLite files, or folders with an outrider.db; TARGET is by default
    the database of the settings, so that no password needs to be typed here. Stop Outrider on the source first.
    Repeating an interrupted copy continues it. At the end every row is compared. Exit code 1: some differ.
    """
    tell = (lambda _: None) if as_json else click.echo
    facts = await _copy_database(load_settings(sets), source, target, tell, **options)
    if as_json:
        print_json(facts)
    if not facts["whole"]:
        sys.exit(EXIT_PARTIAL)


async def _copy_database(
    settings: "LoadedSettings",
    source: str,
    target: str | None,
    tell: Callable[[str], Any],
    *,
    source_artifacts: str | None,
    target_artifacts: str | None,
    into_existing: bool,
    dry_run: bool,
) -> dict[str, Any]:
    from outrider.core.database.copier import DatabaseCopy
    from outrider.core.storage.storage import ArtifactTransfer

    origin, place = _resolve_address(source), _resolve_address(target or settings.settings.database_url)
    _check_copy_allowed(origin, place)
    storages = _open_storage(settings, source_artifacts, origin), _open_storage(settings, target_artifacts, place)
    moving = ArtifactTransfer(*storages).copy_files if storages[0].location != storages[1].location else None
    async with _open_database(origin) as one, _open_database(place, migrates=not dry_run) as other:
        work = DatabaseCopy(one, other, moving)
        if not dry_run:
            return await _run_copy(work, tell, into_existing=into_existing)
        rows = await work.count_source_rows()
    for name, number in rows.items():
        tell(f"{number:>12,}  {name}")
    return {"whole": True, "dry_run": True, "tables": rows}


async def _run_copy(work: "DatabaseCopy", tell: Callable[[str], Any], *, into_existing: bool) -> dict[str, Any]:
    # Data in a laptop's files and not in the database: the user must copy it, or it is rebuilt.
    uncopied_files = ("workspaces", "agents", "browser", "keys.json", "settings.json")
    if await work.prepare_target(into_existing=into_existing):
        tell("resuming an earlier copy")
    async for copied in work.copy_tables():
        if copied.copied:
            tell(f"{copied.copied:>12,}  {copied.table}")
    compared = [each async for each in work.verify_tables()]
    is_complete = all(each.is_complete for each in compared)
    for each in compared:
        if each.left_out:
            tell(f"{each.table}: {each.left_out} rows are left out, their files are gone")
        if not each.is_complete:
            tell(
                f"{each.table}: {each.missing} rows are missing and {each.different} differ; "
                "check them if the source was in use meanwhile, or if the target already had rows with the same ids"
            )
    if is_complete:
        await work.clear_progress()
        tell(f"all {sum(each.rows for each in compared):,} rows were copied and are identical")
        tell(f"not in the database; if you use them, copy {', '.join(uncopied_files)} of data_dir yourself")
    return {
        "whole": is_complete,
        "tables": [(asdict(each) | {"checksum": f"{each.checksum:032x}"}) for each in compared if each.rows],
    }


def _check_copy_allowed(origin: str, place: str) -> None:
    """Raise Refused if both are the same database, or if a process uses the source."""
    import fcntl

    if normalize_url(origin) == normalize_url(place):
        raise Refused("source and target are the same database", hint="name another TARGET, or set OUTRIDER_DATABASE")
    path = get_sqlite_path(normalize_url(origin))
    if path is None:
        return
    if not path.is_file():
        raise NotFound(f"no database at {path}", hint="name its file, its folder or a URL")
    for lock in (path.parent / "workers").glob("*.lock"):
        with lock.open("r") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                raise Refused(
                    "agents are running on the source database",
                    hint="stop every outrider there first, or their work is lost",
                ) from None


def _resolve_address(place: str) -> str:
    """Return the URL of a database named by URL, file or folder."""
    if "://" in place:
        return place
    path = Path(place).expanduser()
    return build_sqlite_url((path / "outrider.db" if path.is_dir() or not path.suffix else path).absolute())


def _open_storage(settings: "LoadedSettings", chosen_storage: str | None = None, address: str = "") -> "Storage":
    """Open the artifact storage of the database; by default that of the settings."""
    path = get_sqlite_path(normalize_url(address)) if address else None
    own = normalize_url(address or settings.settings.database_url) == normalize_url(settings.settings.database_url)
    setting = chosen_storage or (settings.settings.artifacts.storage if own or path is None else "")
    return build_storage(setting, path.parent if path and not own else settings.settings.data_dir, settings.environ)


def _open_configured(settings: "LoadedSettings", *, migrates: bool = True) -> Any:
    return _open_database(settings.settings.database_url, migrates=migrates)


@asynccontextmanager
async def _open_database(url: str, *, migrates: bool = True) -> AsyncGenerator["Database"]:
    path = get_sqlite_path(normalize_url(url))
    if path is not None and not migrates and not path.exists():
        raise NotFound(f"no database at {path} yet", hint="`outrider db migrate` creates it")
    database = Database(url, connections=2, migrate=migrates)
    try:
        yield database
    finally:
        await database.close()
