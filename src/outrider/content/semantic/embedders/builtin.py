"""Vectors out of what is in the package: the words of a text, added up. Needs nothing and leaves nothing.

It knows that `car` and `vehicle` are near (in English), and that `Dampfschiff` is spelled like `Dampfschiffe`; it
knows nothing of word order. In hybrid search it finds more than keywords alone; by itself it finds less.
"""

import anyio.to_thread
import numpy as np

from outrider.content.semantic.embedder import EmbedderDependencies, EmbedderProvider
from outrider.content.semantic.word_vectors import embed_texts


class BuiltinEmbedder:
    """See `content.meaning.static`."""

    name = "builtin-1/256"
    dimensions = 256
    # At .2 hybrid search is better than both its parts on average; at .5 it is worse than keywords alone on long texts.
    weight = 0.2

    def __init__(self, dependencies: EmbedderDependencies) -> None:
        """It needs none of them."""

    async def embed(self, texts: list[str], *, query: bool = False) -> "np.ndarray":  # noqa: ARG002 - no difference here
        """See `Embedder.embed`."""
        return await anyio.to_thread.run_sync(embed_texts, texts)

    async def close(self) -> None:
        """The words stay: all of the process share them."""


builtin = EmbedderProvider(
    "builtin", "word vectors of the package", "it is always there", rank=90, open=BuiltinEmbedder
)
