"""Vectors from an OpenAI-compatible endpoint: OpenAI's own, Ollama, vLLM, llama.cpp, LM Studio and many more.

`POST {base_url}/embeddings` (platform.openai.com/docs/api-reference/embeddings).
"""

import hashlib
import re
from typing import Any
from urllib.parse import urlsplit

import anyio
import numpy as np

from outrider.content.meaning.embedder import KEYWORDS, UNAVAILABLE, EmbedderProvider, Means
from outrider.core.errors import NotConfigured, Unavailable
from outrider.core.http import Limits, Reply

ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,}")
ATTEMPTS = 3
FIRST_WAIT = 0.5  # seconds; doubled each time
LONGEST_WAIT = 20.0
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
TOO_MUCH = frozenset({400, 413, 422})  # what servers say of a batch that is too large for them
CHARACTERS = 24_000  # of one text: about the 8,191 tokens that the usual models take
BYTES_OF_NUMBER = 32  # as JSON
ROOM = 65_536
WIDEST = 4_096


class Endpoint:
    """An embedder that asks over HTTP. Its key is looked up at each request and shows nowhere."""

    weight = 0.5

    def __init__(self, means: Means) -> None:
        self._means = means
        self._settings = means.settings
        self.dimensions = means.settings.dimensions

    @property
    def name(self) -> str:
        """Model and a digest of all else that vectors depend on."""
        settings = self._settings
        asked = "\n".join((settings.base_url.rstrip("/"), settings.model, settings.document_prefix))
        digest = hashlib.sha256(f"{asked}\n{settings.dimensions}".encode()).hexdigest()[:12]
        return f"endpoint:{settings.model[:60]}:{digest}"

    async def embed(self, texts: list[str], *, query: bool = False) -> "np.ndarray":
        """See `Embedder.embed`."""
        prefix = self._settings.query_prefix if query else self._settings.document_prefix
        given = [f"{prefix}{text}"[:CHARACTERS] for text in texts]
        size = self._settings.batch
        batches = [await self._batch(given[start : start + size]) for start in range(0, len(given), size)]
        vectors = np.concatenate(batches)
        self.dimensions = vectors.shape[1]
        return vectors

    async def close(self) -> None:
        """Nothing is kept."""

    async def _batch(self, texts: list[str]) -> "np.ndarray":
        reply = await self._asked(texts)
        if reply.status in TOO_MUCH and len(texts) > 1:
            import numpy as np

            half = len(texts) // 2
            return np.concatenate([await self._batch(texts[:half]), await self._batch(texts[half:])])
        if reply.status != 200:
            raise self._failure(reply)
        return self._vectors(reply.json(), len(texts))

    async def _asked(self, texts: list[str]) -> Reply:
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            try:
                reply = await self._request(texts)
            except Unavailable:
                if last:
                    raise
                await anyio.sleep(FIRST_WAIT * 2**attempt)
                continue
            if reply.status not in PASSING or last:
                return reply
            await anyio.sleep(_wait(reply, attempt))
        raise AssertionError

    async def _request(self, texts: list[str]) -> Reply:
        settings = self._settings
        body: dict[str, Any] = {"model": settings.model, "input": texts}
        if settings.dimensions:
            body["dimensions"] = settings.dimensions
        key = self._key()
        return await self._means.http.request(
            "POST",
            f"{settings.base_url.rstrip('/')}/embeddings",
            json=body,
            headers={"authorization": f"Bearer {key}"} if key else {},
            limits=Limits(settings.timeout_s, ROOM + len(texts) * WIDEST * BYTES_OF_NUMBER, redirects=0),
            trusted=True,
        )

    def _key(self) -> str:
        reference = self._settings.key
        kind, _, name = reference.partition(":")
        if kind == "keys" and name:
            return self._present(self._means.keys.get(name, ""), f"write {name!r} into ~/.outrider/keys.json")
        if kind == "env" and name:
            return self._present(self._means.environ.get(name, ""), f"set {name} in the environment")
        if ENVIRONMENT_NAME.fullmatch(reference):
            return self._present(self._means.environ.get(reference, ""), f"set {reference} in the environment")
        return reference

    def _present(self, key: str, remedy: str) -> str:
        if not key.strip():
            message = "content.embedding.key: the key that it names is not there"
            raise NotConfigured(message, hint=f"{remedy}; until then {KEYWORDS}", code=UNAVAILABLE)
        return key.strip()

    def _failure(self, reply: Reply) -> NotConfigured | Unavailable:
        host = urlsplit(self._settings.base_url).netloc.rpartition("@")[2]
        said = f"{host} answered {reply.status} to a request for embeddings"
        field = {401: "key", 403: "key", 404: "model"}.get(reply.status)
        if field:
            hint = f"check content.embedding.{field} and base_url; until then {KEYWORDS}"
            return NotConfigured(said, hint=hint, code=UNAVAILABLE)
        return Unavailable(said, hint=f"{KEYWORDS}, or try later", code="embedding", retry_after=_told(reply))

    def _vectors(self, body: Any, count: int) -> "np.ndarray":
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
                message, hint=f"check content.embedding.base_url; until then {KEYWORDS}", code="embedding"
            )
        return vectors / lengths


def _told(reply: Reply) -> float | None:
    told = reply.headers.get("retry-after", "")
    return float(told) if told.isdecimal() else None


def _wait(reply: Reply, attempt: int) -> float:
    told = _told(reply)
    return min(LONGEST_WAIT, FIRST_WAIT * 2**attempt if told is None else told)


def _missing(means: Means) -> str:
    settings = means.settings
    absent = next((name for name in ("base_url", "model") if not getattr(settings, name)), "")
    return f"content.embedding.{absent} is empty" if absent else ""


endpoint = EmbedderProvider(
    "endpoint",
    "an OpenAI-compatible endpoint",
    "set content.embedding.base_url and content.embedding.model",
    rank=10,
    open=Endpoint,
    missing=_missing,
)
