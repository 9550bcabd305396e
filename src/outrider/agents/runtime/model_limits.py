"""How much fits into a model at once."""

from collections.abc import Sequence

from outrider.agents.definition import Budgets
from outrider.agents.models.access import ModelAccess


def compute_request_limit(chain: Sequence[ModelAccess], budgets: Budgets) -> int:
    """Tokens that a request may carry: what the budgets say, else what fits into each model of the chain."""
    request_share = (
        0.75  # of a model's window that a request may fill: the answer needs room, and tokens are only estimated
    )
    return budgets.context or int(min(find_context_window(each) for each in chain) * request_share)


def find_context_window(access: ModelAccess) -> int:
    """A model's window in tokens: by its profile, else by the table of genai-prices, else by what is usual."""
    local_tokens = 32_000  # tokens of a model on this machine; what servers load by default is no more
    default_tokens = 128_000  # tokens of a paid model that nobody has measured
    if access.context_tokens:
        return access.context_tokens
    from genai_prices.data_snapshot import get_snapshot

    try:
        known = get_snapshot().find_provider_model(access.model, None, access.provider, None)[1].context_window
    except LookupError:
        known = None
    local = access.price is not None and access.price.input == access.price.output == 0
    return known or (local_tokens if local else default_tokens)
