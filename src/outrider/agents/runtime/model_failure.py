"""Classify failed requests to models."""

import json
import re
from dataclasses import dataclass

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    UnexpectedModelBehavior,
)

from outrider.agents.models.access import ModelAccess

# The messages of llama.cpp, vLLM and Ollama, and of vendors whose error codes pydantic-ai does not know.
CONTEXT_ERROR_PATTERN = re.compile(
    r"context.{0,20}(length|window|size)|prompt is too long|too many tokens|maximum.{0,30}tokens|input.{0,20}too long",
    re.IGNORECASE,
)


class StreamInterruptedError(Exception):
    """The stream ended before the answer was complete."""


@dataclass(frozen=True)
class ModelFailure:
    """The reason why a request failed, without any of its content.

    Attributes:
        is_transient: Whether the same request may succeed later.
        retry_after: Seconds to wait, if the provider has said so.
        is_too_long: Whether the request exceeded the model's context window.
    """

    detail: str
    is_transient: bool
    retry_after: float | None = None
    is_too_long: bool = False

    def compute_delay(self, failed_tries: int) -> float:
        """Return the seconds to wait before the next try; `failed_tries` counts from 0."""
        max_delay_s = 30.0
        first_delay_s = 0.5  # doubles with each try
        return min(max_delay_s, self.retry_after if self.retry_after is not None else first_delay_s * 2**failed_tries)


def classify_failure(error: Exception, access: ModelAccess) -> ModelFailure:
    """Return the failure behind an exception of a model request."""
    transient_statuses = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
    if isinstance(error, ModelHTTPError):
        body = error.body
        inner = body.get("error", body) if isinstance(body, dict) else body
        message = inner.get("message", inner) if isinstance(inner, dict) else inner
        text = message if isinstance(message, str) else json.dumps(message, default=str)
        detail = f"HTTP {error.status_code}: {_redact_key(text, access)[:300]}"
        too_long = isinstance(error, ModelContextWindowExceededError) or bool(CONTEXT_ERROR_PATTERN.search(detail))
        return ModelFailure(
            detail, error.status_code in transient_statuses, getattr(error, "retry_after", None), is_too_long=too_long
        )
    if isinstance(error, StreamInterruptedError):
        return ModelFailure(str(error), is_transient=True)
    if isinstance(error, UnexpectedModelBehavior) and "without content" in str(error):
        return ModelFailure("it sent no answer; check that base_url leads to a model's API", is_transient=False)
    detail = _redact_key(str(error) or type(error).__name__, access)[:300]
    is_from_library = type(error).__module__.partition(".")[0] in {"httpx2", "openai", "anthropic", "json"}
    return ModelFailure(detail, is_transient=isinstance(error, ModelAPIError | OSError) or is_from_library)


def _redact_key(text: str, access: ModelAccess) -> str:
    # Providers repeat the API key in some error messages.
    return text.replace(access.key, "[key]") if access.key else text
