"""Determine how many tokens a request to a model may have."""

from collections.abc import Sequence

from outrider.agents.definition import Budgets
from outrider.agents.models.access import ModelAccess


def compute_request_limit(chain: Sequence[ModelAccess], budgets: Budgets) -> int:
    """Return the tokens that a request may have: the budget, or a share of the smallest context window."""
    # The answer needs space as well, and tokens are only estimated.
    request_share = 0.75
    return budgets.context or int(min(find_context_window(access) for access in chain) * request_share)


def find_context_window(access: ModelAccess) -> int:
    """Return a model's context window in tokens, from its profile, from genai-prices or by default."""
    local_tokens = 32_000  # servers on this machine rarely load a larger window by default
    default_tokens = 128_000
    if access.context_tokens:
        return access.context_tokens
    from genai_prices.data_snapshot import get_snapshot

    try:
        tokens = get_snapshot().find_provider_model(access.model, None, access.provider, None)[1].context_window
    except LookupError:
        tokens = None
    is_local = access.price is not None and access.price.input == access.price.output == 0
    return tokens or (local_tokens if is_local else default_tokens)
