"""The learned part: a small network over the features of blocks, its lexicon, and its provenance.

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

Floats = NDArray[np.float32]
FILE = Path(__file__).with_name("content.npz")


@dataclass(slots=True)
class Model:
    """Standardised features in, scores out.

    Attributes:
        columns: Which of the features are used.
        mean, scale: Of the columns and the lexicon's columns behind them.
        layers: Weights and biases in turn.
        names: Weights of the words of classes and ids.
        kinds: Tells what a page is.
        provenance: What it was trained on and how it scored.
    """

    columns: NDArray[np.int64]
    mean: Floats
    scale: Floats
    layers: list[Floats]
    names: dict[str, float]
    kinds: Kinds
    provenance: dict[str, Any]

    def scores(self, features: Floats) -> Floats:
        """How likely each row is content, as the logarithm of the odds."""
        rows = features - self.mean
        rows *= self.scale
        np.clip(rows, -4, 4, out=rows)
        last = len(self.layers) - 2
        for at in range(0, last, 2):
            rows = rows @ self.layers[at]
            rows += self.layers[at + 1]
            np.maximum(rows, 0, out=rows)
        return (rows @ self.layers[last] + self.layers[last + 1])[:, 0]


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
            layers=[stored[f"layer{at}"].astype(np.float32) for at in range(int(stored["layers"]))],
            names=_words(stored, "names"),
            kinds=Kinds(*(stored[f"kind_{name}"].astype(np.float32) for name in ("mean", "scale", "weights", "bias"))),
            provenance=json.loads(str(stored["provenance"])),
        )


def _words(stored: Any, name: str) -> dict[str, float]:
    words = stored[f"{name}_words"].tobytes().decode("utf-8").split("\n")
    return dict(zip(words, stored[f"{name}_weights"].astype(np.float64).tolist(), strict=True))
