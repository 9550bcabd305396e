"""Pool apps: equal settings share one, others share equal components."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from outrider.app.daemon.app_pool import MAX_IDLE_APPS, AppPool
from outrider.core.errors import NotFound
from outrider.settings import LoadedSettings, load

pytestmark = pytest.mark.anyio


@pytest.fixture
async def pool() -> AsyncGenerator[AppPool]:
    pool = AppPool()
    yield pool
    await pool.close()


def load_settings(home: Path, workspace: str = "", **flags: Any) -> LoadedSettings:
    flags = {"toolsets": ["planning"], "dashboard": {"enabled": False}} | flags
    return load(flags, environ={}, home=home, workspace=home / workspace)


async def test_hosts_with_equal_settings_share_one_app(pool: AppPool, home: Path):
    first, second = await pool.acquire(load_settings(home)), await pool.acquire(load_settings(home))
    assert first[1] is second[1]
    assert (len(pool), first[0].host_count) == (1, 2)


async def test_another_directory_or_toolset_gets_another_app_with_shared_components(pool: AppPool, home: Path):
    apps = [
        (await pool.acquire(each))[1]
        for each in (load_settings(home), load_settings(home, "project"), load_settings(home, toolsets=["web"]))
    ]
    assert len(apps) == 3
    for name in ("database", "browsers", "events", "artifacts"):
        assert len({id(getattr(app, name)) for app in apps}) == 1
    assert len({id(app.toolbox) for app in apps}) == 3


@pytest.mark.parametrize("flags", [{"browser": {"max_sessions": 2}}, {"egress": {"allow": ["127.0.0.1:1"]}}])
async def test_different_browser_or_egress_settings_get_another_browser(pool: AppPool, home: Path, flags: Any):
    _, one = await pool.acquire(load_settings(home))
    _, other = await pool.acquire(load_settings(home, **flags))
    assert one.browsers is not other.browsers
    assert one.database is other.database


async def test_shared_components_stay_open_until_the_last_app_closes(pool: AppPool, home: Path):
    pooled, _ = await pool.acquire(load_settings(home))
    _, other = await pool.acquire(load_settings(home, "project"))
    await pooled.close()
    assert await other.events.list_recent() == []
    assert (await other.call("get_current_state")).text


async def test_another_database_is_refused(pool: AppPool, home: Path):
    elsewhere = load_settings(home, database=f"sqlite+aiosqlite:///{home}/other.db")
    assert pool.explain_mismatch(elsewhere) == ""
    await pool.acquire(load_settings(home))
    assert "another `database`" in pool.explain_mismatch(elsewhere)


async def test_idle_apps_are_kept_up_to_a_limit(pool: AppPool, home: Path):
    for number in range(MAX_IDLE_APPS + 3):
        pooled, _ = await pool.acquire(load_settings(home, str(number)))
        await pool.release(pooled)
    assert len(pool) == MAX_IDLE_APPS


async def test_an_app_that_cannot_be_built_leaves_nothing_behind(pool: AppPool, home: Path):
    with pytest.raises(NotFound, match="no toolset"):
        await pool.acquire(load_settings(home, toolsets=["nope"]))
    assert len(pool) == 0
    await pool.acquire(load_settings(home))
