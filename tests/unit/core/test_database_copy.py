"""Every table of a laptop's database is moved to Postgres and back without loss."""

import hashlib
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Boolean, Column, Float, Integer, LargeBinary, Table, func, insert, select

from outrider.core.artifacts import ArtifactStore
from outrider.core.database.copier import DatabaseCopy, TableCopy, count_table_rows, iter_batches
from outrider.core.database.database import Database
from outrider.core.database.schema import PROCESS_TABLES, list_tables
from outrider.core.errors import Refused, Unavailable
from outrider.core.storage.folder import FolderStorage
from outrider.core.storage.storage import ArtifactTransfer
from outrider.core.tables import artifacts, citation_counters, events
from support.databases import sqlite

pytestmark = pytest.mark.anyio
ROWS = 7


Make = Callable[[str], Database]


@pytest.fixture
async def databases(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[Make]:
    """Create empty SQLite and Postgres databases."""
    made: list[Database] = []

    def make(kind: str) -> Database:
        place = tmp_path / f"{len(made)}.db"
        if kind == "sqlite":
            made.append(Database.from_file(sqlite.create_migrated_file(place)))
        else:
            made.append(Database(request.getfixturevalue("server").create_migrated_database(), connections=3))
        return made[-1]

    yield make
    for each in made:
        await each.close()


def build_value(column: "Column[Any]", number: int) -> Any:
    """Build a valid value that is hard to copy."""
    if column.foreign_keys:
        return build_value(next(iter(column.foreign_keys)).column, number)
    hard = {
        JSON: {"text": f"ü\u2028'\\ {number}", "list": [1, 2.5, None, True, "\ud800" if number == 1 else ""], "": {}},
        LargeBinary: bytes(range(256)) * (number + 1),
        Boolean: bool(number % 3),
        Float: 1_700_000_000.123456 + number / 3,
        Integer: number * 1_000_003,
    }
    for kind, each in hard.items():
        if isinstance(column.type, kind):
            return each
    text = f"{column.name} {number} é漢🍵'\\%"
    limit = getattr(column.type, "length", None)
    return text[: limit or None] if limit is None or limit > 30 else f"{number}{column.name}"[:limit]


def build_row(table: Table, number: int) -> dict[str, Any]:
    """Build a row; rows with even numbers lack every optional value."""
    bare = number % 2 == 0
    return {each.name: build_value(each, number) for each in table.columns if not (bare and each.nullable)}


async def fill_database(database: Database) -> None:
    for table in list_tables():
        async with database.write() as connection:
            for number in range(ROWS):
                await connection.execute(insert(table).values(build_row(table, number)))


async def all_rows(database: Database, table: Table) -> list[Mapping[str, Any]]:
    return [each async for some in iter_batches(database, table, 3, None) for each in some]


async def list_verified_tables(work: DatabaseCopy, *, into_existing: bool = False) -> list[TableCopy]:
    await work.prepare_target(into_existing=into_existing)
    async for _ in work.copy_tables():
        pass
    return [each async for each in work.verify_tables()]


@pytest.mark.nightly
async def test_every_row_of_every_table_survives_the_way_to_postgres_and_back(databases: Make):
    laptop, team, back = databases("sqlite"), databases("postgres"), databases("sqlite")
    await fill_database(laptop)
    there = await list_verified_tables(DatabaseCopy(laptop, team))
    assert {each.table for each in there} == {table.name for table in list_tables()} - PROCESS_TABLES
    assert [(each.rows, each.is_complete) for each in there] == [(ROWS, True)] * len(there)
    again = await list_verified_tables(DatabaseCopy(team, back))
    checksums = {each.table: each.checksum for each in there}
    assert {each.table: each.checksum for each in again} == {k: v for k, v in checksums.items() if k != "pages"}
    for table in DatabaseCopy(team, back).tables:
        assert await all_rows(back, table) == await all_rows(team, table), table.name


async def test_an_interrupted_copy_continues_where_it_stopped(databases: Make, tmp_path: Path):
    laptop, team = databases("sqlite"), databases("postgres")
    async with laptop.write() as connection:
        keys = [{"key": f"{number:05}", "used": number, "updated_at": 0.5} for number in range(1_700)]
        await connection.execute(citation_counters.insert(), keys)
    asked: list[int] = []

    class Breaking(Database):
        """Stop after the third batch."""

        async def run_transaction(self, work: Any, *, write: bool) -> Any:
            asked.append(1)
            if write and len(asked) > 3:
                raise Unavailable("the cable was cut")
            return await super().run_transaction(work, write=write)

    half = Breaking(team.url)
    work = DatabaseCopy(laptop, half)
    work.excluded_tables = frozenset(table.name for table in list_tables()) - {"citation_counters"}
    await work.prepare_target(into_existing=False)
    with pytest.raises(Unavailable, match="cable"):
        [each async for each in work.copy_tables()]
    await half.close()
    rest = DatabaseCopy(laptop, team, excluded_tables=work.excluded_tables)
    assert await rest.prepare_target(into_existing=False) is True
    assert [each.copied async for each in rest.copy_tables()] == [700]
    assert [(each.rows, each.is_complete) async for each in rest.verify_tables()] == [(1_700, True)]
    await rest.clear_progress()
    with pytest.raises(Refused, match="not empty: citation_counters has 1700 rows"):
        await DatabaseCopy(laptop, team).prepare_target(into_existing=False)


@pytest.mark.nightly
async def test_a_non_empty_target_is_refused_unless_merging_and_keeps_its_rows(databases: Make):
    laptop, team = databases("sqlite"), databases("postgres")
    for database, used in ((laptop, 1), (team, 2)):
        async with database.write() as connection:
            await connection.execute(citation_counters.insert(), [{"key": "same", "used": used, "updated_at": 0.0}])
    with pytest.raises(Refused) as caught:
        await DatabaseCopy(laptop, team).prepare_target(into_existing=False)
    assert (caught.value.code, "--into-existing" in caught.value.hint) == ("not_empty", True)
    async with laptop.write() as connection:
        await connection.execute(citation_counters.insert(), [{"key": "mine", "used": 1, "updated_at": 0.0}])
    compared = {each.table: each for each in await list_verified_tables(DatabaseCopy(laptop, team), into_existing=True)}
    counted = compared["citation_counters"]
    assert (counted.rows, counted.missing, counted.different, counted.is_complete) == (2, 0, 1, False)
    async with team.read() as connection:
        assert dict((await connection.execute(select(citation_counters.c.key, citation_counters.c.used))).all()) == {
            "mine": 1,
            "same": 2,
        }


@pytest.mark.nightly
async def test_a_row_lost_or_changed_during_the_copy_is_detected(databases: Make):
    laptop, team = databases("sqlite"), databases("postgres")
    await fill_database(laptop)
    work = DatabaseCopy(laptop, team)
    await list_verified_tables(work)
    async with team.write() as connection:
        await connection.execute(events.delete().where(events.c.id == build_value(events.c.id, 3)))
        await connection.execute(citation_counters.update().values(used=-1))
    wrong = {each.table: (each.missing, each.different) async for each in work.verify_tables() if not each.is_complete}
    assert wrong == {"events": (1, 0), "citation_counters": (0, ROWS)}


async def test_a_text_that_does_not_fit_is_named(databases: Make):
    laptop, team = databases("sqlite"), databases("postgres")
    async with laptop.write() as connection:
        await connection.execute(citation_counters.insert(), [{"key": "k" * 501, "used": 1, "updated_at": 0.0}])
    with pytest.raises(Unavailable, match=r"citation_counters\.key .* 501 characters \(maximum 500\)") as caught:
        await list_verified_tables(DatabaseCopy(laptop, team))
    assert caught.value.hint


async def test_text_that_postgres_does_not_accept_is_copied_as_closely_as_possible(databases: Make):
    laptop, team = databases("sqlite"), databases("postgres")
    odd = build_row(events, 3) | {"message": "nul\0here", "arguments": {"\0key": ["a\0b", float("inf")]}}
    async with laptop.write() as connection:
        await connection.execute(events.insert(), [odd])
    assert all(each.is_complete for each in await list_verified_tables(DatabaseCopy(laptop, team)))
    [there] = await all_rows(team, events)
    assert (there["message"], there["arguments"]) == ("nul\ufffdhere", {"\ufffdkey": ["a\ufffdb", "inf"]})


async def test_artifact_files_are_copied_and_rows_without_a_file_are_left_out(databases: Make, tmp_path: Path):
    laptop, team = databases("sqlite"), databases("postgres")
    here, there = FolderStorage(tmp_path / "here"), FolderStorage(tmp_path / "there")
    kept = [
        await ArtifactStore(here, laptop, keep_seconds=60).save(
            os.urandom(size), name="x", mime_type="a/b", session="s"
        )
        for size in (0, 10, 9 << 20)
    ]
    lost = await ArtifactStore(here, laptop, keep_seconds=60).save(b"lost", name="x", mime_type="a/b", session="s")
    await here.remove([lost.id])
    compared = {
        each.table: each
        for each in await list_verified_tables(DatabaseCopy(laptop, team, ArtifactTransfer(here, there).copy_files))
    }
    assert (compared["artifacts"].left_out, compared["artifacts"].is_complete) == (1, True)
    for each in kept:
        found, data = await ArtifactStore(there, team, keep_seconds=60).read(each.uri)
        assert (found, hashlib.sha256(data).hexdigest()) == (each, each.sha256)
    async with team.read() as connection:
        assert (await connection.execute(select(func.count()).select_from(artifacts))).scalar() == 3


async def test_a_damaged_file_is_not_copied(databases: Make, tmp_path: Path):
    laptop, team = databases("sqlite"), databases("postgres")
    here, there = FolderStorage(tmp_path / "here"), FolderStorage(tmp_path / "there")
    kept = await ArtifactStore(here, laptop, keep_seconds=60).save(b"12345", name="x", mime_type="a/b", session="s")
    (tmp_path / "here" / kept.id).write_bytes(b"54321")
    with pytest.raises(Unavailable, match="does not match its row"):
        await list_verified_tables(DatabaseCopy(laptop, team, ArtifactTransfer(here, there).copy_files))
    assert [each async for each in there.iter_items()] == []
    assert (await count_table_rows(team, [artifacts]))["artifacts"] == 0
