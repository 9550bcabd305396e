"""Embed texts as sums of word vectors, without a model.

The vectors are those that all-MiniLM-L6-v2 gives to each word alone (Apache-2.0), rotated to their principal axes and
rounded to four bits (`evals/retrieval/distill.py`); frequent words count less (Arora et al., "A Simple but
Tough-to-Beat Baseline for Sentence Embeddings", 2017). Unknown words, and so all scripts but Latin, are embedded by
their groups of four letters, each a random direction: words of similar spelling get similar vectors.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from outrider.core.text import extract_terms

WORD_VECTORS_FILE = Path(__file__).with_name("words.npz")
VECTOR_DIMENSIONS = 256


@dataclass(frozen=True)
class WordVectorTable:
    """The vectors of the known words.

    Attributes:
        rows: Row of each word.
        vectors: float32 (words, 256); the rarer the word, the longer the vector, up to 1.
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
    """Return unit vectors, float32 (texts, 256); texts without words share a direction of their own."""
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
