"""Which providers of models there are."""

from collections.abc import Mapping
from functools import lru_cache

from outrider.agents.models import providers
from outrider.agents.models.provider import MODEL_PROVIDER_GROUP, ModelProvider
from outrider.core.discovery import discover_instances


@lru_cache(maxsize=1)
def load_providers() -> Mapping[str, ModelProvider]:
    """Every provider by name, in their rank's order: those in the folder and those of plugins."""
    found = sorted(
        discover_instances(providers, ModelProvider, group=MODEL_PROVIDER_GROUP),
        key=lambda each: (each.rank, each.name),
    )
    return {each.name: each for each in found}
