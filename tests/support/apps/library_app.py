"""Fill every section of the dashboard's library, by tools if there are some."""

import json
import struct
import zlib
from typing import Any

from outrider.app import App
from outrider.content.models import ContentDraft
from outrider.core.context import Call
from outrider.pages.cache.cache import CacheEntry, PageCache
from outrider.pages.document import Document
from outrider.pages.fetched_page import FetchedPage

ANN_CALL = Call(session="research", assistant="ann")
TEA_PAGE_HTML = (
    "<!doctype html><title>How tea is made</title><h1>How tea is made</h1><p>Leaves are picked, withered and rolled."
)
BROWSER_STORAGE_STATE = {
    "cookies": [{"name": "sid", "value": "SECRET-COOKIE", "domain": "mail.example.org", "path": "/", "expires": -1}],
    "origins": [
        {"origin": "https://mail.example.org", "localStorage": [{"name": "token", "value": "SECRET-STORAGE"}]},
    ],
}
PLAYBOOK_STEPS = [
    ("Find three sources on the subject", "web_search", "candidates"),
    ("Read each of them and note what they agree on", "web_fetch", "notes"),
    ("Write the summary", "write_file", "summary"),
]


def build_png(width: int = 64, height: int = 40, shade: int = 0) -> bytes:
    """Build a small picture of a gradient."""
    rows = b"".join(
        b"\0" + b"".join(bytes(((x * 4 + shade) % 256, (y * 6) % 256, 160)) for x in range(width))
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


async def save_artifact(
    app: App, data: bytes, name: str, mime_type: str = "text/plain", session: str = "research"
) -> str:
    """Save an artifact; return its id."""
    return (await app.artifacts.save(data, name=name, mime_type=mime_type, session=session)).id


async def cache_page(
    app: App, url: str, title: str, markdown: str, html: str | None, at: float = 1_790_000_000.0
) -> None:
    """Cache a page as if it had been read."""
    page = FetchedPage(url, url, 200, "text/html", at, Document(markdown, title=title, kind="article"), html)
    await PageCache(app.database, 100_000_000).put(CacheEntry(page, at, at, "", ""), main=True)


async def fill_library(app: App) -> None:
    """Save one or a few entries of each kind."""
    await _add_stores(app)
    await _add_plans(app)
    await _add_files(app)
    app.browsers.states.save("mail", BROWSER_STORAGE_STATE)
    await cache_page(
        app, "https://example.org/tea", "How tea is made", "# How tea is made\n\nLeaves are picked.", TEA_PAGE_HTML
    )
    await cache_page(app, "https://example.org/data.json", "data.json", '{"leaves": 3}', None, 1_790_000_100.0)
    for number in range(5):
        await save_artifact(app, build_png(128, 80, number * 40), f"screenshot-{number}.png", "image/png", "research")
    await save_artifact(app, build_png(80, 128), "tall.png", "image/png", "shopping")


async def _add_stores(app: App) -> None:
    await _call_tool(app, "createStore", name="Coffee")
    tea = await _call_tool(app, "createStore", name="Tea", description="What we know about tea and its making")
    store = tea["storeId"]
    text = "# Green tea\n\nGreen tea is steamed soon after picking, so it stays green.\n\n# Black tea\n\n" + (
        "Black tea is withered, rolled and oxidised; then it is fired.\n" * 40
    )
    await _call_tool(app, "addContent", content=text, store_id=store, metadata={"filename": "kinds.md"})
    await _call_tool(app, "addContent", content="Oolong lies between green and black tea.", store_id=store)


async def _add_plans(app: App) -> None:
    await _call_tool(app, "create_goal", goal="Write a short history of tea")
    for name in ("Collect sources", "Read them", "Write two pages", "Check the dates"):
        await _call_tool(app, "add_todo", name=name)
    await _call_tool(app, "mark_todo", id=1, summary="Nine of them, three good ones")
    await _call_tool(app, "add_observation", observation="The user wants British spelling")
    steps = [
        {"description": said, "action": {"toolName": tool, "purpose": said.lower()}, "outputVariable": gives}
        for said, tool, gives in PLAYBOOK_STEPS
    ]
    await _call_tool(app, "create_playbook", goal="Summarise a subject", inputs=["subject"], workflow=steps)


async def _add_files(app: App) -> None:
    await _call_tool(app, "write_file", path="report/history.md", content="# A history of tea\n\nIt began in Yunnan.\n")
    await _call_tool(app, "write_file", path="data.csv", content="year,leaves\n1610,3\n1650,40\n")
    await _call_tool(app, "export_file", path="report/history.md", format="html")
    await _call_tool(app, "export_file", path="data.csv")
    await _call_tool(app, "export_zip", files=["report", "data.csv"], package_name="tea")


async def _call_tool(app: App, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await app.call(tool, ANN_CALL, **arguments)
    assert not result.is_error, result.text
    return result.data or json.loads(json.dumps(result.meta))


def build_draft(text: str) -> ContentDraft:
    """Build a text to add to a store."""
    return ContentDraft(text)
