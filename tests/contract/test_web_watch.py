"""The contract of web_watch (toolset `watches`)."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from outrider.app.watch_reading import build_target_reader
from outrider.core.background import run_background
from outrider.core.context import Call
from outrider.core.notices.notifier import sign_webhook
from outrider.watches.watch import WatchTarget
from support.apps import loopback_app
from support.fakes import http_servers, website
from support.results import read_error, read_first_text
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
OPEN = "The shop is open from Monday to Friday, and the kettle is always on for those who come by."
CLOSED = "The shop is closed until further notice, because the roof has to be repaired this autumn."


def build_shop(text: str, price: str = "24.00", seen: int = 3) -> str:
    return loopback_app.build_article_html(
        "Shop", text, f"Price: {price}", f"{seen} views", "It is beside the harbour, where the boats come in."
    )


def build_site(page: str) -> website.FakeSite:
    site = website.FakeSite()
    site.routes["/shop"] = website.SiteAnswer(page)
    return site


@asynccontextmanager
async def open_client(home: Path, site: Any, **watches: Any) -> AsyncGenerator[tuple[Client, str, Any]]:
    more = {"watches": {"min_interval_s": 1} | watches, "pages": {"per_host_rate": 1_000}}
    async with (
        loopback_app.open_loopback_app(home, site, more=more) as loopback,
        Client(loopback.app.build_server()) as client,
    ):
        yield client, loopback.site_url, loopback.app


async def create_watch(client: Client, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool("web_watch", arguments)
    assert not result.is_error, read_first_text(result)
    return result.structured_content


async def test_a_page_is_checked_again_and_its_change_is_readable(home: Path):
    site = build_site(build_shop(OPEN))
    async with open_client(home, site) as (client, url, _):
        added = (await create_watch(client, action="add", url=f"{url}/shop", every="6h", name="shop"))["watches"][0]
        assert (added["kind"], added["every"], added["looks"], added["state"]) == ("page", "6h", 1, "active")
        site.routes["/shop"] = website.SiteAnswer(build_shop(OPEN, seen=900))
        assert (await create_watch(client, action="look", id="shop"))["changes"] == []
        site.routes["/shop"] = website.SiteAnswer(build_shop(CLOSED))
        result = await client.call_tool("web_watch", {"action": "look", "id": added["id"]})
        change = result.structured_content["changes"][0]
        listed = await create_watch(client)
        history = await create_watch(client, action="changes")
    assert f"- {OPEN}\n+ {CLOSED}" in change["difference"]
    assert (change["number"], change["summary"], change["url"]) == (1, "1 line changed", f"{url}/shop")
    assert CLOSED in read_first_text(result)
    assert history["changes"] == [change]
    assert [(each["id"], each["changes"], each["looks"]) for each in listed["watches"]] == [(added["id"], 1, 3)]


async def test_a_page_that_has_not_changed_is_not_sent_again(home: Path):
    def answer(request: website.SiteRequest) -> website.SiteAnswer:
        known = request.headers.get("if-none-match") == '"one"'
        return website.SiteAnswer(build_shop(OPEN), status=304 if known else 200, headers={"etag": '"one"'})

    site = website.FakeSite({"/shop": answer})
    async with open_client(home, site) as (client, url, _):
        added = (await create_watch(client, action="add", url=f"{url}/shop"))["watches"][0]
        assert (await create_watch(client, action="look", id=added["id"]))["changes"] == []
    assert [request.headers.get("if-none-match") for request in site.requests if request.path == "/shop"] == [
        None,
        '"one"',
    ]


async def test_values_and_searches_are_watched(home: Path):
    site = build_site(build_shop(OPEN))
    async with open_client(home, site) as (client, url, app):
        fields = (await create_watch(client, action="add", url=f"{url}/shop", fields={"price": "number"}))["watches"][0]
        query = (await create_watch(client, action="add", query="green tea"))["watches"][0]
        site.routes["/shop"] = website.SiteAnswer(build_shop(CLOSED, "19.50"))
        changed = (await create_watch(client, action="look", id=fields["id"]))["changes"][0]
        same = await create_watch(client, action="look", id=query["id"])
        assert (await app.watcher.engine.store.find_watch("", "green tea")).target.kind == "query"
    assert changed["difference"] == "- price: 24.0\n+ price: 19.5"
    assert same["changes"] == []


async def test_watches_are_paused_resumed_removed_and_shared_by_sessions(home: Path):
    site = build_site(build_shop(OPEN))
    async with open_client(home, site) as (client, url, app):
        added = (await create_watch(client, action="add", url=f"{url}/shop"))["watches"][0]
        for action, state in (("pause", "paused"), ("resume", "active")):
            await create_watch(client, action=action, id=added["id"])
            listed = (await app.call("web_watch", Call(session="other"))).data["watches"]
            assert [each["state"] for each in listed] == [state]
        await create_watch(client, action="remove", id=f"{url}/shop")
        assert (await create_watch(client))["total"] == 0
        gone = read_error(await client.call_tool("web_watch", {"action": "look", "id": added["id"]}))
    assert gone["code"] == "not_found"


async def test_an_unwatchable_target_is_refused_with_its_field(home: Path):
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "url, query: give exactly one"),
        ({"url": "{url}/shop", "query": "tea"}, "url, query: give exactly one"),
        ({"url": "file:///etc/passwd"}, "url: "),
        ({"url": "http://10.0.0.7/"}, "10.0.0.7"),
        ({"url": "{url}/gone"}, "404"),
        ({"url": "{url}/shop", "every": "often"}, "every: "),
        ({"url": "{url}/shop", "notify": ["boss"]}, "notify: no notice 'boss'"),
        ({"query": "tea", "fields": {"price": "number"}}, "fields: "),
        ({"url": "{url}/shop", "fields": {}}, "output_schema"),
    ]
    async with open_client(home, build_site(build_shop(OPEN)), max_watches=1) as (client, url, _):
        for arguments, message in cases:
            given = {name: text.format(url=url) if name == "url" else text for name, text in arguments.items()}
            result = await client.call_tool("web_watch", {"action": "add"} | given)
            assert result.is_error, arguments
            assert message in read_error(result)["message"], arguments
        assert (await create_watch(client))["total"] == 0
        await create_watch(client, action="add", url=f"{url}/shop")
        full = await client.call_tool("web_watch", {"action": "add", "url": f"{url}/shop"})
        no_id = await client.call_tool("web_watch", {"action": "pause"})
    assert read_error(full)["code"] == "too_many_watches"
    assert "id: " in read_error(no_id)["message"]


async def test_robots_txt_binds_a_watch(home: Path):
    site = build_site(build_shop(OPEN))
    site.routes["/robots.txt"] = website.SiteAnswer("User-agent: *\nDisallow: /shop\n", "text/plain")
    async with open_client(home, site) as (client, url, _):
        refused = await client.call_tool("web_watch", {"action": "add", "url": f"{url}/shop"})
    assert read_error(refused)["code"] == "robots"


def build_hook(received: list[tuple[dict[str, str], bytes]], told: anyio.Event) -> Any:
    """A webhook that keeps the received events."""

    async def receive_notice(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            body = (await receive())["body"]
            received.append(({name.decode(): value.decode() for name, value in scope["headers"]}, body))
            told.set()
        await loopback_app.build_page_site({"/hook": (204, {}, b"")})(scope, receive, send)

    return receive_notice


async def wait_for_looks(client: Client, count: int) -> None:
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while (await create_watch(client))["watches"][0]["looks"] < count:
            await anyio.lowlevel.checkpoint()


async def test_a_change_on_schedule_is_reported_once_by_a_signed_webhook(home: Path):
    told, site = anyio.Event(), build_site(build_shop(OPEN))
    received: list[tuple[dict[str, str], bytes]] = []
    async with http_servers.serve_app(build_hook(received, told)) as hook:
        notices = {"hook": {"webhook": f"{hook}/hook", "secret_env": "HOOK_SECRET"}}
        async with open_client(home, site, notices=notices) as (client, url, app):
            app.loaded.environ["HOOK_SECRET"] = "sesame"
            async with run_background(app.watcher.run_forever):
                await create_watch(client, action="add", url=f"{url}/shop", every="1s", notify=["hook"])
                site.routes["/shop"] = website.SiteAnswer(build_shop(CLOSED))
                with anyio.fail_after(EVENT_TIMEOUT_S):
                    change = (await create_watch(client, action="changes", wait_seconds=30))["changes"][0]
                    await told.wait()
                await wait_for_looks(client, 4)
    assert len(received) == 1
    headers, body = received[0]
    signature = sign_webhook("sesame", headers["webhook-id"], headers["webhook-timestamp"], body)
    assert headers["webhook-signature"] == signature
    assert json.loads(body)["data"]["difference"] == change["difference"]


async def test_a_change_is_reported_by_a_command_of_the_operator(home: Path):
    mail, site = home / "mail", build_site(build_shop(OPEN))
    script = 'cat > "$0.new"; echo "$1" >> "$0.new"; mv "$0.new" "$0"'
    notices = {"mail": {"command": ["sh", "-c", script, str(mail), "{subject}"]}}
    async with open_client(home, site, notices=notices, notify=["mail"]) as (client, url, app):
        await create_watch(client, action="add", url=f"{url}/shop", every="1s", name="shop")
        site.routes["/shop"] = website.SiteAnswer(build_shop(CLOSED))
        async with run_background(app.watcher.run_forever):
            with anyio.fail_after(EVENT_TIMEOUT_S):
                while not mail.exists():
                    await anyio.lowlevel.checkpoint()
    assert f"- {OPEN}\n+ {CLOSED}" in mail.read_text()
    assert mail.read_text().endswith("Changed: shop (1 line changed)\n")


async def test_a_server_is_left_alone_for_as_long_as_it_asks(home: Path):
    site = build_site(build_shop(OPEN))
    site.routes["/fish"] = website.SiteAnswer(build_shop(OPEN))
    async with open_client(home, site) as (client, url, _):
        for path in ("/shop", "/fish"):
            await create_watch(client, action="add", url=f"{url}{path}", name=path)
        site.routes["/shop"] = website.SiteAnswer("busy", status=429, headers={"retry-after": "172800"})
        problem = (await create_watch(client, action="look", id="/shop"))["problem"]
        seen = (await create_watch(client))["watches"]
    assert "asks for fewer requests" in problem
    assert [each["problem"] for each in seen] == [problem] * 2
    assert min(datetime.fromisoformat(each["next_at"]) for each in seen) > datetime.now(UTC) + timedelta(hours=47)


async def test_the_delay_of_robots_txt_is_read_with_a_page(home: Path):
    site = build_site(build_shop(OPEN))
    site.routes["/robots.txt"] = website.SiteAnswer("User-agent: *\nCrawl-delay: 40\n", "text/plain")
    async with open_client(home, site) as (_, url, app):
        read_target = build_target_reader(app.pages, lambda: app.search, "respect")
        assert (await read_target(WatchTarget(f"{url}/shop"))).crawl_delay_s == 40
