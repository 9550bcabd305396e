"""Built-in embedder: sums of word vectors that ship with the package.

It knows that `car` and `vehicle` are related (in English), and that `Dampfschiff` is spelled like `Dampfschiffe`; it
ignores word order. Hybrid search with it finds more than keywords alone; by itself it finds less.
"""

import anyio.to_thread
import numpy as np

from outrider.content.semantic.embedder import EmbedderDependencies, EmbedderProvider
from outrider.content.semantic.word_vectors import embed_texts


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
