"""Fields: typed into, chosen, ticked, given files; afterwards each is asked what it now holds."""

from pathlib import Path
from typing import Any

import anyio

from outrider.browser.act import Hands, Settle
from outrider.browser.diagnose import failure
from outrider.browser.outcome import Outcome
from outrider.browser.resolve import Place, target
from outrider.browser.values import Handle
from outrider.browser.watch import Watch

LONGEST_TEXT = 1_000_000


class Fields:
    """Fills in the fields of one page.

    Args:
        hands: The page's hands.
    """

    def __init__(self, hands: Hands) -> None:
        self.hands = hands
        self.page = hands.page
        self._scripts = hands.eyes.scripts

    async def type(
        self,
        asked: str,
        text: str,
        *,
        append: bool = False,
        submit: bool = False,
        delay: float = 0.0,
        settle: Settle | None = None,
    ) -> Outcome:
        """Writes into a field, as keys and input methods do.

        Args:
            asked: A CSS selector or a reference: an input, a text area, an editor, or their label.
            text: For dates YYYY-MM-DD and the like.
            append: After what is there, instead of in its place.
            submit: Presses Enter afterwards.
            delay: Seconds between two keys; 0 writes at once.
            settle: As in `Hands`.

        Raises:
            OutriderError: It was not done: see `diagnose.failure`.
        """
        await self.hands.remember(settle)
        with Watch(self.page) as watch:
            place = await self.hands.reach.place(target(asked), "fill")
            ready = await self._call(place, "prepareFill", text, {"append": append})
            self._must(ready, "type", asked)
            if ready["how"] == "type":
                await self._write(text, delay, replaces=not (append or ready["empty"]))
            written = await self._call(place, "afterFill", text, append)
            if submit:
                await self.hands.unless_blocked(self.page.key("Enter"), watch)
            told = await self.hands.told(place, watch, settle)
            self._check_written(asked, place, written)
            outcome = await self.hands.outcome("type", place, watch, told, settle)
            return _with_value(outcome, written, text)

    async def check(self, asked: str, *, checked: bool = True, settle: Settle | None = None) -> Outcome:
        """Ticks a check box, radio button or switch, or takes the tick away. Raises as `type`."""
        action, wanted = ("check" if checked else "uncheck"), str(checked).lower()
        place = await self.hands.reach.place(target(asked), action)
        before = place.told["before"]["checked"]
        self._checkable(asked, action, place, before)
        if before == wanted:
            return Outcome(action, place.element, ref=place.ref, note="it was already", url=self.page.url)

        async def press(at: Place) -> None:
            await self.page.mouse("click", at.x, at.y)

        outcome, told = await self.hands.press_on(target(asked), action, press, settle)
        after = (told.get("after") or {}).get("checked")
        if told.get("connected") and after != wanted:
            raise failure(action, asked, place.told | _no_effect(f"it was pressed and is still {_state(after)}"))
        return outcome

    async def select(self, asked: str, *options: str, settle: Settle | None = None) -> Outcome:
        """Chooses options of a `<select>` by label or value. Raises as `type`."""
        await self.hands.remember(settle)
        with Watch(self.page) as watch:
            place = await self.hands.reach.place(target(asked), "select")
            done = await self._call(place, "choose", list(options))
            self._must(done, "select", asked)
            told = await self.hands.told(place, watch, settle)
            value = (told.get("after") or {}).get("value")
            if not done["chosen"] or (value is not None and value != done["value"]):
                raise failure("select", asked, place.told | _no_effect(f"the page has set it back to {value!r}"))
            outcome = await self.hands.outcome("select", place, watch, told, settle)
            outcome.value, outcome.note = done["value"], "" if done["changed"] else "it was already"
            return outcome

    async def upload(self, asked: str, *paths: Path, settle: Settle | None = None) -> Outcome:
        """Gives files to a file field, which may be hidden as they mostly are. Raises as `type`.

        The caller has made sure that the paths may be read and given away.
        """
        await self.hands.remember(settle)
        with Watch(self.page) as watch:
            frame = self._scripts.frame_of(target(asked).ref) if target(asked).ref else self.page.main
            found = await self._scripts.call(
                frame or self.page.main, "fileField", target(asked).for_script(), len(paths)
            )
            self._must(found, "upload", asked)
            place = Place(frame or self.page.main, found["ref"], 0, 0, found)
            handle = await self._scripts.element(place.frame, place.ref)
            await self._give(place, handle, paths)
            names = (await self._call(place, "filesOf"))["names"]
            if sorted(names) != sorted(path.name for path in paths):
                raise failure("upload", asked, found | _no_effect(f"it holds {', '.join(names) or 'no file'}"))
            told = await self.hands.told(place, watch, settle)
            outcome = await self.hands.outcome("upload", place, watch, told, settle)
            outcome.value = ", ".join(names)
            return outcome

    async def _give(self, place: Place, handle: Handle, paths: tuple[Path, ...]) -> None:
        files = [str(path) for path in paths]
        await place.frame.channel.send("DOM.setFileInputFiles", {"files": files, "objectId": handle.object_id})

    async def _write(self, text: str, delay: float, *, replaces: bool) -> None:
        """The last character comes as a key, so that whoever listens to keys hears one."""
        if not text:
            await self.page.key("Delete") if replaces else None
            return
        if delay:
            for letter in text:
                await self._strike(letter)
                await anyio.sleep(delay)
            return
        head, last = (text[:-1], text[-1]) if text[-1].isascii() and text[-1].isalnum() else (text, "")
        if head:
            await self.page.insert_text(head)
        if last:
            await self.page.key(last)

    async def _strike(self, letter: str) -> None:
        if letter == "\n":
            await self.page.key("Enter")
        elif letter.isascii() and letter.isalnum():
            await self.page.key(letter)
        else:
            await self.page.insert_text(letter)

    async def _call(self, place: Place, name: str, *args: object) -> Any:
        return await self._scripts.call(place.frame, name, place.ref, *args)

    def _must(self, told: dict[str, Any], action: str, asked: str) -> None:
        if not told["ok"]:
            raise failure(action, asked, told)

    def _checkable(self, asked: str, action: str, place: Place, before: str | None) -> None:
        if before is None:
            told = {"reason": "not_editable", "message": "it cannot be checked", "hint": "use click"}
            raise failure(action, asked, place.told | told)
        if action == "uncheck" and place.told["type"] == "radio":
            told = {"reason": "bad_value", "message": "a radio button cannot be unchecked", "hint": "check another one"}
            raise failure(action, asked, place.told | told)

    def _check_written(self, asked: str, place: Place, written: dict[str, Any]) -> None:
        if not written.get("connected") or written["same"]:
            return
        if written["unchanged"]:
            holds = "" if written["value"] is None else f"; it still holds {written['value']!r}"
            raise failure("type", asked, place.told | _no_effect(f"it did not take the text{holds}"))


def _with_value(outcome: Outcome, written: dict[str, Any], text: str) -> Outcome:
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


def _no_effect(message: str) -> dict[str, Any]:
    return {"reason": "no_effect", "message": message, "hint": "take a snapshot to see what the page made of it"}


def _state(checked: str | None) -> str:
    return {"true": "checked", "false": "not checked", "mixed": "half checked"}.get(str(checked), "unknown")
