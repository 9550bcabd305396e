"""Distill all-MiniLM-L6-v2 into `src/outrider/content/semantic/embedders/words.npz`: vectors of single words.

    OUTRIDER_WCXB=… python -m evals.retrieval.distill FOLDER_OF_MODELS

Needs the extra `embeddings`, the model's weights (`outrider content embeddings install`), and a corpus for word
frequencies (the one of `evals/extraction`). Takes half a minute.
"""

import hashlib
import json
import os
import sys
from collections import Counter
from pathlib import Path

import anyio
import numpy as np
from numpy.typing import NDArray

from evals.extraction.corpus import LARGE_CORPUS_VARIABLE, compute_digest, read_samples
from outrider.content.semantic.embedder import EmbedderDependencies
from outrider.content.semantic.embedders.builtin import VECTOR_DIMENSIONS, WORD_VECTORS_FILE, pack_nibbles
from outrider.content.semantic.embedders.minilm import MiniLMEmbedder, find_weights
from outrider.content.settings import EmbeddingSettings
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.http import HttpClient
from outrider.core.text import extract_terms

Floats = NDArray[np.float32]


def main(models: Path, corpus: Path) -> None:
    """Write the file."""
    # From "A Simple but Tough-to-Beat Baseline": a word with this share of the corpus has half the weight.
    smoothing_share = 1e-3
    files = find_weights(models)
    assert files, f"no weights in {models}"
    counts = Counter(term for sample in read_samples(corpus) for term in extract_terms(sample.text))
    words = choose_words(files / "vocab.txt", counts)
    rounded, scales = round_to_four_bits(project_on_axes(anyio.run(embed_words, words, models)))
    shares = np.array([max(counts[word], 1) for word in words]) / counts.total()
    provenance = {
        "model": "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0",
        "weights_sha256": hashlib.sha256((files / "model.safetensors").read_bytes()).hexdigest(),
        "corpus_sha256": compute_digest(corpus),
        "words": len(words),
    }
    np.savez_compressed(
        WORD_VECTORS_FILE,
        packed=pack_nibbles(rounded),
        scales=(scales * smoothing_share / (smoothing_share + shares)).astype(np.float16),
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
        provenance=np.frombuffer(json.dumps(provenance).encode(), np.uint8),
    )
    print(f"{len(words)} words, {WORD_VECTORS_FILE.stat().st_size:,} bytes")


def choose_words(vocabulary: Path, counts: Counter[str]) -> list[str]:
    """Choose the most frequent whole words of the model's vocabulary in the corpus."""
    word_count = 12_000
    own = [word for word in vocabulary.read_text(encoding="utf-8").split("\n") if word.isascii() and word.isalpha()]
    return sorted(sorted(each for each in own if len(each) > 1), key=lambda word: -counts[word])[:word_count]


async def embed_words(words: list[str], models: Path) -> Floats:
    """Embed each word alone."""
    http = HttpClient(EgressGuard(EgressSettings()))
    try:
        return await MiniLMEmbedder(EmbedderDependencies(EmbeddingSettings(), http, models)).embed(words)
    finally:
        await http.close()


def project_on_axes(vectors: Floats) -> Floats:
    """Project onto the first principal axes, and scale to length 1."""
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ directions[:VECTOR_DIMENSIONS].T
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def round_to_four_bits(vectors: Floats) -> tuple[Floats, Floats]:
    """Return whole numbers from -7 to 7, and the value of one in each row."""
    max_deviations = 2.5  # standard deviations, to which values are clipped
    steps_per_side = 7  # on each side of zero: four bits
    scales = max_deviations * vectors.std(axis=1) / steps_per_side
    return np.clip(np.rint(vectors / scales[:, None]), -steps_per_side, steps_per_side), scales


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(os.environ[LARGE_CORPUS_VARIABLE]))
