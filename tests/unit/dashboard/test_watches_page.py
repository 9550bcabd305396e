"""The page of watches over HTTP, on a real server over a real app that watches a real site."""

import html
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from outrider.dashboard.server import DashboardServer
from support.apps import loopback_app
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class WatchedSite:
    """An app, a client signed in to its dashboard, and the pages of the site that it watches."""

    loopback: loopback_app.LoopbackApp
    client: httpx2.AsyncClient
    bodies: dict[str, Any]

    async def show(self, path: str, **query: str) -> str:
        answer = await self.client.get(path, params=query or None, headers={"accept": "text/html"})
        assert answer.status_code == 200, answer.text
        return answer.text

    async def watch(self, action: str, **arguments: Any) -> Any:
        return (await self.loopback.app.call("web_watch", action=action, **arguments)).data


@asynccontextmanager
async def open_watched_site(home: Path, bodies: dict[str, Any]) -> AsyncGenerator[WatchedSite]:
    site = loopback_app.build_page_site(bodies)
    async with loopback_app.open_loopback_app(home, site, more={"pages": {"per_host_rate": 100}}) as loopback:
        server = DashboardServer(loopback.app.dashboard_services())
        await server.start()
        try:
            origin = {"origin": server.base_url.rstrip("/")}
            async with httpx2.AsyncClient(
                base_url=server.base_url, timeout=PROCESS_TIMEOUT_S, headers=origin
            ) as client:
                await client.get("/", params={"token": server.sign_in_url.partition("token=")[2]})
                yield WatchedSite(loopback, client, bodies)
        finally:
            await server.aclose()


def build_text(price: int) -> str:
    return loopback_app.build_article_html(
        "Kettle", f"The kettle costs {price} euros at the moment, and boils water faster than any other of this coast."
    )


async def test_checks_changes_and_failures_are_listed_and_searched(home: Path):
    async with open_watched_site(home, {"/kettle": build_text(49), "/gone": build_text(1)}) as site:
        assert "No watches yet" in await site.show("/watches")
        root = site.loopback.site_url
        added = [
            (await site.watch("add", url=f"{root}/kettle", name="Price <b>of</b> tea", every="1d"))["watches"][0]["id"],
            (await site.watch("add", url=f"{root}/gone", every="1d"))["watches"][0]["id"],
        ]
        site.bodies["/kettle"] = build_text(39)
        del site.bodies["/gone"]
        for name in added:
            await site.watch("look", id=name)
        listed = await site.show("/watches")
        assert "2 watches" in listed
        assert "Price &lt;b&gt;of&lt;/b&gt; tea" in listed
        assert listed.index("Price") < listed.index(f"{root}/gone"), "the last changed stands first"
        assert "does not have this page (HTTP 404)" in listed
        assert "failing" in listed
        for query, found in {
            ("q", "of</b>"): [True, False],
            ("q", "/gone"): [False, True],
            ("which", "failing"): [False, True],
            ("which", "paused"): [False, False],
        }.items():
            shown = await site.show("/watches", **dict([query]))
            assert [f"/watches/{name}" in shown for name in added] == found, query

        one = await site.show(f"/watches/{added[0]}")
        assert "The kettle costs 39 euros" in one
        assert "2 checks" in one
        other = await site.show(f"/watches/{added[1]}")
        assert "1 failure in a row" in other


async def test_a_watch_is_paused_and_resumed_by_its_button(home: Path):
    async with open_watched_site(home, {"/kettle": build_text(49)}) as site:
        url = f"{site.loopback.site_url}/kettle"
        name = (await site.watch("add", url=url, every="1d"))["watches"][0]["id"]
        for wanted, button in (("paused", "Pause"), ("active", "Resume")):
            page = await site.show(f"/watches/{name}")
            assert re.search(rf'value="{wanted}">\s*<button[^>]*>{button}<', page)
            await site.client.post(f"/watches/{name}/state", data={"state": wanted})
            assert (await site.watch("list"))["watches"][0]["state"] == wanted
        wrong = await site.client.post(f"/watches/{name}/state", data={"state": "gone"})
        assert wrong.status_code == 400
        assert (await site.client.get("/watches/w000")).status_code == 404


@pytest.mark.nightly
async def test_long_lists_come_in_parts(home: Path):
    async with open_watched_site(home, {f"/{number}": build_text(number) for number in range(52)}) as site:
        for number in range(52):
            await site.watch("add", url=f"{site.loopback.site_url}/{number}", every="1d")
        first = await site.show("/watches")
        more = re.findall(r'href="([^"]*offset=50[^"]*)"', first)
        assert first.count('class="wide"') == 50
        assert (await site.show(html.unescape(more[0]))).count('class="wide"') == 2
