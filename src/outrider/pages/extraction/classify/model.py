"""Load the trained model: two networks over block features, lexicons and vectors.

All of it is in `content.npz` next to this module, written by `evals/extraction/train.py`.
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
    """Score blocks and classify pages.

    Attributes:
        columns: Numbers of the features in use.
        mean, scale: Of these columns, then of the lexicon's columns.
        layers: Weights and biases in turn, in half precision as stored.
        named_layers: The same for the network that also takes name vectors.
        name_vectors: Vectors of the words of class and id attributes.
        name_weights: Weights of these words.
        kind_classifier: Classifies the page.
        provenance: What the model was trained on and how it scored.
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
        """Return the kind of a page."""
        return self.kind_classifier.predict_kind(average_features(features, lexicon, words).take(self._feature_columns))

    def score_blocks(self, features: BlockFeatures, lexicon: Floats, name_vectors: Floats | None = None) -> Floats:
        """Return the log odds that each block is content.

        Args:
            features: The features of the blocks.
            lexicon: The lexicon's columns, one row each.
            name_vectors: The columns of `NameVectors.build_columns`, to use the network that takes them.
        """
        network = self._plain_network if name_vectors is None else self._named_network
        return network.score_blocks(features, lexicon, name_vectors)

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
    """Return the probabilities of log odds."""
    return 1 / (1 + np.exp(-np.minimum(np.maximum(scores, -15), 15)))


@lru_cache(maxsize=1)
def load_model() -> ContentModel:
    """Load the packaged model once."""
    with np.load(MODEL_FILE) as stored:
        words = stored["names_words"].tobytes().decode("utf-8").split("\n")
        return ContentModel(
            columns=stored["columns"],
            mean=stored["mean"],
            scale=stored["scale"],
            layers=_load_layers(stored, "layer"),
            named_layers=_load_layers(stored, "by_name"),
            name_vectors=NameVectors(stored["table"]),
            name_weights=dict(zip(words, stored["names_weights"].astype(np.float64).tolist(), strict=True)),
            kind_classifier=KindClassifier(
                *(stored[f"kind_{name}"].astype(np.float32) for name in ("mean", "scale", "weights", "bias"))
            ),
            provenance=json.loads(str(stored["provenance"])),
        )


def _load_layers(stored: Any, name: str) -> list[NDArray[np.floating]]:
    return [stored[f"{name}{at}"] for at in range(int(stored["layers"]))]
