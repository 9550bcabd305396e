"""What turns text into vectors.

Each is one file in `embedders/`; plugins offer more through the entry-point group `outrider.embedders`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from outrider.content.embedding_settings import EmbeddingSettings
from outrider.core.http import HttpClient

EMBEDDER_ENTRY_POINTS = "outrider.embedders"
SEMANTIC_UNAVAILABLE = "semantic_unavailable"  # contracts.md 6.6
KEYWORD_SEARCH_HINT = "search by keywords instead"


class Embedder(Protocol):
    """Turns texts into vectors whose direction is their meaning.

    Attributes:
        name: Unique for the model, its size and how it is asked, at most 100 characters: vectors of different names
            are never compared.
        dimensions: The length of a vector; 0 while it is not known.
        weight: How much its ranking counts in hybrid search against the keywords', from 0 to 1.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def weight(self) -> float: ...

    async def embed(self, texts: list[str], *, query: bool = False) -> "np.ndarray":
        """The vectors: float32 of shape (texts, dimensions), each of length 1.

        Args:
            texts: At least one.
            query: They are questions and not passages: some models tell the two apart.

        Raises:
            NotConfigured: An operator must act; code `semantic_unavailable`.
            Unavailable: The back end failed.
        """
        ...

    async def close(self) -> None:
        """Lets go of the model."""
        ...


@dataclass(frozen=True)
class EmbedderDependencies:
    """What an embedder may use.

    Attributes:
        http: For those that ask somebody.
        folder: Where installed models lie.
        environ, keys: Where a key may be, by name; read when it is needed, not before.
    """

    settings: EmbeddingSettings
    http: HttpClient = field(repr=False)
    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)


def _require_nothing(_means: EmbedderDependencies) -> str:
    return ""


@dataclass(frozen=True)
class EmbedderProvider:
    """One way to vectors.

    Attributes:
        name: As in settings.
        title: As people know it.
        remedy: How to make it usable, in one sentence.
        rank: Its place where nobody chose; lower is earlier.
        open: Makes the embedder; cheap, loads nothing.
        missing: Why it cannot be used here; "" if it can.
    """

    name: str
    title: str
    remedy: str
    rank: int
    open: Callable[[EmbedderDependencies], Embedder]
    missing: Callable[[EmbedderDependencies], str] = _require_nothing
