"""The contract of web_map (toolset `web`)."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from support.apps import loopback_app
from support.results import read_error, read_first_text

pytestmark = pytest.mark.anyio
HOME = loopback_app.build_article_html(
    "Docs", "Welcome to the docs.", links=("/a", "/a?utm_source=x", "https://b.example/")
)
FEED = (
    "<?xml version='1.0'?><rss version='2.0'><channel><title>News</title>"
    "<item><title>Release two</title><link>{0}/news/2</link></item></channel></rss>"
)
LLMS = "# Docs\n\n- [Install guide](/guide/install.md): how to install\n- [Elsewhere](https://b.example/x)\n"


def build_site() -> Any:
    """A site with links, a feed, llms.txt and a sitemap, which contain the address of the site."""
    seen: list[str] = []

    async def serve(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append(scope["path"])
        host = dict(scope.get("headers", [])).get(b"host", b"").decode()
        root = f"http://{host}"
        xml = "".join(
            f"<url><loc>{root}{path}</loc><lastmod>2026-03-0{day}</lastmod></url>"
            for day, path in enumerate(("/a", "/guide/install.md", "/shop/tea", "/photo.png"), 1)
        )
        bodies: dict[str, Any] = {
            "/": HOME.replace("<head>", "<head><link rel=alternate type=application/rss+xml href=/feed>"),
            "/feed": (200, {"content-type": "application/rss+xml"}, FEED.format(root).encode()),
            "/llms.txt": (200, {"content-type": "text/plain"}, LLMS.encode()),
            "/robots.txt": (200, {"content-type": "text/plain"}, f"Sitemap: {root}/map.xml\n".encode()),
            "/map.xml": (200, {"content-type": "application/xml"}, f"<urlset>{xml}</urlset>".encode()),
        }
        await loopback_app.build_page_site(bodies)(scope, receive, send)

    return serve, seen


async def test_a_map_lists_addresses_with_their_origin_without_reading_pages(home: Path):
    site, seen = build_site()
    async with loopback_app.open_loopback_app(home, site) as loopback, Client(loopback.app.build_server()) as client:
        result = await client.call_tool("web_map", {"url": loopback.site_url})
        data = result.structured_content
    found = {page["url"].removeprefix(loopback.site_url): page for page in data["pages"]}
    assert {path: page["from"] for path, page in found.items()} == {
        "/": ["links"],
        "/home": ["links"],
        "/about": ["links"],
        "/a": ["links", "sitemap"],
        "/news/2": ["feed"],
        "/guide/install.md": ["llms.txt", "sitemap"],
        "/shop/tea": ["sitemap"],
    }
    assert data["sources"] == {"links": 4, "feed": 1, "llms.txt": 1, "sitemap": 3}
    assert (found["/a"]["modified"], found["/guide/install.md"]["title"]) == ("2026-03-01", "Install guide")
    assert set(seen) == {"/", "/feed", "/llms.txt", "/robots.txt", "/map.xml"}
    assert f"- Install guide {loopback.site_url}/guide/install.md (2026-03-02, llms.txt+sitemap)" in read_first_text(
        result
    )


async def test_a_map_is_filtered_and_continues_at_an_offset(home: Path):
    site, _ = build_site()
    async with loopback_app.open_loopback_app(home, site) as loopback:
        cases: list[tuple[dict[str, Any], list[str]]] = [
            ({"search": "INSTALL guide"}, ["/guide/install.md"]),
            ({"include": ["/shop/*", "/news/*"]}, ["/news/2", "/shop/tea"]),
            ({"exclude": ["/*"]}, []),
            ({"max_urls": 2, "offset": 5}, ["/guide/install.md", "/shop/tea"]),
        ]
        for arguments, expected in cases:
            data = (await loopback.app.call("web_map", url=f"{loopback.site_url}/", **arguments)).data
            assert [page["url"].removeprefix(loopback.site_url) for page in data["pages"]] == expected, arguments
        first = (await loopback.app.call("web_map", url=f"{loopback.site_url}/", max_urls=3)).data
    assert (first["total"], first["next_offset"]) == (7, 3)


async def test_a_map_needs_no_readable_page_but_at_least_one_list(home: Path):
    sitemap = (200, {"content-type": "text/plain"}, b"")
    site = loopback_app.build_page_site({"/sitemap.xml": sitemap})
    async with loopback_app.open_loopback_app(home, site) as loopback, Client(loopback.app.build_server()) as client:
        nothing = await client.call_tool("web_map", {"url": f"{loopback.site_url}/gone"})
        nonsense = await client.call_tool("web_map", {"url": "file:///etc/passwd"})
        too_far = await client.call_tool("web_map", {"url": f"{loopback.site_url}/", "offset": 9})
    assert (read_error(nothing)["code"], read_error(nonsense)["code"]) == ("not_found", "bad_url")
    assert too_far.is_error


async def test_markdown_listed_in_llms_txt_is_named_with_its_page(home: Path):
    llms = "# Docs\n\n- [A](/a.md): first\n- [B](/b.html.md)\n- [Only here](/c.md)\n"
    bodies: dict[str, Any] = {
        "/": loopback_app.build_article_html("Docs", "Welcome to the docs.", links=("/a", "/b.html")),
        "/llms.txt": (200, {"content-type": "text/plain"}, llms.encode()),
    }
    site = loopback_app.build_page_site(bodies)
    async with loopback_app.open_loopback_app(home, site) as loopback, Client(loopback.app.build_server()) as client:
        result = await client.call_tool("web_map", {"url": loopback.site_url, "search": "."})
        text, data = read_first_text(result), result.structured_content
    twins = {page["url"].removeprefix(loopback.site_url): page.get("markdown", "") for page in data["pages"]}
    root = loopback.site_url
    assert twins == {
        "/": "",
        "/home": "",
        "/about": "",
        "/a": f"{root}/a.md",
        "/b.html": f"{root}/b.html.md",
        "/c.md": "",
    }
    assert f"as Markdown: {root}/a.md" in text


def answer(body: str | bytes, kind: str = "application/xml") -> tuple[int, dict[str, str], bytes]:
    return 200, {"content-type": kind}, body if isinstance(body, bytes) else body.encode()


def build_urlset(*addresses: str) -> str:
    return "<urlset>" + "".join(f"<url><loc>{each}</loc></url>" for each in addresses) + "</urlset>"


async def list_addresses(loopback: loopback_app.LoopbackApp, path: str = "/", **arguments: Any) -> tuple[Any, Any]:
    data = (await loopback.app.call("web_map", url=loopback.site_url + path, **arguments)).data
    return [page["url"].removeprefix(loopback.site_url) for page in data["pages"]], data["notes"]


async def test_sitemaps_are_read_as_sites_write_them(home: Path):
    index = "".join(f"<sitemap><loc>{each}</loc></sitemap>" for each in ("b.xml.gz", "/c.xml", "index.xml", "d.txt"))
    feed = "<rss version='2.0'><channel><item><title>One</title><link>/posts/1</link></item></channel></rss>"
    bodies: dict[str, Any] = {
        "/robots.txt": answer("User-agent: *\nSitemap: /maps/index.xml\nsitemap: /feed\n", "text/plain"),
        "/maps/index.xml": answer(f"<sitemapindex>{index}</sitemapindex>", "text/html"),
        "/maps/b.xml.gz": answer(gzip.compress(build_urlset("/packed").encode()), "application/octet-stream"),
        "/c.xml": answer(build_urlset("<![CDATA[/cdata?a=1&b=2]]>", "\n /spaced \n", "caf\u00e9")),
        "/maps/d.txt": answer("text\n", "text/plain"),
        "/feed": answer(feed, "application/rss+xml"),
    }
    async with loopback_app.open_loopback_app(home, loopback_app.build_page_site(bodies)) as loopback:
        found, notes = await list_addresses(loopback)
        assert await list_addresses(loopback, search="CAF\u00c9") == (["/caf%C3%A9"], notes)
    assert found == ["/posts/1", "/packed", "/cdata?a=1&b=2", "/spaced", "/caf%C3%A9"]
    assert [note.partition(" was not read: ")[2] for note in notes[1:]] == ["it lists no addresses"]


async def test_sitemaps_that_cannot_be_read_are_named_and_the_usual_one_is_tried(home: Path):
    bodies: dict[str, Any] = {
        "/": loopback_app.build_article_html("Docs", "Welcome to the docs."),
        "/robots.txt": answer("Sitemap: /old.xml\nSitemap: /soft.xml\nSitemap: /torn.gz\n", "text/plain"),
        "/soft.xml": answer("<html><body><p>We could not find that page.</p></body></html>", "text/html"),
        "/torn.gz": answer(b"\x1f\x8b\x08torn", "application/gzip"),
        "/sitemap.xml": answer(build_urlset("/fine")),
    }
    async with loopback_app.open_loopback_app(home, loopback_app.build_page_site(bodies)) as loopback:
        found, notes = await list_addresses(loopback, include=["/fine", "/"])
    assert found == ["/", "/fine"]
    assert [note.removeprefix(f"sitemap {loopback.site_url}").partition(" was not")[0] for note in notes] == [
        "/old.xml",
        "/soft.xml",
        "/torn.gz",
    ]


async def test_a_large_index_is_read_to_its_end(home: Path):
    count = 60
    index = "".join(f"<sitemap><loc>/s{number}.xml</loc></sitemap>" for number in range(count))
    bodies: dict[str, Any] = {f"/s{number}.xml": answer(build_urlset(f"/p{number}")) for number in range(count)}
    bodies["/sitemap.xml"] = answer(f"<sitemapindex>{index}</sitemapindex>")
    more = {"pages": {"per_host_rate": 1_000}}
    async with loopback_app.open_loopback_app(home, loopback_app.build_page_site(bodies), more=more) as loopback:
        found, _ = await list_addresses(loopback)
    assert found == [f"/p{number}" for number in range(count)]


async def test_the_site_that_an_address_leads_to_is_listed(home: Path):
    bodies: dict[str, Any] = {"/new": loopback_app.build_article_html("New", "Welcome.", links=("/a",))}
    site = loopback_app.build_page_site(bodies)
    more = {"egress": {"allow": ["127.0.0.1:*", "localhost:*"]}}
    async with loopback_app.open_loopback_app(home, site, more=more) as loopback:
        new_root = loopback.site_url.replace("127.0.0.1", "localhost")
        bodies["/"] = (302, {"location": f"{new_root}/new"}, b"")
        found, notes = await list_addresses(loopback)
    assert f"{new_root}/a" in found
    assert notes == [f"{loopback.site_url}/ leads to {new_root}/new, whose site is listed"]


async def test_further_parts_of_a_map_cost_the_site_nothing(home: Path):
    site, seen = build_site()
    async with loopback_app.open_loopback_app(home, site) as loopback:
        await list_addresses(loopback, max_urls=3)
        requests = list(seen)
        assert len((await list_addresses(loopback, max_urls=3, offset=3))[0]) == 3
        assert await list_addresses(loopback, search="tea") == (["/shop/tea"], [])
    assert seen == requests
