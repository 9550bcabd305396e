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

from outrider.pages.extraction.classify.features import BlockFeatures
from outrider.pages.extraction.classify.name_vectors import NameVectors
from outrider.pages.extraction.classify.network import BlockNetwork, append_lexicon_columns, build_network
from outrider.pages.extraction.classify.page_kind import KindClassifier, average_features

Floats = NDArray[np.float32]
MODEL_FILE = Path(__file__).with_name("content.npz")


@dataclass
class ContentModel:
    """Standardised features in, scores out.

    Attributes:
        columns: Which of the features are used.
        mean, scale: Of the columns and the lexicon's columns behind them.
        layers: Weights and biases in turn; as they are stored, in halves.
        named_layers: The same of the network that is told what names mean as well.
        name_vectors: Vectors of the words of names.
        name_weights: Weights of the words of classes and ids.
        kind_classifier: Tells what a page is.
        provenance: What it was trained on and how it scored.
    """

    columns: NDArray[np.int64]
    mean: Floats
    scale: Floats
    layers: list[NDArray[np.floating]]
    named_layers: list[NDArray[np.floating]]
    name_vectors: NameVectors
    name_weights: dict[str, float]
    kind_classifier: KindClassifier
    provenance: dict[str, Any]

    def predict_kind(self, features: BlockFeatures, lexicon: Floats, words: Floats) -> str:
        """What kind of page it is."""
        return self.kind_classifier.predict_kind(average_features(features, lexicon, words).take(self._feature_columns))

    def score_blocks(self, features: BlockFeatures, lexicon: Floats, name_vectors: Floats | None = None) -> Floats:
        """How likely each block is content, as the logarithm of the odds.

        Args:
            features: What is known of the blocks.
            lexicon: The lexicon's columns, a row for each.
            name_vectors: What the names of blocks mean (see `Meanings.columns`), if that shall count.
        """
        chosen = self._plain_network if name_vectors is None else self._named_network
        return chosen.score_blocks(features, lexicon, name_vectors)

    @cached_property
    def _feature_columns(self) -> NDArray[np.int64]:
        return append_lexicon_columns(self.columns)

    @cached_property
    def _plain_network(self) -> BlockNetwork:
        return build_network(self.layers, self._feature_columns, self.mean, self.scale)

    @cached_property
    def _named_network(self) -> BlockNetwork:
        return build_network(self.named_layers, self._feature_columns, self.mean, self.scale)


def to_probability(scores: Floats) -> Floats:
    """The probabilities that logarithms of odds stand for."""
    return 1 / (1 + np.exp(-np.minimum(np.maximum(scores, -15), 15)))


@lru_cache(maxsize=1)
def load_model() -> ContentModel:
    """The model of this package, read once."""
    with np.load(MODEL_FILE) as stored:
        return ContentModel(
            columns=stored["columns"],
            mean=stored["mean"],
            scale=stored["scale"],
            layers=_load_layers(stored, "layer"),
            named_layers=_load_layers(stored, "by_name"),
            name_vectors=NameVectors(stored["table"]),
            name_weights=_load_word_weights(stored, "names"),
            kind_classifier=KindClassifier(
                *(stored[f"kind_{name}"].astype(np.float32) for name in ("mean", "scale", "weights", "bias"))
            ),
            provenance=json.loads(str(stored["provenance"])),
        )


def _load_layers(stored: Any, name: str) -> list[NDArray[np.floating]]:
    return [stored[f"{name}{at}"] for at in range(int(stored["layers"]))]


def _load_word_weights(stored: Any, name: str) -> dict[str, float]:
    words = stored[f"{name}_words"].tobytes().decode("utf-8").split("\n")
    return dict(zip(words, stored[f"{name}_weights"].astype(np.float64).tolist(), strict=True))
