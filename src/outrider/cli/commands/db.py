"""`outrider db`: the database brought up to date, looked over, and moved to another place."""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from outrider.cli.options import loaded, setting
from outrider.cli.output import EXIT_PARTLY, print_json, run
from outrider.core.database.address import file_of, normalised, of_file
from outrider.core.database.failures import told
from outrider.core.database.migration import revision
from outrider.core.db import Database
from outrider.core.errors import NotFound, OutriderError, Refused
from outrider.core.storage.choose import storage_of
from outrider.core.storage.storage import Storage
from outrider.settings import Loaded

if TYPE_CHECKING:
    from outrider.core.database.copying import Copied, Copy

JSON = click.option("--json", "as_json", is_flag=True, help="For programs.")
# What lies in files of a laptop and in no database: to be copied by hand, or to be made anew.
BESIDE = ("workspaces", "agents", "browser", "people", "keys.json", "settings.json")


@click.group()
def command() -> None:
    """The database: its revision and health, and moving it between SQLite and Postgres."""


@command.command()
@click.option("--wait", default=0.0, metavar="SECONDS", help="How long to wait for a server that does not answer yet.")
@JSON
@setting
def migrate(sets: tuple[str, ...], *, wait: float, as_json: bool) -> None:
    """Bring the schema to the newest revision. Any number of processes may do it at once: one does, the others wait."""
    before, after = run(lambda: _migrate(loaded(sets), wait), as_json=as_json)
    if as_json:
        print_json({"before": before, "after": after})
    else:
        click.echo(f"revision {after}, as before" if before == after else f"revision {before or 'none'} → {after}")


async def _migrate(settings: "Loaded", wait: float) -> tuple[str | None, str | None]:
    before = None
    with suppress(NotFound):
        async with _opened(settings, migrates=False) as bare:
            await _answering(bare, wait)
            before = await bare.short(revision, write=False)
    async with _opened(settings) as database:
        after = await database.short(revision, write=False)
        await _prepared(database)
        return before, after


async def _prepared(database: "Database") -> None:
    """Makes the durable engine's own tables, too, where it is installed: replicas may have no right to do it."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    if not database.shared or find_spec("dbos") is None:
        return
    from outrider.agents.working.durable_tables import prepare

    try:
        await prepare(make_url(database.url))
    except SQLAlchemyError as error:
        raise told(database.url, error) from error


async def _answering(database: "Database", wait: float) -> None:
    """Waits until the database answers. Raises Unavailable when it does not in time."""
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
@JSON
@setting
def status(sets: tuple[str, ...], *, as_json: bool) -> None:
    """Show where the database is, its revision, size and rows, and how fast it answers. Changes nothing."""
    facts = run(lambda: _status(loaded(sets)), as_json=as_json)
    if as_json:
        print_json(facts)
        return
    crowd = f", {facts['connections']} of {facts['most_connections']} connections" if facts["connections"] else ""
    click.echo(f"{facts['place']}  ({facts['dialect']} {facts['version']}{crowd})")
    newest = "" if facts["revision"] == facts["newest"] else f", not {facts['newest']}: outrider db migrate"
    click.echo(f"revision {facts['revision'] or 'none'}{newest}")
    click.echo(f"{facts['size']:,} bytes, answers in {facts['milliseconds']} ms, artifacts in {facts['artifacts']}")
    for name, rows in facts["rows"].items():
        click.echo(f"{rows:>12,}  {name}")


async def _status(settings: "Loaded") -> dict[str, Any]:
    from outrider.core.database.copying import counts
    from outrider.core.database.schema import differences, every_table
    from outrider.core.database.standing import standing

    async with _opened(settings, migrates=False) as database:
        found = await standing(database)
        missing = set((await database.short(differences, write=False)).missing)
        rows = await counts(database, [table for table in every_table() if table.name not in missing])
    return asdict(found) | {"artifacts": _storage(settings).place, "rows": {k: v for k, v in rows.items() if v}}


@command.command()
@click.option("--repair", is_flag=True, help="Put right what can be put right without losing anything of use.")
@JSON
@setting
def check(sets: tuple[str, ...], *, repair: bool, as_json: bool) -> None:
    """Look for what is missing, damaged or of no use in database, artifacts and indexes. Exit code 1: something is."""
    findings = run(lambda: _check(loaded(sets), repair=repair), as_json=as_json)
    left = [each for each in findings if not each["repaired"]]
    if as_json:
        print_json(findings)
    for each in () if as_json else findings:
        click.echo(
            f"{click.style('✓' if each['repaired'] else '✗', fg='green' if each['repaired'] else 'red')} ", nl=False
        )
        click.echo(each["message"] + (f": {each['repaired']}" if each["repaired"] else ""))
        if each in left and each["remedy"]:
            click.echo(f"    {each['remedy']}")
    if not findings and not as_json:
        click.echo("nothing is wrong")
    if left:
        sys.exit(EXIT_PARTLY)


async def _check(settings: "Loaded", *, repair: bool) -> list[dict[str, Any]]:
    from outrider.core.database import checking

    findings: list[dict[str, Any]] = []
    async with _opened(settings, migrates=False) as database:
        problems = [each async for each in checking.check(database)]
        sound = not any(each.code in ("revision", "missing") for each in problems)
        if sound:
            problems += [each async for each in checking.check_files(database, _storage(settings))]
        for each in problems:
            repaired = await each.repair() if repair and each.repair else ""
            remedy = each.remedy or ("outrider db check --repair" if each.repair else "")
            facts = {"code": each.code, "message": each.message, "remedy": remedy, "repaired": repaired}
            findings.append(facts)
        return findings + ([each async for each in _indexes(settings, database, repair=repair)] if sound else [])


async def _indexes(settings: "Loaded", database: "Database", *, repair: bool) -> AsyncGenerator[dict[str, Any]]:
    from outrider.content.keywords.checking import unfaithful

    async for each in unfaithful(database, settings.settings.data_dir / "content", repair=repair):
        message = f"the index of store {each.store} has {each.indexed} passages, its rows {each.passages}"
        remedy = "outrider db check --repair"
        yield {"code": "index", "message": message, "remedy": remedy, "repaired": "made anew" if repair else ""}


@command.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="[TARGET]", required=False)
@click.option("--source-artifacts", metavar="STORAGE", help="Where the source's files are, if not beside it.")
@click.option("--target-artifacts", metavar="STORAGE", help="Where they go, if not where the settings say.")
@click.option("--into-existing", is_flag=True, help="Add to a database that holds something already; its rows stay.")
@click.option("--dry-run", is_flag=True, help="Only say what would be copied.")
@JSON
@setting
def copy(source: str, target: str | None, sets: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Copy all of SOURCE into TARGET: rows, their ids and times, and the files of artifacts.

    SOURCE and TARGET are addresses (postgresql://…), SQLite files, or folders with an outrider.db; without a TARGET it
    is the database of the settings, so that no password needs to be written here. Stop Outrider on the source first. A
    copy that broke off goes on where it was. At the end each row is looked up and compared. Exit code 1: some differ.
    """
    tell = (lambda _: None) if as_json else click.echo
    facts = run(lambda: _copy(loaded(sets), source, target, tell, **options), as_json=as_json)
    if as_json:
        print_json(facts)
    if not facts["whole"]:
        sys.exit(EXIT_PARTLY)


async def _copy(
    settings: "Loaded",
    source: str,
    target: str | None,
    tell: Callable[[str], Any],
    *,
    source_artifacts: str | None,
    target_artifacts: str | None,
    into_existing: bool,
    dry_run: bool,
) -> dict[str, Any]:
    from outrider.core.database.copying import Copy
    from outrider.core.storage.moving import Moving

    origin, place = _address(source), _address(target or settings.settings.database_url)
    _quiet(origin, place)
    storages = _storage(settings, source_artifacts, origin), _storage(settings, target_artifacts, place)
    moving = Moving(*storages).files if storages[0].place != storages[1].place else None
    async with _database(origin) as one, _database(place, migrates=not dry_run) as other:
        work = Copy(one, other, moving)
        if dry_run:
            return _planned(await work.plan(), tell)
        return await _done(work, tell, into_existing=into_existing)


def _planned(rows: dict[str, int], tell: Callable[[str], Any]) -> dict[str, Any]:
    for name, number in rows.items():
        tell(f"{number:>12,}  {name}")
    return {"whole": True, "dry_run": True, "tables": rows}


async def _done(work: "Copy", tell: Callable[[str], Any], *, into_existing: bool) -> dict[str, Any]:
    if await work.prepare(into_existing=into_existing):
        tell("an earlier copy goes on")
    async for copied in work.run():
        if copied.copied:
            tell(f"{copied.copied:>12,}  {copied.table}")
    compared = [each async for each in work.verify()]
    whole = all(each.whole for each in compared)
    for each in compared:
        _tell(each, tell)
    if whole:
        await work.finish()
        tell(f"all {sum(each.rows for each in compared):,} rows are there and say the same")
        tell(f"not in the database, copy it yourself if you use it: {', '.join(BESIDE)} of data_dir")
    return {"whole": whole, "tables": [_figures(each) for each in compared if each.rows]}


def _tell(each: "Copied", tell: Callable[[str], Any]) -> None:
    if each.left_out:
        tell(f"{each.table}: {each.left_out} rows are left out, their files are gone")
    if not each.whole:
        tell(
            f"{each.table}: {each.missing} rows are missing and {each.different} differ; "
            "if the source was at work meanwhile, or the target held rows of the same ids, look at those"
        )


def _figures(each: "Copied") -> dict[str, Any]:
    return asdict(each) | {"checksum": f"{each.checksum:032x}"}


def _quiet(origin: str, place: str) -> None:
    """Raises Refused if the two are one, or somebody works on the source."""
    if normalised(origin) == normalised(place):
        raise Refused("source and target are the same database", hint="name another TARGET, or set OUTRIDER_DATABASE")
    path = file_of(normalised(origin))
    if path is not None and not path.is_file():
        raise NotFound(f"there is no database {path}", hint="name its file, its folder, or an address")
    if path is not None and _at_work(path.parent / "workers"):
        raise Refused(
            "agents are at work on the source", hint="stop every outrider there first: what they do would be lost"
        )


def _at_work(folder: Path) -> bool:
    """Whether a living process holds one of the locks by which workers are known."""
    import fcntl

    for path in folder.glob("*.lock"):
        with path.open("r") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
    return False


def _address(place: str) -> str:
    """The address of what a person named: an address, a file, or a folder."""
    if "://" in place:
        return place
    path = Path(place).expanduser()
    return of_file((path / "outrider.db" if path.is_dir() or not path.suffix else path).absolute())


def _storage(settings: "Loaded", given: str | None = None, address: str = "") -> "Storage":
    """Where the files are of the database with that address; by default of the settings' own."""
    path = file_of(normalised(address)) if address else None
    own = normalised(address or settings.settings.database_url) == normalised(settings.settings.database_url)
    setting = given or (settings.settings.artifacts.storage if own or path is None else "")
    return storage_of(setting, path.parent if path and not own else settings.settings.data_dir, settings.environ)


def _opened(settings: "Loaded", *, migrates: bool = True) -> Any:
    return _database(settings.settings.database_url, migrates=migrates)


@asynccontextmanager
async def _database(url: str, *, migrates: bool = True) -> AsyncGenerator["Database"]:
    path = file_of(normalised(url))
    if path is not None and not migrates and not path.is_file():
        raise NotFound(f"there is no database {path} yet", hint="`outrider db migrate` makes it, and so does any use")
    database = Database(url, connections=2, migrates=migrates)
    try:
        yield database
    finally:
        await database.close()
