"""Vectors from an OpenAI-compatible endpoint: OpenAI's own, Ollama, vLLM, llama.cpp, LM Studio and many more.

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
INITIAL_BACKOFF_S = 0.5  # seconds; doubled each time


class EndpointEmbedder:
    """An embedder that asks over HTTP. Its key is looked up at each request and shows nowhere."""

    weight = 0.5

    def __init__(self, dependencies: EmbedderDependencies) -> None:
        self._dependencies = dependencies
        self._settings = dependencies.settings
        self.dimensions = dependencies.settings.dimensions

    @property
    def name(self) -> str:
        """Model and a digest of all else that vectors depend on."""
        settings = self._settings
        asked = "\n".join((settings.base_url.rstrip("/"), settings.model, settings.document_prefix))
        digest = hashlib.sha256(f"{asked}\n{settings.dimensions}".encode()).hexdigest()[:12]
        return f"endpoint:{settings.model[:60]}:{digest}"

    async def embed(self, texts: list[str], *, query: bool = False) -> "np.ndarray":
        """See `Embedder.embed`."""
        max_text_chars = 24_000  # of one text: about the 8,191 tokens that the usual models take
        prefix = self._settings.query_prefix if query else self._settings.document_prefix
        given = [f"{prefix}{text}"[:max_text_chars] for text in texts]
        size = self._settings.batch
        batches = [await self._embed_batch(given[start : start + size]) for start in range(0, len(given), size)]
        vectors = np.concatenate(batches)
        self.dimensions = vectors.shape[1]
        return vectors

    async def close(self) -> None:
        """Nothing is kept."""

    async def _embed_batch(self, texts: list[str]) -> "np.ndarray":
        too_large_statuses = frozenset({400, 413, 422})  # what servers say of a batch that is too large for them
        reply = await self._request_with_retries(texts)
        if reply.status in too_large_statuses and len(texts) > 1:
            import numpy as np

            half = len(texts) // 2
            return np.concatenate([await self._embed_batch(texts[:half]), await self._embed_batch(texts[half:])])
        if reply.status != 200:
            raise self._build_error(reply)
        return self._parse_vectors(reply.json(), len(texts))

    async def _request_with_retries(self, texts: list[str]) -> HttpResponse:
        transient_statuses = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
        max_attempts = 3
        for attempt in range(max_attempts):
            last = attempt == max_attempts - 1
            try:
                reply = await self._send_request(texts)
            except Unavailable:
                if last:
                    raise
                await anyio.sleep(INITIAL_BACKOFF_S * 2**attempt)
                continue
            if reply.status not in transient_statuses or last:
                return reply
            await anyio.sleep(_compute_backoff(reply, attempt))
        raise AssertionError

    async def _send_request(self, texts: list[str]) -> HttpResponse:
        max_dimensions = 4_096
        overhead_bytes = 65_536
        bytes_per_number = 32  # as JSON
        settings = self._settings
        body: dict[str, Any] = {"model": settings.model, "input": texts}
        if settings.dimensions:
            body["dimensions"] = settings.dimensions
        key = self._resolve_key()
        return await self._dependencies.http.request(
            "POST",
            f"{settings.base_url.rstrip('/')}/embeddings",
            json=body,
            headers={"authorization": f"Bearer {key}"} if key else {},
            limits=RequestLimits(
                settings.timeout_s, overhead_bytes + len(texts) * max_dimensions * bytes_per_number, max_redirects=0
            ),
            trusted=True,
        )

    def _resolve_key(self) -> str:
        reference = self._settings.key
        kind, _, name = reference.partition(":")
        if kind == "keys" and name:
            return self._require_key(
                self._dependencies.keys.get(name, ""), f"write {name!r} into ~/.outrider/keys.json"
            )
        if kind == "env" and name:
            return self._require_key(self._dependencies.environ.get(name, ""), f"set {name} in the environment")
        if ENVIRONMENT_NAME.fullmatch(reference):
            return self._require_key(
                self._dependencies.environ.get(reference, ""), f"set {reference} in the environment"
            )
        return reference

    def _require_key(self, key: str, remedy: str) -> str:
        if not key.strip():
            message = "content.embedding.key: the key that it names is not there"
            raise NotConfigured(message, hint=f"{remedy}; until then {KEYWORD_SEARCH_HINT}", code=SEMANTIC_UNAVAILABLE)
        return key.strip()

    def _build_error(self, reply: HttpResponse) -> NotConfigured | Unavailable:
        host = urlsplit(self._settings.base_url).netloc.rpartition("@")[2]
        said = f"{host} answered {reply.status} to a request for embeddings"
        field = {401: "key", 403: "key", 404: "model"}.get(reply.status)
        if field:
            hint = f"check content.embedding.{field} and base_url; until then {KEYWORD_SEARCH_HINT}"
            return NotConfigured(said, hint=hint, code=SEMANTIC_UNAVAILABLE)
        return Unavailable(
            said, hint=f"{KEYWORD_SEARCH_HINT}, or try later", code="embedding", retry_after=_parse_retry_after(reply)
        )

    def _parse_vectors(self, body: Any, count: int) -> "np.ndarray":
        try:
            rows = sorted(body["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            right = vectors.shape[0] == count and bool(np.isfinite(lengths).all() and (lengths > 0).all())
        except (KeyError, TypeError, ValueError, IndexError):
            right = False
        if not right:
            message = "the embedding endpoint answered without a vector for each text"
            raise Unavailable(
                message, hint=f"check content.embedding.base_url; until then {KEYWORD_SEARCH_HINT}", code="embedding"
            )
        return vectors / lengths


def _parse_retry_after(reply: HttpResponse) -> float | None:
    told = reply.headers.get("retry-after", "")
    return float(told) if told.isdecimal() else None


def _compute_backoff(reply: HttpResponse, attempt: int) -> float:
    max_backoff_s = 20.0
    told = _parse_retry_after(reply)
    return min(max_backoff_s, INITIAL_BACKOFF_S * 2**attempt if told is None else told)


def _describe_missing(dependencies: EmbedderDependencies) -> str:
    settings = dependencies.settings
    absent = next((name for name in ("base_url", "model") if not getattr(settings, name)), "")
    return f"content.embedding.{absent} is empty" if absent else ""


endpoint = EmbedderProvider(
    "endpoint",
    "an OpenAI-compatible endpoint",
    "set content.embedding.base_url and content.embedding.model",
    rank=10,
    open=EndpointEmbedder,
    missing=_describe_missing,
)
