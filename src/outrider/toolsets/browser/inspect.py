"""Browser tools that show the page: outline, elements, screenshots and logs."""

import json
import time
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from pydantic import Field

from outrider.browser.page.downloads import DOWNLOADS_FOLDER
from outrider.browser.page.file_names import make_safe_name
from outrider.browser.protocol.refs import escape_refs
from outrider.browser.session.browsers import Browsers
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.core.result import FILES_META_KEY, ImageBlock, LinkBlock, Result, TextBlock
from outrider.toolsets.browser.results import (
    ActivePage,
    clean_line,
    escape_line,
    format_time,
    take_notes,
    translate_errors,
    use_page,
)
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.browser.web_mcp import list_page_tools
from outrider.toolsets.options import ToolOptions, require_saving_consent
from outrider.toolsets.parameters import NotNegative, UpTo500, UpTo500Entries, check_offset
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.browser.actions.marks import DrawnRefs
    from outrider.browser.page.screenshot import Screenshot
    from outrider.browser.session.session import Session


@browser.tool(title="Look", open_world=True, untrusted=True, timeout=60)
async def snapshotPage(
    browsers: Browsers,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    mode: Literal["viewport", "full", "interactive"] = "viewport",
    root: Annotated[str | None, Field(description="Ref: only inside it")] = None,
    find: Annotated[str | None, Field(description="Only lines containing this")] = None,
    offset: Annotated[NotNegative, Field(description="First line to show")] = 0,
) -> Result:
    """Outline the page, with a ref for each element that you can act on."""
    async with use_page(browsers, call, sessionId) as active:
        snapshot = await active.tools.snapshotter.take_snapshot(mode, root=root or "", find=find or "", offset=offset)
        check_offset(offset, snapshot.piece.total, "the outline", "lines")
        outline = snapshot.to_text(address=not options.boundary)  # a boundary already names the address
        text = outline if snapshot.piece.total else f"{outline}\n(nothing)"
        offered = "" if offset or root or find else list_page_tools(active)
        text = f"{text}\n{offered}" if offered else text
        parts = [
            options.mark_untrusted(text.strip(), active.tools.page.url),
            *(f"Note: {note}" for note in take_notes(active.session)),
        ]
        meta = {"outrider/url": active.tools.page.url, "outrider/total_lines": snapshot.piece.total}
        if snapshot.piece.next_offset is not None:
            meta["outrider/next_offset"] = snapshot.piece.next_offset
    return Result((TextBlock("\n".join(parts)),), meta=meta)


@browser.tool(title="List elements", open_world=True, untrusted=True, timeout=60)
async def extractInteractable(
    browsers: Browsers,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    selector: Annotated[str | None, Field(description="CSS: only inside")] = None,
    includeHidden: bool = False,
    maxElements: UpTo500 = 100,
) -> Result:
    """List interactive elements as data with geometry; snapshotPage is shorter."""
    from outrider.browser.snapshot.interactable import list_interactable

    within = "" if selector in (None, "", "body") else selector
    async with use_page(browsers, call, sessionId, within or None) as active:
        listing = await list_interactable(
            active.tools.snapshotter, selector=within, include_hidden=includeHidden, max_elements=maxElements
        )
        url = active.tools.page.url
    metadata = {
        "extraction_timestamp": format_time(time.time()),
        "total_count": listing.total,
        "scope_selector": within or "body",
        "performance": {
            "execution_time_ms": listing.milliseconds,
            "data_size_bytes": len(json.dumps(listing.elements, ensure_ascii=False).encode()),
        },
    }
    data = {"elements": listing.elements, "total": listing.total, "truncated": listing.truncated, "metadata": metadata}
    head = f"{len(listing.elements)} of {listing.total} elements" + ("; raise maxElements" if listing.truncated else "")
    lines = "\n".join(map(_format_element, listing.elements))
    text = f"{head}\n{options.mark_untrusted(lines, url)}" if lines else head
    return Result((TextBlock(text),), data=data)


@browser.tool(title="Screenshot", open_world=True, untrusted=True, timeout=90, may_store=True)
async def takeScreenshot(
    browsers: Browsers,
    artifacts: ArtifactStore,
    workspaces: SessionWorkspaces,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    mode: Literal["viewport", "fullPage", "pdf"] = "viewport",
    selector: Annotated[str | None, Field(description="Only this")] = None,
    refs: Annotated[bool, Field(description="Draw refs")] = False,
) -> Result:
    """Take a screenshot, or save the page as a PDF in the workspace. To read or act, use snapshotPage."""
    if mode == "pdf":
        require_saving_consent(workspaces, options, call, "takeScreenshot", f"{DOWNLOADS_FOLDER}/")
        return await _save_pdf(browsers, artifacts, workspaces, call, sessionId)
    async with use_page(browsers, call, sessionId, selector or None) as active:
        drawn, shot = await _draw_and_shoot(active, call, full=mode == "fullPage", selector=selector or "", refs=refs)
        url = active.tools.page.url
    size = f"{shot.width}×{shot.height}" + (", cut below" if shot.cut else "")
    if shot.scale < 1:
        size += f", scaled to {shot.scale:.0%}; selector shows a part at full size"
    text = f"Screenshot of {escape_line(url)}, {size}"
    if drawn:
        text += f", {drawn.count} refs drawn: labels with {drawn.code} are ours; any others are the page's own"
    suffix = shot.mime_type.partition("/")[2]
    links, meta = await _save_artifact(artifacts, call, shot.data, f"screenshot.{suffix}", shot.mime_type)
    content = (TextBlock(text), ImageBlock(shot.data, shot.mime_type), *links)
    return Result(content, meta={"outrider/url": url} | meta)


@browser.tool(title="Logs", open_world=True, untrusted=True)
async def readLogs(
    browsers: Browsers,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    kind: Literal["console", "network", "downloads", "dialogs"],
    failedOnly: bool = False,
    last: UpTo500Entries = 30,
) -> Result:
    """List the newest console messages, requests, downloads or dialogs."""
    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
    match kind:
        case "console":
            lines = _format_messages(session, failed=failedOnly)
        case "network":
            lines = _format_requests(session, failed=failedOnly)
        case "downloads":
            lines = _format_downloads(session, failed=failedOnly)
        case "dialogs":
            dialogs = [] if failedOnly else session.dialogs.history
            lines = [f"{dialog.kind}: {escape_line(dialog.message)} ({dialog.answer or 'open'})" for dialog in dialogs]
    newest = lines[-last:]
    if not newest:
        return Result((TextBlock(f"No {kind} entries."),))
    head = f"{len(newest)} of {len(lines)} {kind} entries, the newest last"
    paths = [download.path for download in session.downloads.entries if download.path] if kind == "downloads" else []
    meta = {FILES_META_KEY: [{"path": path} for path in paths]} if paths else {}
    return Result((TextBlock(f"{head}\n{options.mark_untrusted(chr(10).join(newest), session.url)}"),), meta=meta)


async def _save_pdf(
    browsers: Browsers, artifacts: ArtifactStore, workspaces: SessionWorkspaces, call: Call, session_id: str
) -> Result:
    from outrider.browser.page.screenshot import print_pdf

    async with use_page(browsers, call, session_id) as active:
        data = await print_pdf(active.tools.page)
        title = await active.tools.page.evaluate_in("outrider", "() => document.title")
    name = make_safe_name(f"{title or 'page'}.pdf", "page")
    preferred_path = f"{DOWNLOADS_FOLDER}/{name}"
    path = await anyio.to_thread.run_sync(
        lambda: workspaces.ensure_workspace(call).files.add_file(preferred_path, data)
    )
    links, meta = await _save_artifact(artifacts, call, data, path.rpartition("/")[2], "application/pdf")
    file = {"path": path} | ({"uri": links[0].uri, "content_type": links[0].mime_type} if links else {})
    text = f"Saved {path}, {len(data):,} bytes"
    return Result((TextBlock(text), *links), meta={"outrider/path": path, FILES_META_KEY: [file]} | meta)


def _format_element(element: dict[str, Any]) -> str:
    box = {name: round(value) for name, value in element["rect"].items()}
    states = {
        "DISABLED": not element["enabled"],
        "HIDDEN": not element["visible"],
        "checked": element.get("checked") == "true",
        "outside the viewport": element["visible"] and not element["inViewport"],
    }
    name = f"{element['role'] or element['tag']} {clean_line(element['name'], 100)!r}"
    position = f"{element['selector']} at {box['x']},{box['y']} {box['width']}×{box['height']}"
    actions = f"can {'/'.join(element['capabilities'])}"
    value = [f"value={clean_line(element['value'])!r}"] if element.get("value") else []
    description = [f"about={clean_line(element['description'], 100)!r}"] if element.get("description") else []
    facts = [name, position, actions, *value, *description, *(state for state, holds in states.items() if holds)]
    return f"{element['ref']} {escape_refs(' '.join(facts))}"


async def _draw_and_shoot(
    active: ActivePage, call: Call, *, full: bool, selector: str, refs: bool
) -> "tuple[DrawnRefs | None, Screenshot]":
    """Take a screenshot, with refs drawn onto the page if wanted; return the drawn refs and the picture."""
    from outrider.browser.actions.marks import draw_refs
    from outrider.browser.actions.page_tools import find_element

    handle = (await find_element(active.tools, selector))[1] if selector else None
    if not refs:
        return None, await _take_screenshot(active, call, full=full, element=handle)
    async with draw_refs(active.tools) as drawn:
        return drawn, await _take_screenshot(active, call, full=full, element=handle)


async def _take_screenshot(active: ActivePage, call: Call, **options: Any) -> "Screenshot":
    from outrider.browser.page.screenshot import take_fitting_screenshot, take_screenshot

    if call.run is not None:  # hosts scale pictures for their model, but the model of an agent gets them unscaled
        from outrider.agents.pictures import MAX_PICTURE_BYTES, MAX_SIDE_PX

        page, bytes_limit = active.tools.page, MAX_PICTURE_BYTES
        return await take_fitting_screenshot(page, max_side_px=MAX_SIDE_PX, max_bytes=bytes_limit, **options)
    max_png_bytes = 3_500_000  # hosts refuse larger pictures: those are taken again as JPEG
    screenshot = await take_screenshot(active.tools.page, **options)
    if len(screenshot.data) <= max_png_bytes:
        return screenshot
    return await take_screenshot(active.tools.page, format="jpeg", **options)


async def _save_artifact(
    artifacts: ArtifactStore, call: Call, data: bytes, name: str, mime_type: str
) -> tuple[tuple[LinkBlock, ...], dict[str, str]]:
    """Return a link to the file, and in `_meta` its dashboard page; both are empty if it cannot be saved."""
    try:
        artifact = await artifacts.save(data, name=name, mime_type=mime_type, session=call.session, call=call)
    except OutriderError:
        return (), {}  # e.g. the database is full
    url = artifacts.build_artifact_url(artifact.uri)
    link = LinkBlock(artifact.uri, artifact.name, artifact.mime_type, artifact.size)
    return (link,), {"outrider/open": url} if url else {}


def _format_messages(session: "Session", *, failed: bool) -> list[str]:
    lines = []
    for message in session.console.messages:
        if failed and not message.is_error:
            continue
        source = f" ({message.url}{f':{message.line}' if message.line else ''})" if message.url else ""
        calls = f" at {' < '.join(message.stack)}" if message.stack else ""
        lines.append(f"{message.level}: {escape_line(message.text + source + calls, 1_500)}")
    return lines


def _format_requests(session: "Session", *, failed: bool) -> list[str]:
    lines = []
    for request in session.network.list_failed() if failed else session.network.requests:
        duration = f"{request.milliseconds:g} ms" if request.milliseconds is not None else "under way"
        status = str(request.status) if request.status else ""
        error = request.error or ""
        facts = filter(None, (request.method, request.url, request.kind, status, duration, error))
        lines.append(escape_line(" ".join(facts), 2_000))
    return lines


def _format_downloads(session: "Session", *, failed: bool) -> list[str]:
    lines = []
    for download in session.downloads.entries:
        if failed and download.state not in ("failed", "refused"):
            continue
        saved = f", {download.path}" if download.path else ""
        line = f"{download.name}: {download.state}, {download.size:,} bytes{saved}, from {download.url}"
        lines.append(escape_line(line, 2_000))
    return lines
