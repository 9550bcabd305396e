"""Embedder for OpenAI-compatible endpoints: OpenAI, Ollama, vLLM, llama.cpp, LM Studio and others.

`POST {base_url}/embeddings` (platform.openai.com/docs/api-reference/embeddings).
"""

import hashlib
import re
from typing import Any
from urllib.parse import urlsplit

import anyio
import numpy as np

from outrider.content.semantic.embedder import (
    KEYWORD_SEARCH_HINT,
    SEMANTIC_UNAVAILABLE,
    EmbedderDependencies,
    EmbedderProvider,
)
from outrider.core.errors import NotConfigured, Unavailable
from outrider.core.http import HttpResponse, RequestLimits

ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,}")


class EndpointEmbedder:
    """Embeds texts over HTTP. The key is looked up at each request and never shown."""

    weight = 0.5
    batch_size = 32  # texts in one request; smaller batches follow if the server refuses one

    def __init__(self, dependencies: EmbedderDependencies) -> None:
        self._dependencies = dependencies
        self._settings = dependencies.settings
        self.dimensions = dependencies.settings.dimensions

    @property
    def name(self) -> str:
        """The model, and a digest of everything else that the vectors depend on."""
        settings = self._settings
        parts = "\n".join((settings.base_url.rstrip("/"), settings.model, settings.document_prefix))
        digest = hashlib.sha256(f"{parts}\n{settings.dimensions}".encode()).hexdigest()[:12]
        return f"endpoint:{settings.model[:60]}:{digest}"

    async def embed(self, texts: list[str], *, query: bool = False) -> np.ndarray:
        """See `Embedder.embed`."""
        max_text_chars = 24_000  # about the 8,191 tokens that common models accept
        prefix = self._settings.query_prefix if query else self._settings.document_prefix
        inputs = [f"{prefix}{text}"[:max_text_chars] for text in texts]
        size = self.batch_size
        batches = [await self._embed_batch(inputs[start : start + size]) for start in range(0, len(inputs), size)]
        vectors = np.concatenate(batches)
        self.dimensions = vectors.shape[1]
        return vectors

    async def close(self) -> None:
        """Do nothing: no connection is kept."""

    async def _embed_batch(self, texts: list[str]) -> np.ndarray:
        too_large_statuses = frozenset({400, 413, 422})  # responses to a batch that is too large
        reply = await self._request_with_retries(texts)
        if reply.status in too_large_statuses and len(texts) > 1:
            middle = len(texts) // 2
            return np.concatenate([await self._embed_batch(texts[:middle]), await self._embed_batch(texts[middle:])])
        if reply.status != 200:
            raise self._build_error(reply)
        body = reply.json()
        try:
            rows = sorted(body["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            valid = vectors.shape[0] == len(texts) and bool(np.isfinite(lengths).all() and (lengths > 0).all())
        except (KeyError, TypeError, ValueError, IndexError):
            valid = False
        if not valid:
            message = "the embedding endpoint did not return a valid vector for each text"
            raise Unavailable(
                message, hint=f"check content.embedding.base_url; until then {KEYWORD_SEARCH_HINT}", code="embedding"
            )
        return vectors / lengths

    async def _request_with_retries(self, texts: list[str]) -> HttpResponse:
        initial_backoff_s = 0.5  # doubled with each attempt
        transient_statuses = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
        max_retries, max_backoff_s = 2, 20.0
        for attempt in range(max_retries):
            backoff_s = initial_backoff_s * 2**attempt
            try:
                reply = await self._send_request(texts)
            except Unavailable:
                pass
            else:
                if reply.status not in transient_statuses:
                    return reply
                retry_after_s = _parse_retry_after(reply)
                backoff_s = min(max_backoff_s, backoff_s if retry_after_s is None else retry_after_s)
            await anyio.sleep(backoff_s)
        return await self._send_request(texts)

    async def _send_request(self, texts: list[str]) -> HttpResponse:
        timeout_s = 60.0  # local models embed a batch slowly
        settings = self._settings
        body: dict[str, Any] = {"model": settings.model, "input": texts}
        if settings.dimensions:
            body["dimensions"] = settings.dimensions
        key = self._resolve_key()
        max_reply_bytes = 65_536 + len(texts) * 4_096 * 32  # 4,096 dimensions of 32 bytes as JSON
        return await self._dependencies.http.request(
            "POST",
            f"{settings.base_url.rstrip('/')}/embeddings",
            json=body,
            headers={"authorization": f"Bearer {key}"} if key else {},
            limits=RequestLimits(timeout_s, max_reply_bytes, max_redirects=0),
            trusted=True,
        )

    def _resolve_key(self) -> str:
        """Return the key that the settings refer to, or hold. Raises NotConfigured if the reference leads nowhere."""
        reference = self._settings.key
        kind, _, name = reference.partition(":")
        if kind == "keys" and name:
            key, remedy = self._dependencies.keys.get(name, ""), f"write {name!r} into ~/.outrider/keys.json"
        elif (kind == "env" and name) or ENVIRONMENT_NAME.fullmatch(reference):
            name = name or reference
            key, remedy = self._dependencies.environ.get(name, ""), f"set {name} in the environment"
        else:
            return reference
        if not key.strip():
            message = "content.embedding.key: the key that it names does not exist"
            raise NotConfigured(message, hint=f"{remedy}; until then {KEYWORD_SEARCH_HINT}", code=SEMANTIC_UNAVAILABLE)
        return key.strip()

    def _build_error(self, reply: HttpResponse) -> NotConfigured | Unavailable:
        host = urlsplit(self._settings.base_url).netloc.rpartition("@")[2]
        message = f"{host} answered an embeddings request with status {reply.status}"
        field = {401: "key", 403: "key", 404: "model"}.get(reply.status)
        if field:
            hint = f"check content.embedding.{field} and base_url; until then {KEYWORD_SEARCH_HINT}"
            return NotConfigured(message, hint=hint, code=SEMANTIC_UNAVAILABLE)
        return Unavailable(
            message,
            hint=f"{KEYWORD_SEARCH_HINT}, or try later",
            code="embedding",
            retry_after=_parse_retry_after(reply),
        )


def _parse_retry_after(reply: HttpResponse) -> float | None:
    value = reply.headers.get("retry-after", "")
    return float(value) if value.isdecimal() else None


def describe_missing(dependencies: EmbedderDependencies) -> str:
    """Return which setting is missing, or an empty string."""
    settings = dependencies.settings
    missing = next((name for name in ("base_url", "model") if not getattr(settings, name)), "")
    return f"content.embedding.{missing} is empty" if missing else ""


endpoint = EmbedderProvider(
    "endpoint",
    "an OpenAI-compatible endpoint",
    "set content.embedding.base_url and content.embedding.model",
    rank=10,
    open=EndpointEmbedder,
    missing=describe_missing,
)
