"""Looking at what the browser shows: outlines, content, elements as data, pictures and logs."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from pydantic import Field

from outrider.browser.session.browsers import Browsers
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import OutriderError, Unavailable
from outrider.core.result import ImageBlock, LinkBlock, Result, TextBlock
from outrider.toolsets.browser.results import (
    ActivePage,
    clean_line,
    format_time,
    take_notes,
    translate_errors,
    use_page,
)
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import NotNegative, UpTo500, UpTo500Entries

if TYPE_CHECKING:
    from outrider.browser.page.screenshot import Screenshot
    from outrider.browser.session.session import Session


@browser.tool(title="Look", open_world=True, untrusted=True, timeout=60)
async def snapshotPage(
    browsers: Browsers,
    choices: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    mode: Literal["viewport", "full", "interactive"] = "viewport",
    root: Annotated[str | None, Field(description="Ref: only inside it")] = None,
    find: Annotated[str | None, Field(description="Only lines with this text")] = None,
    offset: Annotated[NotNegative, Field(description="Line to read on from")] = 0,
) -> Result:
    """The page as a short outline with a ref for all that can be acted on."""
    async with use_page(browsers, call, sessionId) as work:
        snapshot = await work.tools.snapshotter.take_snapshot(mode, root=root or "", find=find or "", offset=offset)
        told = snapshot.to_text(address=not choices.boundary)  # a boundary names the address
        text = told if snapshot.piece.total else f"{told}\n(nothing)"
        parts = [
            choices.mark_untrusted(text.strip(), work.tools.page.url),
            *(f"Note: {note}" for note in take_notes(work.session)),
        ]
        facts = {"outrider/url": work.tools.page.url, "outrider/total_lines": snapshot.piece.total}
        next_offset = snapshot.piece.next_offset
    more = {"outrider/next_offset": next_offset} if next_offset is not None else {}
    return Result((TextBlock("\n".join(parts)),), meta=facts | more)


@browser.tool(title="List elements", open_world=True, untrusted=True, timeout=60)
async def extractInteractable(
    browsers: Browsers,
    call: Call,
    /,
    sessionId: str,
    selector: Annotated[str | None, Field(description="CSS: only inside")] = None,
    includeHidden: bool = False,
    maxElements: UpTo500 = 100,
) -> Result:
    """Elements as data with geometry and capabilities; snapshotPage is shorter."""
    from outrider.browser.snapshot.interactable import list_interactable

    within = "" if selector in (None, "", "body") else selector
    async with use_page(browsers, call, sessionId, within or None) as work:
        found = await list_interactable(
            work.tools.snapshotter, selector=within, include_hidden=includeHidden, max_elements=maxElements
        )
    spent = {
        "execution_time_ms": found.milliseconds,
        "data_size_bytes": len(json.dumps(found.elements, ensure_ascii=False).encode()),
    }
    facts = {
        "extraction_timestamp": format_time(time.time()),
        "total_count": found.total,
        "scope_selector": within or "body",
        "performance": spent,
    }
    data = {"elements": found.elements, "total": found.total, "truncated": found.truncated, "metadata": facts}
    head = f"{len(found.elements)} of {found.total} elements" + ("; raise maxElements" if found.truncated else "")
    return Result((TextBlock("\n".join([head, *map(_format_element, found.elements)])),), data=data)


@browser.tool(effect="write", title="Screenshot", open_world=True, untrusted=True, timeout=90)
async def takeScreenshot(
    browsers: Browsers,
    artifacts: ArtifactStore,
    choices: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    mode: Literal["viewport", "fullPage", "pdf"] = "viewport",
    selector: Annotated[str | None, Field(description="Only this")] = None,
    refs: Annotated[bool, Field(description="Draw refs")] = False,
) -> Result:
    """A picture of the page, or a PDF of it in the workspace. To read and act, snapshotPage is better."""
    if mode == "pdf":
        return await _save_pdf(browsers, artifacts, choices, call, sessionId)
    async with use_page(browsers, call, sessionId, selector or None) as work:
        drawn, shot = await _take_picture(work, full=mode == "fullPage", selector=selector or "", refs=refs)
        url = work.tools.page.url
    size = f"{shot.width}×{shot.height}" + (", cut below" if shot.cut else "")
    said = f"Screenshot of {url[:500]}, {size}" + (f", {drawn} refs drawn" if refs else "")
    suffix = shot.mime_type.partition("/")[2]
    kept = await _save_artifact(artifacts, call, shot.data, f"screenshot.{suffix}", shot.mime_type)
    meta = {"outrider/url": url} | _build_open_meta(artifacts, kept)
    return Result((TextBlock(said), ImageBlock(shot.data, shot.mime_type), *kept), meta=meta)


@browser.tool(title="Logs", open_world=True, untrusted=True)
async def readLogs(
    browsers: Browsers,
    choices: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    kind: Literal["console", "network", "downloads", "dialogs"],
    failedOnly: bool = False,
    last: UpTo500Entries = 30,
) -> Result:
    """The newest console messages, requests, downloads or dialogs."""
    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
    rows = {
        "console": _format_messages,
        "network": _format_requests,
        "downloads": _format_downloads,
        "dialogs": _format_dialogs,
    }[kind]
    found = rows(session, choices, failed=failedOnly)
    shown = found[-last:]
    head = f"{len(shown)} of {len(found)} {kind} entries, the newest last" if found else f"No {kind} entries."
    return Result(
        (TextBlock(f"{head}\n{choices.mark_untrusted(chr(10).join(shown), session.url)}" if shown else head),)
    )


async def _save_pdf(
    browsers: Browsers, artifacts: ArtifactStore, choices: ToolOptions, call: Call, session_id: str
) -> Result:
    from outrider.browser.page.file_names import find_free_path, make_safe_name
    from outrider.browser.page.screenshot import print_pdf

    async with use_page(browsers, call, session_id) as work:
        data = await print_pdf(work.tools.page)
        title = await work.tools.page.evaluate_in("outrider", "() => document.title")
    path = find_free_path(choices.resolve_folder("downloads"), make_safe_name(f"{title or 'page'}.pdf", "page"))
    await anyio.to_thread.run_sync(_write_file, path, data)
    kept = await _save_artifact(artifacts, call, data, path.name, "application/pdf")
    said = f"Saved {path.relative_to(choices.workspace.resolve())}, {len(data):,} bytes"
    return Result((TextBlock(said), *kept), meta={"outrider/path": str(path)} | _build_open_meta(artifacts, kept))


def _write_file(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be written: {error.strerror}", code="storage") from error


def _format_element(found: dict[str, Any]) -> str:
    box = {name: round(value) for name, value in found["rect"].items()}
    place = f"{box['x']},{box['y']} {box['width']}×{box['height']}"
    states = [word for word, holds in _list_element_states(found).items() if holds]
    can = "/".join(found["capabilities"])
    value = f" value={found['value']!r}" if found.get("value") else ""
    what = f"{found['ref']} {found['role'] or found['tag']} {clean_line(found['name'], 100)!r}"
    return " ".join([what, f"{found['selector']} at {place} can {can}{value}", *states])


def _list_element_states(found: dict[str, Any]) -> dict[str, bool]:
    return {
        "DISABLED": not found["enabled"],
        "HIDDEN": not found["visible"],
        "checked": found.get("checked") == "true",
        "outside the viewport": found["visible"] and not found["inViewport"],
    }


async def _take_picture(work: ActivePage, *, full: bool, selector: str, refs: bool) -> "tuple[int, Screenshot]":
    from outrider.browser.actions.marks import draw_refs
    from outrider.browser.actions.page_tools import find_element

    handle = (await find_element(work.tools, selector))[1] if selector else None
    if not refs:
        return 0, await _take_screenshot(work, full=full, element=handle)
    async with draw_refs(work.tools) as drawn:
        return drawn, await _take_screenshot(work, full=full, element=handle)


async def _take_screenshot(work: ActivePage, **options: Any) -> "Screenshot":
    max_image_bytes = 3_500_000  # of a PNG; above it a JPEG is sent, because hosts refuse larger pictures
    from outrider.browser.page.screenshot import take_screenshot

    taken = await take_screenshot(work.tools.page, **options)
    return (
        taken
        if len(taken.data) <= max_image_bytes
        else await take_screenshot(work.tools.page, format="jpeg", **options)
    )


async def _save_artifact(
    artifacts: ArtifactStore, call: Call, data: bytes, name: str, mime_type: str
) -> tuple[LinkBlock, ...]:
    """A link to the file; a database that is full costs only this convenience."""
    try:
        kept = await artifacts.save(data, name=name, mime_type=mime_type, session=call.session, call=call)
    except OutriderError:
        return ()
    return (LinkBlock(kept.uri, kept.name, kept.mime_type, kept.size),)


def _build_open_meta(artifacts: ArtifactStore, kept: tuple[LinkBlock, ...]) -> dict[str, str]:
    """Where a person can look at it, while there is a dashboard."""
    at = artifacts.build_artifact_url(kept[0].uri) if kept else ""
    return {"outrider/open": at} if at else {}


def _format_messages(session: "Session", _: ToolOptions, *, failed: bool) -> list[str]:
    kept = [each for each in session.console.messages if each.is_error or not failed]
    return [f"{each.level}: {clean_line(each.text, 1_000)}{_at(each.url, each.line)}" for each in kept]


def _at(url: str, number: int | None) -> str:
    return f" ({url}{f':{number}' if number else ''})" if url else ""


def _format_requests(session: "Session", _: ToolOptions, *, failed: bool) -> list[str]:
    kept = session.network.list_failed() if failed else session.network.requests
    return [" ".join(_list_request_parts(each)) for each in kept]


def _list_request_parts(each: Any) -> list[str]:
    took = [f"{each.milliseconds:g} ms"] if each.milliseconds is not None else ["under way"]
    status = [str(each.status)] if each.status else []
    return [each.method, each.url, each.kind, *status, *took, *([clean_line(each.error)] if each.error else [])]


def _format_downloads(session: "Session", choices: ToolOptions, *, failed: bool) -> list[str]:
    root = choices.workspace.resolve()
    kept = [each for each in session.downloads.entries if not failed or each.state in ("failed", "refused")]
    rows = []
    for each in kept:
        inside = each.path and each.path.resolve().is_relative_to(root)
        where = each.path.resolve().relative_to(root) if each.path and inside else each.path
        rows.append(f"{each.name}: {each.state}, {each.size:,} bytes{f', {where}' if where else ''}, from {each.url}")
    return rows


def _format_dialogs(session: "Session", _: ToolOptions, *, failed: bool) -> list[str]:
    kept = [] if failed else session.dialogs.history
    return [f"{each.kind}: {clean_line(each.message)} ({each.answer or 'open'})" for each in kept]
