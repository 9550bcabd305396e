"""Compute and record the usage and cost of a model's response."""

from collections.abc import Mapping
from typing import Any

from pydantic_ai.messages import ModelResponse

from outrider.agents.limits import RunUsage
from outrider.agents.models.access import ModelAccess
from outrider.core.metrics import MODEL_COST, MODEL_SECONDS, MODEL_TOKENS


def build_usage(response: ModelResponse, access: ModelAccess) -> dict[str, Any]:
    """Return the usage of one response as `RunUsage.to_dict` does."""
    usage = response.usage
    cost = _compute_cost(response, access)
    return RunUsage(
        requests=1,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_tokens,
        tools=len(response.tool_calls),
        cost=cost,
        unpriced=int(cost is None),
    ).to_dict()


def record_metrics(access: ModelAccess, seconds: float, usage: Mapping[str, Any], outcome: str = "ok") -> None:
    """Record duration, tokens and cost of a model request as metrics."""
    attributes = {"gen_ai.request.model": access.model, "gen_ai.provider.name": access.provider}
    MODEL_SECONDS.record(seconds, attributes | {"outcome": outcome})
    for kind in ("input", "output"):
        if tokens := usage.get(f"{kind}_tokens"):
            MODEL_TOKENS.record(tokens, attributes | {"gen_ai.token.type": kind})
    if cost := usage.get("cost"):
        MODEL_COST.add(cost, attributes)


def _compute_cost(response: ModelResponse, access: ModelAccess) -> float | None:
    """Return the cost in US dollars, from the profile's price or genai-prices; None if both lack the model."""
    usage = response.usage
    if access.price is not None:
        return (usage.input_tokens * access.price.input + usage.output_tokens * access.price.output) / 1_000_000
    if usage.cost is not None:
        return float(usage.cost)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
