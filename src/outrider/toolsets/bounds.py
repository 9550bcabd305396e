"""Number parameters whose contract is to bend rather than to break."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field


def _clamp(low: int, high: int, default: int, *, texts: bool) -> BeforeValidator:
    def bend(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, float, str) if texts else (int, float)):
            return default
        try:
            number = round(float(value))
        except (ValueError, OverflowError):
            return default
        return min(max(number, low), high)

    return BeforeValidator(bend)


def _fill(most: int) -> BeforeValidator:
    def bend(value: Any) -> Any:
        return most if isinstance(value, int) and not isinstance(value, bool) and not 0 < value <= most else value

    return BeforeValidator(bend)


def _shown(low: int, high: int) -> Any:
    return Field(json_schema_extra={"minimum": low, "maximum": high})


# A count of results: rounded and moved into its range; what is no number becomes the default.
UpToTen = Annotated[int, _clamp(1, 10, 5, texts=True), _shown(1, 10)]
# The same where the contract takes only true numbers: the text "7" is none.
NumberUpToTen = Annotated[int, _clamp(1, 10, 5, texts=False), _shown(1, 10)]

UpTo500Entries = Annotated[int, _clamp(1, 500, 30, texts=True)]
UpToHalfHour = Annotated[int, _clamp(10, 1_800, 300, texts=True)]  # seconds
UpToSecond = Annotated[int, _clamp(0, 1_000, 0, texts=True)]  # milliseconds
NotNegative = Annotated[int, _clamp(0, 10**9, 0, texts=True)]
UpTo20 = Annotated[int, _clamp(0, 20, 5, texts=True), _shown(0, 20)]
UpTo200 = Annotated[int, _clamp(0, 200, 50, texts=True), _shown(0, 200)]
UpTo500 = Annotated[int, _clamp(1, 500, 100, texts=True), _shown(1, 500)]

# A budget of characters: zero and less, and too many, mean as many as there may be.
MOST_CHARS = 200_000
Budget = Annotated[int, _fill(MOST_CHARS)]
Characters = Annotated[int, _fill(MOST_CHARS), Field(description="Characters to return; 0: as many as possible")]
