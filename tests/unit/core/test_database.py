import asyncio
import importlib
import json
import os
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, func, inspect, select

import outrider
from outrider.core.database.database import Database, to_storable_text
from outrider.core.database.migration import MIGRATIONS_DIR, find_head_revision
from outrider.core.errors import NotConfigured, Unavailable
from outrider.core.tables import citation_counters as counters
from outrider.core.tables import metadata
from support.processes import python_source
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

PREAMBLE = """
import anyio, os, sys
from pathlib import Path
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable
from outrider.core.tables import citation_counters as counters

def row(key):
    return {"key": key, "used": 1, "updated_at": 0.0}

async def insert(database, key):
    async with database.write() as connection:
        await connection.execute(counters.insert(), [row(key)])
"""
OPEN_AND_WRITE = """
async def main():
    database = Database.from_file(Path(sys.argv[1]))
    print("ready", flush=True)
    sys.stdin.readline()
    await insert(database, sys.argv[2])
    await database.close()
anyio.run(main)
"""
WRITE_MANY = """
async def writer(database, name, rows):
    for number in range(rows):
        await insert(database, f"{name}-{number}")
        print(f"{name}-{number}", flush=True)

async def main():
    database = Database.from_file(Path(sys.argv[1]))
    async with anyio.create_task_group() as tasks:
        for each in range(int(sys.argv[3])):
            tasks.start_soon(writer, database, f"{sys.argv[2]}{each}", int(sys.argv[4]))
    await database.close()
anyio.run(main)
"""
FILL_THE_DISK = """
import resource
async def main():
    database = Database.from_file(Path(sys.argv[1]))
    await insert(database, "first")
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    try:
        for number in range(100):
            await insert(database, f"{number}" * 10_000)
    except Unavailable as error:
        print(error, error.hint)
    await database.close()
anyio.run(main)
"""
FILL_AND_FREE_THE_DISK = """
import resource
async def main():
    database = Database.from_file(Path(sys.argv[1]))
    await insert(database, "first")
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, most))
    kept = 0
    try:
        for kept in range(1_000):
            key = f"{kept}" * 1_000
            each = lambda connection: connection.execute(counters.insert(), [row(key)])
            await database.run_transaction(each, write=True)
    except Unavailable:
        pass
    async with database.read() as connection:
        print(kept, len((await connection.execute(counters.select())).all()))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    await insert(database, "after")
    last = lambda connection: connection.execute(counters.insert(), [row("short after")])
    await database.run_transaction(last, write=True)
    async with database.read() as connection:
        print(len((await connection.execute(counters.select())).all()))
    await database.close()
anyio.run(main)
"""
OPEN_AS_NOBODY = """
async def attempt(path):
    database = Database.from_file(Path(path))
    try:
        await insert(database, "row")
    except Unavailable as error:
        print(error)
    await database.close()

async def main():
    with open(sys.argv[2], "w") as file:
        file.write("no database" * 1000)
    await attempt(sys.argv[2])  # imports all that is needed, because nobody can read it below
    if os.geteuid() == 0:
        os.setuid(65534)
    await attempt(sys.argv[1])
anyio.run(main)
"""


def start_script(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = python_source.build_command(PREAMBLE + script, *arguments)
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )


def finish_process(process: subprocess.Popen[str], given: str = "") -> str:
    """Return the output of a process that must succeed and print nothing to stderr."""
    printed, complaint = process.communicate(given, timeout=PROCESS_TIMEOUT_S)
    assert (process.returncode, complaint) == (0, "")
    return printed


def file_of(database: Database) -> Path:
    return Path(database.url.split("///", 1)[1])


def build_row(key: str) -> dict[str, Any]:
    return {"key": key, "used": 1, "updated_at": 0.0}


async def insert_row(database: Database, key: str) -> None:
    async with database.write() as connection:
        await connection.execute(counters.insert(), [build_row(key)])


async def list_keys(database: Database) -> list[str]:
    async with database.read() as connection:
        return sorted((await connection.execute(select(counters.c.key))).scalars())


async def expect_unusable(database: Database, *, damaged: bool = False) -> str:
    with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(Unavailable) as caught:
        async with database.read():
            pass
    assert (caught.value.code, caught.value.retryable) == (
        ("database_damaged", False) if damaged else ("database", True)
    )
    assert ("`outrider db repair`" in caught.value.hint) is damaged
    assert "Traceback" not in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that everyone may enter and only its owner may write to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


async def test_nothing_is_created_before_the_first_use(tmp_path: Path):
    path = tmp_path / "data" / "fresh.db"
    database = Database.from_file(path)
    assert not path.parent.exists()
    assert await list_keys(database) == []
    assert path.is_file()
    await database.close()


async def test_written_rows_are_there_when_the_database_is_reopened(database: Database):
    await insert_row(database, "kept")
    await database.close()
    assert await list_keys(database) == ["kept"]
    again = Database(database.url)
    assert await list_keys(again) == ["kept"]
    await again.close()


async def test_a_transaction_succeeds_or_fails_as_a_whole(database: Database):
    async def fail_half_way() -> None:
        async with database.write() as connection:
            await connection.execute(counters.insert(), [{"key": "half", "used": 1, "updated_at": 0.0}])
            raise KeyError

    with pytest.raises(KeyError):
        await fail_half_way()
    assert await list_keys(database) == []


async def test_short_work_is_one_transaction_that_succeeds_or_fails_as_a_whole(database: Database):
    def count_rows(connection: Connection) -> int:
        connection.execute(counters.insert(), [build_row("a"), build_row("b")])
        return connection.execute(select(func.count()).select_from(counters)).scalar_one()

    def broken(connection: Connection) -> None:
        connection.execute(counters.insert(), [build_row("c")])
        raise LookupError("enough")

    assert await database.run_transaction(count_rows, write=True) == 2
    with pytest.raises(LookupError, match="enough"):
        await database.run_transaction(broken, write=True)
    with pytest.raises(Unavailable, match="UNIQUE"):
        await database.run_transaction(count_rows, write=True)
    await insert_row(database, "d")
    assert await list_keys(database) == ["a", "b", "d"]


async def test_more_writers_than_pooled_connections_wait_for_each_other(database: Database):
    """Run more transactions than the pool has connections, reads and writes."""

    async def both_ways(number: int) -> None:
        await database.run_transaction(
            lambda connection: connection.execute(counters.insert(), [build_row(f"s{number}")]), write=True
        )
        await insert_row(database, f"l{number}")

    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            for number in range(60):
                tasks.start_soon(both_ways, number)
    assert len(await list_keys(database)) == 120


async def test_readers_do_not_wait_for_a_writer(database: Database):
    await insert_row(database, "before")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with database.write() as connection:
            await connection.execute(counters.insert(), [{"key": "during", "used": 1, "updated_at": 0.0}])
            assert await list_keys(database) == ["before"]
    assert await list_keys(database) == ["before", "during"]


async def test_an_upsert_inserts_and_then_replaces(database: Database):
    await database.upsert(counters, {"key": "a", "used": 1, "updated_at": 1.0}, key="key")
    await database.upsert(counters, {"key": "b", "used": 1, "updated_at": 1.0}, key="key")
    await database.upsert(counters, {"key": "a", "used": 2, "updated_at": 2.0}, key="key")
    async with database.read() as connection:
        rows = (await connection.execute(select(counters).order_by(counters.c.key))).all()
    assert [tuple(row) for row in rows] == [("a", 2, 2.0), ("b", 1, 1.0)]


async def test_a_memory_database_works_like_any_other():
    database = Database("sqlite+aiosqlite:///:memory:")
    await insert_row(database, "kept")
    assert await list_keys(database) == ["kept"]
    await database.close()


@pytest.mark.nightly
async def test_many_files_can_be_opened_at_once_in_one_process(tmp_path: Path):
    databases = [Database.from_file(tmp_path / f"{number}.db") for number in range(6)]
    async with anyio.create_task_group() as tasks:
        for each in databases:
            tasks.start_soon(insert_row, each, "row")
    for each in databases:
        assert await list_keys(each) == ["row"]
        await each.close()


def schema_of(connection: Connection) -> dict[str, Any]:
    found = inspect(connection)
    return {
        table: ([str(column) for column in found.get_columns(table)], found.get_indexes(table))
        for table in sorted(found.get_table_names())
    }


async def test_the_migrations_create_the_declared_tables(database: Database):
    def difference(connection: Connection) -> list[Any]:
        from alembic.autogenerate import compare_metadata
        from alembic.migration import MigrationContext

        tables = connection.exec_driver_sql("SELECT name FROM pragma_table_list WHERE type IN ('virtual', 'shadow')")
        full_text = set(tables.scalars())  # SQLite's own tables, which no metadata can describe
        options = {
            "compare_type": True,
            "compare_server_default": True,
            "include_name": lambda name, *_: name not in full_text,
        }
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    root = Path(outrider.__file__).parent
    modules = [
        ".".join(("outrider", *path.relative_to(root).with_suffix("").parts)) for path in root.rglob("tables.py")
    ]
    assert "outrider.core.tables" in modules
    for module in modules:
        importlib.import_module(module)
    async with database.read() as connection:
        assert await connection.run_sync(difference) == []


async def test_the_migrations_go_down_and_up_again(database: Database):
    def down(connection: Connection) -> None:
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS_DIR))
        config.attributes["connection"] = connection
        command.downgrade(config, "base")

    async with database.read() as connection:
        whole = await connection.run_sync(schema_of)
    async with database.write() as connection:
        await connection.run_sync(down)
        assert list(await connection.run_sync(schema_of)) == ["alembic_version"]
    await database.close()
    async with database.read() as connection:
        assert await connection.run_sync(schema_of) == whole


def test_the_migrations_form_one_line_that_ends_at_the_latest_file():
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(MIGRATIONS_DIR))
    assert script.get_heads() == [find_head_revision()]
    assert [each.revision for each in script.walk_revisions()][-1] == "0001"


async def test_a_database_of_a_newer_version_is_refused(database: Database):
    async with database.write() as connection:
        await connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    await database.close()
    assert "revision 9999, but this version knows only" in await expect_unusable(database)


def test_processes_that_open_a_fresh_file_at_the_same_time_all_work(tmp_path: Path):
    path = tmp_path / "new" / "outrider.db"
    processes = [start_script(OPEN_AND_WRITE, path, name) for name in ("a", "b", "c")]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        finish_process(process)
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("SELECT key FROM citation_counters ORDER BY key").fetchall() == [
            ("a",),
            ("b",),
            ("c",),
        ]
    connection.close()


def test_no_acknowledged_row_is_lost_when_one_of_three_writing_processes_is_killed(tmp_path: Path):
    path = tmp_path / "outrider.db"
    processes = [start_script(WRITE_MANY, path, name, *size) for name, size in {"a": (3, 40), "b": (3, 40)}.items()]
    victim = start_script(WRITE_MANY, path, "victim", 4, 1_000_000)
    assert victim.stdout is not None
    acknowledged = [victim.stdout.readline().strip() for _ in range(25)]
    victim.send_signal(signal.SIGKILL)
    acknowledged += victim.stdout.read().split()
    victim.communicate(timeout=PROCESS_TIMEOUT_S)
    acknowledged += [line for process in processes for line in finish_process(process).split()]
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        kept = {key for (key,) in connection.execute("SELECT key FROM citation_counters")}
    connection.close()
    assert len(acknowledged) >= 240 + 25
    assert set(acknowledged) <= kept
    assert len(kept - set(acknowledged)) <= 4, "at most the row that each killed writer had not yet told of"


def test_a_full_disk_is_reported_in_a_sentence_and_breaks_nothing(tmp_path: Path):
    path = tmp_path / "outrider.db"
    message = finish_process(start_script(FILL_THE_DISK, path))
    assert message.startswith("the database outrider.db cannot be used: ")
    assert "free space" in message
    assert "`data_dir`" in message
    assert str(tmp_path) not in message
    assert message.count("\n") == 1
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM citation_counters WHERE key = 'first'").fetchall() == [(1,)]
    connection.close()


@pytest.mark.nightly
def test_once_the_disk_has_space_again_work_continues_in_the_same_process(tmp_path: Path):
    before, after = finish_process(start_script(FILL_AND_FREE_THE_DISK, tmp_path / "outrider.db")).splitlines()
    kept, there = map(int, before.split())
    assert 0 < kept < 999
    assert there == kept + 1  # everything that was confirmed, and nothing else
    assert int(after) == there + 2


async def test_what_is_stored_can_be_read_at_first_use_while_another_process_writes(tmp_path: Path):
    path = tmp_path / "outrider.db"
    before = Database.from_file(path)
    await insert_row(before, "stored")
    await before.close()
    database = Database(f"sqlite:///{path}?timeout=0.1")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert await list_keys(database) == ["stored"]
    await database.close()


@pytest.mark.parametrize("short", [False, True], ids=["transaction", "short"])
async def test_a_long_held_lock_is_reported_and_nothing_is_lost(tmp_path: Path, short: bool):
    path = tmp_path / "outrider.db"
    database = Database(f"sqlite:///{path}?timeout=0.2")
    await insert_row(database, "before")
    holder = sqlite3.connect(path)
    holder.execute("BEGIN IMMEDIATE")

    async def write() -> None:
        if short:
            await database.run_transaction(
                lambda connection: connection.execute(counters.insert(), [build_row("late")]), write=True
            )
        else:
            await insert_row(database, "late")

    with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(Unavailable, match="database is locked") as caught:
        await write()
    assert (caught.value.code, caught.value.retryable) == ("database_locked", True)
    assert "`outrider doctor` names" in caught.value.hint
    assert await list_keys(database) == ["before"]
    holder.rollback()
    holder.close()
    await write()
    assert await list_keys(database) == ["before", "late"]
    await database.close()


@pytest.mark.parametrize("existing", [False, True], ids=["new file", "existing file"])
@pytest.mark.nightly
def test_a_folder_that_cannot_be_written_is_reported_in_a_sentence(public_folder: Path, tmp_path: Path, existing: bool):
    path = public_folder / "outrider.db"
    if existing:
        finish_process(start_script(OPEN_AND_WRITE, path, "row"), "go\n")
    public_folder.chmod(0o555)
    broken, message = finish_process(start_script(OPEN_AS_NOBODY, path, tmp_path / "garbage")).splitlines()
    assert broken.endswith("file is not a database")
    assert message.startswith("the database outrider.db cannot be used: ")


async def test_a_file_that_is_not_a_database_is_reported_in_a_sentence(database: Database):
    file_of(database).write_bytes(os.urandom(10_000))
    message = await expect_unusable(database, damaged=True)
    assert message == f"the database {file_of(database).name} is damaged: file is not a database"
    file_of(database).unlink()
    assert await list_keys(database) == []


async def test_a_damaged_file_is_reported_in_a_sentence(database: Database):
    for number in range(200):
        await insert_row(database, f"{number}" * 100)
    await database.close()
    content = bytearray(file_of(database).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file_of(database).write_bytes(content)
    assert await expect_unusable(database, damaged=True)


@pytest.mark.parametrize("place", ["a file/outrider.db", "a file/below/outrider.db", "a folder"])
async def test_a_path_where_no_file_can_be_created_is_reported_in_a_sentence(tmp_path: Path, place: str):
    (tmp_path / "a file").touch()
    (tmp_path / "a folder").mkdir()
    database = Database.from_file(tmp_path / place)
    message = await expect_unusable(database)
    assert message.startswith(f"the database {Path(place).name} cannot be used: ")
    assert str(tmp_path) not in message


async def test_the_plain_address_of_a_file_needs_no_driver_named(tmp_path: Path):
    database = Database(f"sqlite:///{tmp_path / 'plain.db'}")
    await insert_row(database, "kept")
    assert (await list_keys(database), (tmp_path / "plain.db").is_file()) == (["kept"], True)
    await database.close()


@pytest.mark.parametrize(
    "address",
    ["", "garbage", "sqlite+nodriver:///a.db", "postgresql+nodriver://user:secret@localhost/x", "nosuch+thing://x"],
)
async def test_an_invalid_database_address_is_reported_without_its_password(address: str):
    assert "secret" not in await expect_unusable(Database(address))


async def test_an_unsupported_database_is_not_reported_as_unavailable():
    with pytest.raises(NotConfigured, match="mysql is not a database") as caught:
        async with Database("mysql://localhost/x").read():
            pass
    assert "postgresql://" in caught.value.hint


async def test_a_failing_statement_reveals_neither_itself_nor_its_values(database: Database):
    await insert_row(database, "same")
    with pytest.raises(Unavailable) as caught:
        await insert_row(database, "same")
    assert caught.value.message.endswith("UNIQUE constraint failed: citation_counters.key")
    assert "INSERT" not in caught.value.message
    assert await list_keys(database) == ["same"]


async def test_a_caller_that_gives_up_leaves_no_lock_behind(database: Database):
    for number in range(20):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                for each in range(3):
                    tasks.start_soon(insert_row, database, f"{number}-{each}")
                for _ in range(number):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
        with anyio.fail_after(EVENT_TIMEOUT_S):
            await insert_row(database, f"{number} after")
    assert len([key for key in await list_keys(database) if key.endswith("after")]) == 20


@pytest.mark.nightly
async def test_a_task_that_is_cancelled_in_a_transaction_leaves_no_lock_behind(database: Database):
    async def work(key: str) -> None:
        async with database.write() as connection:
            await connection.execute(counters.insert(), [{"key": key, "used": 1, "updated_at": 0.0}])
            await connection.execute(select(func.count()).select_from(counters))

    await insert_row(database, "opened")
    for number in range(60):
        tasks = [asyncio.create_task(work(f"{number}-{each}")) for each in range(2)]
        for _ in range(number):
            await anyio.lowlevel.checkpoint()
        for task in tasks:
            task.cancel()
        cancelled = await asyncio.gather(*tasks, return_exceptions=True)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            await work(f"{number} after")
        del cancelled
    assert len([key for key in await list_keys(database) if key.endswith("after")]) == 60


@pytest.mark.parametrize(
    ("text", "stored"),
    [("plain", "plain"), ("a\0b", "a\ufffdb"), ("a\ud800b", "a?b"), ("x" * 30, "x" * 10), ("", "")],
    ids=["plain", "nul", "surrogate", "long", "empty"],
)
def test_text_is_sanitized_for_every_database(text: str, stored: str):
    assert to_storable_text(text, 10) == stored
    assert json.loads(json.dumps(stored)) == stored


async def test_closing_after_a_cancelled_close_terminates(tmp_path: Path):
    database, closing = Database.from_file(tmp_path / "a.db"), anyio.CancelScope()
    with suppress(Unavailable):
        async with database.read() as connection:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            driver.stop()  # like SQLAlchemy when a close is cancelled but continues
            with anyio.move_on_after(10) as closing, suppress(ValueError):
                await driver.close()
    assert not closing.cancelled_caught
    await database.close()
