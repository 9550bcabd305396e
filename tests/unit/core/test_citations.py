import hashlib
import string
from pathlib import Path

import anyio
import pytest

from outrider.core.citations import CitationPool, build_references
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import Refused
from support.databases import sqlite

FIRST_FIVE = ("61g", "oq4", "pra", "8zu", "urf")
DIGEST = "fdb7b5d7ce8514bd2f003c5bfc4447521c110456429b28785f2f6ec58616aac9"


@pytest.fixture
async def citations(database: Database) -> CitationPool:
    return CitationPool(database)


def test_the_pool_has_every_three_character_reference_once():
    assert len(build_references()) == len(set(build_references())) == 36**3 == 46_656
    assert all(len(each) == 3 for each in build_references())
    assert set("".join(build_references())) == set(string.ascii_lowercase + string.digits)


def test_the_order_is_the_same_in_every_process_and_version_forever():
    assert build_references()[:5] == FIRST_FIVE
    assert hashlib.sha256(" ".join(build_references()).encode()).hexdigest() == DIGEST


def test_the_order_is_not_alphabetical():
    assert sum(left < right for left, right in zip(build_references(), build_references()[1:], strict=False)) in range(
        22_500, 24_200
    )


async def test_references_are_handed_out_in_the_order_of_the_pool(citations: CitationPool):
    call = Call(session="s", message="m")
    assert await citations.take(call, 3) == list(build_references()[:3])
    assert await citations.take(call, 0) == []
    assert await citations.take(call, 2) == list(build_references()[3:5])


@pytest.mark.parametrize("other", [Call(session="t"), Call(session="s", thread="t"), Call(session="s", message="m")])
async def test_each_message_starts_with_fresh_references(citations: CitationPool, other: Call):
    await citations.take(Call(session="s"), 5)
    assert await citations.take(other, 2) == list(build_references()[:2])


async def test_session_and_thread_names_are_not_concatenated(citations: CitationPool):
    await citations.take(Call(session="a", thread="bc"), 5)
    assert await citations.take(Call(session="ab", thread="c"), 1) == list(build_references()[:1])


async def test_parallel_calls_of_one_message_never_share_a_reference(tmp_path: Path):
    databases = [Database.from_file(sqlite.create_migrated_file(tmp_path / "outrider.db")) for _ in range(2)]
    taken: list[str] = []

    async def take(citations: CitationPool, wanted: int) -> None:
        taken.extend(await citations.take(Call(message="m"), wanted))

    async with anyio.create_task_group() as tasks:
        for each in databases:
            for wanted in range(1, 16):
                tasks.start_soon(take, CitationPool(each), wanted)
    assert len(taken) == len(set(taken)) == 240
    assert set(taken) == set(build_references()[:240])
    for each in databases:
        await each.close()


async def test_used_references_are_remembered_by_the_next_process(database: Database):
    await CitationPool(database).take(Call(message="m"), 4)
    await database.close()
    again = Database(database.url)
    assert await CitationPool(again).take(Call(message="m"), 1) == [build_references()[4]]
    await again.close()


async def test_a_host_that_reserves_references_gets_exactly_those(citations: CitationPool):
    call = Call(message="m", citations=(100, 3))
    assert await citations.take(call, 2) == list(build_references()[100:102])
    assert await citations.take(call, 9) == list(build_references()[100:103])
    assert await citations.take(Call(message="m"), 1) == [build_references()[0]], "the host counts for itself"


async def test_fewer_references_are_given_at_the_end_of_the_pool_and_then_none(citations: CitationPool):
    call = Call(message="m")
    await citations.take(call, len(build_references()) - 2)
    assert await citations.take(call, 5) == list(build_references()[-2:])
    for _ in range(2):
        with pytest.raises(Refused, match="used every citation reference") as caught:
            await citations.take(call, 1)
        assert caught.value.code == "citation_pool_exhausted"
        assert caught.value.hint


@pytest.mark.parametrize("slice_", [(46_656, 5), (10**9, 1), (5, 0)])
async def test_an_empty_reservation_is_exhausted(citations: CitationPool, slice_: tuple[int, int]):
    with pytest.raises(Refused):
        await citations.take(Call(citations=slice_), 1)


async def test_without_a_database_references_are_counted_in_memory_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    citations = CitationPool(Database.from_file(tmp_path))
    taken = [*await citations.take(Call(message="m"), 3), *await citations.take(Call(message="m"), 3)]
    assert len(set(taken)) == 6
    assert "counted in memory" in caplog.text
    assert set(await citations.take(Call(message="other"), 3)) <= set(taken)


async def test_a_failing_and_recovering_database_never_repeats_a_reference(tmp_path: Path):
    path = tmp_path / "data" / "outrider.db"
    database = Database.from_file(path)
    citations, call = CitationPool(database), Call(message="m")
    taken = await citations.take(call, 5)
    await database.close()
    path.parent.rename(tmp_path / "away")
    path.parent.touch()
    taken += await citations.take(call, 5)
    path.parent.unlink()
    (tmp_path / "away").rename(path.parent)
    taken += await citations.take(call, 5)
    await database.close()
    assert len(set(taken)) == 15


async def test_invalid_and_very_long_names_are_counted_too(citations: CitationPool):
    for call in (Call(session="\ud800\0"), Call(session="s" * 100_000)):
        assert await citations.take(call, 1) == [build_references()[0]]
        assert await citations.take(call, 1) == [build_references()[1]]
