"""Why a request to a model came to nothing, and whether another may work."""

import json
import re
from dataclasses import dataclass

from pydantic_ai.exceptions import ModelAPIError, ModelContextWindowExceededError, ModelHTTPError

from outrider.agents.models.access import Access

FIRST_WAIT = 0.5  # seconds before the second try; doubles
LONGEST_WAIT = 30.0  # seconds that a provider may ask us to wait
# In the words of llama.cpp, vLLM, Ollama and those of the big three, whose codes the library knows by itself.
TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size)|prompt is too long|too many tokens|maximum.{0,30}tokens|input.{0,20}too long",
    re.IGNORECASE,
)
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


class BrokeOffError(Exception):
    """A stream that ended before its answer did."""


@dataclass(frozen=True)
class Failure:
    """Why a request came to nothing, without anything of what was sent.

    Attributes:
        passing: The same may work later.
        too_long: It was longer than the model can read.
    """

    detail: str
    passing: bool
    retry_after: float | None = None
    too_long: bool = False

    def wait(self, tried: int) -> float:
        return min(LONGEST_WAIT, self.retry_after if self.retry_after is not None else FIRST_WAIT * 2**tried)


def failure(error: Exception, access: Access) -> Failure:
    if isinstance(error, ModelHTTPError):
        detail = f"HTTP {error.status_code}: {_reason(error.body, access)}"
        too_long = isinstance(error, ModelContextWindowExceededError) or bool(TOO_LONG.search(detail))
        return Failure(detail, error.status_code in PASSING, getattr(error, "retry_after", None), too_long=too_long)
    if isinstance(error, BrokeOffError):
        return Failure(str(error), passing=True)
    text = _hidden(str(error) or type(error).__name__, access)[:300]
    return Failure(text, passing=isinstance(error, ModelAPIError | OSError) or _is_wire(error))


def _is_wire(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in {"httpx2", "openai", "anthropic", "json"}


def _reason(body: object, access: Access) -> str:
    """The provider's own words, shortened; providers repeat keys in them."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message", inner) if isinstance(inner, dict) else inner
    text = said if isinstance(said, str) else json.dumps(said, default=str)
    return _hidden(text, access)[:300]


def _hidden(text: str, access: Access) -> str:
    return text.replace(access.key, "[key]") if access.key else text
