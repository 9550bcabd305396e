"""Houses of one process: equal settings, one house; other settings, another one that shares what is equal."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from outrider.app.daemon.app_pool import MAX_IDLE_APPS, AppPool
from outrider.core.errors import NotFound
from outrider.settings import LoadedSettings, load

pytestmark = pytest.mark.anyio


@pytest.fixture
async def houses() -> AsyncGenerator[AppPool]:
    made = AppPool()
    yield made
    await made.close()


def wanted(home: Path, workspace: str = "", **flags: Any) -> LoadedSettings:
    flags = {"toolsets": ["planning"], "dashboard": {"enabled": False}} | flags
    return load(flags, environ={}, home=home, workspace=home / workspace)


async def test_hosts_with_equal_settings_live_in_one_house(houses: AppPool, home: Path):
    first, second = await houses.acquire(wanted(home)), await houses.acquire(wanted(home))
    assert first[1] is second[1]
    assert (len(houses), first[0].host_count) == (1, 2)


async def test_another_directory_or_choice_is_another_house_with_the_same_browser_and_database(
    houses: AppPool, home: Path
):
    apps = [
        (await houses.acquire(each))[1]
        for each in (wanted(home), wanted(home, "project"), wanted(home, toolsets=["web"]))
    ]
    assert len(houses) == 3
    for name in ("database", "browsers", "events", "artifacts"):
        assert len({id(getattr(app, name)) for app in apps}) == 1
    assert len({id(app.toolbox) for app in apps}) == 3


@pytest.mark.parametrize("flags", [{"browser": {"max_sessions": 2}}, {"egress": {"allow": ["127.0.0.1:1"]}}])
async def test_who_wants_another_browser_or_other_limits_for_it_gets_one(houses: AppPool, home: Path, flags: Any):
    _, one = await houses.acquire(wanted(home))
    _, other = await houses.acquire(wanted(home, **flags))
    assert one.browsers is not other.browsers
    assert one.database is other.database


async def test_what_is_shared_stays_open_until_its_last_house_closes(houses: AppPool, home: Path):
    house, _ = await houses.acquire(wanted(home))
    _, other = await houses.acquire(wanted(home, "project"))
    await house.close()
    assert await other.events.list_recent() == []
    assert (await other.call("get_current_state")).text


async def test_another_database_is_somebody_else_s(houses: AppPool, home: Path):
    elsewhere = wanted(home, database=f"sqlite+aiosqlite:///{home}/other.db")
    assert houses.explain_mismatch(elsewhere) == ""
    await houses.acquire(wanted(home))
    assert "another `database`" in houses.explain_mismatch(elsewhere)


async def test_empty_houses_are_kept_warm_but_not_without_end(houses: AppPool, home: Path):
    for number in range(MAX_IDLE_APPS + 3):
        house, _ = await houses.acquire(wanted(home, str(number)))
        await houses.release(house)
    assert len(houses) == MAX_IDLE_APPS


async def test_a_house_that_cannot_be_built_leaves_nothing_behind(houses: AppPool, home: Path):
    with pytest.raises(NotFound, match="no toolset"):
        await houses.acquire(wanted(home, toolsets=["nope"]))
    assert len(houses) == 0
    await houses.acquire(wanted(home))
