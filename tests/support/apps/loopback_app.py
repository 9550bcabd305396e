"""Open the whole app on loopback: all parts are real, only providers and pages are our own servers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outrider.app import App, open_app
from outrider.settings import load
from support.databases import sqlite
from support.fakes import http_servers, search_providers


@dataclass(frozen=True)
class LoopbackApp:
    """An open app, the behaviour of its providers, and the address of its pages."""

    app: App
    provider_behaviour: search_providers.ProviderBehaviour
    site_url: str


def build_loopback_settings(search_url: str, site_url: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Build settings under which loopback servers replace the internet."""
    return {
        "toolsets": ["all"],
        "egress": {"allow": [f"127.0.0.1:{site_url.rsplit(':', 1)[1]}"]},
        "search": {
            "providers": search_providers.build_provider_settings(search_url, *names),
            "order": list(names),
            "keyless": False,
        },
    }


@asynccontextmanager
async def open_loopback_app(
    home: Path, site: Any = None, *, names: tuple[str, ...] = ("brave", "serper"), more: dict[str, Any] | None = None
) -> AsyncGenerator[LoopbackApp]:
    """Open an app in that home directory, with pages from the ASGI application `site`."""
    behaviour = search_providers.ProviderBehaviour()
    async with (
        http_servers.serve_app(search_providers.build_provider_app(behaviour)) as search_url,
        http_servers.serve_app(site or build_page_site({})) as site_url,
    ):
        values = build_loopback_settings(search_url, site_url, names) | (more or {})
        loaded = load(values, environ={}, home=home, workspace=home)
        async with open_app(sqlite.prepare_database(loaded)) as app:
            yield LoopbackApp(app, behaviour, site_url)


def build_page_site(bodies: dict[str, Any]) -> Any:
    """Build a site: path to HTML text, or to (status, headers, bytes)."""

    async def serve_page(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        found = bodies.get(scope["path"], (404, {"content-type": "text/plain"}, b"nothing here"))
        status, headers, body = found if isinstance(found, tuple) else (200, {}, found.encode())
        headers = {"content-type": "text/html; charset=utf-8"} | headers
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    return serve_page


def build_article_html(title: str, *paragraphs: str, links: tuple[str, ...] = ()) -> str:
    """Build a page with a heading, paragraphs and links, and navigation around them."""
    body = "".join(f"<p>{each}</p>" for each in paragraphs)
    anchors = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title>"
        f'<meta name=description content="About {title}"></head><body>'
        "<nav><a href=/home>Home</a> <a href=/about>About</a></nav>"
        f"<main><article><h1>{title}</h1>{body}<ul>{anchors}</ul></article></main>"
        "<footer>All rights reserved</footer></body></html>"
    )
