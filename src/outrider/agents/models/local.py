"""Find models on this machine; all common servers list them under `/v1/models`."""

from contextlib import suppress
from typing import Any

from outrider.core.errors import OutriderError
from outrider.core.http import HttpClient, RequestLimits


async def find_served_model(http: HttpClient, base_url: str) -> str:
    """Return the first chat model that the endpoint serves, or an empty text."""
    probe_limits = RequestLimits(timeout_s=1.0, max_body_bytes=1_000_000, max_redirects=0)
    # Models with these words in their names compute embeddings or scores and cannot chat.
    embedding_words = ("embed", "rerank", "bge-", "minilm")
    with suppress(OutriderError, ValueError, TypeError, KeyError):
        reply = await http.get(f"{base_url.rstrip('/')}/models", limits=probe_limits, trusted=True)
        listing: Any = reply.json() if reply.status == 200 else {}
        names = [str(model["id"]) for model in listing.get("data") or ()]
        return next((name for name in names if not any(word in name.lower() for word in embedding_words)), "")
    return ""
