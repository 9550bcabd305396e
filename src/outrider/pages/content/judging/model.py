"""The learned part: two small networks over the features of blocks, the lexicons, and where they come from.

The file `content.npz` beside this module holds all of it; `evals/extraction/train.py` writes it.
"""

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.judging.features import Features
from outrider.pages.content.judging.kind import Kinds, mean_of
from outrider.pages.content.judging.meanings import Meanings
from outrider.pages.content.judging.network import Network, network, used

Floats = NDArray[np.float32]
FILE = Path(__file__).with_name("content.npz")


@dataclass
class Model:
    """Standardised features in, scores out.

    Attributes:
        columns: Which of the features are used.
        mean, scale: Of the columns and the lexicon's columns behind them.
        layers: Weights and biases in turn; as they are stored, in halves.
        by_name: The same of the network that is told what names mean as well.
        meanings: Vectors of the words of names.
        names: Weights of the words of classes and ids.
        kinds: Tells what a page is.
        provenance: What it was trained on and how it scored.
    """

    columns: NDArray[np.int64]
    mean: Floats
    scale: Floats
    layers: list[NDArray[np.floating]]
    by_name: list[NDArray[np.floating]]
    meanings: Meanings
    names: dict[str, float]
    kinds: Kinds
    provenance: dict[str, Any]

    def kind(self, features: Features, lexicon: Floats, words: Floats) -> str:
        """What kind of page it is."""
        return self.kinds.of(mean_of(features, lexicon, words).take(self._used))

    def scores(self, features: Features, lexicon: Floats, meant: Floats | None = None) -> Floats:
        """How likely each block is content, as the logarithm of the odds.

        Args:
            features: What is known of the blocks.
            lexicon: The lexicon's columns, a row for each.
            meant: What the names of blocks mean (see `Meanings.columns`), if that shall count.
        """
        chosen = self._plain if meant is None else self._named
        return chosen.scores(features, lexicon, meant)

    @cached_property
    def _used(self) -> NDArray[np.int64]:
        return used(self.columns)

    @cached_property
    def _plain(self) -> Network:
        return network(self.layers, self._used, self.mean, self.scale)

    @cached_property
    def _named(self) -> Network:
        return network(self.by_name, self._used, self.mean, self.scale)


def likelihood(scores: Floats) -> Floats:
    """The probabilities that logarithms of odds stand for."""
    return 1 / (1 + np.exp(-np.minimum(np.maximum(scores, -15), 15)))


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


def _layers(stored: Any, name: str) -> list[NDArray[np.floating]]:
    return [stored[f"{name}{at}"] for at in range(int(stored["layers"]))]


def _words(stored: Any, name: str) -> dict[str, float]:
    words = stored[f"{name}_words"].tobytes().decode("utf-8").split("\n")
    return dict(zip(words, stored[f"{name}_weights"].astype(np.float64).tolist(), strict=True))
