"""How much fits into a model at once."""

from collections.abc import Sequence

from outrider.agents.definition import Budgets
from outrider.agents.models.access import Access

SHARE = 0.75  # of a model's window that a request may fill: the answer needs room, and tokens are only estimated
UNKNOWN = 128_000  # tokens of a paid model that nobody has measured
LOCAL = 32_000  # tokens of a model on this machine; what servers load by default is no more


def limit_of(chain: Sequence[Access], budgets: Budgets) -> int:
    """Tokens that a request may carry: what the budgets say, else what fits into each model of the chain."""
    return budgets.context or int(min(window_of(each) for each in chain) * SHARE)


def window_of(access: Access) -> int:
    """A model's window in tokens: by its profile, else by the table of genai-prices, else by what is usual."""
    if access.context:
        return access.context
    from genai_prices.data_snapshot import get_snapshot

    try:
        known = get_snapshot().find_provider_model(access.model, None, access.provider, None)[1].context_window
    except LookupError:
        known = None
    local = access.price is not None and access.price.input == access.price.output == 0
    return known or (LOCAL if local else UNKNOWN)
