"""Convert values between Python and a page's JavaScript."""

import math
from dataclasses import dataclass
from typing import Any

from outrider.core.errors import OutriderError


class ScriptError(OutriderError):
    """A script in the page threw an exception.

    Args:
        message: The first line of the exception.
        stack: The browser's stack trace.
    """

    kind = "script_error"

    def __init__(self, message: str, stack: str = "") -> None:
        super().__init__(message, code="script_error")
        self.stack = stack


@dataclass(frozen=True)
class Handle:
    """Reference to an object in the page, valid until its document is replaced.

    Attributes:
        object_id: The CDP remote object id.
        kind: The CDP subtype or type: `node`, `array`, `function`, `undefined` …
        value: The value itself, if it is a primitive.
    """

    object_id: str
    kind: str
    value: Any = None


def to_call_argument(value: object) -> dict[str, Any]:
    """Convert a Python value or a `Handle` to a `Runtime.CallArgument`."""
    if isinstance(value, Handle):
        return {"objectId": value.object_id} if value.object_id else {"value": value.value}
    if isinstance(value, float) and not math.isfinite(value):
        return {"unserializableValue": "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"}
    return {"value": value}


def require_result(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the `RemoteObject` in a `Runtime.callFunctionOn` answer. Raises ScriptError."""
    details = answer.get("exceptionDetails")
    if details is None:
        return answer.get("result", {})
    thrown = details.get("exception", {})
    text = thrown.get("description") or str(thrown.get("value", details.get("text", "the script threw an exception")))
    first_line, _, stack = text.partition("\n")
    raise ScriptError(first_line[:1_000], stack[:4_000])
