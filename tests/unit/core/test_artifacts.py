import hashlib
import os
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest

from outrider.core.artifacts import ARTIFACT_URI_PREFIX, Artifact, ArtifactStore
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, NotFound, Unavailable
from support.processes import python_source
from support.timeouts import PROCESS_TIMEOUT_S

HOUR = 3600
FULL = """
import anyio, resource, sys
from pathlib import Path
from typing import Any
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import Unavailable

async def main():
    folder = Path(sys.argv[1])
    database = Database.from_file(folder / "outrider.db")
    artifacts = ArtifactStore(folder / "artifacts", database, keep_seconds=3600)
    await artifacts.save(b"small", name="small", mime_type="text/plain", session="s")
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    try:
        await artifacts.save(b"x" * 1_000_000, name="big", mime_type="text/plain", session="s")
    except Unavailable as error:
        print(error.code, error)
    print([kept.name for kept in await artifacts.list_recent()])
    await database.close()
anyio.run(main)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "artifacts"


@pytest.fixture
async def artifacts(folder: Path, database: Database) -> ArtifactStore:
    return ArtifactStore(folder, database, keep_seconds=HOUR)


async def save_artifact(
    artifacts: ArtifactStore, data: bytes = b"data", name: str = "a.png", session: str = "s"
) -> Artifact:
    return await artifacts.save(data, name=name, mime_type="image/png", session=session)


def list_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def test_a_saved_artifact_can_be_read_at_its_address(artifacts: ArtifactStore, folder: Path):
    data = bytes(range(256)) * 100
    kept = await save_artifact(artifacts, data)
    assert kept.uri == ARTIFACT_URI_PREFIX + kept.id
    assert (kept.name, kept.mime_type, kept.session, kept.size) == ("a.png", "image/png", "s", len(data))
    assert kept.sha256 == hashlib.sha256(data).hexdigest()
    assert await artifacts.read(kept.uri) == await artifacts.read(kept.id) == (kept, data)
    assert await artifacts.get(kept.uri) == kept
    assert list_files(folder) == [kept.id]


async def test_an_empty_file_is_a_file(artifacts: ArtifactStore):
    assert (await artifacts.read((await save_artifact(artifacts, b"")).uri))[1] == b""


async def test_the_same_bytes_are_kept_twice_under_two_addresses(artifacts: ArtifactStore):
    assert (await save_artifact(artifacts)).uri != (await save_artifact(artifacts)).uri


async def test_the_newest_are_listed_first(artifacts: ArtifactStore):
    for name in "abc":
        await save_artifact(artifacts, name=name)
    assert [kept.name for kept in await artifacts.list_recent(2)] == ["c", "b"]


@pytest.mark.parametrize(
    "uri",
    [
        "",
        ARTIFACT_URI_PREFIX,
        "../../etc/passwd",
        ARTIFACT_URI_PREFIX + "../outrider.db",
        "file:///etc/passwd",
        str(uuid.uuid4()),
        ARTIFACT_URI_PREFIX + str(uuid.uuid4()),
        "x" * 100_000,
        "\ud800\0",
        "%",
    ],
    ids=["empty", "bare", "up", "scheme up", "file", "other", "other uri", "long", "odd", "like"],
)
async def test_an_unknown_address_is_not_found(artifacts: ArtifactStore, uri: str):
    await save_artifact(artifacts)
    with pytest.raises(NotFound, match="no artifact") as caught:
        await artifacts.read(uri)
    assert len(caught.value.message) < 500
    assert caught.value.hint


async def test_an_address_with_extra_characters_is_not_found(artifacts: ArtifactStore):
    kept = await save_artifact(artifacts)
    with pytest.raises(NotFound):
        await artifacts.get(kept.uri + "/..")


async def test_a_file_that_is_gone_is_not_found(artifacts: ArtifactStore, folder: Path):
    kept = await save_artifact(artifacts)
    (folder / kept.id).unlink()
    with pytest.raises(NotFound, match="is gone"):
        await artifacts.read(kept.uri)


async def test_a_file_that_cannot_be_read_is_reported_in_a_sentence(artifacts: ArtifactStore, folder: Path):
    kept = await save_artifact(artifacts)
    (folder / kept.id).unlink()
    (folder / kept.id).mkdir()
    with pytest.raises(Unavailable, match="cannot be read: Is a directory"):
        await artifacts.read(kept.uri)


async def test_expired_artifacts_are_deleted(artifacts: ArtifactStore, folder: Path, database: Database):
    old, older = await save_artifact(artifacts), await save_artifact(artifacts)
    (folder / older.id).unlink()
    assert await artifacts.delete_expired() == 0
    assert await ArtifactStore(folder, database, keep_seconds=0).delete_expired() == 2
    assert (list_files(folder), await artifacts.list_recent()) == ([], [])
    with pytest.raises(NotFound, match="no artifact"):
        await artifacts.get(old.uri)


async def test_a_file_that_cannot_be_removed_does_not_stop_the_sweep(folder: Path, database: Database):
    artifacts = ArtifactStore(folder, database, keep_seconds=0)
    stuck, gone = await save_artifact(artifacts), await save_artifact(artifacts)
    (folder / stuck.id).unlink()
    (folder / stuck.id).mkdir()
    assert await artifacts.delete_expired() == 2
    assert gone.id not in list_files(folder)


def test_a_full_disk_is_reported_in_a_sentence_and_nothing_is_left_behind(tmp_path: Path):
    command = python_source.build_command(FULL, tmp_path)
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=PROCESS_TIMEOUT_S, env=dict(os.environ), check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == ["storage the file cannot be stored: File too large", "['small']"]
    assert len(list_files(tmp_path / "artifacts")) == 1


@pytest.mark.parametrize("place", ["a file", "a file/artifacts"])
async def test_a_folder_that_cannot_be_created_is_reported_in_a_sentence(
    tmp_path: Path, database: Database, place: str
):
    (tmp_path / "a file").touch()
    artifacts = ArtifactStore(tmp_path / place, database, keep_seconds=HOUR)
    with pytest.raises(Unavailable, match="the file cannot be stored: ") as caught:
        await save_artifact(artifacts)
    assert caught.value.code == "storage"
    assert await artifacts.list_recent() == []


async def test_a_file_that_the_database_could_not_record_is_removed(folder: Path, tmp_path: Path):
    artifacts = ArtifactStore(folder, Database.from_file(tmp_path), keep_seconds=HOUR)
    with pytest.raises(Unavailable):
        await save_artifact(artifacts)
    assert list_files(folder) == []


async def test_foreign_names_never_reach_the_disk_and_are_stored_sanitized(artifacts: ArtifactStore, folder: Path):
    kept = await save_artifact(artifacts, name="../../" + "n" * 500 + "\ud800", session="\0s")
    assert (await artifacts.get(kept.uri)) == kept
    assert (len(kept.name), kept.session) == (255, "\ufffds")
    assert list_files(folder) == [kept.id]


async def names_in_parts(artifacts: ArtifactStore, limit: int, **wanted: Any) -> list[list[str]]:
    """Return the names in each part of a list, one line per part."""
    parts, after = [], ""
    while True:
        part = await artifacts.list_batch(limit=limit, after=after, **wanted)
        parts.append([kept.name for kept in part.items])
        after = part.after
        if not after:
            return parts


async def test_a_long_list_is_read_in_parts_while_new_items_are_added(
    artifacts: ArtifactStore,
):
    for number in range(5):
        await save_artifact(artifacts, name=f"{number}.png")
    first = await artifacts.list_batch(limit=2)
    await save_artifact(artifacts, name="new.png")
    second = await artifacts.list_batch(limit=2, after=first.after)
    third = await artifacts.list_batch(limit=2, after=second.after)
    shown = [kept.name for part in (first, second, third) for kept in part.items]
    assert shown == ["4.png", "3.png", "2.png", "1.png", "0.png"]
    assert third.after == ""


async def test_a_list_can_be_filtered_by_kind_session_and_name(artifacts: ArtifactStore):
    await save_artifact(artifacts, name="100%_done.png")
    await save_artifact(artifacts, name="1000 done.png", session="other")
    await artifacts.save(b"a,b", name="Rows.CSV", mime_type="text/csv", session="s")
    assert await names_in_parts(artifacts, 9, pictures=True) == [["1000 done.png", "100%_done.png"]]
    assert await names_in_parts(artifacts, 9, pictures=False) == [["Rows.CSV"]]
    assert await names_in_parts(artifacts, 1, session="s") == [["Rows.CSV"], ["100%_done.png"]]
    assert await names_in_parts(artifacts, 9, text="0%_") == [["100%_done.png"]]
    assert await names_in_parts(artifacts, 9, text="rows.csv") == [["Rows.CSV"]]


async def test_the_artifacts_of_one_workspace_are_listed_alone(artifacts: ArtifactStore):
    await save_artifact(artifacts, name="anywhere.png")
    call = Call(session="s", workspace="w")
    await artifacts.save(b"x", name="there.png", mime_type="image/png", session="s", call=call)
    assert await names_in_parts(artifacts, 9, workspace="w") == [["there.png"]]
    assert await names_in_parts(artifacts, 9, workspace="other") == [[]]


@pytest.mark.parametrize("after", ["x", "1.0", "a~b", "~", "1e5~" + "x" * 300])
async def test_an_invalid_list_cursor_is_refused(artifacts: ArtifactStore, after: str):
    with pytest.raises(InvalidInput, match="after: "):
        await artifacts.list_batch(after=after)


async def test_a_part_of_a_file_can_be_read(artifacts: ArtifactStore, folder: Path):
    kept = await save_artifact(artifacts, b"0123456789")
    assert await artifacts.read_range(kept, 2, 5) == b"234"
    assert await artifacts.read_range(kept, 8, 100) == b"89"
    assert await artifacts.read_range(kept, 50, 60) == b""
    (folder / kept.id).unlink()
    with pytest.raises(NotFound):
        await artifacts.read_range(kept, 0, 1)


async def test_artifacts_have_a_web_address_only_while_a_dashboard_runs(artifacts: ArtifactStore):
    kept = await save_artifact(artifacts)
    assert artifacts.build_artifact_url(kept.uri) == ""
    artifacts.dashboard_url = "http://127.0.0.1:8765/dashboard/"
    assert artifacts.build_artifact_url(kept.uri) == f"http://127.0.0.1:8765/dashboard/files/{kept.id}"
