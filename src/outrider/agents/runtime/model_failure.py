"""Why a request to a model came to nothing, and whether another may work."""

import json
import re
from dataclasses import dataclass

from pydantic_ai.exceptions import ModelAPIError, ModelContextWindowExceededError, ModelHTTPError

from outrider.agents.models.access import ModelAccess

# In the words of llama.cpp, vLLM, Ollama and those of the big three, whose codes the library knows by itself.
CONTEXT_ERROR_PATTERN = re.compile(
    r"context.{0,20}(length|window|size)|prompt is too long|too many tokens|maximum.{0,30}tokens|input.{0,20}too long",
    re.IGNORECASE,
)


class StreamInterruptedError(Exception):
    """A stream that ended before its answer did."""


@dataclass(frozen=True)
class ModelFailure:
    """Why a request came to nothing, without anything of what was sent.

    Attributes:
        is_transient: The same may work later.
        is_too_long: It was longer than the model can read.
    """

    detail: str
    is_transient: bool
    retry_after: float | None = None
    is_too_long: bool = False

    def compute_delay(self, tried: int) -> float:
        max_delay_s = 30.0  # seconds that a provider may ask us to wait
        first_delay_s = 0.5  # seconds before the second try; doubles
        return min(max_delay_s, self.retry_after if self.retry_after is not None else first_delay_s * 2**tried)


def classify_failure(error: Exception, access: ModelAccess) -> ModelFailure:
    transient_statuses = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
    if isinstance(error, ModelHTTPError):
        detail = f"HTTP {error.status_code}: {_extract_reason(error.body, access)}"
        too_long = isinstance(error, ModelContextWindowExceededError) or bool(CONTEXT_ERROR_PATTERN.search(detail))
        return ModelFailure(
            detail, error.status_code in transient_statuses, getattr(error, "retry_after", None), is_too_long=too_long
        )
    if isinstance(error, StreamInterruptedError):
        return ModelFailure(str(error), is_transient=True)
    text = _redact_key(str(error) or type(error).__name__, access)[:300]
    return ModelFailure(text, is_transient=isinstance(error, ModelAPIError | OSError) or _is_wire(error))


def _is_wire(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in {"httpx2", "openai", "anthropic", "json"}


def _extract_reason(body: object, access: ModelAccess) -> str:
    """The provider's own words, shortened; providers repeat keys in them."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message", inner) if isinstance(inner, dict) else inner
    text = said if isinstance(said, str) else json.dumps(said, default=str)
    return _redact_key(text, access)[:300]


def _redact_key(text: str, access: ModelAccess) -> str:
    return text.replace(access.key, "[key]") if access.key else text
