"""Vectors of words that are added up: meaning as far as single words have it, with nothing to install.

The words' vectors are those that all-MiniLM-L6-v2 gives to each word alone (Apache-2.0), turned to their principal
axes and rounded to four bits (`evals/retrieval/distill.py`); frequent words count less (Arora et al., "A Simple but
Tough-to-Beat Baseline for Sentence Embeddings", 2017). Words that it lacks, and so all scripts but Latin, are told by
their groups of four letters alone, each a random direction: what is spelled alike is near.
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
        rows: Word to row.
        vectors: float32 (words, 256); the rarer the word, the longer, up to 1.
        provenance: How they were made.
    """

    rows: dict[str, int]
    vectors: "np.ndarray"
    provenance: dict[str, Any]


@lru_cache(maxsize=1)
def load_word_vectors() -> WordVectorTable:
    """The words of the package; 12 MB of memory."""
    with np.load(WORD_VECTORS_FILE) as kept:
        packed, scales = kept["packed"], kept["scales"].astype(np.float32)
        listed = kept["words"].tobytes().decode().split("\n")
        provenance = json.loads(kept["provenance"].tobytes())
    halves = np.stack([packed & 15, packed >> 4], axis=-1).reshape(len(packed), VECTOR_DIMENSIONS)
    vectors = (halves.astype(np.float32) - 8) * scales[:, None]
    return WordVectorTable({word: place for place, word in enumerate(listed)}, vectors, provenance)


def pack_nibbles(values: "np.ndarray") -> "np.ndarray":
    """Whole numbers from -8 to 7 (n, 256), two in a byte: uint8 (n, 128)."""
    pairs = (values + 8).astype(np.uint8).reshape(len(values), -1, 2)
    return pairs[..., 0] | pairs[..., 1] << 4


def embed_texts(texts: list[str]) -> "np.ndarray":
    """float32 (texts, 256), each row of length 1; the direction of a text without words is that of nothing else."""
    vectors = np.stack([_embed_words(extract_terms(text)) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _embed_words(words: list[str]) -> "np.ndarray":
    model = load_word_vectors()
    places = [place for word in words if (place := model.rows.get(word)) is not None]
    total = model.vectors[places].sum(axis=0)
    for word in words:
        if word not in model.rows:
            total += _embed_spelling(word)
    return total if total.any() else _embed_spelling("")


@lru_cache(maxsize=50_000)
def _embed_spelling(word: str) -> "np.ndarray":
    """A word's groups of letters, its two ends marked: float32 (256), of length 1."""
    ngram_chars = 4
    whole = f"^{word}$"
    groups = [whole[start : start + ngram_chars] for start in range(max(1, len(whole) - ngram_chars + 1))]
    total = np.stack([_hash_direction(group) for group in groups]).sum(axis=0)
    return total / np.linalg.norm(total)


def _hash_direction(group: str) -> "np.ndarray":
    """A random corner of the cube, the same always and everywhere."""
    digest = hashlib.blake2b(group.encode("utf-8", "replace"), digest_size=VECTOR_DIMENSIONS // 8).digest()
    return np.unpackbits(np.frombuffer(digest, np.uint8)).astype(np.float32) * 2 - 1
