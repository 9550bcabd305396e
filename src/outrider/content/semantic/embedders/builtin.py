"""Built-in embedder: sums of word vectors that ship with the package.

It knows that `car` and `vehicle` are related (in English), and that `Dampfschiff` is spelled like `Dampfschiffe`; it
ignores word order. Hybrid search with it finds more than keywords alone, while it finds less by itself.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio.to_thread
import numpy as np

from outrider.content.semantic.embedder import EmbedderDependencies, EmbedderProvider
from outrider.core.text import extract_terms

WORD_VECTORS_FILE = Path(__file__).with_name("words.npz")
VECTOR_DIMENSIONS = 256


class BuiltinEmbedder:
    """Embeds texts by `semantic.word_vectors`."""

    name = "builtin-1/256"
    dimensions = 256
    # Chosen by evals/retrieval: with more weight hybrid search falls behind keywords on long texts.
    weight = 0.15

    def __init__(self, dependencies: EmbedderDependencies) -> None:
        """Ignore the dependencies: none are needed."""

    async def embed(self, texts: list[str], *, query: bool = False) -> np.ndarray:  # noqa: ARG002 - both are embedded alike
        """See `Embedder.embed`."""
        return await anyio.to_thread.run_sync(embed_texts, texts)

    async def close(self) -> None:
        """Do nothing: the whole process shares the word vectors."""


builtin = EmbedderProvider("builtin", "built-in word vectors", "it is always available", rank=90, open=BuiltinEmbedder)


@dataclass(frozen=True)
class WordVectorTable:
    """The vectors of the known words.

    Attributes:
        rows: Row of each word.
        vectors: float32 (words, 256); rarer words have longer vectors, up to 1.
        provenance: How the vectors were made.
    """

    rows: dict[str, int]
    vectors: np.ndarray
    provenance: dict[str, Any]


@lru_cache(maxsize=1)
def load_word_vectors() -> WordVectorTable:
    """Load the word vectors of the package (12 MB of memory)."""
    with np.load(WORD_VECTORS_FILE) as file:
        packed, scales = file["packed"], file["scales"].astype(np.float32)
        words = file["words"].tobytes().decode().split("\n")
        provenance = json.loads(file["provenance"].tobytes())
    halves = np.stack([packed & 15, packed >> 4], axis=-1).reshape(len(packed), VECTOR_DIMENSIONS)
    vectors = (halves.astype(np.float32) - 8) * scales[:, None]
    return WordVectorTable({word: row for row, word in enumerate(words)}, vectors, provenance)


def pack_nibbles(values: np.ndarray) -> np.ndarray:
    """Pack integers from -8 to 7 (n, 256), two in a byte: uint8 (n, 128)."""
    pairs = (values + 8).astype(np.uint8).reshape(len(values), -1, 2)
    return pairs[..., 0] | pairs[..., 1] << 4


def embed_texts(texts: list[str]) -> np.ndarray:
    """Return unit vectors, float32 (texts, 256); texts without words share a separate direction."""
    table = load_word_vectors()
    vectors = np.empty((len(texts), VECTOR_DIMENSIONS), np.float32)
    for number, text in enumerate(texts):
        words = extract_terms(text)
        rows = [row for word in words if (row := table.rows.get(word)) is not None]
        total = table.vectors[rows].sum(axis=0)
        for word in words:
            if word not in table.rows:
                total += _embed_spelling(word)
        vectors[number] = total if total.any() else _embed_spelling("")
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@lru_cache(maxsize=50_000)
def _embed_spelling(word: str) -> np.ndarray:
    """Return a unit vector of a word's groups of four letters, with its ends marked: float32 (256)."""
    ngram_chars = 4
    marked = f"^{word}$"
    total = np.zeros(VECTOR_DIMENSIONS, np.float32)
    for start in range(max(1, len(marked) - ngram_chars + 1)):
        ngram = marked[start : start + ngram_chars].encode("utf-8", "replace")
        # A hash picks a random corner of the hypercube, the same on every machine.
        digest = hashlib.blake2b(ngram, digest_size=VECTOR_DIMENSIONS // 8).digest()
        total += np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.float32) * 2 - 1
    return total / np.linalg.norm(total)
