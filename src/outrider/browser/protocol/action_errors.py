"""Why an action was not done, as an error that says what to do next."""

from typing import Any

from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused, Unavailable

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
    """The error for what a script found in the way.

    Args:
        action: `click`, `type` …
        selector: The selector or reference as it was given.
        report: `reason`, `message`, `hint`, and any of `EVIDENCE` (contracts of `clickElement`).

    Returns:
        An error whose code is the reason and whose details are
        `{ok: false, action, reason, selector, element, rect, viewport, diagnostics, suggestions}`.
    """
    reason = str(report["reason"])
    details = {"ok": False, "action": action, "reason": reason}
    details |= {name: report[name] for name in EVIDENCE_FIELDS if name in report} | {"selector": selector}
    kind = ERROR_CLASSES.get(reason, Refused)
    return kind(
        _format_message(action, selector, report), hint=str(report.get("hint", "")), code=reason, details=details
    )


def _format_message(action: str, selector: str, report: dict[str, Any]) -> str:
    title = REASON_TITLES.get(str(report["reason"]), "Unknown interaction issue")
    element = report.get("element", "")
    which = selector if not element or report["message"].startswith(selector) else f"{selector} {element}"
    message = report["message"] if report["message"].startswith(which) else f"{which}: {report['message']}"
    return f"{action.capitalize()} failed: {title}: {message}"
