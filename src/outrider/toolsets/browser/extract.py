"""extractPageContent: the rendered page through the reader of web pages, in several formats at once."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import anyio
from pydantic import BeforeValidator, Field, WithJsonSchema

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.markdown import cut_markdown
from outrider.core.result import Result, TextBlock
from outrider.core.text import TextSlice, cut_text
from outrider.core.untrusted import clean_untrusted
from outrider.pages.extract import extract
from outrider.toolsets.browser.results import ActivePage, clean_line, format_time, use_page
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import CharacterBudget, NotNegative

if TYPE_CHECKING:
    from outrider.pages.document import Document

RAW_HTML_SCRIPT = """(most) => {
  const html = document.documentElement?.outerHTML ?? '';
  return {html: html.slice(0, most), size: html.length};
}"""
FormatName = Literal["markdown", "text", "html", "domMap"]
FORMAT_SCHEMA = {"type": "string", "enum": list(get_args(FormatName))}
ShownPiece = tuple[TextSlice, str]  # of the whole, and as it is shown: code that was cut stands between fences again
FormatNames = Annotated[
    list[FormatName],
    Field(min_length=1),
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    WithJsonSchema({"anyOf": [FORMAT_SCHEMA, {"type": "array", "items": {"type": "string"}}], "default": "markdown"}),
]


@browser.tool(effect="write", title="Extract", open_world=True, untrusted=True, timeout=120)
async def extractPageContent(
    browsers: Browsers,
    choices: ToolOptions,
    offers: Autosave,
    call: Call,
    /,
    sessionId: str,
    format: FormatNames | None = None,
    selector: Annotated[str | None, Field(description="CSS: only this")] = None,
    mainContentOnly: bool = True,
    maxChars: CharacterBudget = 20_000,
    offset: NotNegative = 0,
    saveRawHtml: Annotated[bool, Field(description="To a workspace file")] = False,
) -> Result:
    """The rendered page's text, without navigation."""
    wanted = list(dict.fromkeys(format or ["markdown"]))
    async with use_page(browsers, call, sessionId, selector or None) as work:
        texts, facts = await _render_texts(work, wanted, selector or "", main=mainContentOnly and not selector)
        tree = await _build_dom_map(work, selector or "", maxChars) if "domMap" in wanted else None
        saved = await _save_html(work, choices, sessionId) if saveRawHtml else await _measured(work)
    share = maxChars // max(len(texts), 1)
    pieces = {name: _cut_text(name, text, max(share, 1), offset) for name, text in texts.items()}
    data: dict[str, Any] = facts | {
        "timestamp": format_time(time.time()),
        "format": wanted[0] if len(wanted) == 1 else wanted,
    }
    data |= _serialize_contents(pieces) | ({"domMap": tree} if tree else {})
    data |= {"metadata": _serialize_metadata(pieces) | saved.pop("metadata")} | saved
    whole = texts.get("markdown", "") if mainContentOnly and not selector else ""
    kept = await offers.save_rendered(call, facts["url"], facts["title"], whole)
    meta = {"outrider/content_id": kept} if kept else {}
    return Result((TextBlock(_format_page(choices, data, pieces, tree)),), data=data, meta=meta)


async def _render_texts(
    work: ActivePage, wanted: list[FormatName], selector: str, *, main: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """The page in each text format that is wanted, and where and what it is."""
    from outrider.browser.snapshot.extract_dom import read_rendered_html

    shown = await read_rendered_html(work.tools.snapshotter, selector=selector)
    facts = {"title": clean_line(shown.title), "url": shown.url}
    made: dict[str, str] = {"html": shown.html} if "html" in wanted else {}
    if {"markdown", "text"} & set(wanted):
        document = await anyio.to_thread.run_sync(lambda: _extract_document(shown.html, shown.url, main=main))
        made |= {"markdown": document.markdown, "text": document.text}
    return {
        name: clean_untrusted(made[name]) if name == "html" else made[name] for name in wanted if name in made
    }, facts


def _extract_document(html: str, url: str, *, main: bool) -> "Document":
    return extract(html, url=url, main=main)


def _cut_text(name: str, text: str, limit: int, offset: int) -> ShownPiece:
    if name == "markdown":
        return cut_markdown(text, limit, offset)
    piece = cut_text(text, limit, offset)
    return piece, piece.text


async def _build_dom_map(work: ActivePage, selector: str, limit: int) -> dict[str, Any]:
    """A map of the document, as deep as fits into the budget."""
    depths = (10, 7, 5, 3, 2, 1)  # of a map, until it fits
    from outrider.browser.snapshot.extract_dom import build_dom_map

    tree: dict[str, Any] = {}
    for depth in depths:
        tree = (await build_dom_map(work.tools.snapshotter, selector=selector or "body", depth=depth))["domMap"]
        if len(json.dumps(tree, ensure_ascii=False)) <= limit:
            break
    return tree


async def _measured(work: ActivePage) -> dict[str, Any]:
    size_script = "() => (document.documentElement?.outerHTML ?? '').length"
    return {"metadata": {"raw_html_size": await work.tools.page.evaluate_in("outrider", size_script)}}


async def _save_html(work: ActivePage, choices: ToolOptions, session_id: str) -> dict[str, Any]:
    """The source of the document as it is now, in a file; that it cannot be written costs only the file."""
    max_html_chars = 20_000_000
    folder = "extracted-content"
    raw = await work.tools.page.evaluate_in("outrider", RAW_HTML_SCRIPT, max_html_chars)
    facts: dict[str, Any] = {"raw_html_size": raw["size"], "save_html_requested": True}
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + f"-{time.time_ns() % 1_000_000_000:09d}"
    try:
        path = choices.resolve_folder(folder) / f"extracted-{session_id}-{stamp}.html"
        await anyio.to_thread.run_sync(_write_html, path, raw["html"])
    except OutriderError as error:
        return {"metadata": facts | {"save_html_error": error.message}}
    return {"metadata": facts, "raw_html_path": str(path.relative_to(choices.workspace.resolve()))}


def _write_html(path: Path, html: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write(html)
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be written: {error.strerror}", code="storage") from error


def _serialize_contents(pieces: dict[str, ShownPiece]) -> dict[str, Any]:
    """One format as `content`, several as `contents` by format."""
    texts = {name: shown for name, (_, shown) in pieces.items()}
    return {"content": next(iter(texts.values()))} if len(texts) == 1 else {"contents": texts} if texts else {}


def _serialize_metadata(pieces: dict[str, ShownPiece]) -> dict[str, Any]:
    longest = max((piece for piece, _ in pieces.values()), key=lambda piece: piece.total, default=None)
    if longest is None:
        return {"truncated": False}
    ends = [piece.next_offset for piece, _ in pieces.values() if piece.next_offset is not None]
    facts: dict[str, Any] = {"content_length": longest.total, "truncated": bool(ends)}
    return facts | ({"next_offset": min(ends)} if ends else {})


def _format_page(
    choices: ToolOptions, data: dict[str, Any], pieces: dict[str, ShownPiece], tree: dict[str, Any] | None
) -> str:
    """The same for whoever reads."""
    lines = [f"URL: {data['url']}", *([f"Title: {data['title']}"] if data["title"] else [])]
    lines += [f"Raw HTML: {data['raw_html_path']}"] if "raw_html_path" in data else []
    lines += [f"Raw HTML could not be saved: {error}"] if (error := data["metadata"].get("save_html_error")) else []
    if at := data["metadata"].get("next_offset"):
        lines.append(f"Note: up to character {at} of {data['metadata']['content_length']}; read on with offset={at}")
    parts = ["\n".join(lines)]
    for name, (_, shown) in pieces.items():
        body = choices.mark_untrusted(shown, data["url"]) if shown.strip() else "(no readable text here)"
        parts.append(body if len(pieces) == 1 else f"{name}:\n{body}")
    parts += [choices.mark_untrusted(json.dumps(tree, ensure_ascii=False), data["url"])] if tree else []
    return "\n\n".join(parts)
