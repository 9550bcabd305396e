"""Discover the providers of models."""

from collections.abc import Mapping
from functools import lru_cache

from outrider.agents.models import providers
from outrider.agents.models.provider import MODEL_PROVIDER_GROUP, ModelProvider
from outrider.core.discovery import discover_instances


@lru_cache(maxsize=1)
def load_providers() -> Mapping[str, ModelProvider]:
    """Return the built-in providers and those of plugins by name, in order of rank."""
    discovered = discover_instances(providers, ModelProvider, group=MODEL_PROVIDER_GROUP)
    return {provider.name: provider for provider in sorted(discovered, key=lambda each: (each.rank, each.name))}
