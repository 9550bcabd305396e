"""Values on their way between Python and a page's JavaScript."""

import math
from dataclasses import dataclass
from typing import Any

from outrider.core.errors import OutriderError


class ScriptError(OutriderError):
    """A script in the page threw.

    Args:
        message: What it threw, as one line.
        stack: Where, as the browser tells it.
    """

    kind = "script_error"

    def __init__(self, message: str, stack: str = "") -> None:
        super().__init__(message, code="script_error")
        self.stack = stack


@dataclass(frozen=True)
class Handle:
    """An object that stays in the page. Valid until its document is replaced.

    Attributes:
        object_id: The protocol's name of it.
        kind: The protocol's subtype or type: `node`, `array`, `function`, `undefined` …
        value: The value itself, if it is a plain one.
    """

    object_id: str
    kind: str
    value: Any = None


def to_call_argument(value: object) -> dict[str, Any]:
    """A Python value or a `Handle` as `Runtime.CallArgument`."""
    if isinstance(value, Handle):
        return {"objectId": value.object_id} if value.object_id else {"value": value.value}
    if isinstance(value, float) and not math.isfinite(value):
        return {"unserializableValue": "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"}
    return {"value": value}


def parse_value(answer: dict[str, Any]) -> Any:
    """The value of a `Runtime.callFunctionOn` by value; undefined is None. Raises ScriptError."""
    special_numbers = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
    result = _require_result(answer)
    word = result.get("unserializableValue")
    return result.get("value") if word is None else special_numbers.get(word, word)


def parse_handle(answer: dict[str, Any]) -> Handle:
    """The object of a `Runtime.callFunctionOn` by reference. Raises ScriptError."""
    result = _require_result(answer)
    kind = result.get("subtype") or result.get("type", "undefined")
    return Handle(result.get("objectId", ""), kind, result.get("value"))


def _require_result(answer: dict[str, Any]) -> dict[str, Any]:
    details = answer.get("exceptionDetails")
    if details is None:
        return answer.get("result", {})
    thrown = details.get("exception", {})
    text = thrown.get("description") or str(thrown.get("value", details.get("text", "it threw")))
    first, _, stack = text.partition("\n")
    raise ScriptError(first[:1_000], stack[:4_000])
