"""The learned part: two small networks over the features of blocks, the lexicons, and where they come from.

The file `content.npz` beside this module holds all of it; `evals/extraction/train.py` writes it.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.kind import Kinds
from outrider.pages.content.meanings import Meanings

Floats = NDArray[np.float32]
FILE = Path(__file__).with_name("content.npz")


@dataclass(slots=True)
class Model:
    """Standardised features in, scores out.

    Attributes:
        columns: Which of the features are used.
        mean, scale: Of the columns and the lexicon's columns behind them.
        layers: Weights and biases in turn.
        by_name: The same of the network that is told what names mean as well.
        meanings: Vectors of the words of names.
        names: Weights of the words of classes and ids.
        kinds: Tells what a page is.
        provenance: What it was trained on and how it scored.
    """

    columns: NDArray[np.int64]
    mean: Floats
    scale: Floats
    layers: list[Floats]
    by_name: list[Floats]
    meanings: Meanings
    names: dict[str, float]
    kinds: Kinds
    provenance: dict[str, Any]

    def scores(self, features: Floats, meant: Floats | None = None) -> Floats:
        """How likely each row is content, as the logarithm of the odds.

        Args:
            features: Of each block those that are used, with the lexicon's columns behind them.
            meant: Of each block what its names mean (see `Meanings.columns`), if that shall count.
        """
        count, width = features.shape
        more = 0 if meant is None else meant.shape[1]
        rows = np.empty((width + more, count), np.float32).T
        plain = rows[:, :width]
        np.subtract(features, self.mean, out=plain)
        plain *= self.scale
        np.clip(plain, -4, 4, out=plain)
        if meant is None:
            return _through(self.layers, rows)
        rows[:, width:] = meant
        return _through(self.by_name, rows)


def _through(layers: list[Floats], rows: Floats) -> Floats:
    last = len(layers) - 2
    for at in range(0, last, 2):
        rows = rows @ layers[at]
        rows += layers[at + 1]
        np.maximum(rows, 0, out=rows)
    return (rows @ layers[last] + layers[last + 1])[:, 0]


def likelihood(scores: Floats) -> Floats:
    """The probabilities that logarithms of odds stand for."""
    return 1 / (1 + np.exp(-np.clip(scores, -15, 15)))


@lru_cache(maxsize=1)
def model() -> Model:
    """The model of this package, read once."""
    with np.load(FILE) as stored:
        return Model(
            columns=stored["columns"],
            mean=stored["mean"],
            scale=stored["scale"],
            layers=_layers(stored, "layer"),
            by_name=_layers(stored, "by_name"),
            meanings=Meanings(stored["table"]),
            names=_words(stored, "names"),
            kinds=Kinds(*(stored[f"kind_{name}"].astype(np.float32) for name in ("mean", "scale", "weights", "bias"))),
            provenance=json.loads(str(stored["provenance"])),
        )


def _layers(stored: Any, name: str) -> list[Floats]:
    return [stored[f"{name}{at}"].astype(np.float32) for at in range(int(stored["layers"]))]


def _words(stored: Any, name: str) -> dict[str, float]:
    words = stored[f"{name}_words"].tobytes().decode("utf-8").split("\n")
    return dict(zip(words, stored[f"{name}_weights"].astype(np.float64).tolist(), strict=True))
