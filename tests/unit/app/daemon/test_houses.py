"""Houses of one process: equal settings, one house; other settings, another one that shares what is equal."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from outrider.app.daemon.houses import EMPTY, Houses
from outrider.core.errors import NotFound
from outrider.settings import Loaded, load

pytestmark = pytest.mark.anyio


@pytest.fixture
async def houses() -> AsyncGenerator[Houses]:
    made = Houses()
    yield made
    await made.close()


def wanted(home: Path, workspace: str = "", **flags: Any) -> Loaded:
    flags = {"toolsets": ["planning"], "dashboard": {"enabled": False}} | flags
    return load(flags, environ={}, home=home, workspace=home / workspace)


async def test_hosts_with_equal_settings_live_in_one_house(houses: Houses, home: Path):
    first, second = await houses.enter(wanted(home)), await houses.enter(wanted(home))
    assert first[1] is second[1]
    assert (len(houses), first[0].hosts) == (1, 2)


async def test_another_directory_or_choice_is_another_house_with_the_same_browser_and_database(
    houses: Houses, home: Path
):
    apps = [
        (await houses.enter(each))[1]
        for each in (wanted(home), wanted(home, "project"), wanted(home, toolsets=["web"]))
    ]
    assert len(houses) == 3
    for name in ("database", "browsers", "events", "artifacts"):
        assert len({id(getattr(app, name)) for app in apps}) == 1
    assert len({id(app.toolbox) for app in apps}) == 3


@pytest.mark.parametrize("flags", [{"browser": {"max_sessions": 2}}, {"egress": {"allow": ["127.0.0.1:1"]}}])
async def test_who_wants_another_browser_or_other_limits_for_it_gets_one(houses: Houses, home: Path, flags: Any):
    _, one = await houses.enter(wanted(home))
    _, other = await houses.enter(wanted(home, **flags))
    assert one.browsers is not other.browsers
    assert one.database is other.database


async def test_what_is_shared_stays_open_until_its_last_house_closes(houses: Houses, home: Path):
    house, _ = await houses.enter(wanted(home))
    _, other = await houses.enter(wanted(home, "project"))
    await house.close()
    assert await other.events.recent() == []
    assert (await other.call("get_current_state")).text


async def test_another_database_is_somebody_else_s(houses: Houses, home: Path):
    elsewhere = wanted(home, database=f"sqlite+aiosqlite:///{home}/other.db")
    assert houses.stranger(elsewhere) == ""
    await houses.enter(wanted(home))
    assert "another `database`" in houses.stranger(elsewhere)


async def test_empty_houses_are_kept_warm_but_not_without_end(houses: Houses, home: Path):
    for number in range(EMPTY + 3):
        house, _ = await houses.enter(wanted(home, str(number)))
        await houses.leave(house)
    assert len(houses) == EMPTY


async def test_a_house_that_cannot_be_built_leaves_nothing_behind(houses: Houses, home: Path):
    with pytest.raises(NotFound, match="no toolset"):
        await houses.enter(wanted(home, toolsets=["nope"]))
    assert len(houses) == 0
    await houses.enter(wanted(home))
