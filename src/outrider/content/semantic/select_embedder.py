"""Select the embedder of an installation."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from outrider.content.semantic import embedders
from outrider.content.semantic.embedder import (
    EMBEDDER_ENTRY_POINTS,
    KEYWORD_SEARCH_HINT,
    SEMANTIC_UNAVAILABLE,
    Embedder,
    EmbedderDependencies,
    EmbedderProvider,
)
from outrider.content.settings import EmbeddingSettings
from outrider.core.discovery import discover_instances
from outrider.core.errors import NotConfigured
from outrider.core.http import HttpClient

__all__ = ["Embedder", "load_embedder_providers", "select_embedder"]


@lru_cache(maxsize=1)
def load_embedder_providers() -> Mapping[str, EmbedderProvider]:
    """Return all providers by name, best first."""
    providers = discover_instances(embedders, EmbedderProvider, group=EMBEDDER_ENTRY_POINTS)
    ranked = sorted(providers, key=lambda provider: (provider.rank, provider.name))
    return {provider.name: provider for provider in ranked}


def select_embedder(
    settings: EmbeddingSettings,
    http: HttpClient,
    environ: Mapping[str, str],
    *,
    folder: Path | None = None,
    keys: Mapping[str, str] | None = None,
) -> Embedder | None:
    """Return the embedder that the settings choose, without loading it.

    Args:
        settings: The operator's settings.
        http: For embedders that use an endpoint.
        environ: Environment variables that may hold a key.
        folder: The folder of installed models; ~/.outrider/models by default.
        keys: The entries of keys.json, which may hold a key.

    Returns:
        None if embedding is switched off, or no embedder is usable.

    Raises:
        NotConfigured: The provider that the settings name is unknown or not usable; code `semantic_unavailable`.
    """
    dependencies = EmbedderDependencies(
        settings, http, folder or Path.home() / ".outrider" / "models", environ, keys or {}
    )
    if settings.provider == "off":
        return None
    if settings.provider != "auto":
        return _require_provider(dependencies).open(dependencies)
    for provider in load_embedder_providers().values():
        if not provider.missing(dependencies):
            return provider.open(dependencies)
    return None


def _require_provider(dependencies: EmbedderDependencies) -> EmbedderProvider:
    name = dependencies.settings.provider
    provider = load_embedder_providers().get(name)
    if provider is None:
        hint = f"set it to one of auto, off, {', '.join(load_embedder_providers())}"
        raise NotConfigured(f"content.embedding.provider: {name!r} is unknown", hint=hint, code=SEMANTIC_UNAVAILABLE)
    if missing := provider.missing(dependencies):
        message = f"content.embedding.provider is {name!r}, but {missing}"
        raise NotConfigured(
            message, hint=f"{provider.remedy}; until then {KEYWORD_SEARCH_HINT}", code=SEMANTIC_UNAVAILABLE
        )
    return provider
