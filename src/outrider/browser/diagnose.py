"""Why an action was not done, as an error that says what to do next."""

from typing import Any

from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused, Unavailable

KINDS: dict[str, type[OutriderError]] = {
    "not_found": NotFound,
    "ambiguous": InvalidInput,
    "invalid_selector": InvalidInput,
    "bad_value": InvalidInput,
    "no_option": InvalidInput,
    "not_editable": InvalidInput,
    "changed": Refused,
    "timeout": Unavailable,
    "execution_error": Unavailable,
}
TITLES = {
    "not_found": "Element not found",
    "ambiguous": "Selector is ambiguous",
    "invalid_selector": "Selector is not valid",
    "disabled": "Element is disabled",
    "zero_size": "Element has zero dimensions",
    "off_screen": "Element positioned outside viewport",
    "hidden": "Element not visible",
    "pointer_events_none": "Element visible but not clickable",
    "covered": "Element visible but not clickable",
    "changed": "Element has changed its meaning",
    "timeout": "Operation timeout",
    "execution_error": "Execution error",
    "no_effect": "Nothing happened",
    "read_only": "Element is read-only",
    "not_editable": "Wrong kind of element",
    "bad_value": "Value not accepted",
    "no_option": "Option not found",
}
EVIDENCE = (
    "selector",
    "element",
    "ref",
    "rect",
    "viewport",
    "diagnostics",
    "suggestions",
    "covered_by",
    "count",
    "cause",
)


def failure(action: str, asked: str, told: dict[str, Any]) -> OutriderError:
    """The error for what a script found in the way.

    Args:
        action: `click`, `type` …
        asked: The selector or reference as it was given.
        told: `reason`, `message`, `hint`, and any of `EVIDENCE` (contracts of `clickElement`).

    Returns:
        An error whose code is the reason and whose details are
        `{ok: false, action, reason, selector, element, rect, viewport, diagnostics, suggestions}`.
    """
    reason = str(told["reason"])
    details = {"ok": False, "action": action, "reason": reason}
    details |= {name: told[name] for name in EVIDENCE if name in told} | {"selector": asked}
    kind = KINDS.get(reason, Refused)
    return kind(_sentence(action, asked, told), hint=str(told.get("hint", "")), code=reason, details=details)


def _sentence(action: str, asked: str, told: dict[str, Any]) -> str:
    title = TITLES.get(str(told["reason"]), "Unknown interaction issue")
    element = told.get("element", "")
    which = asked if not element or told["message"].startswith(asked) else f"{asked} {element}"
    message = told["message"] if told["message"].startswith(which) else f"{which}: {told['message']}"
    return f"{action.capitalize()} failed: {title}: {message}"
