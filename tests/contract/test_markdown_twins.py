"""Toolset `web`: web_fetch on sites that publish their pages as Markdown too."""

from pathlib import Path
from typing import Any

import pytest

from support.apps import loopback_app

pytestmark = pytest.mark.anyio
WORDS = "The checkpoint moves pages from the write-ahead log into the database when it has grown to a thousand pages."
MARKDOWN = (
    f"# {{0}}\n\n{WORDS}\n\n> **Note** Readers are not blocked by {{0}}.\n\n```sql\nPRAGMA wal_checkpoint;\n```\n"
)


def build_page(name: str, twin: str = "") -> str:
    html = loopback_app.build_article_html(
        name, WORDS, f"Note Readers are not blocked by {name}.", "PRAGMA wal_checkpoint;"
    )
    link = f'<link rel="alternate" type="text/markdown" href="{twin or f"/{name}.md"}">'
    return html.replace("<head>", f"<head>{link}")


def build_site(bodies: dict[str, Any]) -> tuple[Any, list[str]]:
    site, asked = loopback_app.build_page_site(bodies), list[str]()

    async def serve(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            asked.append(scope["path"])
        await site(scope, receive, send)

    return serve, asked


def build_markdown(text: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {"content-type": "text/markdown; charset=utf-8"}, text.encode()


async def test_markdown_of_the_site_is_read_if_it_says_as_much_and_named(home: Path):
    pages = {"/wal": build_page("wal"), "/wal.md": build_markdown(MARKDOWN.format("wal"))}
    site, asked = build_site(pages)
    async with loopback_app.open_loopback_app(home, site) as loopback:
        first = await loopback.app.call("web_fetch", url=f"{loopback.site_url}/wal")
        again = await loopback.app.call("web_fetch", url=f"{loopback.site_url}/wal")
        source = await loopback.app.call("web_fetch", url=f"{loopback.site_url}/wal", format="html")
    assert "```sql\nPRAGMA wal_checkpoint;\n```" in first.text
    assert f"this is the site's own Markdown, {loopback.site_url}/wal.md" in first.text
    assert "Title: wal" in first.text
    assert "```sql" in again.text
    assert "<article>" in source.text
    assert asked.count("/wal.md") == 1


async def test_markdown_that_says_less_or_is_none_is_left_and_not_asked_for_again(home: Path):
    cases: dict[str, Any] = {
        "shorter": build_markdown("# wal\n\nSign in to read this page."),
        "longer": build_markdown(MARKDOWN.format("wal") + "Buy now. " * 100),
        "a page": build_page("wal"),
        "missing": (404, {}, b""),
    }
    for case, twin in cases.items():
        site, asked = build_site({"/wal": build_page("wal"), "/log": build_page("log"), "/wal.md": twin})
        async with loopback_app.open_loopback_app(home, site) as loopback:
            first = await loopback.app.call("web_fetch", url=f"{loopback.site_url}/wal")
            second = await loopback.app.call("web_fetch", url=f"{loopback.site_url}/log")
        assert WORDS in first.text, case
        assert "own Markdown" not in first.text + second.text, case
        assert (asked.count("/wal.md"), asked.count("/log.md")) == (1, 0), case


async def test_markdown_of_another_host_is_not_asked_for(home: Path):
    site, asked = build_site({"/wal": build_page("wal", "https://b.example/wal.md")})
    async with loopback_app.open_loopback_app(home, site) as loopback:
        result = await loopback.app.call("web_fetch", url=f"{loopback.site_url}/wal")
    assert "own Markdown" not in result.text
    assert asked == ["/wal"]
