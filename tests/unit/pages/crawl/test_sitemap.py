"""A site's own list of pages is read within bounds, and holds up nobody."""

import gzip

import anyio
import pytest

from outrider.pages.crawl.sitemap import iter_entries

pytestmark = pytest.mark.anyio
FLOOD = gzip.compress(b"<urlset>" + b"<url><loc>https://a.example/x</loc></url>" * 240_000, 1)


async def flood(_: str) -> bytes:
    return FLOOD


async def test_a_list_that_is_far_too_long_ends_at_the_protocols_limit_and_stops_nobody_elses_work():
    turns = 0
    async with anyio.create_task_group() as tasks:

        async def others() -> None:
            nonlocal turns
            while True:
                await anyio.sleep(0.01)
                turns += 1

        tasks.start_soon(others)
        await anyio.lowlevel.checkpoint()
        pages = [entry async for entry in iter_entries(flood, ["https://a.example/sitemap.xml.gz"])]
        tasks.cancel_scope.cancel()
    assert len(pages) == 50_000
    assert turns >= 5


async def test_who_gives_up_waiting_for_a_list_waits_no_longer():
    with anyio.move_on_after(0.05) as scope:
        async for _ in iter_entries(flood, ["https://a.example/sitemap.xml.gz"]):
            break
    assert scope.cancelled_caught
