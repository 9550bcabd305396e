"""Set the files of file fields, even behind a visible button."""

import asyncio
from pathlib import Path
from typing import Any

from outrider.browser.actions.locate import ElementLocation, parse_element_query
from outrider.browser.actions.outcome import ActionOutcome, get_action_log, remember_action
from outrider.browser.actions.pointer import Pointer, SettleMode
from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.protocol.values import Handle
from outrider.core.errors import OutriderError


async def upload_files(
    pointer: Pointer, selector: str, paths: tuple[Path, ...], settle: SettleMode = "auto"
) -> ActionOutcome:
    """Set the files of a file field, or of the chooser that an element opens.

    The caller has checked that the paths may be read and uploaded.

    Raises:
        OutriderError: The files were not taken; see `build_action_error`.
    """
    query, scripts = parse_element_query(selector), pointer.scripts
    async with pointer.begin_action(settle) as action:
        frame = (scripts.find_frame(query.ref) if query.ref else None) or pointer.page.main
        field = await scripts.invoke(frame, "findFileField", query.to_script_argument(), len(paths))
        handle: Handle | None = None
        log, opener = get_action_log(pointer.page), None
        if field["ok"] and "opener" in field:
            frame, handle, field = await _press_opener(pointer, selector, frame, len(paths))
            opener = log.take_last().element if log else None
        if not field["ok"]:
            raise build_action_error("upload", selector, field)
        location = ElementLocation(frame, field["ref"], 0, 0, field)
        handle = handle or await scripts.resolve_element(frame, location.ref)
        params = {"files": [str(path) for path in paths], "objectId": handle.object_id}
        await frame.channel.send("DOM.setFileInputFiles", params)
        names = (await scripts.invoke(frame, "listFileNames", location.ref))["names"]
        report = await action.wait_for_effects(frame, location.ref)
        # A page may take the files and then empty the field for the next ones.
        if names and sorted(names) != sorted(path.name for path in paths):
            raise _build_upload_error(selector, field, "no_effect", f"it holds {', '.join(names)}", "take a snapshot")
        outcome = await action.build_outcome("upload", location, report)
        outcome.value = ", ".join(names or (path.name for path in paths))
        outcome.note = "" if names else "the page has emptied the field after taking them"
        if opener:
            field["evidence"] = opener
        names_of_files = [log.staged.get(str(path), path.name) for path in paths] if log else []
        await remember_action(scripts, outcome, "upload", {"paths": names_of_files}, looks=action.waits)
        return outcome


async def _press_opener(
    pointer: Pointer, selector: str, frame: Frame, count: int
) -> tuple[Frame, Handle, dict[str, Any]]:
    """Press an element and return the file field whose chooser it opens, with its report."""
    chosen: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def accept_chooser(event: dict[str, Any]) -> None:
        if not chosen.done():
            chosen.set_result(event)

    chooser_timeout_s = 1.0  # a page may ask its server before it opens one
    unsubscribe = frame.channel.on("Page.fileChooserOpened", accept_chooser)
    await frame.channel.send("Page.setInterceptFileChooserDialog", {"enabled": True})
    try:
        await pointer.click(selector, settle="none")
        await asyncio.wait({chosen}, timeout=chooser_timeout_s)
    finally:
        unsubscribe()
        frame.channel.send_and_forget("Page.setInterceptFileChooserDialog", {"enabled": False})
    return await _resolve_chosen_field(pointer, selector, frame, count, chosen.result() if chosen.done() else None)


async def _resolve_chosen_field(
    pointer: Pointer, selector: str, frame: Frame, count: int, event: dict[str, Any] | None
) -> tuple[Frame, Handle, dict[str, Any]]:
    """Return the field of a file chooser. Raises InvalidInput if there is none."""
    if event is None:
        message, hint = "it opened no file chooser", "choose a file field, or a control that opens one"
        raise _build_upload_error(selector, {}, "not_editable", message, hint)
    if "backendNodeId" not in event:
        message = "the page opened a file picker (showOpenFilePicker) that only a person can answer"
        hint = "look for a file field or a place to drop files, or ask the user"
        raise _build_upload_error(selector, {}, "not_editable", message, hint)
    owner = pointer.page.frames.get(event["frameId"]) or frame
    context = await owner.ensure_context(ISOLATED_WORLD)
    params = {"backendNodeId": event["backendNodeId"], "executionContextId": context}
    answer = await owner.channel.send("DOM.resolveNode", params)
    field = Handle(answer["object"]["objectId"], "node")
    ref = await owner.evaluate(ISOLATED_WORLD, "(field) => outrider.refOf(field)", field)
    return owner, field, await pointer.snapshotter.scripts.invoke(owner, "describeFileField", ref, count)


def _build_upload_error(selector: str, report: dict[str, Any], reason: str, message: str, hint: str) -> OutriderError:
    return build_action_error("upload", selector, report | {"reason": reason, "message": message, "hint": hint})
