"""What a response cost, in tokens and money."""

from collections.abc import Mapping
from typing import Any

from pydantic_ai.messages import ModelResponse

from outrider.agents.limits import RunUsage
from outrider.agents.models.access import ModelAccess
from outrider.core.metrics import MODEL_COST, MODEL_SECONDS, MODEL_TOKENS


def build_usage(response: ModelResponse, access: ModelAccess) -> dict[str, Any]:
    used = response.usage
    cost = _compute_cost(response, access)
    return RunUsage(
        requests=1,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_tokens=used.cache_read_tokens,
        tools=len(response.tool_calls),
        cost=cost,
        unpriced=int(cost is None),
    ).to_dict()


def record_metrics(access: ModelAccess, seconds: float, usage: Mapping[str, Any], outcome: str = "ok") -> None:
    """Counts a request to a model: how long it took, and what it used where it was answered."""
    facts = {"gen_ai.request.model": access.model, "gen_ai.provider.name": access.provider}
    MODEL_SECONDS.record(seconds, facts | {"outcome": outcome})
    for kind in ("input", "output"):
        if tokens := usage.get(f"{kind}_tokens"):
            MODEL_TOKENS.record(tokens, facts | {"gen_ai.token.type": kind})
    if cost := usage.get("cost"):
        MODEL_COST.add(cost, facts)


def _compute_cost(response: ModelResponse, access: ModelAccess) -> float | None:
    """US dollars: by the profile's price, else by the table of genai-prices; None where neither knows the model."""
    used = response.usage
    if access.price is not None:
        return (used.input_tokens * access.price.input + used.output_tokens * access.price.output) / 1_000_000
    if used.cost is not None:
        return float(used.cost)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
