"""The interface of embedders, which turn text into vectors.

Each embedder is one file in `embedders/`; plugins add more through the entry-point group `outrider.embedders`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from outrider.content.settings import EmbeddingSettings
from outrider.core.http import HttpClient

EMBEDDER_ENTRY_POINTS = "outrider.embedders"
SEMANTIC_UNAVAILABLE = "semantic_unavailable"
KEYWORD_SEARCH_HINT = "search by keywords instead"


class Embedder(Protocol):
    """Turns texts into vectors whose direction represents their meaning.

    Attributes:
        name: Unique for the model, its size and its prompts, at most 100 characters: vectors of different names are
            never compared.
        dimensions: The length of a vector; 0 while unknown.
        weight: Weight of its ranking relative to that of the keywords in hybrid search, from 0 to 1.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def weight(self) -> float: ...

    async def embed(self, texts: list[str], *, query: bool = False) -> np.ndarray:
        """Return unit vectors: float32 of shape (texts, dimensions).

        Args:
            texts: At least one.
            query: The texts are queries and not passages: some models distinguish them.

        Raises:
            NotConfigured: An operator must act (`semantic_unavailable`).
            Unavailable: The back end failed.
        """
        ...

    async def close(self) -> None:
        """Release the model."""
        ...


@dataclass(frozen=True)
class EmbedderDependencies:
    """The parts of the application that an embedder may use.

    Attributes:
        http: For embedders that use an endpoint.
        folder: The folder of installed models.
        environ, keys: Sources of keys by name, read only when needed.
    """

    settings: EmbeddingSettings
    http: HttpClient = field(repr=False)
    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class EmbedderProvider:
    """Describes an embedder, and opens it.

    Attributes:
        name: Its name in the settings.
        title: Its name for people.
        remedy: How to make it usable, in one sentence.
        rank: Preference in automatic selection; lower is earlier.
        open: Creates the embedder without loading anything.
        missing: Returns why it is not usable here; empty if it is.
    """

    name: str
    title: str
    remedy: str
    rank: int
    open: Callable[[EmbedderDependencies], Embedder]
    missing: Callable[[EmbedderDependencies], str] = lambda _: ""
