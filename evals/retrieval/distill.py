"""Makes `src/outrider/content/semantic/embedders/words.npz`: vectors of single words out of all-MiniLM-L6-v2.

    OUTRIDER_WCXB=… python -m evals.retrieval.distill FOLDER_OF_MODELS

Needs the extra `embeddings` and the model's weights (`outrider content embeddings install`), and a corpus that says how
frequent words are (the one of `evals/extraction`). Takes half a minute.
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

from evals.extraction.corpus import VARIABLE, digest, samples
from outrider.content.semantic.embedder import EmbedderDependencies
from outrider.content.semantic.embedders.builtin import VECTOR_DIMENSIONS, WORD_VECTORS_FILE, pack_nibbles
from outrider.content.semantic.embedders.minilm import MiniLMEmbedder, find_weights
from outrider.content.settings import EmbeddingSettings
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.http import HttpClient
from outrider.core.text import extract_terms

WORDS = 12_000
SMOOTHING = 1e-3  # of "A Simple but Tough-to-Beat Baseline": a word of this share of the corpus counts half
STEPS = 7  # on each side of zero: four bits
CUT = 2.5  # standard deviations; what lies beyond is cut off

Floats = NDArray[np.float32]


def main(models: Path, corpus: Path) -> None:
    """Writes the file."""
    files = find_weights(models)
    assert files, f"no weights in {models}"
    counts = Counter(term for sample in samples(corpus) for term in extract_terms(sample.text))
    words = chosen(files / "vocab.txt", counts)
    rounded, scales = four_bits(axes(anyio.run(embedded, words, models)))
    shares = np.array([max(counts[word], 1) for word in words]) / counts.total()
    provenance = {
        "model": "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0",
        "weights_sha256": hashlib.sha256((files / "model.safetensors").read_bytes()).hexdigest(),
        "corpus_sha256": digest(corpus),
        "words": len(words),
    }
    np.savez_compressed(
        WORD_VECTORS_FILE,
        packed=pack_nibbles(rounded),
        scales=(scales * SMOOTHING / (SMOOTHING + shares)).astype(np.float16),
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
        provenance=np.frombuffer(json.dumps(provenance).encode(), np.uint8),
    )
    print(f"{len(words)} words, {WORD_VECTORS_FILE.stat().st_size:,} bytes")


def chosen(vocabulary: Path, counts: Counter[str]) -> list[str]:
    """The model's own whole words, the most frequent in the corpus."""
    own = [word for word in vocabulary.read_text(encoding="utf-8").split("\n") if word.isascii() and word.isalpha()]
    return sorted(sorted(each for each in own if len(each) > 1), key=lambda word: -counts[word])[:WORDS]


async def embedded(words: list[str], models: Path) -> Floats:
    """What the model says of each word alone."""
    http = HttpClient(EgressGuard(EgressSettings()))
    try:
        return await MiniLMEmbedder(EmbedderDependencies(EmbeddingSettings(), http, models)).embed(words)
    finally:
        await http.close()


def axes(vectors: Floats) -> Floats:
    """On their first principal axes, without what all have in common, each of length 1."""
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    turned = centred @ directions[:VECTOR_DIMENSIONS].T
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


def four_bits(vectors: Floats) -> tuple[Floats, Floats]:
    """Whole numbers from -7 to 7, and what one of them is worth in each row."""
    scales = CUT * vectors.std(axis=1) / STEPS
    return np.clip(np.rint(vectors / scales[:, None]), -STEPS, STEPS), scales


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(os.environ[VARIABLE]))
