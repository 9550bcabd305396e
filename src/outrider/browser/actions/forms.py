"""Fields: typed into, chosen, ticked, given files; afterwards each is asked what it now holds."""

from pathlib import Path
from typing import Any

import anyio

from outrider.browser.actions.locate import ElementLocation, parse_element_query
from outrider.browser.actions.outcome import ActionOutcome
from outrider.browser.actions.pointer import Pointer, SettleMode
from outrider.browser.page.watch import ActionMonitor
from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.values import Handle

MAX_TEXT_CHARS = 1_000_000


class Forms:
    """Fills in the fields of one page.

    Args:
        pointer: The page's hands.
    """

    def __init__(self, pointer: Pointer) -> None:
        self.pointer = pointer
        self.page = pointer.page
        self._scripts = pointer.snapshotter.scripts

    async def type(
        self,
        selector: str,
        text: str,
        *,
        append: bool = False,
        submit: bool = False,
        delay: float = 0.0,
        settle: SettleMode | None = None,
    ) -> ActionOutcome:
        """Writes into a field, as keys and input methods do.

        Args:
            selector: A CSS selector or a reference: an input, a text area, an editor, or their label.
            text: For dates YYYY-MM-DD and the like.
            append: After what is there, instead of in its place.
            submit: Presses Enter afterwards.
            delay: Seconds between two keys; 0 writes at once.
            settle: As in `Hands`.

        Raises:
            OutriderError: It was not done: see `diagnose.failure`.
        """
        await self.pointer.ensure_baseline(settle)
        with ActionMonitor(self.page) as watch:
            place = await self.pointer.locator.locate(parse_element_query(selector), "fill")
            ready = await self._invoke_script(place, "prepareFill", text, {"append": append})
            self._require_ok(ready, "type", selector)
            if ready["how"] == "type":
                await self._write_text(text, delay, replaces=not (append or ready["empty"]))
            written = await self._invoke_script(place, "afterFill", text, append)
            if submit:
                await self.pointer.run_unless_blocked(self.page.dispatch_key("Enter"), watch)
            told = await self.pointer.read_report(place, watch, settle)
            self._check_written(selector, place, written)
            outcome = await self.pointer.build_outcome("type", place, watch, told, settle)
            return _add_value(outcome, written, text)

    async def check(self, selector: str, *, checked: bool = True, settle: SettleMode | None = None) -> ActionOutcome:
        """Ticks a check box, radio button or switch, or takes the tick away. Raises as `type`."""
        action, wanted = ("check" if checked else "uncheck"), str(checked).lower()
        place = await self.pointer.locator.locate(parse_element_query(selector), action)
        before = place.report["before"]["checked"]
        self._require_checkable(selector, action, place, before)
        if before == wanted:
            return ActionOutcome(action, place.element, ref=place.ref, note="it was already", url=self.page.url)

        async def press_at(at: ElementLocation) -> None:
            await self.page.dispatch_mouse("click", at.x, at.y)

        outcome, told = await self.pointer.press_until_landed(parse_element_query(selector), action, press_at, settle)
        after = (told.get("after") or {}).get("checked")
        if told.get("connected") and after != wanted:
            raise build_action_error(
                action, selector, place.report | _build_no_effect(f"it was pressed and is still {_state(after)}")
            )
        return outcome

    async def select(self, selector: str, *options: str, settle: SettleMode | None = None) -> ActionOutcome:
        """Chooses options of a `<select>` by label or value. Raises as `type`."""
        await self.pointer.ensure_baseline(settle)
        with ActionMonitor(self.page) as watch:
            place = await self.pointer.locator.locate(parse_element_query(selector), "select")
            done = await self._invoke_script(place, "choose", list(options))
            self._require_ok(done, "select", selector)
            told = await self.pointer.read_report(place, watch, settle)
            value = (told.get("after") or {}).get("value")
            if not done["chosen"] or (value is not None and value != done["value"]):
                raise build_action_error(
                    "select", selector, place.report | _build_no_effect(f"the page has set it back to {value!r}")
                )
            outcome = await self.pointer.build_outcome("select", place, watch, told, settle)
            outcome.value, outcome.note = done["value"], "" if done["changed"] else "it was already"
            return outcome

    async def upload(self, selector: str, *paths: Path, settle: SettleMode | None = None) -> ActionOutcome:
        """Gives files to a file field, which may be hidden as they mostly are. Raises as `type`.

        The caller has made sure that the paths may be read and given away.
        """
        await self.pointer.ensure_baseline(settle)
        with ActionMonitor(self.page) as watch:
            frame = (
                self._scripts.find_frame(parse_element_query(selector).ref)
                if parse_element_query(selector).ref
                else self.page.main
            )
            found = await self._scripts.invoke(
                frame or self.page.main, "fileField", parse_element_query(selector).to_script_argument(), len(paths)
            )
            self._require_ok(found, "upload", selector)
            place = ElementLocation(frame or self.page.main, found["ref"], 0, 0, found)
            handle = await self._scripts.resolve_element(place.frame, place.ref)
            await self._give(place, handle, paths)
            names = (await self._invoke_script(place, "filesOf"))["names"]
            if sorted(names) != sorted(path.name for path in paths):
                raise build_action_error(
                    "upload", selector, found | _build_no_effect(f"it holds {', '.join(names) or 'no file'}")
                )
            told = await self.pointer.read_report(place, watch, settle)
            outcome = await self.pointer.build_outcome("upload", place, watch, told, settle)
            outcome.value = ", ".join(names)
            return outcome

    async def _give(self, place: ElementLocation, handle: Handle, paths: tuple[Path, ...]) -> None:
        files = [str(path) for path in paths]
        await place.frame.channel.send("DOM.setFileInputFiles", {"files": files, "objectId": handle.object_id})

    async def _write_text(self, text: str, delay: float, *, replaces: bool) -> None:
        """The last character comes as a key, so that whoever listens to keys hears one."""
        if not text:
            await self.page.dispatch_key("Delete") if replaces else None
            return
        if delay:
            for letter in text:
                await self._type_character(letter)
                await anyio.sleep(delay)
            return
        head, last = (text[:-1], text[-1]) if text[-1].isascii() and text[-1].isalnum() else (text, "")
        if head:
            await self.page.insert_text(head)
        if last:
            await self.page.dispatch_key(last)

    async def _type_character(self, letter: str) -> None:
        if letter == "\n":
            await self.page.dispatch_key("Enter")
        elif letter.isascii() and letter.isalnum():
            await self.page.dispatch_key(letter)
        else:
            await self.page.insert_text(letter)

    async def _invoke_script(self, place: ElementLocation, name: str, *args: object) -> Any:
        return await self._scripts.invoke(place.frame, name, place.ref, *args)

    def _require_ok(self, report: dict[str, Any], action: str, selector: str) -> None:
        if not report["ok"]:
            raise build_action_error(action, selector, report)

    def _require_checkable(self, selector: str, action: str, place: ElementLocation, before: str | None) -> None:
        if before is None:
            told = {"reason": "not_editable", "message": "it cannot be checked", "hint": "use click"}
            raise build_action_error(action, selector, place.report | told)
        if action == "uncheck" and place.report["type"] == "radio":
            told = {"reason": "bad_value", "message": "a radio button cannot be unchecked", "hint": "check another one"}
            raise build_action_error(action, selector, place.report | told)

    def _check_written(self, selector: str, place: ElementLocation, written: dict[str, Any]) -> None:
        if not written.get("connected") or written["same"]:
            return
        if written["unchanged"]:
            holds = "" if written["value"] is None else f"; it still holds {written['value']!r}"
            raise build_action_error(
                "type", selector, place.report | _build_no_effect(f"it did not take the text{holds}")
            )


def _add_value(outcome: ActionOutcome, written: dict[str, Any], text: str) -> ActionOutcome:
    value = written.get("value")
    if written.get("connected") and value is not None and not written["same"]:
        outcome.value, outcome.note = value, "the page made something else of the text"
    elif value is None and written.get("connected"):
        outcome.note = f"{len(text)} characters"
    else:
        outcome.value = value
    if written.get("problem"):
        outcome.note = f"{outcome.note}; the field says: {written['problem']}".removeprefix("; ")
    return outcome


def _build_no_effect(message: str) -> dict[str, Any]:
    return {"reason": "no_effect", "message": message, "hint": "take a snapshot to see what the page made of it"}


def _state(checked: str | None) -> str:
    return {"true": "checked", "false": "not checked", "mixed": "half checked"}.get(str(checked), "unknown")
