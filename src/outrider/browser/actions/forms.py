"""Fill form fields, and verify the value of each one afterwards."""

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from outrider.browser.actions.drag import drag_along
from outrider.browser.actions.locate import ElementLocation, parse_element_query
from outrider.browser.actions.outcome import ActionOutcome, remember_action
from outrider.browser.actions.pointer import Pointer, SettleMode
from outrider.browser.actions.upload import upload_files
from outrider.browser.protocol.action_errors import build_action_error
from outrider.core.errors import InvalidInput, OutriderError

FieldValue = str | bool | float | list[str]


class Forms:
    """Fills the fields of one page.

    Args:
        pointer: The page's pointer.
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
        settle: SettleMode = "auto",
    ) -> ActionOutcome:
        """Write into a field, as keys and input methods do.

        Args:
            selector: A CSS selector or a reference: an input, a text area, an editor, or their label.
            text: The text; dates as YYYY-MM-DD and the like.
            append: Write after the present text instead of replacing it.
            submit: Press Enter afterwards.
            delay: Seconds between two keys; 0 writes at once.
            settle: See `Pointer.begin_action`.

        Raises:
            OutriderError: The text was not written; see `build_action_error`.
        """
        async with self.pointer.begin_action(settle) as action:
            location, written = await self._write_located(selector, text, append=append, delay=delay)
            if submit:
                await action.run_unless_blocked(self.page.dispatch_key("Enter"))
            report = await action.wait_for_effects(location.frame, location.ref)
            # Terminals and editors empty the field that takes the keys.
            was_processed = "drawn" in location.report and report.get("changes")
            if written.get("connected") and not written["same"] and written["unchanged"] and not was_processed:
                holds = "" if written["value"] is None else f"; it still holds {written['value']!r}"
                raise _build_no_effect_error("type", selector, location.report, f"it did not take the text{holds}")
            outcome = await action.build_outcome("type", location, report)
            values = {"text": text, "append": append, "submit": submit}
            await remember_action(self._scripts, outcome, "fill", values, looks=action.waits)
            return _add_value(outcome, written, text)

    async def hide_value(self, ref: str) -> None:
        """Show dots in a field for a secret, and hide its value from snapshots."""
        if frame := self._scripts.find_frame(ref):
            await self._scripts.invoke(frame, "hideFieldValue", ref)

    async def check(self, selector: str, *, checked: bool = True, settle: SettleMode = "auto") -> ActionOutcome:
        """Check or uncheck a check box, radio button or switch. Raises OutriderError as `type`."""
        kind, target_state = ("check" if checked else "uncheck"), str(checked).lower()
        query = parse_element_query(selector)
        location = await self.pointer.locator.locate(query, kind)
        before = location.report["before"]["checked"]
        if before is None:
            problem = {"reason": "not_editable", "message": "it cannot be checked", "hint": "use click"}
            raise build_action_error(kind, selector, location.report | problem)
        if kind == "uncheck" and location.report["type"] == "radio":
            message = "a radio button cannot be unchecked"
            problem = {"reason": "bad_value", "message": message, "hint": "check another one"}
            raise build_action_error(kind, selector, location.report | problem)
        if before == target_state:
            note = f"it was already {kind}ed"
            outcome = ActionOutcome(kind, location.element, ref=location.ref, note=note, url=self.page.url)
            outcome.location = location
            await remember_action(self._scripts, outcome, kind, {}, looks=False)
            return outcome

        async def press_at(at: ElementLocation) -> None:
            await self.page.dispatch_mouse("click", at.x, at.y)

        async with self.pointer.begin_action(settle) as action:
            outcome, report = await self.pointer.press_until_landed(action, query, kind, press_at)
        after = (report.get("after") or {}).get("checked")
        if report.get("connected") and after != target_state:
            states = {"true": "checked", "false": "not checked", "mixed": "half checked"}
            message = f"it is still {states.get(str(after), 'unknown')} after the click"
            opened = f"the click has opened {report['focused']}: {kind} that" if report["focused"] else ""
            raise _build_no_effect_error(kind, selector, location.report, message, opened)
        if report.get("connected") is False:
            outcome.note = f"the page has replaced it, so see whether the new one is {kind}ed"
        await remember_action(self._scripts, outcome, kind, {}, looks=action.waits)
        return outcome

    async def select(
        self, selector: str, *options: str, named: bool = False, settle: SettleMode = "auto"
    ) -> ActionOutcome:
        """Select options of a `<select>` by label or value. Raises OutriderError as `type`.

        Args:
            selector: The list.
            options: The options.
            named: Whether they come from a recorded action: values then only count for options with equal labels.
            settle: As `type`.
        """
        async with self.pointer.begin_action(settle) as action:
            query = parse_element_query(selector)
            location = await self.pointer.locator.locate(query, "select")
            given = {"selector": query.selector, "named": named}
            selected = await self._invoke_script(location, "selectOptions", list(options), given)
            if not selected["ok"]:
                raise build_action_error("select", selector, selected)
            report = await action.wait_for_effects(location.frame, location.ref)
            value = (report.get("after") or {}).get("value")
            is_reset = not selected["chosen"] or (value is not None and value != selected["value"])
            outcome = await action.build_outcome("select", location, report)
            # A list of commands, such as "Add filter", acts and shows its heading again.
            if is_reset and (value or not (outcome.changes or outcome.navigated)):
                message = f"the page reset it to {value!r}"
                raise _build_no_effect_error("select", selector, location.report, message)
            outcome.value = value if is_reset else selected["value"]
            outcome.note = "" if selected["changed"] else "it was already selected"
            if is_reset:
                outcome.note = f"the page has taken the choice and set the list back to {value!r}"
            await remember_action(self._scripts, outcome, "select", {"options": selected["names"]}, looks=action.waits)
            return outcome

    async def upload(self, selector: str, *paths: Path, settle: SettleMode = "auto") -> ActionOutcome:
        """Set the files of a file field, or of the chooser that an element opens. Raises OutriderError as `type`.

        The caller has checked that the paths may be read and uploaded.
        """
        return await upload_files(self.pointer, selector, paths, settle)

    async def _write_located(
        self, selector: str, text: str, *, append: bool, delay: float
    ) -> tuple[ElementLocation, dict[str, Any]]:
        """Write into a field; repeat if the page replaces it or moves its caret in the meantime."""
        max_attempts = 5
        query = parse_element_query(selector)
        options = {"append": append, "selector": query.selector}
        for _ in range(max_attempts):
            location = await self.pointer.locator.locate(query, "fill")
            prepared = await self._invoke_script(location, "prepareFill", text, options)
            if not prepared["ok"]:
                raise build_action_error("type", selector, prepared)
            if prepared["how"] == "step":
                await self._step_slider(location, float(text))
            elif prepared["how"] != "set":
                await self._write_prepared(location, text, prepared, append=append, delay=delay)
            written = await self._invoke_script(location, "checkFilled", text, options)
            if not (written.get("replaced") or written.get("scrambled")) or written["same"] or append:
                break
        return location, written

    async def _write_text(self, text: str, delay: float, *, replaces: bool) -> None:
        """Write into the focused field; the last character is a key press, so that key listeners run."""
        # Brackets and quotes are inserted instead of pressed, because editors would close them. The signs are pressed,
        # because they open lists of mentions and commands.
        keys = {character: character for character in f"{string.ascii_letters}{string.digits}@#/:"}
        if not text:
            if replaces:
                await self.page.dispatch_key("Delete")
            return
        if delay:
            keys |= {"\n": "Enter"}
            for character in text:
                key = keys.get(character)
                await (self.page.dispatch_key(key) if key else self.page.insert_text(character))
                await anyio.sleep(delay)
            return
        # Editors move the caret after a line end, and a key may arrive before that.
        key = keys.get(text[-1], "") if "\n" not in text else ""
        if inserted := text.removesuffix(key):
            await self.page.insert_text(inserted)
        if key:
            await self.page.dispatch_key(key)

    async def _write_prepared(
        self, location: ElementLocation, text: str, prepared: dict[str, Any], *, append: bool, delay: float
    ) -> None:
        """Write into the focused field, or into an editor that draws its text."""
        if prepared["how"] == "type":
            if prepared.get("seeksEnd"):  # an editor may hold more lines than it has drawn
                await self.page.dispatch_key("Control+End")
            await self._write_text(text, delay, replaces=not (append or prepared["empty"]))
            return
        await self.page.dispatch_key("Control+End" if append else "Control+a")
        # Paste, because editors change typed text: they indent lines and close brackets.
        is_pasted = bool(text) and not delay and await self._invoke_script(location, "pasteText", text)
        if not is_pasted:
            await self._write_text(text, delay, replaces=not append)

    async def _step_slider(self, location: ElementLocation, target_value: float) -> None:
        """Press arrow keys until a focused slider shows the value; stop if a press does not bring it nearer."""
        max_presses = 200
        start = value = await self._invoke_script(location, "readSlider")
        # Some sliders only accept the keys of their own direction.
        for increase, decrease in (("ArrowUp", "ArrowDown"), ("ArrowRight", "ArrowLeft")):
            for _ in range(max_presses):
                before = value
                if before is None or before == target_value:
                    return
                await self.page.dispatch_key(increase if target_value > before else decrease)
                value = await self._invoke_script(location, "readSlider")
                if value is None or abs(value - target_value) >= abs(before - target_value):
                    break
            if value is None or start is None or abs(value - target_value) < abs(start - target_value):
                return
        await self._drag_slider(location, target_value)

    async def _drag_slider(self, location: ElementLocation, target_value: float) -> None:
        """Drag a slider's thumb to the position of a value, then correct the difference."""
        max_drags = 3
        point = (location.x, location.y)
        for _ in range(max_drags):
            if (way := await self._invoke_script(location, "measureSliderDrag", target_value)) is None:
                return
            goal = (point[0] + way["x"], point[1] + way["y"])
            await drag_along(self.page, [point, goal])
            point = goal
            if await self._invoke_script(location, "readSlider") == target_value:
                return

    async def _invoke_script(self, location: ElementLocation, name: str, *args: object) -> Any:
        internals = self.pointer.snapshotter.internals
        if internals.is_known(location.frame):
            await internals.refresh(location.frame)
        return await self._scripts.invoke(location.frame, name, location.ref, *args)


def _add_value(outcome: ActionOutcome, written: dict[str, Any], text: str) -> ActionOutcome:
    """Add the field's value to an outcome, or the number of characters of a secret."""
    value = written.get("value")
    if written.get("connected") and value is not None and not written["same"]:
        outcome.value, outcome.note = value, "the page has changed the text"
    elif value is None and written.get("connected"):
        outcome.note = f"{len(text)} characters"
    else:
        outcome.value = value
    if written.get("problem"):
        outcome.note = f"{outcome.note}; the field says: {written['problem']}".removeprefix("; ")
    return outcome


def _build_no_effect_error(
    action: str, selector: str, report: dict[str, Any], message: str, hint: str = ""
) -> OutriderError:
    hint = hint or "take a snapshot to see the result"
    return build_action_error(action, selector, report | {"reason": "no_effect", "message": message, "hint": hint})


async def fill_form(forms: Forms, fields: Sequence[tuple[str, FieldValue]], submit: str = "") -> ActionOutcome:
    """Fill fields in their order, and press a button at the end.

    Args:
        forms: The page's forms.
        fields: Selectors and values: text, the labels of options, or whether a box is checked.
        submit: The selector of the button; empty for none.

    Raises:
        OutriderError: A field was not filled. The message names its index; those before it are filled.
    """
    await forms.pointer.snapshotter.ensure_baseline()
    outcome = ActionOutcome("fill", "")
    for index, (selector, value) in enumerate(fields):
        is_last = index == len(fields) - 1 and not submit
        try:
            outcome = await _fill_field(forms, selector, value, settles=is_last)
        except OutriderError as error:
            error.message = f"fields[{index}]: {error.message}"
            done = f"the {index} before it are filled" if index else "no field is filled"
            error.hint = f"{error.hint} ({done})".strip()
            raise
    if submit:
        outcome = await forms.pointer.click(submit)
    outcome.action, outcome.value = "fill", None
    clicked = f", then clicked {outcome.element}" if submit else ""
    outcome.element = f"{len(fields)} {'field' if len(fields) == 1 else 'fields'}{clicked}"
    return outcome


async def _fill_field(forms: Forms, selector: str, value: FieldValue, *, settles: bool) -> ActionOutcome:
    """Fill one field according to its kind."""
    settle = "auto" if settles else "none"
    location = await forms.pointer.locator.locate(parse_element_query(selector), "hover")
    if location.report["tag"] == "select":
        options = value if isinstance(value, list) else [str(value)]
        return await forms.select(selector, *options, settle=settle)
    if location.report["before"]["checked"] is not None:
        words = {"true": True, "yes": True, "on": True, "checked": True, "false": False, "no": False, "off": False}
        checked = value if isinstance(value, bool) else words.get(str(value).lower())
        if checked is None:
            raise InvalidInput(f"it takes true or false, not {value!r}", hint="send true to check it")
        return await forms.check(selector, checked=checked, settle=settle)
    if isinstance(value, bool | list):
        raise InvalidInput(f"{selector} takes a text, not {value!r}", hint="send a text")
    return await forms.type(selector, f"{value:g}" if isinstance(value, float) else str(value), settle=settle)
