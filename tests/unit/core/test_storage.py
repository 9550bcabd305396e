"""Artifact storages have the same contract: a folder, and S3 over its real protocol."""

import hashlib
import io
import os
import subprocess
import sys
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.core.artifacts import ArtifactStore
from outrider.core.database.database import Database
from outrider.core.database.failures import TransactionOutcomeUnknown
from outrider.core.errors import NotConfigured, NotFound, Unavailable
from outrider.core.installation import suggest_extra
from outrider.core.storage.factory import build_storage
from outrider.core.storage.folder import FolderStorage
from outrider.core.storage.objects import UPLOAD_BLOCK_BYTES, ObjectStorage
from outrider.core.storage.storage import Storage
from support.databases import sqlite
from support.fakes import object_storage
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
LARGE = os.urandom(1 << 20) * 12 + b"end"  # more than two parts
WITHOUT_LIBRARY = """
import sys
import anyio, io
sys.modules["obstore"] = None
from outrider.core.errors import NotConfigured
from outrider.core.storage.objects import ObjectStorage

async def main():
    try:
        await ObjectStorage("s3://bucket/", {}).put("", io.BytesIO(b""))
    except NotConfigured as error:
        print(error.hint)
anyio.run(main)
"""
MEASURED = """
import resource, sys, uuid
import anyio
from outrider.core.storage.objects import ObjectStorage

class Endless:
    def __init__(self, left): self.left = left
    def read(self, size):
        given = min(size, self.left)
        self.left -= given
        return bytes(given)

async def main():
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    storage, name = ObjectStorage(sys.argv[1], keys), str(uuid.uuid4())
    await storage.put(name, Endless(6_000_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await storage.put(name, Endless(80_000_000))
    size = 0
    async for block in storage.stream(name):
        size += len(block)
    print(size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
anyio.run(main)
"""


@pytest.fixture(scope="module")
def s3() -> Generator[object_storage.S3Server]:
    with object_storage.serve_s3() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "folder":
        return FolderStorage(tmp_path / "artifacts")
    server: object_storage.S3Server = request.getfixturevalue("s3")
    return ObjectStorage(server.build_storage_url(f"{uuid.uuid4()}/deeper"), object_storage.AWS_CREDENTIALS)


class Broken(io.BytesIO):
    """A file that cannot be read completely."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() >= 2 * UPLOAD_BLOCK_BYTES:
            raise OSError(5, "Input/output error")
        return super().read(size)


def create_name() -> str:
    return str(uuid.uuid4())


async def list_names(storage: Storage) -> set[str]:
    return {item.name async for item in storage.iter_items()}


async def read_stream(storage: Storage, name: str) -> bytes:
    return b"".join([block async for block in storage.stream(name)])


@pytest.mark.parametrize("data", [b"", b"a few bytes", LARGE], ids=["empty", "small", "large"])
async def test_a_stored_file_is_read_whole_in_ranges_and_as_a_stream(storage: Storage, data: bytes):
    name = create_name()
    stored = await storage.put(name, io.BytesIO(data))
    assert (stored.size, stored.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert await storage.read(name) == data
    assert await read_stream(storage, name) == data
    assert await storage.read_range(name, 3, 7) == data[3:7]
    assert await storage.read_range(name, len(data) - 2 if data else 0, len(data) + 100) == data[-2:]
    assert await storage.read_range(name, len(data) + 5, len(data) + 9) == b""
    assert await storage.read_range(name, 7, 3) == b""
    assert await list_names(storage) == {name}


async def test_an_interrupted_file_is_reported_and_never_appears(storage: Storage):
    with pytest.raises(Unavailable, match=r"the file cannot be stored: .*Input/output error") as caught:
        await storage.put(create_name(), Broken(LARGE))
    assert (caught.value.code, bool(caught.value.hint)) == ("storage", True)
    assert await list_names(storage) == set()


async def test_a_missing_file_is_not_found_and_may_be_removed(storage: Storage):
    kept, gone = create_name(), create_name()
    await storage.put(kept, io.BytesIO(b"1"))
    for ask in (storage.read(gone), storage.read_range(gone, 0, 1), read_stream(storage, gone)):
        with pytest.raises(FileNotFoundError):
            await ask
    await storage.remove([gone, kept])
    assert await list_names(storage) == set()


async def test_a_name_that_is_not_a_uuid_is_rejected_before_any_access(storage: Storage):
    for name in ("../secrets", "", "a/b"):
        with pytest.raises(ValueError, match="badly formed"):
            await storage.read(name)


async def test_artifacts_are_kept_read_streamed_and_deleted(storage: Storage, tmp_path: Path):
    database = Database.from_file(sqlite.create_migrated_file(tmp_path / "x.db"))
    artifacts = ArtifactStore(storage, database, keep_seconds=3600)
    kept = await artifacts.save_file(io.BytesIO(LARGE), name="big", mime_type="a/b", session="s")
    assert (kept.size, (await artifacts.read(kept.uri))[1] == LARGE) == (len(LARGE), True)
    assert b"".join([block async for block in artifacts.stream(kept)]) == LARGE
    assert await artifacts.read_range(kept, len(LARGE) - 3, len(LARGE)) == b"end"
    await storage.remove([kept.id])
    for ask in (artifacts.read(kept.uri), artifacts.read_range(kept, 0, 1)):
        with pytest.raises(NotFound, match="is gone"):
            await ask
    other = await artifacts.save(b"1", name="small", mime_type="a/b", session="s")
    assert await ArtifactStore(storage, database, keep_seconds=0).delete_expired() == 2
    assert (await list_names(storage), other.id in await list_names(storage)) == (set(), False)
    await database.close()


async def test_a_file_whose_row_could_not_be_written_is_not_left_behind(storage: Storage, tmp_path: Path):
    artifacts = ArtifactStore(storage, Database.from_file(tmp_path), keep_seconds=3600)
    with pytest.raises(Unavailable):
        await artifacts.save(b"1", name="x", mime_type="a/b", session="s")
    assert await list_names(storage) == set()


class Doubtful(Database):
    """Lose the connection during COMMIT."""

    async def run_transaction(self, work: Any, *, write: bool) -> Any:
        raise TransactionOutcomeUnknown("lost", code="database_unsure")


async def test_a_file_whose_row_may_have_been_written_stays(storage: Storage, tmp_path: Path):
    artifacts = ArtifactStore(storage, Doubtful.from_file(tmp_path / "x.db"), keep_seconds=3600)
    with pytest.raises(TransactionOutcomeUnknown):
        await artifacts.save(b"1", name="x", mime_type="a/b", session="s")
    assert len(await list_names(storage)) == 1


async def test_a_cancelled_save_leaves_no_file_behind(storage: Storage, tmp_path: Path):
    database = Database.from_file(sqlite.create_migrated_file(tmp_path / "x.db"))
    artifacts = ArtifactStore(storage, database, keep_seconds=3600)
    for steps in range(0, 40, 4):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                save = lambda: artifacts.save(b"1", name="x", mime_type="a/b", session="s")  # noqa: E731
                tasks.start_soon(save)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
    assert {each.id for each in await artifacts.list_recent()} <= await list_names(storage)
    await database.close()


@pytest.mark.nightly
async def test_a_large_file_is_never_held_in_memory(s3: object_storage.S3Server):
    command = [sys.executable, "-W", "error", "-c", MEASURED, s3.build_storage_url("measured")]
    ended = await anyio.run_process(command, env=dict(os.environ))
    size, grown = map(int, ended.stdout.split())
    assert (size, grown < 50_000) == (80_000_000, True)  # kilobytes


@pytest.mark.parametrize("work", ["put", "read", "list"])
async def test_a_missing_bucket_and_an_unreachable_server_are_reported(s3: object_storage.S3Server, work: str):
    nowhere = ObjectStorage(s3.build_storage_url(bucket="no-such-bucket"), object_storage.AWS_CREDENTIALS)
    away = ObjectStorage("s3://bucket/?endpoint=http://127.0.0.1:1&region=x", object_storage.AWS_CREDENTIALS)
    for storage in (nowhere, away):
        asks = {
            "put": lambda storage=storage: storage.put(create_name(), io.BytesIO(b"1")),
            "read": lambda storage=storage: storage.read(create_name()),
            "list": lambda storage=storage: list_names(storage),
        }
        with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(Unavailable) as caught:
            await asks[work]()
        assert caught.value.code == "storage"
        assert "outrider doctor" in caught.value.hint
        assert "127.0.0.1" not in caught.value.message


async def test_removing_from_a_server_that_is_away_is_not_an_error():
    await ObjectStorage("s3://bucket/?endpoint=http://127.0.0.1:1&region=x", object_storage.AWS_CREDENTIALS).remove(
        [create_name()]
    )


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("ftp://host/x", "not a usable address"),
        ("memory:///", "not a usable address"),
        ("s3://bucket/?secret_access_key=hunter2", "'secret_access_key' is a secret"),
        ("s3://me:hunter2@bucket/", "not a usable address"),
        ("s3://bucket/?nonsense=1", "nonsense"),
    ],
)
async def test_an_unusable_address_is_reported_with_the_expected_form(tmp_path: Path, setting: str, reason: str):
    with pytest.raises(NotConfigured, match=reason) as caught:
        await build_storage(setting, tmp_path, {}).read(create_name())
    assert "AWS_ACCESS_KEY_ID" in caught.value.hint
    assert "hunter2" not in caught.value.message


def test_without_the_library_the_remedy_is_its_installation():
    command = [sys.executable, "-W", "error", "-c", WITHOUT_LIBRARY]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    assert ended.stdout.strip() == suggest_extra("objects")


def test_the_setting_names_a_folder_or_an_address(tmp_path: Path):
    assert build_storage("", tmp_path, {}).location == str(tmp_path / "artifacts")
    assert build_storage("/mnt/shared", tmp_path, {}).location == "/mnt/shared"
    assert build_storage("file:///mnt/shared", tmp_path, {}).location == "/mnt/shared"
    assert build_storage("s3://bucket/some/where?region=x", tmp_path, {}).location == "s3://bucket/some/where"
