"""`outrider db` checks and repairs a laptop's data, and moves it to Postgres and S3."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import text

from outrider.app import open_app
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.settings import load
from support.databases import postgres
from support.fakes import object_storage
from support.processes import outrider_command

pytestmark = pytest.mark.anyio
MINE = Call(session="mine", assistant="me")
ORPHAN = (
    "INSERT INTO content_chunks VALUES ('c.1.0', 'nobody', 'nowhere', 0, 0, 1, 1, 1, '', 'lost')"  # columns in order
)


def run_db_command(*arguments: str, environ: Mapping[str, str], code: int = 0) -> str:
    """Runs the command and returns its output."""
    command = outrider_command.build_command(*arguments)
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=os.environ | dict(environ)
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout or ended.stderr


def run_for_json(*arguments: str, environ: Mapping[str, str], code: int = 0) -> Any:
    """Run it and parse its JSON output."""
    return json.loads(run_db_command(*arguments, "--json", code=code, environ=environ))


def open_laptop_app(home: Path, **settings: Any) -> Any:
    chosen = {"toolsets": ["all"], "data_dir": str(home / "data"), **settings}
    return open_app(load(chosen, environ=object_storage.AWS_CREDENTIALS, home=home, workspace=home))


async def fill_laptop(home: Path) -> str:
    """Create data of every kind that a laptop stores; return the address of an artifact."""
    async with open_laptop_app(home) as app:
        await app.call(
            "addContent", MINE, content="Green tea is steeped at eighty degrees.", metadata={"filename": "t"}
        )
        await app.call("create_goal", MINE, goal="Drink tea")
        kept = await app.artifacts.save(os.urandom(7 << 20), name="leaf.bin", mime_type="a/b", session="mine")
        return kept.uri


async def test_a_laptop_moves_to_postgres_and_s3_and_finds_everything_again(
    home: Path, server: postgres.PostgresServer
):
    uri = await fill_laptop(home)
    async with open_laptop_app(home) as app:
        before = (await app.artifacts.read(uri), (await app.call("get_current_state", MINE)).data)
    with object_storage.serve_s3() as s3:
        address = server.create_database().replace("+psycopg", "")
        team = {
            "OUTRIDER_DATABASE": address,
            "OUTRIDER_ARTIFACTS__STORAGE": s3.build_storage_url("team"),
            **object_storage.AWS_CREDENTIALS,
        }
        planned = run_for_json("db", "copy", str(home / "data"), "--dry-run", environ=team)
        assert planned["tables"]["content_chunks"] == 1
        told = run_for_json("db", "copy", str(home / "data"), environ=team)
        assert told["whole"]
        assert "not empty" in run_db_command("db", "copy", str(home / "data"), code=5, environ=team)
        standing = run_for_json("db", "status", environ=team)
        assert standing["rows"].items() >= {"artifacts": 1, "content_chunks": 1, "contents": 1, "plans": 1}.items()
        assert standing["revision"] == standing["newest"]
        assert run_for_json("db", "check", environ=team) == []
        async with open_laptop_app(home, database=address, artifacts={"storage": s3.build_storage_url("team")}) as app:
            assert (await app.artifacts.read(uri), (await app.call("get_current_state", MINE)).data) == before
            found = (await app.call("keywordSimilaritySearch", MINE, query="steeping tea")).data["results"]
            assert [hit["filename"] for hit in found] == ["t"]
        back = home / "back"
        back.mkdir()
        assert run_for_json("db", "copy", address, str(back), environ=team)["whole"]
        async with open_laptop_app(home, data_dir=str(back)) as app:
            assert (await app.artifacts.read(uri), (await app.call("get_current_state", MINE)).data) == before


async def test_problems_are_found_and_repairable_ones_repaired(home: Path):
    await fill_laptop(home)
    place = {"OUTRIDER_DATA_DIR": str(home / "data")}
    assert "no problems found" in run_db_command("db", "check", environ=place)
    database = Database.from_file(home / "data" / "outrider.db")
    async with database.write() as connection:
        await connection.execute(text(ORPHAN))
        await connection.execute(text("CREATE TABLE strange (id INTEGER)"))
    await database.close()
    [file] = (home / "data" / "artifacts").iterdir()
    stray = file.with_name("00000000-0000-4000-8000-000000000000.part")
    file.rename(stray)
    os.utime(stray, (1_000_000_000, 1_000_000_000))
    found = run_for_json("db", "check", code=1, environ=place)
    assert [each["code"] for each in found] == ["extra", "orphans", "file_lost", "file_stray"]
    again = {each["code"]: each["repaired"] for each in run_for_json("db", "check", "--repair", code=1, environ=place)}
    assert again == {
        "extra": "",
        "orphans": "removed 1 rows of content_chunks",
        "file_lost": "removed 1 artifacts from the database",
        "file_stray": "removed 1 files",
    }
    assert [each["code"] for each in run_for_json("db", "check", code=1, environ=place)] == ["extra"]


async def test_an_incomplete_index_is_rebuilt(home: Path, server: postgres.PostgresServer):
    address = server.create_database()
    async with open_laptop_app(home, database=address) as app:
        await app.call("addContent", MINE, content="Green tea.")
        await app.call("keywordSimilaritySearch", MINE, query="tea")
        async with app.database.write() as connection:
            await connection.execute(text("UPDATE content_index_1_marks SET chunks = 0"))
            await connection.execute(text("DELETE FROM content_index_1_chunks"))
    place = {"OUTRIDER_DATA_DIR": str(home / "data"), "OUTRIDER_DATABASE": address}
    [found] = run_for_json("db", "check", "--repair", environ=place)
    assert (found["code"], found["repaired"]) == ("index", "rebuilt")
    async with open_laptop_app(home, database=address) as app:
        assert len((await app.call("keywordSimilaritySearch", MINE, query="tea")).data["results"]) == 1


def test_many_processes_migrate_an_empty_server_at_once_and_one_of_them_does_it(
    home: Path, server: postgres.PostgresServer
):
    environ = dict(os.environ) | {"OUTRIDER_DATABASE": server.create_database()}
    command = outrider_command.build_command("db", "migrate", "--json")
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) for _ in range(3)]
    ended = [json.loads(each.communicate(timeout=120)[0]) for each in started]
    assert all("after" in each for each in ended), ended
    assert {each["after"] for each in ended} == {run_for_json("db", "status", environ=environ)["newest"]}


def test_migrate_waits_for_a_server_that_starts_later(home: Path, server: postgres.PostgresServer):
    address = server.create_database()
    server.stop()
    environ = dict(os.environ) | {"OUTRIDER_DATABASE": address}
    refused = run_db_command("db", "migrate", code=4, environ=environ)
    assert "outrider doctor" in refused
    command = outrider_command.build_command("db", "migrate", "--wait", "60")
    waiting = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ)
    server.start()
    assert "revision none →" in waiting.communicate(timeout=120)[0]
    assert waiting.returncode == 0


def test_checking_creates_no_database(home: Path):
    place = {"OUTRIDER_DATA_DIR": str(home / "data")}
    for look in ("status", "check"):
        assert "outrider db migrate" in run_db_command("db", look, code=2, environ=place)
    assert not (home / "data").exists()
    (home / "data" / "outrider.db").mkdir(parents=True)
    assert "unable to open database file" in run_db_command("db", "check", code=4, environ=place)


async def test_a_database_with_running_agents_is_not_copied(home: Path):
    from outrider.agents.workers.locks import FileLocks

    await fill_laptop(home)
    locks = FileLocks(home / "data" / "workers")
    await locks.acquire("somebody")
    refused = await anyio.to_thread.run_sync(
        lambda: run_db_command("db", "copy", str(home / "data"), str(home / "x"), code=5, environ={})
    )
    assert "stop every outrider there first" in refused
    await locks.close()
