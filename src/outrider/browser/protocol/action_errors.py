"""Turn a failed action's report into an error with the next step."""

from typing import Any

from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused, Unavailable

# Reasons missing here are refusals.
ERROR_CLASSES: dict[str, type[OutriderError]] = {
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
REASON_TITLES = {
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
    "no_focus": "Element cannot be focused",
    "read_only": "Element is read-only",
    "not_editable": "Wrong kind of element",
    "bad_value": "Value not accepted",
    "no_option": "Option not found",
}
EVIDENCE_FIELDS = (
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


def build_action_error(action: str, selector: str, report: dict[str, Any]) -> OutriderError:
    """Build the error for an action that a script reports as impossible.

    Args:
        action: `click`, `type` …
        selector: The selector or reference as the caller gave it.
        report: `reason`, `message`, `hint`, and any of `EVIDENCE_FIELDS`.

    Returns:
        An error whose code is the reason and whose details are
        `{ok: false, action, reason, selector, element, rect, viewport, diagnostics, suggestions}`.
    """
    reason, message = str(report["reason"]), str(report["message"])
    details = {"ok": False, "action": action, "reason": reason}
    details |= {name: report[name] for name in EVIDENCE_FIELDS if name in report} | {"selector": selector}
    title = REASON_TITLES.get(reason, "Unknown interaction issue")
    element = report.get("element", "")
    # The script may already have named the element; name it only once.
    subject = selector if not element or message.startswith(selector) else f"{selector} {element}"
    if not message.startswith(subject):
        message = f"{subject}: {message}"
    return ERROR_CLASSES.get(reason, Refused)(
        f"{action.capitalize()} failed: {title}: {message}",
        hint=str(report.get("hint", "")),
        code=reason,
        details=details,
    )
