"""Fill several fields of a form in one go."""

from collections.abc import Sequence

from outrider.browser.actions.forms import Forms
from outrider.browser.actions.locate import parse_element_query
from outrider.browser.actions.outcome import ActionOutcome
from outrider.core.errors import InvalidInput, OutriderError

FieldValue = str | bool | float | list[str]


async def fill_form(forms: Forms, fields: Sequence[tuple[str, FieldValue]], submit: str = "") -> ActionOutcome:
    """Fill fields in their order, and press a button at the end.

    Args:
        forms: The page's forms.
        fields: Selectors and values: text, the labels of options, or whether a box is checked.
        submit: The selector of the button; empty for none.

    Raises:
        OutriderError: A field was not filled. The message names its index; those before it are filled.
    """
    await forms.pointer.ensure_baseline("auto")
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
    """Fill one field as its kind wants it."""
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
