"""Which embedder this installation uses."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from outrider.content.embedding_settings import EmbeddingSettings
from outrider.content.meaning import embedders
from outrider.content.meaning.embedder import GROUP, KEYWORDS, UNAVAILABLE, Embedder, EmbedderProvider, Means
from outrider.core.discovery import find
from outrider.core.errors import NotConfigured
from outrider.core.http import Http

__all__ = ["Embedder", "chosen", "known"]


@lru_cache(maxsize=1)
def known() -> Mapping[str, EmbedderProvider]:
    """Every provider by name, best first."""
    found = sorted(find(embedders, EmbedderProvider, group=GROUP), key=lambda each: (each.rank, each.name))
    return {each.name: each for each in found}


def chosen(
    settings: EmbeddingSettings,
    http: Http,
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
    means = Means(settings, http, folder or Path.home() / ".outrider" / "models", environ, keys or {})
    if settings.provider == "off":
        return None
    if settings.provider != "auto":
        return _named(means).open(means)
    usable = (each for each in known().values() if not each.missing(means))
    provider = next(usable, None)
    return provider.open(means) if provider else None


def _named(means: Means) -> EmbedderProvider:
    name = means.settings.provider
    provider = known().get(name)
    if provider is None:
        hint = f"set it to one of auto, off, {', '.join(known())}"
        raise NotConfigured(f"content.embedding.provider: there is no {name!r}", hint=hint, code=UNAVAILABLE)
    if missing := provider.missing(means):
        message = f"content.embedding.provider is {name!r}, but {missing}"
        raise NotConfigured(message, hint=f"{provider.remedy}; until then {KEYWORDS}", code=UNAVAILABLE)
    return provider
