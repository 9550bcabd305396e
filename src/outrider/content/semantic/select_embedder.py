"""Which embedder this installation uses."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from outrider.content.embedding_settings import EmbeddingSettings
from outrider.content.semantic import embedders
from outrider.content.semantic.embedder import (
    EMBEDDER_ENTRY_POINTS,
    KEYWORD_SEARCH_HINT,
    SEMANTIC_UNAVAILABLE,
    Embedder,
    EmbedderDependencies,
    EmbedderProvider,
)
from outrider.core.discovery import discover_instances
from outrider.core.errors import NotConfigured
from outrider.core.http import HttpClient

__all__ = ["Embedder", "load_embedder_providers", "select_embedder"]


@lru_cache(maxsize=1)
def load_embedder_providers() -> Mapping[str, EmbedderProvider]:
    """Every provider by name, best first."""
    found = sorted(
        discover_instances(embedders, EmbedderProvider, group=EMBEDDER_ENTRY_POINTS),
        key=lambda each: (each.rank, each.name),
    )
    return {each.name: each for each in found}


def select_embedder(
    settings: EmbeddingSettings,
    http: HttpClient,
    environ: Mapping[str, str],
    *,
    folder: Path | None = None,
    keys: Mapping[str, str] | None = None,
) -> Embedder | None:
    """The embedder of these settings; loads nothing.

    Args:
        settings: The operator's choice.
        http: For those that ask somebody.
        environ: Where a key may be.
        folder: Where installed models lie; ~/.outrider/models if it is not said.
        keys: The entries of keys.json, where a key may be too.

    Returns:
        None where it is switched off, or nothing can be used.

    Raises:
        NotConfigured: The provider that the settings name is unknown or cannot be used; code `semantic_unavailable`.
    """
    means = EmbedderDependencies(settings, http, folder or Path.home() / ".outrider" / "models", environ, keys or {})
    if settings.provider == "off":
        return None
    if settings.provider != "auto":
        return _require_provider(means).open(means)
    usable = (each for each in load_embedder_providers().values() if not each.missing(means))
    provider = next(usable, None)
    return provider.open(means) if provider else None


def _require_provider(means: EmbedderDependencies) -> EmbedderProvider:
    name = means.settings.provider
    provider = load_embedder_providers().get(name)
    if provider is None:
        hint = f"set it to one of auto, off, {', '.join(load_embedder_providers())}"
        raise NotConfigured(f"content.embedding.provider: there is no {name!r}", hint=hint, code=SEMANTIC_UNAVAILABLE)
    if missing := provider.missing(means):
        message = f"content.embedding.provider is {name!r}, but {missing}"
        raise NotConfigured(
            message, hint=f"{provider.remedy}; until then {KEYWORD_SEARCH_HINT}", code=SEMANTIC_UNAVAILABLE
        )
    return provider
