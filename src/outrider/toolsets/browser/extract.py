"""The tool extractPageContent, which reads the rendered page in several formats."""

import json
import time
from functools import partial
from typing import Annotated, Any, Literal, get_args

import anyio
from pydantic import BeforeValidator, Field, WithJsonSchema

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.core.markdown import cut_markdown
from outrider.core.result import FILES_META_KEY, Result, TextBlock
from outrider.core.text import TextSlice, cut_text
from outrider.core.untrusted import clean_untrusted, disarm_marks
from outrider.pages.extract import extract
from outrider.toolsets.browser.results import ActivePage, escape_line, format_time, use_page
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.options import ToolOptions, require_saving_consent
from outrider.toolsets.parameters import CharacterBudget, NotNegative, check_offset
from outrider.workspace import SessionWorkspaces

RAW_HTML_SCRIPT = """(maxChars) => {
  const html = document.documentElement?.outerHTML ?? '';
  return {html: html.slice(0, maxChars), size: html.length};
}"""
HTML_FOLDER = "extracted-content"
FormatName = Literal["markdown", "text", "html", "domMap"]
FORMAT_SCHEMA = {"type": "string", "enum": list(get_args(FormatName))}
FramedSlice = tuple[TextSlice, str]  # a part of a text, and the same with a fence around truncated code
FormatNames = Annotated[
    list[FormatName],
    Field(min_length=1),
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    WithJsonSchema({"anyOf": [FORMAT_SCHEMA, {"type": "array", "items": {"type": "string"}}], "default": "markdown"}),
]


@browser.tool(title="Extract", open_world=True, untrusted=True, timeout=120, may_store=True)
async def extractPageContent(
    browsers: Browsers,
    workspaces: SessionWorkspaces,
    options: ToolOptions,
    autosave: Autosave,
    call: Call,
    /,
    sessionId: str,
    format: FormatNames | None = None,
    selector: Annotated[str | None, Field(description="CSS: only this")] = None,
    mainContentOnly: bool = True,
    maxChars: CharacterBudget = 20_000,
    offset: NotNegative = 0,
    saveRawHtml: Annotated[bool, Field(description="Save source to a file")] = False,
) -> Result:
    """Read the text of the open page."""
    formats = list(dict.fromkeys(format or ["markdown"]))
    if saveRawHtml:
        require_saving_consent(workspaces, options, call, "extractPageContent", f"{HTML_FOLDER}/")
    async with use_page(browsers, call, sessionId, selector or None) as active:
        texts, page_info = await _render_texts(active, formats, selector or "", main=mainContentOnly and not selector)
        tree = await _build_dom_map(active, selector or "", maxChars) if "domMap" in formats else None
        size_script = "() => (document.documentElement?.outerHTML ?? '').length"
        saved = (
            await _save_html(active, workspaces, call, sessionId)
            if saveRawHtml
            else {"metadata": {"raw_html_size": await active.tools.page.evaluate_in("outrider", size_script)}}
        )
    share = max(maxChars // max(len(texts), 1), 1)
    check_offset(offset, max(map(len, texts.values()), default=offset + 1), "the page")
    pieces: dict[str, FramedSlice] = {}
    for name, text in texts.items():
        piece = cut_text(text, share, offset)
        pieces[name] = cut_markdown(text, share, offset) if name == "markdown" else (piece, piece.text)
    data: dict[str, Any] = page_info | {
        "timestamp": format_time(time.time()),
        "format": formats[0] if len(formats) == 1 else formats,
    }
    contents = {name: text for name, (_, text) in pieces.items()}
    if contents:
        data |= {"contents": contents} if len(contents) > 1 else {"content": next(iter(contents.values()))}
    data |= {"domMap": tree} if tree else {}
    data |= {"metadata": _serialize_metadata(pieces) | saved.pop("metadata")} | saved
    main_text = texts.get("markdown", "") if mainContentOnly and not selector else ""
    content_id = await autosave.save_rendered(call, page_info["url"], page_info["title"], main_text)
    meta: dict[str, Any] = {"outrider/content_id": content_id} if content_id else {}
    meta |= {FILES_META_KEY: [{"path": data["raw_html_path"]}]} if "raw_html_path" in data else {}
    return Result((TextBlock(_format_page(options, data, pieces, tree)),), data=data, meta=meta)


async def _render_texts(
    active: ActivePage, formats: list[FormatName], selector: str, *, main: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the page in each of the wanted text formats, and its title and address."""
    from outrider.browser.snapshot.extract_dom import read_rendered_html

    rendered = await read_rendered_html(active.tools.snapshotter, selector=selector)
    texts: dict[str, str] = {"html": clean_untrusted(rendered.html)} if "html" in formats else {}
    if {"markdown", "text"} & set(formats):
        document = await anyio.to_thread.run_sync(partial(extract, rendered.html, url=rendered.url, main=main))
        texts |= {"markdown": document.markdown, "text": document.text}
    page_info = {"title": escape_line(rendered.title), "url": rendered.url}
    return {name: disarm_marks(texts[name]) for name in formats if name in texts}, page_info


async def _build_dom_map(active: ActivePage, selector: str, limit: int) -> dict[str, Any]:
    """Return a map of the document, as deep as fits into `limit` characters."""
    from outrider.browser.snapshot.extract_dom import build_dom_map

    tree: dict[str, Any] = {}
    for depth in (10, 7, 5, 3, 2, 1):
        tree = (await build_dom_map(active.tools.snapshotter, selector=selector or "body", depth=depth))["domMap"]
        if len(json.dumps(tree, ensure_ascii=False)) <= limit:
            break
    return tree


async def _save_html(active: ActivePage, workspaces: SessionWorkspaces, call: Call, session_id: str) -> dict[str, Any]:
    """Save the document's current source, or report why that failed."""
    max_html_chars = 20_000_000
    source = await active.tools.page.evaluate_in("outrider", RAW_HTML_SCRIPT, max_html_chars)
    metadata: dict[str, Any] = {"raw_html_size": source["size"], "save_html_requested": True}
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + f"-{time.time_ns() % 1_000_000_000:09d}"
    preferred_path, data = f"{HTML_FOLDER}/extracted-{session_id}-{stamp}.html", source["html"].encode(errors="replace")
    try:
        path = await anyio.to_thread.run_sync(
            lambda: workspaces.ensure_workspace(call).files.add_file(preferred_path, data)
        )
    except OutriderError as error:
        return {"metadata": metadata | {"save_html_error": error.message}}
    return {"metadata": metadata, "raw_html_path": path}


def _serialize_metadata(pieces: dict[str, FramedSlice]) -> dict[str, Any]:
    longest = max((piece for piece, _ in pieces.values()), key=lambda piece: piece.total, default=None)
    if longest is None:
        return {"truncated": False}
    next_offsets = [piece.next_offset for piece, _ in pieces.values() if piece.next_offset is not None]
    metadata: dict[str, Any] = {"content_length": longest.total, "truncated": bool(next_offsets)}
    return metadata | ({"next_offset": min(next_offsets)} if next_offsets else {})


def _format_page(
    options: ToolOptions, data: dict[str, Any], pieces: dict[str, FramedSlice], tree: dict[str, Any] | None
) -> str:
    """Format the page as text, with the same content as its data."""
    lines = [f"URL: {data['url']}", *([f"Title: {data['title']}"] if data["title"] else [])]
    lines += [f"Raw HTML: {data['raw_html_path']}"] if "raw_html_path" in data else []
    lines += [f"Raw HTML could not be saved: {error}"] if (error := data["metadata"].get("save_html_error")) else []
    if end := data["metadata"].get("next_offset"):
        lines.append(f"Note: up to character {end} of {data['metadata']['content_length']}; read on with offset={end}")
    parts = ["\n".join(lines)]
    for name, (_, text) in pieces.items():
        body = options.mark_untrusted(text, data["url"]) if text.strip() else "(no readable text here)"
        parts.append(body if len(pieces) == 1 else f"{name}:\n{body}")
    parts += [options.mark_untrusted(json.dumps(tree, ensure_ascii=False), data["url"])] if tree else []
    return "\n\n".join(parts)
