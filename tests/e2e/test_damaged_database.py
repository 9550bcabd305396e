"""A damaged database is reported by tools that need it, and checked and repaired by the command."""

import json
import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from support.apps import loopback_app
from support.fakes import http_servers
from support.processes import outrider_command
from support.results import read_error, read_first_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
PAGE_BYTES = 4096
COUNTERS, WORDS = 3_000, 1_500
WAL_SITE = loopback_app.build_page_site({"/wal": loopback_app.build_article_html("WAL mode", "The checkpoint. " * 40)})


async def run_for_json(*arguments: str) -> tuple[int, Any]:
    """Return the command's exit code and its JSON output."""
    command = outrider_command.build_command(*arguments, "--json")
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        ended = await anyio.run_process(command, check=False)
    assert ended.stdout, ended.stderr
    return ended.returncode, json.loads(ended.stdout)


def fill_tables(path: Path) -> None:
    """Add rows to an ordinary table and to the full-text table, whose rowids are scattered."""
    chance = random.Random(1)
    with closing(sqlite3.connect(path)) as connection, connection:
        counters = [(f"k{number}", number, 1.0) for number in range(COUNTERS)]
        connection.executemany("INSERT INTO citation_counters (key, used, updated_at) VALUES (?, ?, ?)", counters)
        words = [(chance.getrandbits(62), f"k{number}", "tides " * 30) for number in range(WORDS)]
        connection.executemany("INSERT INTO page_words (rowid, key, body) VALUES (?, ?, ?)", words)


def count_rows(path: Path) -> tuple[int, int]:
    """Return the rows of the two tables in an undamaged file."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        [counters] = connection.execute("SELECT count(*) FROM citation_counters").fetchone()
        [words] = connection.execute("SELECT count(*) FROM page_words WHERE page_words MATCH 'tides'").fetchone()
        return counters, words


def find_root(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]


def spoil_header(path: Path) -> None:
    path.write_bytes(os.urandom(100) + path.read_bytes()[100:])


def spoil_first_page(path: Path) -> None:
    """Overwrite the page with the locations of the tables."""
    path.write_bytes(bytes(PAGE_BYTES) + path.read_bytes()[PAGE_BYTES:])


def spoil_pages(path: Path) -> None:
    """Overwrite some of the most recently filled pages, so that each table loses rows."""
    content = bytearray(path.read_bytes())
    chance = random.Random(2)
    for page in chance.sample(range(150, len(content) // PAGE_BYTES), 12):
        content[page * PAGE_BYTES : (page + 1) * PAGE_BYTES] = chance.randbytes(PAGE_BYTES)
    path.write_bytes(content)


def spoil_root(path: Path, name: str) -> None:
    content = bytearray(path.read_bytes())
    start = (find_root(path, name) - 1) * PAGE_BYTES
    content[start : start + PAGE_BYTES] = bytes(PAGE_BYTES)
    path.write_bytes(content)


def spoil_index(path: Path) -> None:
    spoil_root(path, "sqlite_autoindex_citation_counters_1")


def truncate_file(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 3 // 4)


@pytest.mark.parametrize(
    ("spoil", "kept_share"),
    [(spoil_header, 1.0), (spoil_first_page, 1.0), (spoil_index, 1.0), (spoil_pages, 0.7), (truncate_file, 0.2)],
    ids=["header", "first page", "index", "pages", "truncated"],
)
async def test_readable_rows_of_a_damaged_file_are_saved_and_the_file_is_kept(
    tables: Path, spoil: Callable[[Path], None], kept_share: float
):
    fill_tables(tables)
    spoil(tables)
    damaged = tables.read_bytes()
    code, findings = await run_for_json("db", "check")
    assert (code, findings[0]["code"], findings[0]["remedy"]) == (1, "damaged", "outrider db repair")
    code, repaired = await run_for_json("db", "repair")
    assert (code == 0) is repaired["whole"] is (kept_share == 1.0)
    assert Path(repaired["kept"]).read_bytes() == damaged
    assert Path(repaired["kept"]).parent == tables.parent
    counters, words = count_rows(tables)
    saved = {table["table"]: table["saved"] for table in repaired["tables"]}
    assert (counters, words) == (saved["citation_counters"], saved["page_words"])
    assert counters + words >= kept_share * (COUNTERS + WORDS)
    assert [path.name for path in tables.parent.iterdir() if path.name.startswith(".repair")] == []


async def test_rows_in_the_write_ahead_log_are_saved_and_the_log_is_kept(tables: Path):
    with closing(sqlite3.connect(tables)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        fill_tables(tables)
        database, log = tables.read_bytes(), tables.with_name("outrider.db-wal").read_bytes()
    tables.write_bytes(database)
    spoil_root(tables, "events")
    tables.with_name("outrider.db-wal").write_bytes(log)
    code, repaired = await run_for_json("db", "repair")
    assert (code, count_rows(tables)) == (0, (COUNTERS, WORDS))
    assert Path(f"{repaired['kept']}-wal").read_bytes() == log
    assert await run_for_json("db", "repair") == (0, {"kept": None, "whole": True, "tables": []})


async def test_a_file_in_use_or_not_a_database_is_left_alone(tables: Path):
    with closing(sqlite3.connect(tables)) as server:
        server.execute("PRAGMA journal_mode = WAL")
        server.execute("SELECT count(*) FROM pages").fetchone()
        before = tables.read_bytes()
        code, answer = await run_for_json("db", "repair")
        assert (code, answer["error"]["code"]) == (5, "database_in_use")
        assert f"process {os.getpid()}" in answer["error"]["message"]
        assert tables.read_bytes() == before
    tables.write_text("Dear diary, " * 1_000)
    code, answer = await run_for_json("db", "repair")
    assert (code, answer["error"]["code"]) == (5, "not_repairable")
    assert f"mv {tables}" in answer["error"]["hint"]
    assert tables.read_text().startswith("Dear diary")


async def test_the_doctor_names_the_process_that_locks_the_database(tables: Path):
    with closing(sqlite3.connect(tables)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")
        _, findings = await run_for_json("doctor", "--set", f"database=sqlite:///{tables}?timeout=0.1")
    told = [finding["what"] for finding in findings]
    assert any("database is locked: another process is writing to it" in line for line in told)
    assert any(line.startswith(f"process {os.getpid()}") for line in told)


async def test_tools_without_a_database_keep_working_and_the_others_name_the_remedy(tables: Path, home: Path):
    fill_tables(tables)
    spoil_header(tables)
    async with http_servers.serve_app(WAL_SITE) as url:
        environ = os.environ | {"OUTRIDER_EGRESS__ALLOW": f"127.0.0.1:{url.rsplit(':', 1)[1]}"}
        program, *words = outrider_command.build_command("mcp", "--no-daemon", "--toolsets", "all")
        server = StdioServerParameters(command=program, args=words, env=environ, cwd=str(home))
        with anyio.fail_after(SCENARIO_TIMEOUT_S), Path(os.devnull).open("w") as nowhere:
            async with Client(stdio_client(server, errlog=nowhere)) as client:
                page = await client.call_tool("web_fetch", {"url": f"{url}/wal"})
                assert "The checkpoint." in read_first_text(page)
                written = await client.call_tool("write_file", {"path": "a.txt", "content": "x"})
                assert not written.is_error, read_first_text(written)
                for tool, arguments in {"createStore": {"name": "x"}, "create_goal": {"goal": "Drink tea"}}.items():
                    refused = await client.call_tool(tool, arguments)
                    error = read_error(refused)
                    assert (error["code"], error["retryable"]) == ("database_damaged", False)
                    assert "outrider db repair" in read_first_text(refused)
                assert (await run_for_json("db", "repair"))[0] == 0
                repaired = await client.call_tool("create_goal", {"goal": "Drink tea"})
                assert not repaired.is_error, "the same server goes on with the repaired file"


@pytest.mark.parametrize("lost_pages", [range(1), range(60, 64)], ids=["first page", "pages"])
async def test_the_file_of_the_durable_engine_is_checked_and_repaired_too(tables: Path, lost_pages: range):
    work = tables.with_name("outrider.work.db")
    with closing(sqlite3.connect(work)) as connection, connection:
        for number in range(40):  # definitions for more than one page, as the engine's are
            connection.execute(f"CREATE TABLE work_{number} (id TEXT PRIMARY KEY, status TEXT NOT NULL, input TEXT)")
        rows = [(f"run-{number}", "PENDING", "x" * 100) for number in range(2_000)]
        connection.executemany("INSERT INTO work_7 VALUES (?, ?, ?)", rows)
        connection.execute("CREATE INDEX by_status ON work_7 (status)")
    assert await run_for_json("db", "check") == (0, [])
    content = bytearray(work.read_bytes())
    for page in lost_pages:
        content[page * PAGE_BYTES : (page + 1) * PAGE_BYTES] = bytes(PAGE_BYTES)
    work.write_bytes(content)
    code, findings = await run_for_json("db", "check")
    assert (code, [each["code"] for each in findings]) == (1, ["work_damaged"])
    assert (findings[0]["remedy"], str(work) in findings[0]["message"]) == ("outrider db repair", True)
    _, repaired = await run_for_json("db", "repair")
    assert (repaired["kept"], Path(repaired["work"]["kept"]).read_bytes()) == (None, content)
    with closing(sqlite3.connect(work)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        [saved] = connection.execute("SELECT count(*) FROM work_7 WHERE status = 'PENDING'").fetchone()
    assert saved == 2_000 if lost_pages == range(1) else saved > 1_000
    assert await run_for_json("db", "check") == (0, [])
