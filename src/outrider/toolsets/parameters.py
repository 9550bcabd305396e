"""Parameters of several toolsets: clamped numbers, offsets into texts, idempotency keys."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from outrider.agents.start_keys import MAX_KEY_CHARS
from outrider.core.errors import InvalidInput


def _build_clamp(low: int, high: int, default: int, *, accept_text: bool) -> BeforeValidator:
    def clamp_value(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, float, str) if accept_text else (int, float)):
            return default
        try:
            number = round(float(value))
        except (ValueError, OverflowError):
            return default
        return min(max(number, low), high)

    return BeforeValidator(clamp_value)


def _build_fill(maximum: int) -> BeforeValidator:
    def fill_value(value: Any) -> Any:
        return maximum if isinstance(value, int) and not isinstance(value, bool) and not 0 < value <= maximum else value

    return BeforeValidator(fill_value)


def _publish_range(low: int, high: int) -> Any:
    return Field(json_schema_extra={"minimum": low, "maximum": high})


def check_offset(offset: int, total: int, subject: str, unit: str = "characters") -> None:
    """Raise InvalidInput for an offset past the end; `subject` names the text, which has `total` units."""
    if offset and offset >= total:
        hint = f"give one below {total:,}" if total else "leave out `offset`"
        raise InvalidInput(f"offset: {offset} is past the end of {subject} ({total:,} {unit})", hint=hint)


# A count of results: rounded and clamped; anything that is not a number becomes the default.
UpToTen = Annotated[int, _build_clamp(1, 10, 5, accept_text=True), _publish_range(1, 10)]
# The same for contracts that only take real numbers: the text "7" becomes the default.
NumberUpToTen = Annotated[int, _build_clamp(1, 10, 5, accept_text=False), _publish_range(1, 10)]

UpTo500Entries = Annotated[int, _build_clamp(1, 500, 30, accept_text=True)]
UpToHalfHour = Annotated[int, _build_clamp(10, 1_800, 300, accept_text=True)]  # seconds
UpToSecond = Annotated[int, _build_clamp(0, 1_000, 0, accept_text=True)]  # milliseconds
NotNegative = Annotated[int, _build_clamp(0, 10**9, 0, accept_text=True)]
IdempotencyKey = Annotated[
    str | None, Field(min_length=1, max_length=MAX_KEY_CHARS, description="Repeating a key starts no second run")
]
UpTo20 = Annotated[int, _build_clamp(0, 20, 5, accept_text=True), _publish_range(0, 20)]
UpTo200 = Annotated[int, _build_clamp(0, 200, 50, accept_text=True), _publish_range(0, 200)]
UpTo500 = Annotated[int, _build_clamp(1, 500, 100, accept_text=True), _publish_range(1, 500)]

# A budget of characters: zero, negative and too large values mean the maximum.
MAX_CHARS = 200_000
CharacterBudget = Annotated[int, _build_fill(MAX_CHARS)]
MaxCharacters = Annotated[
    int, _build_fill(MAX_CHARS), Field(description="Characters to return; 0: as many as possible")
]
