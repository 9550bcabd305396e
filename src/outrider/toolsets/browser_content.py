"""extractPageContent: the rendered page through the reader of web pages, in several formats at once."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import anyio
from pydantic import BeforeValidator, Field, WithJsonSchema

from outrider.browser.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.markdown import cut_markdown
from outrider.core.result import Result, Text
from outrider.core.text import Cut, cut
from outrider.core.untrusted import clean
from outrider.pages.extract import extract
from outrider.toolsets.bounds import Budget, NotNegative
from outrider.toolsets.browser import browser
from outrider.toolsets.browser_use import Work, at_work, line, moment
from outrider.toolsets.choices import Choices
from outrider.toolsets.content_store_offers import Offers

if TYPE_CHECKING:
    from outrider.pages import Document

FOLDER = "extracted-content"
RAW_CHARS = 20_000_000
RAW = """(most) => {
  const html = document.documentElement?.outerHTML ?? '';
  return {html: html.slice(0, most), size: html.length};
}"""
SIZE = "() => (document.documentElement?.outerHTML ?? '').length"
DEPTHS = (10, 7, 5, 3, 2, 1)  # of a map, until it fits
Name = Literal["markdown", "text", "html", "domMap"]
ONE = {"type": "string", "enum": list(get_args(Name))}
Piece = tuple[Cut, str]  # of the whole, and as it is shown: code that was cut stands between fences again
Formats = Annotated[
    list[Name],
    Field(min_length=1),
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    WithJsonSchema({"anyOf": [ONE, {"type": "array", "items": {"type": "string"}}], "default": "markdown"}),
]


@browser.tool(effect="write", title="Extract", open_world=True, untrusted=True, timeout=120)
async def extractPageContent(
    browsers: Browsers,
    choices: Choices,
    offers: Offers,
    call: Call,
    /,
    sessionId: str,
    format: Formats | None = None,
    selector: Annotated[str | None, Field(description="CSS: only this")] = None,
    mainContentOnly: bool = True,
    maxChars: Budget = 20_000,
    offset: NotNegative = 0,
    saveRawHtml: Annotated[bool, Field(description="To a workspace file")] = False,
) -> Result:
    """The rendered page's text, without navigation."""
    wanted = list(dict.fromkeys(format or ["markdown"]))
    async with at_work(browsers, call, sessionId, selector or None) as work:
        texts, facts = await _texts(work, wanted, selector or "", main=mainContentOnly and not selector)
        tree = await _map(work, selector or "", maxChars) if "domMap" in wanted else None
        saved = await _saved(work, choices, sessionId) if saveRawHtml else await _measured(work)
    share = maxChars // max(len(texts), 1)
    pieces = {name: _piece(name, text, max(share, 1), offset) for name, text in texts.items()}
    data: dict[str, Any] = facts | {
        "timestamp": moment(time.time()),
        "format": wanted[0] if len(wanted) == 1 else wanted,
    }
    data |= _contents(pieces) | ({"domMap": tree} if tree else {})
    data |= {"metadata": _metadata(pieces) | saved.pop("metadata")} | saved
    whole = texts.get("markdown", "") if mainContentOnly and not selector else ""
    kept = await offers.rendered(call, facts["url"], facts["title"], whole)
    meta = {"outrider/content_id": kept} if kept else {}
    return Result((Text(_read(choices, data, pieces, tree)),), data=data, meta=meta)


async def _texts(work: Work, wanted: list[Name], selector: str, *, main: bool) -> tuple[dict[str, str], dict[str, str]]:
    """The page in each text format that is wanted, and where and what it is."""
    from outrider.browser.extract_dom import rendered_html

    shown = await rendered_html(work.grip.eyes, selector=selector)
    facts = {"title": line(shown.title), "url": shown.url}
    made: dict[str, str] = {"html": shown.html} if "html" in wanted else {}
    if {"markdown", "text"} & set(wanted):
        document = await anyio.to_thread.run_sync(lambda: _document(shown.html, shown.url, main=main))
        made |= {"markdown": document.markdown, "text": document.text}
    return {name: clean(made[name]) if name == "html" else made[name] for name in wanted if name in made}, facts


def _document(html: str, url: str, *, main: bool) -> "Document":
    return extract(html, url=url, main=main)


def _piece(name: str, text: str, limit: int, offset: int) -> Piece:
    if name == "markdown":
        return cut_markdown(text, limit, offset)
    piece = cut(text, limit, offset)
    return piece, piece.text


async def _map(work: Work, selector: str, limit: int) -> dict[str, Any]:
    """A map of the document, as deep as fits into the budget."""
    from outrider.browser.extract_dom import dom_map

    tree: dict[str, Any] = {}
    for depth in DEPTHS:
        tree = (await dom_map(work.grip.eyes, selector=selector or "body", depth=depth))["domMap"]
        if len(json.dumps(tree, ensure_ascii=False)) <= limit:
            break
    return tree


async def _measured(work: Work) -> dict[str, Any]:
    return {"metadata": {"raw_html_size": await work.grip.page.evaluate_in("outrider", SIZE)}}


async def _saved(work: Work, choices: Choices, session_id: str) -> dict[str, Any]:
    """The source of the document as it is now, in a file; that it cannot be written costs only the file."""
    raw = await work.grip.page.evaluate_in("outrider", RAW, RAW_CHARS)
    facts: dict[str, Any] = {"raw_html_size": raw["size"], "save_html_requested": True}
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + f"-{time.time_ns() % 1_000_000_000:09d}"
    try:
        path = choices.inside(FOLDER) / f"extracted-{session_id}-{stamp}.html"
        await anyio.to_thread.run_sync(_write, path, raw["html"])
    except OutriderError as error:
        return {"metadata": facts | {"save_html_error": error.message}}
    return {"metadata": facts, "raw_html_path": str(path.relative_to(choices.workspace.resolve()))}


def _write(path: Path, html: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write(html)
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be written: {error.strerror}", code="storage") from error


def _contents(pieces: dict[str, Piece]) -> dict[str, Any]:
    """One format as `content`, several as `contents` by format."""
    texts = {name: shown for name, (_, shown) in pieces.items()}
    return {"content": next(iter(texts.values()))} if len(texts) == 1 else {"contents": texts} if texts else {}


def _metadata(pieces: dict[str, Piece]) -> dict[str, Any]:
    longest = max((piece for piece, _ in pieces.values()), key=lambda piece: piece.total, default=None)
    if longest is None:
        return {"truncated": False}
    ends = [piece.next_offset for piece, _ in pieces.values() if piece.next_offset is not None]
    facts: dict[str, Any] = {"content_length": longest.total, "truncated": bool(ends)}
    return facts | ({"next_offset": min(ends)} if ends else {})


def _read(choices: Choices, data: dict[str, Any], pieces: dict[str, Piece], tree: dict[str, Any] | None) -> str:
    """The same for whoever reads."""
    lines = [f"URL: {data['url']}", *([f"Title: {data['title']}"] if data["title"] else [])]
    lines += [f"Raw HTML: {data['raw_html_path']}"] if "raw_html_path" in data else []
    lines += [f"Raw HTML could not be saved: {error}"] if (error := data["metadata"].get("save_html_error")) else []
    if at := data["metadata"].get("next_offset"):
        lines.append(f"Note: up to character {at} of {data['metadata']['content_length']}; read on with offset={at}")
    parts = ["\n".join(lines)]
    for name, (_, shown) in pieces.items():
        body = choices.mark(shown, data["url"]) if shown.strip() else "(no readable text here)"
        parts.append(body if len(pieces) == 1 else f"{name}:\n{body}")
    parts += [choices.mark(json.dumps(tree, ensure_ascii=False), data["url"])] if tree else []
    return "\n\n".join(parts)
